/*-------------------------------------------------------------------------
 *
 * stat.c
 *	  SQL functions over the shared statistics and the device's status.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "device_names.h"
#include "queue/queue.h"
#include "queue/batchlog.h"
#include "queue/reasons.h"
#include "report.h"

PG_FUNCTION_INFO_V1(gpuconc_stat_get);
PG_FUNCTION_INFO_V1(gpuconc_stat_get_fallbacks);
PG_FUNCTION_INFO_V1(gpuconc_stat_reset);
PG_FUNCTION_INFO_V1(gpuconc_get_devices);

/* A counter as int8. */
static Datum
counter(pg_atomic_uint64 *c)
{
	return Int64GetDatum((int64) pg_atomic_read_u64(c));
}

/* A sum of microseconds as milliseconds. */
static Datum
milliseconds(pg_atomic_uint64 *c)
{
	return Float8GetDatum(pg_atomic_read_u64(c) / 1000.0);
}

/* A number of nanoseconds as milliseconds. */
static Datum
nanoseconds(pg_atomic_uint64 *c)
{
	return Float8GetDatum(pg_atomic_read_u64(c) / 1e6);
}

#define STAT_COLUMNS	45

/* SQL: the statistics of all devices, as one row. */
Datum
gpuconc_stat_get(PG_FUNCTION_ARGS)
{
	GcStats    *s = gc_stats();
	TupleDesc	desc;
	uint64		fallbacks = 0;
	bool		nulls[STAT_COLUMNS] = {0};

	/* The extension's script declares a row type. */
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	gc_check_columns(desc, lengthof(nulls));
	for (int i = 0; i < GC_NCODES; i++)
		fallbacks += pg_atomic_read_u64(&s->fallbacks[i]);
	{
		Datum		values[STAT_COLUMNS] = {
			counter(&s->requests), counter(&s->offloaded), Int64GetDatum((int64) fallbacks),
			counter(&s->retries), milliseconds(&s->queue_us), milliseconds(&s->compile_us),
			milliseconds(&s->copy_us), milliseconds(&s->run_us), counter(&s->copied_bytes),
			counter(&s->read_bytes), counter(&s->kernels), counter(&s->kernels_compiled),
			counter(&s->main_launches), counter(&s->ganged),
			counter(&s->builds_run), counter(&s->builds_shared), counter(&s->results_shared),
			counter(&s->rows_delta), counter(&s->rows_versioned), counter(&s->pages_delta),
			counter(&s->pages_looked_at), counter(&s->pages_loaded), counter(&s->key_group_scans),
			counter(&s->key_group_mismatches), counter(&s->direct_lookups),
			counter(&s->in_passes), counter(&s->lookups_made), counter(&s->lookups_shared),
			counter(&s->waves), counter(&s->wave_bytes), counter(&s->wave_bytes_shared),
			counter(&s->link_bytes), counter(&s->link_reads), counter(&s->link_read_bytes),
			counter(&s->region_hits), counter(&s->region_misses), counter(&s->evictions), counter(&s->evicted_bytes),
			counter(&s->evicting.made), nanoseconds(&s->evicting.ns), nanoseconds(&s->evicting.most_ns),
			counter(&s->admitting.made), nanoseconds(&s->admitting.ns), nanoseconds(&s->admitting.most_ns),
			TimestampTzGetDatum(s->reset_at),
		};

		PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
	}
}

/* SQL: how often PostgreSQL's plan has answered instead, by status; those that have happened. */
Datum
gpuconc_stat_get_fallbacks(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, 2);
	for (int i = 0; i < GC_NCODES; i++)
	{
		uint64		n = pg_atomic_read_u64(&gc_stats()->fallbacks[i]);
		Datum		values[2] = {CStringGetTextDatum(gc_code_name(i)), Int64GetDatum((int64) n)};
		bool		nulls[2] = {false, false};

		if (n > 0)
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* SQL: statistics, log and reasons begin anew. */
Datum
gpuconc_stat_reset(PG_FUNCTION_ARGS)
{
	gc_stats_reset();
	gc_batchlog_reset();
	gc_reasons_reset();
	PG_RETURN_VOID();
}

/* Columns of gpuconc_get_devices(): of the device, the link's, of its memory, and of its requests. */
#define DEVICE_COLUMNS	15
#define MEMORY_COLUMNS	(GC_MEMORY_KINDS + 2)
#define ALL_COLUMNS		(DEVICE_COLUMNS + 1 + MEMORY_COLUMNS + 4)

/* Device memory by what it is taken for, and what is free. */
static void
memory_values(GcDeviceStatus *d, Datum *values)
{
	/* The script has the kinds in this order, "other" behind the others. */
	for (int i = 0; i < GC_MEMORY_KINDS; i++)
		values[i] = counter(&d->memory_used_for[(i + 1) % GC_MEMORY_KINDS]);
	values[GC_MEMORY_KINDS] = counter(&d->memory_free);
	values[GC_MEMORY_KINDS + 1] = counter(&d->memory_largest_free);
}

/* A row for a device, as its worker has told it last. */
static void
put_device(ReturnSetInfo *rsinfo, int device)
{
	static const char *const states[] = {"starting", "ready", "no device", "stopped"};
	GcDeviceStatus *d = gc_device_status_of(device);
	const char *reason;
	uint32		state = gc_device_state(device, &reason);
	bool		ready = state == GC_WORKER_READY;
	Datum		values[ALL_COLUMNS];
	bool		nulls[ALL_COLUMNS] = {0};
	int			i = 0;

	pg_read_barrier();
	values[i++] = Int32GetDatum(device);
	values[i++] = CStringGetTextDatum(d->kind);
	values[i++] = CStringGetTextDatum(d->info.name);
	values[i++] = CStringGetTextDatum(states[state]);
	values[i++] = CStringGetTextDatum(reason);
	values[i++] = Int32GetDatum((int32) pg_atomic_read_u32(&d->worker_pid));
	values[i++] = Int32GetDatum(d->info.sms);
	values[i++] = Int64GetDatum((int64) d->info.total_bytes);
	values[i++] = Int64GetDatum((int64) d->info.memory_bytes);
	values[i++] = counter(&d->memory_used);
	values[i++] = counter(&d->regions);
	values[i++] = counter(&d->shared_builds);
	values[i++] = Int32GetDatum((int32) pg_atomic_read_u32(&d->running));
	values[i++] = CStringGetTextDatum(d->info.target);
	values[i++] = TimestampTzGetDatum(d->started_at);
	/* Bytes per second that were copied to the device when the worker started. */
	values[i++] = Float8GetDatum(d->link_bytes);
	memory_values(d, &values[i]);
	i += MEMORY_COLUMNS;
	values[i++] = CStringGetTextDatum(d->info.card);
	values[i++] = counter(&d->requests);
	values[i++] = milliseconds(&d->backlog_us);
	values[i++] = Int32GetDatum((int32) (pg_atomic_read_u32(&d->compilations_asked) -
										 pg_atomic_read_u32(&d->compilations_ended)));
	Assert(i == ALL_COLUMNS);
	/* An absent device's properties are unknown, not empty; so is the speed of a link that nothing crosses. */
	for (i = 0; i < ALL_COLUMNS; i++)
		nulls[i] = (!ready && i != 0 && i != 3 && i != 4) || (i == 4 && reason[0] == '\0') ||
			(i == DEVICE_COLUMNS && d->link_bytes <= 0);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* SQL: a row for each device that is named. */
Datum
gpuconc_get_devices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, ALL_COLUMNS);
	for (int d = 0; d < gc_ndevices; d++)
		put_device(rsinfo, d);
	return (Datum) 0;
}
