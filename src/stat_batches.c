/*-------------------------------------------------------------------------
 *
 * stat_batches.c
 *	  SQL functions over the log of batches: two views, and a timeline for trace
 *	  viewers.
 *
 * Runs in backends.  A user with the rights of pg_read_all_stats may see everything.  Other
 * users see only batches with requests of their session, and only these requests.  They see
 * the kernels' totals, but not which kernels they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/timestamp.h"

#include "device_names.h"
#include "report.h"
#include "settings.h"
#include "queue/queue.h"
#include "queue/batchlog.h"

PG_FUNCTION_INFO_V1(gpuconc_stat_get_batches);
PG_FUNCTION_INFO_V1(gpuconc_stat_get_kernels);
PG_FUNCTION_INFO_V1(gpuconc_timeline);

/*-------------------------------------------------------------------------
 * Batches that the user may see
 *-------------------------------------------------------------------------
 */

/* May the user see other users' requests? */
static bool
sees_all(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* Another session may have had this process's pid before. */
static bool
is_own(const GcBatchRecord *b, const GcBatchKernel *k)
{
	return k->pid == MyProcPid && b->began >= MyStartTimestamp;
}

/* Is any request of the batch the user's own? */
static bool
has_own(const GcBatchRecord *b)
{
	for (int i = 0; i < b->nkept; i++)
	{
		if (is_own(b, &b->kernel[i]))
			return true;
	}
	return false;
}

/* The newest `limit` batches that the user may see, 0 for all; oldest first. */
static GcBatchRecord *
visible_batches(int limit, int *n)
{
	bool		all = sees_all();
	GcBatchRecord *b = gc_batchlog_read(all ? limit : 0, n);
	int			kept = 0;

	if (all)
		return b;
	for (int i = 0; i < *n; i++)
	{
		if (has_own(&b[i]))
			memmove(&b[kept++], &b[i], sizeof(GcBatchRecord));
	}
	*n = kept;
	if (limit > 0 && kept > limit)
	{
		b += kept - limit;
		*n = limit;
	}
	return b;
}

/*-------------------------------------------------------------------------
 * gpuconc_stat_batches, gpuconc_stat_kernels
 *-------------------------------------------------------------------------
 */

/* The kind of a kernel, as views call it. */
static const char *
kind_name(uint16 kind)
{
	switch (kind)
	{
		case GC_BATCH_FUSED:
			return "shared scan";
		case GC_BATCH_SELECTION:
			return "selection scan";
		default:
			return "kernel";
	}
}

/* Shared scans among the kernels that are kept one by one. */
static int
shared_scans(const GcBatchRecord *b)
{
	int			n = 0;

	for (int i = 0; i < b->nkept; i++)
	{
		bool		seen = b->kernel[i].scan == 0;

		for (int j = 0; j < i && !seen; j++)
			seen = b->kernel[j].scan == b->kernel[i].scan;
		n += !seen;
	}
	return n;
}

/* Milliseconds, or NULL where that time is not known. */
static Datum
put_ms(double us, bool *isnull)
{
	*isnull = !(us > 0);
	return Float8GetDatum(*isnull ? 0 : us / 1000.0);
}

#define BATCH_COLUMNS	14

/* SQL: the batches that the user may see, one row each. */
Datum
gpuconc_stat_get_batches(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	GcBatchRecord *batches;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, BATCH_COLUMNS);
	batches = visible_batches(0, &n);
	for (int i = 0; i < n; i++)
	{
		const GcBatchRecord *b = &batches[i];
		Datum		values[BATCH_COLUMNS];
		bool		nulls[BATCH_COLUMNS] = {0};

		values[0] = Int64GetDatum((int64) b->id);
		values[1] = TimestampTzGetDatum(b->began);
		values[2] = CStringGetTextDatum(gc_schedule_name(b->policy));
		values[3] = Int32GetDatum(b->nkernels);
		values[4] = Int32GetDatum(b->patterns);
		values[5] = Int32GetDatum(b->planned);
		values[6] = Int32GetDatum(b->waiting);
		values[7] = Int32GetDatum(b->others);
		values[8] = put_ms(b->predicted_us, &nulls[8]);
		values[9] = Float8GetDatum(b->actual_us / 1000.0);
		values[10] = Float8GetDatum(b->decision_us / 1000.0);
		values[11] = Int32GetDatum(shared_scans(b));
		values[12] = Int32GetDatum((int32) b->failed);
		values[13] = Int32GetDatum(b->device);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

#define KERNEL_COLUMNS	13

/* SQL: totals of main kernels; texts are told by hashes alone. */
Datum
gpuconc_stat_get_kernels(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		all = sees_all();
	GcKernelLog *kernels;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, KERNEL_COLUMNS);
	kernels = gc_kernellog_read(&n);
	for (int i = 0; i < n; i++)
	{
		const GcKernelLog *k = &kernels[i];
		Datum		values[KERNEL_COLUMNS];
		bool		nulls[KERNEL_COLUMNS] = {0};

		values[0] = CStringGetTextDatum(psprintf("%016llx", (unsigned long long) k->kernel.h[0]));
		values[1] = CStringGetTextDatum(kind_name(k->kind));
		values[2] = Int64GetDatum((int64) k->launches);
		values[3] = Int64GetDatum((int64) k->requests);
		values[4] = Float8GetDatum(k->time_us / 1000.0);
		values[5] = Float8GetDatum(k->best_us / 1000.0);
		values[6] = put_ms(k->alone_us, &nulls[6]);
		values[7] = Float8GetDatum(k->error);
		nulls[7] = k->error < 0;
		values[8] = Int32GetDatum((int32) k->registers);
		values[9] = Int64GetDatum((int64) k->shared_bytes);
		values[10] = Int32GetDatum((int32) k->threads);
		values[11] = TimestampTzGetDatum(k->last_launch);
		values[12] = Int32GetDatum(k->device);
		/* Which kernel it is, and when it ran, may tell what other sessions do. */
		nulls[0] = nulls[11] = !all;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*-------------------------------------------------------------------------
 * gpuconc_timeline
 *
 * Trace events as chrome://tracing and Perfetto read them: complete events ("X") on
 * tracks, which are threads of processes there.  Trace events of one track may not overlap,
 * so each process has as many tracks as spans that overlap.
 * Each device has processes of its own.
 *
 * Requests in waves belong to no batch.  Users who see all sessions' batches see waves and other copies, too.  They are
 * those since the first request of the batches that are shown, or the newest where there is no batch.
 *-------------------------------------------------------------------------
 */
typedef enum TimelineProcess
{
	TIMELINE_DEVICE = 1,
	TIMELINE_SCHEDULER,
	TIMELINE_QUEUE,
	TIMELINE_LINK,				/* copies, of waves and of requests */
	TIMELINE_WAVES				/* their kernels */
} TimelineProcess;

typedef struct Span
{
	double		from;			/* microseconds since the earliest batch's start */
	double		to;				/* not before from */
	int			lane;			/* from 1 */
	uint64		id;				/* of batch or wave */
	const GcBatchRecord *batch;	/* with a kernel or not; else NULL: */
	const GcBatchKernel *kernel;
	const GcWaveRecord *wave;
} Span;

typedef struct Spans
{
	Span	   *span;
	int			n;
	int			nlanes;
} Spans;

/* A device's clock may give anything; JSON takes only numbers. */
static double
sane(double us)
{
	return isfinite(us) ? us : 0;
}

/* Order for qsort(): by begin, and then by id. */
static int
compare_spans(const void *a, const void *b)
{
	const Span *x = a;
	const Span *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Give each span the first lane that is free when it begins. */
static void
assign_lanes(Spans *s)
{
	double	   *free_at = palloc(Max(s->n, 1) * sizeof(double));

	qsort(s->span, s->n, sizeof(Span), compare_spans);
	s->nlanes = 0;
	for (int i = 0; i < s->n; i++)
	{
		int			lane = 0;

		CHECK_FOR_INTERRUPTS();
		while (lane < s->nlanes && free_at[lane] > s->span[i].from)
			lane++;
		s->nlanes = Max(s->nlanes, lane + 1);
		free_at[lane] = s->span[i].to;
		s->span[i].lane = lane + 1;
	}
	pfree(free_at);
}

/* A span of a batch's kernel; there is room for it. */
static void
add_span(Spans *s, double from, double to, const GcBatchRecord *b, const GcBatchKernel *k)
{
	s->span[s->n++] = (Span) {.from = from,.to = Max(from, to),.id = b->id,.batch = b,.kernel = k};
}

/* A span of a copy or wave; there is room for it. */
static void
add_wave(Spans *s, double from, double us, const GcWaveRecord *w)
{
	s->span[s->n++] = (Span) {.from = from,.to = from + Max(us, 0),.id = w->id,.wave = w};
}

/* Time from the batch's start, when copying begins, to the last kernel's end. */
static double
batch_us(const GcBatchRecord *b)
{
	double		first = b->nkept > 0 ? sane(b->kernel[0].start_us) : 0;

	for (int i = 1; i < b->nkept; i++)
		first = Min(first, sane(b->kernel[i].start_us));
	return Max(first, 0) + sane(b->actual_us);
}

/* The earliest batch's start; 0: there is none. */
static TimestampTz
first_start(const GcBatchRecord *batches, int n)
{
	TimestampTz first = n > 0 ? batches[0].began : 0;

	for (int i = 1; i < n; i++)
		first = Min(first, batches[i].began);
	return first;
}

/* When the earliest request of the batches was submitted; 0: there is none. */
static TimestampTz
first_submitted(const GcBatchRecord *batches, int n)
{
	TimestampTz first = first_start(batches, n);

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < batches[i].nkept; j++)
			first = Min(first, batches[i].began - (TimestampTz) Max(sane(batches[i].kernel[j].queued_us), 0));
	}
	return first;
}

/*
 * The waves and other copies to be shown, the earliest first or nearly so: those since `since`, or the newest if that
 * is 0.  *origin, where the timeline begins, moves to the earliest of them, as requests copy before their batch begins.
 */
static GcWaveRecord *
visible_waves(int limit, TimestampTz since, TimestampTz *origin, int *n)
{
	GcWaveRecord *waves;
	int			kept = 0;

	*n = 0;
	if (limit <= 0 || !sees_all())
		return NULL;
	waves = gc_wavelog_read(n);
	for (int i = since == 0 ? Max(*n - limit, 0) : 0; i < *n; i++)
	{
		if (waves[i].began >= since)
			waves[kept++] = waves[i];
	}
	*n = kept;
	for (int i = 0; i < kept; i++)
		*origin = *origin == 0 ? waves[i].began : Min(*origin, waves[i].began);
	return waves;
}

/* Collect the spans of the device's copies, and of its waves' kernels. */
static void
collect_waves(const GcWaveRecord *waves, int n, int device, TimestampTz origin, Spans *c_spans, Spans *k_spans)
{
	c_spans->span = palloc(Max(n, 1) * sizeof(Span));
	k_spans->span = palloc(Max(n, 1) * sizeof(Span));
	for (int i = 0; i < n; i++)
	{
		const GcWaveRecord *w = &waves[i];
		const double began = w->began - origin;
		const double copied = began + Max(sane(w->copies_us), 0);

		if (w->device != device)
			continue;
		if (w->bytes > 0)
			add_wave(c_spans, began, copied - began, w);
		if (w->kind == GC_WAVE_COPIED)
			add_wave(k_spans, copied, sane(w->kernels_us), w);
	}
	assign_lanes(c_spans);
	assign_lanes(k_spans);
}

/* Collect the spans of the device's batches, of their kernels, and of their waiting requests. */
static void
collect(const GcBatchRecord *batches, int n, int device, TimestampTz origin, Spans *b_spans, Spans *k_spans,
		Spans *q_spans)
{
	bool		all = sees_all();

	b_spans->span = palloc(Max(n, 1) * sizeof(Span));
	k_spans->span = MemoryContextAllocHuge(CurrentMemoryContext,
										   Max(n, 1) * GC_BATCHLOG_KERNELS * sizeof(Span));
	q_spans->span = MemoryContextAllocHuge(CurrentMemoryContext,
										   Max(n, 1) * GC_BATCHLOG_KERNELS * sizeof(Span));
	for (int i = 0; i < n; i++)
	{
		const GcBatchRecord *b = &batches[i];
		double		began = b->began - origin;

		if (b->device != device)
			continue;
		add_span(b_spans, began, began + batch_us(b), b, NULL);
		for (int j = 0; j < b->nkept; j++)
		{
			const GcBatchKernel *k = &b->kernel[j];

			/* Nothing is known of a request that was not started after all. */
			if (k->members == 0 || (!all && !is_own(b, k)))
				continue;
			add_span(k_spans, began + sane(k->start_us), began + sane(k->end_us), b, k);
			/* Viewers want no time before the first one. */
			if (k->queued_us > 0)
				add_span(q_spans, Max(began - sane(k->queued_us), 0), began, b, k);
		}
	}
	assign_lanes(b_spans);
	assign_lanes(k_spans);
	assign_lanes(q_spans);
}

/* A comma, except before the first event. */
static void
put_separator(StringInfo buf)
{
	if (buf->data[buf->len - 1] != '[')
		appendStringInfoString(buf, ",\n");
}

/* The number of a process in the trace: each device has its own. */
static int
process_number(TimelineProcess process, int device)
{
	return device * TIMELINE_WAVES + process;
}

/* Write a trace event up to its arguments; the caller adds these, and "}}". */
static void
put_event(StringInfo buf, TimelineProcess process, const Span *s, const char *category,
		  const char *name)
{
	put_separator(buf);
	appendStringInfo(buf, "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"args\":{",
					 name, category, process_number(process, s->batch ? s->batch->device : s->wave->device), s->lane,
					 s->from, s->to - s->from);
}

/* A main kernel, as an event of the device's timeline. */
static void
put_kernel(StringInfo buf, const Span *s)
{
	const GcBatchKernel *k = s->kernel;
	char		name[9];

	snprintf(name, sizeof(name), "%08x", (uint32) (k->kernel.h[0] >> 32));
	put_event(buf, TIMELINE_DEVICE, s, kind_name(k->kind), name);
	appendStringInfo(buf, "\"batch\":" UINT64_FORMAT ",\"pid\":%d,\"kernel\":\"%016llx\",",
					 s->batch->id, k->pid, (unsigned long long) k->kernel.h[0]);
	appendStringInfo(buf, "\"blocks\":%u,\"threads\":%u,\"shared_kB\":%.1f,",
					 k->blocks, k->threads, k->shared_bytes / 1024.0);
	appendStringInfo(buf, "\"first_tile\":%u,\"tiles\":%u,\"scan\":%u,\"members\":%u,",
					 k->first_tile, k->ntiles, k->scan, k->members);
	if (k->select_us > 0)
		appendStringInfo(buf, "\"selection_us\":%.3f,", sane(k->select_us));
	appendStringInfo(buf, "\"predicted_us\":%.3f,\"actual_us\":%.3f,\"waited_us\":%.3f,\"result_us\":%.3f}}",
					 sane(k->predicted_us), s->to - s->from, sane(k->queued_us),
					 Max(sane(k->done_us) - sane(k->end_us), 0));
}

/* A batch, as an event of the scheduler's timeline. */
static void
put_batch(StringInfo buf, const Span *s)
{
	const GcBatchRecord *b = s->batch;
	char		name[32];

	snprintf(name, sizeof(name), "batch " UINT64_FORMAT, b->id);
	put_event(buf, TIMELINE_SCHEDULER, s, "batch", name);
	appendStringInfo(buf, "\"batch\":" UINT64_FORMAT ",\"schedule\":\"%s\",\"kernels\":%u,\"shared_scans\":%d,",
					 b->id, gc_schedule_name(b->policy), b->nkernels, shared_scans(b));
	appendStringInfo(buf, "\"patterns\":%u,\"batches_planned\":%u,\"waiting\":%u,\"co_running\":%u,\"failed\":%u,",
					 b->patterns, b->planned, b->waiting, b->others, b->failed);
	appendStringInfo(buf, "\"predicted_us\":%.3f,\"actual_us\":%.3f,\"decision_us\":%.3f}}",
					 sane(b->predicted_us), sane(b->actual_us), sane(b->decision_us));
}

/* A request's time in the queue, as an event of its own timeline. */
static void
put_wait(StringInfo buf, const Span *s)
{
	put_event(buf, TIMELINE_QUEUE, s, "waiting", "waiting");
	appendStringInfo(buf, "\"batch\":" UINT64_FORMAT ",\"pid\":%d,\"waited_us\":%.3f}}",
					 s->batch->id, s->kernel->pid, sane(s->kernel->queued_us));
}

/* A copy or a wave, as an event of one of two timelines. */
static void
put_wave(StringInfo buf, const Span *s, TimelineProcess process, const char *category)
{
	const GcWaveRecord *w = s->wave;
	char		name[32];

	snprintf(name, sizeof(name), "wave " UINT64_FORMAT, w->id);
	put_event(buf, process, s, category, name);
	appendStringInfo(buf, "\"wave\":" UINT64_FORMAT ",\"chunks\":%u,\"requests\":%u,", w->id, w->chunks, w->requests);
	/* Where there are many, not all are logged. */
	if (w->unlogged > 0)
		appendStringInfo(buf, "\"others_before\":%u,", w->unlogged);
	appendStringInfo(buf, "\"kB\":" UINT64_FORMAT ",\"shared_kB\":" UINT64_FORMAT "}}",
					 (uint64) w->bytes / 1024, (uint64) w->shared / 1024);
}

/* Copies outside waves. */
static void
put_copies(StringInfo buf, const Span *s)
{
	const GcWaveRecord *w = s->wave;

	put_event(buf, TIMELINE_LINK, s, "copies", w->kind == GC_RESULT_COPIED ? "result" : "columns");
	appendStringInfo(buf, "\"pid\":%d,", w->pid);
	if (w->kind == GC_REQUEST_COPIED)
		appendStringInfo(buf, "\"column_kB\":%.1f,\"lookup_kB\":%.1f,", (w->bytes - w->lookups) / 1024.0,
						 w->lookups / 1024.0);
	appendStringInfo(buf, "\"kB\":%.1f}}", w->bytes / 1024.0);
}

/* Write the names of a process and of its tracks; nothing for a process without tracks. */
static void
put_names(StringInfo buf, TimelineProcess process, int device, const char *name, const char *track, int ntracks)
{
	const int	number = process_number(process, device);

	if (ntracks == 0)
		return;
	if (gc_ndevices > 1)
		name = psprintf("%s %d", name, device);
	put_separator(buf);
	appendStringInfo(buf, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"%s\"}},\n",
					 number, name);
	appendStringInfo(buf, "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"sort_index\":%d}}",
					 number, number);
	for (int i = 1; i <= ntracks; i++)
		appendStringInfo(buf, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s %d\"}}",
						 number, i, track, i);
}

/* Write what one device did. */
static void
put_device(StringInfo buf, int device, const GcBatchRecord *batches, int n, const GcWaveRecord *waves, int nwaves,
		   TimestampTz origin)
{
	Spans		b = {0},
				k = {0},
				q = {0},
				copies = {0},
				wave_kernels = {0};

	collect(batches, n, device, origin, &b, &k, &q);
	collect_waves(waves, nwaves, device, origin, &copies, &wave_kernels);
	put_names(buf, TIMELINE_DEVICE, device, "device", "lane", k.nlanes);
	put_names(buf, TIMELINE_SCHEDULER, device, "scheduler", "batches", b.nlanes);
	put_names(buf, TIMELINE_QUEUE, device, "queue", "waiting", q.nlanes);
	put_names(buf, TIMELINE_LINK, device, "link", "copies", copies.nlanes);
	put_names(buf, TIMELINE_WAVES, device, "waves", "kernels", wave_kernels.nlanes);
	for (int i = 0; i < k.n; i++)
		put_kernel(buf, &k.span[i]);
	for (int i = 0; i < b.n; i++)
		put_batch(buf, &b.span[i]);
	for (int i = 0; i < q.n; i++)
		put_wait(buf, &q.span[i]);
	for (int i = 0; i < copies.n; i++)
	{
		if (copies.span[i].wave->kind == GC_WAVE_COPIED)
			put_wave(buf, &copies.span[i], TIMELINE_LINK, "copies");
		else
			put_copies(buf, &copies.span[i]);
	}
	for (int i = 0; i < wave_kernels.n; i++)
		put_wave(buf, &wave_kernels.span[i], TIMELINE_WAVES, "kernels of a wave");
}

/* gpuconc_timeline(batches integer) returns json: the newest `batches` batches. */
Datum
gpuconc_timeline(PG_FUNCTION_ARGS)
{
	int			limit = PG_GETARG_INT32(0);
	GcBatchRecord *batches = NULL;
	GcWaveRecord *waves;
	TimestampTz origin;
	int			n = 0;
	int			nwaves;
	StringInfoData buf;

	if (limit < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of batches must not be negative"),
				 errhint("Give how many of the newest batches to show; gpuconc.batch_log_size says how many are kept.")));
	if (limit > 0)
		batches = visible_batches(limit, &n);
	origin = first_start(batches, n);
	waves = visible_waves(limit, first_submitted(batches, n), &origin, &nwaves);

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"device\":");
	escape_json(&buf, gc_device_status()->info.name);
	if (n + nwaves > 0)
		appendStringInfo(&buf, ",\"start\":\"%s\"", timestamptz_to_str(origin));
	appendStringInfoString(&buf, "},\"traceEvents\":[");
	for (int d = 0; d < gc_ndevices; d++)
		put_device(&buf, d, batches, n, waves, nwaves, origin);
	appendStringInfoString(&buf, "]}");
	PG_RETURN_TEXT_P(cstring_to_text_with_len(buf.data, buf.len));
}
