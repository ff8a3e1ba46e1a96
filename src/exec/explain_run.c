/*-------------------------------------------------------------------------
 *
 * explain_run.c
 *	  What EXPLAIN (ANALYZE) says of a gpuconc node's last execution by the device, and of fallbacks.
 *
 * Text has at most twelve lines, and is silent about what did not happen: a line has several facts, as that of
 * PostgreSQL's buffers.  Other formats have one fact per property, all of them, zero or not.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "explain.h"

#include "../compat.h"
#include "../program/edge.h"
#include "../settings.h"

static const char *const edges[] = {[GC_EDGE_FUSE] = "fuse", [GC_EDGE_REFILL] = "refill",
[GC_EDGE_CHANNEL] = "channel", [GC_EDGE_MATERIALIZE] = "materialize"};

static const char *const origins[] = {[GC_LOOKUP_SHARED] = "shared", [GC_LOOKUP_EVALUATED] = "by PostgreSQL",
[GC_LOOKUP_COMPUTED] = "of bytes", [GC_LOOKUP_DEVICE] = "on the device"};

static void
explain_fallback(const GcScanStats *s, ExplainState *es)
{
	const bool	text = es->format == EXPLAIN_FORMAT_TEXT;

	if (s->fallbacks == 0 && !text)
		ExplainPropertyText("Fallback", "no", es);
	if (s->fallbacks == 0)
		return;
	if (text && s->last_reason[0])
	{
		ExplainPropertyText("Fallback", psprintf("%s (%s)", gc_code_name(s->last_code), s->last_reason), es);
		return;
	}
	ExplainPropertyText("Fallback", gc_code_name(s->last_code), es);
	if (s->last_reason[0])
		ExplainPropertyText("Fallback Reason", s->last_reason, es);
}

/* Where the lookup tables came from. */
static void
explain_lookups(const GcScanStats *s, ExplainState *es)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < GC_LOOKUP_ORIGINS; i++)
	{
		if (s->lookups[i] > 0)
			appendStringInfo(&buf, "%s%u %s", buf.len > 0 ? ", " : "", s->lookups[i], origins[i]);
	}
	if (buf.len > 0)
		ExplainPropertyText("Lookup Tables", buf.data, es);
}

/* How rows went through the main pipeline, unless all of it was fused. */
static void
explain_edges(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData buf;

	if (r->edge == GC_EDGE_FUSE && es->format == EXPLAIN_FORMAT_TEXT && (r->edge_predicted_ms <= 0 || !es->timing))
		return;
	initStringInfo(&buf);
	appendStringInfo(&buf, "%s", edges[r->edge]);
	if (r->edge != GC_EDGE_FUSE)
		appendStringInfo(&buf, " before step %d", r->edge_step);
	if (r->edge_tile > 0)
		appendStringInfo(&buf, ", tile %u rows", r->edge_tile);
	if (r->edge_predicted_ms > 0 && es->timing)
		appendStringInfo(&buf, "; predicted %.3f ms, took %.3f ms", r->edge_predicted_ms, r->main_ms);
	ExplainPropertyText("Edges", buf.data, es);
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyUInteger("Edge Rows", NULL, r->edge_packets, es);
		ExplainPropertyUInteger("Edge Memory", "kB", (r->edge_packets * r->edge_packet_bytes + 1023) / 1024, es);
		ExplainPropertyUInteger("Edge Peak", "kB", (r->edge_held * r->edge_packet_bytes + 1023) / 1024, es);
	}
}

/* Likewise of a pipeline before it that made groups: the one that took longest. */
static void
explain_edge_below(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData buf;

	if (r->below_ms <= 0 || !es->timing)
		return;
	initStringInfo(&buf);
	appendStringInfo(&buf, "%s", edges[r->below_edge]);
	if (r->below_edge != GC_EDGE_FUSE)
		appendStringInfo(&buf, " before step %d", r->below_step);
	if (r->below_predicted_ms > 0)
		appendStringInfo(&buf, "; predicted %.3f ms, took %.3f ms", r->below_predicted_ms, r->below_ms);
	ExplainPropertyText("Edges Below", buf.data, es);
}

/*-------------------------------------------------------------------------
 * Text
 *-------------------------------------------------------------------------
 */

/* A fact of a line, unless it is zero. */
static void
add(StringInfo line, const char *name, uint64 value, const char *unit)
{
	if (value > 0)
		appendStringInfo(line, "%s%s=" UINT64_FORMAT "%s", line->len > 0 ? " " : "", name, value, unit);
}

static void
add_ms(StringInfo line, const char *name, double ms)
{
	if (ms >= 0.0005)
		appendStringInfo(line, "%s%s=%.3f", line->len > 0 ? " " : "", name, ms);
}

/* A line, unless it has no fact. */
static void
end_line(StringInfo line, const char *label, ExplainState *es)
{
	if (line->len > 0)
		ExplainPropertyText(label, line->data, es);
	resetStringInfo(line);
}

/* Pages and rows that the session served, or read itself. */
static void
text_pages(const GcScanStats *s, ExplainState *es)
{
	StringInfoData line;

	initStringInfo(&line);
	add(&line, "served", s->pages_served, "");
	add(&line, "versioned", s->pages_versioned, "");
	add(&line, "delta", s->pages_delta, "");
	add(&line, "loaded", es->verbose ? s->pages_loaded : 0, "");
	add(&line, "looked at", es->verbose ? s->pages_looked_at : 0, "");
	end_line(&line, "Pages", es);
	add(&line, "delta", s->rows_delta, "");
	add(&line, "row source", s->rows_source, "");
	end_line(&line, "Rows", es);
}

/* Use of device memory: what did not fit, and under VERBOSE what did. */
static void
text_memory(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData line;

	initStringInfo(&line);
	add(&line, "copied", es->verbose ? r->copied_bytes / 1024 : 0, "kB");
	add(&line, "read", es->verbose ? r->read_bytes / 1024 : 0, "kB");
	add(&line, "passes", r->passes > 1 ? r->passes : 0, "");
	add(&line, "waves", r->waves, "");
	add(&line, "waves copied", r->wave_bytes / 1024, "kB");
	add(&line, "waves shared", r->wave_bytes_shared / 1024, "kB");
	add(&line, "chunks read in place", r->link_reads, "");
	add(&line, "estimated", r->link_reads > 0 ? r->link_read_bytes / 1024 : 0, "kB");
	end_line(&line, "Device Memory", es);
}

static void
text_sharing(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData line;

	initStringInfo(&line);
	add(&line, "co-running", r->co_running, "");
	add(&line, "shared scan", r->scan_members > 1 ? r->scan_members : 0, "");
	add(&line, "gang", r->gang_members, "");
	add(&line, "batch", es->verbose && r->batch_kernels > 1 ? r->batch_kernels : 0, "");
	end_line(&line, "Requests", es);
}

static void
text_times(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;
	StringInfoData line;

	if (!es->timing)
		return;
	initStringInfo(&line);
	if (es->verbose)
	{
		add_ms(&line, "load", s->load_ms);
		add_ms(&line, "bind", s->bind_ms);
		add_ms(&line, "queue", r->queue_ms);
		add_ms(&line, "compile", r->compile_ms);
		add_ms(&line, "copy", r->copy_ms);
	}
	add_ms(&line, "kernels", r->run_ms);
	if (es->verbose)
	{
		add_ms(&line, "device", r->total_ms);
		add_ms(&line, "decode", s->decode_ms);
	}
	end_line(&line, "Device Timings", es);
}

static void
explain_text(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;
	StringInfoData line;

	ExplainPropertyText("Device", gc_device_status()->info.name, es);
	text_pages(s, es);
	text_memory(r, es);
	text_sharing(r, es);
	text_times(s, es);
	if (!es->verbose)
		return;
	initStringInfo(&line);
	add(&line, "served", s->chunks - s->chunks_skipped, "");
	add(&line, "skipped", s->chunks_skipped, "");
	add(&line, "loaded", s->chunks_loaded, "");
	end_line(&line, "Chunks", es);
	explain_lookups(s, es);
	add(&line, "launched", r->kernels, "");
	add(&line, "compiled", r->compiled, "");
	add(&line, "builds run", r->builds_run, "");
	add(&line, "builds shared", r->builds_shared, "");
	add(&line, "result shared", r->shared_result, "");
	end_line(&line, "Kernels", es);
	explain_edges(r, es);
	explain_edge_below(r, es);
}

/*-------------------------------------------------------------------------
 * JSON, XML and YAML
 *-------------------------------------------------------------------------
 */

static void
list_details(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;

	ExplainPropertyUInteger("Chunks", NULL, s->chunks, es);
	ExplainPropertyUInteger("Chunks Skipped", NULL, s->chunks_skipped, es);
	ExplainPropertyUInteger("Chunks Loaded", NULL, s->chunks_loaded, es);
	ExplainPropertyUInteger("Pages Loaded", NULL, s->pages_loaded, es);
	ExplainPropertyUInteger("Pages Looked At", NULL, s->pages_looked_at, es);
	explain_lookups(s, es);
	ExplainPropertyFloat("Load Time", "ms", s->load_ms, 3, es);
	ExplainPropertyFloat("Bind Time", "ms", s->bind_ms, 3, es);
	ExplainPropertyFloat("Queue Time", "ms", r->queue_ms, 3, es);
	ExplainPropertyFloat("Compile Time", "ms", r->compile_ms, 3, es);
	ExplainPropertyFloat("Copy Time", "ms", r->copy_ms, 3, es);
	ExplainPropertyFloat("Device Time", "ms", r->total_ms, 3, es);
	ExplainPropertyFloat("Decode Time", "ms", s->decode_ms, 3, es);
	ExplainPropertyUInteger("Copied", "kB", r->copied_bytes / 1024, es);
	ExplainPropertyUInteger("Read", "kB", r->read_bytes / 1024, es);
	ExplainPropertyUInteger("Kernels", NULL, r->kernels, es);
	ExplainPropertyUInteger("Kernels Compiled", NULL, r->compiled, es);
	ExplainPropertyUInteger("Builds Run", NULL, r->builds_run, es);
	ExplainPropertyUInteger("Builds Shared", NULL, r->builds_shared, es);
	ExplainPropertyBool("Result Shared", r->shared_result != 0, es);
	ExplainPropertyUInteger("Blocks", NULL, r->blocks, es);
	ExplainPropertyUInteger("Threads per Block", NULL, r->threads, es);
	ExplainPropertyUInteger("Shared Memory per Block", "kB", (r->shared_bytes + 1023) / 1024, es);
	ExplainPropertyUInteger("Registers per Thread", NULL, r->registers, es);
	ExplainPropertyUInteger("Batch", NULL, r->batch, es);
	ExplainPropertyUInteger("Batch Requests", NULL, r->batch_kernels, es);
	ExplainPropertyFloat("Attach Position", "%", r->ntiles > 0 ? 100.0 * r->first_tile / r->ntiles : 0, 1, es);
	ExplainPropertyFloat("Predicted Kernel Time", "ms", r->predicted_ms, 3, es);
	explain_edges(r, es);
	explain_edge_below(r, es);
}

static void
list_run(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;

	ExplainPropertyText("Device", gc_device_status()->info.name, es);
	ExplainPropertyUInteger("Pages Served", NULL, s->pages_served, es);
	ExplainPropertyUInteger("Versioned Pages", NULL, s->pages_versioned, es);
	ExplainPropertyUInteger("Delta Pages", NULL, s->pages_delta, es);
	ExplainPropertyUInteger("Delta Rows", NULL, s->rows_delta, es);
	ExplainPropertyUInteger("Row Source Rows", NULL, s->rows_source, es);
	ExplainPropertyUInteger("Passes", NULL, r->passes, es);
	ExplainPropertyUInteger("Waves", NULL, r->waves, es);
	ExplainPropertyUInteger("Waves Copied", "kB", r->wave_bytes / 1024, es);
	ExplainPropertyUInteger("Waves Shared", "kB", r->wave_bytes_shared / 1024, es);
	ExplainPropertyUInteger("Column Chunks Read in Place", NULL, r->link_reads, es);
	ExplainPropertyUInteger("Estimated Read in Place", "kB", r->link_read_bytes / 1024, es);
	ExplainPropertyFloat("Kernel Time", "ms", r->run_ms, 3, es);
	ExplainPropertyText("Schedule", gc_schedule_name(r->policy), es);
	ExplainPropertyUInteger("Co-Running Requests", NULL, r->co_running, es);
	ExplainPropertyUInteger("Shared Scan Requests", NULL, r->scan_members, es);
	ExplainPropertyUInteger("Gang Requests", NULL, r->gang_members, es);
	if (es->verbose)
		list_details(s, es);
}

void
gc_explain_run(const GcScanState *node, ExplainState *es)
{
	explain_fallback(&node->stats, es);
	if (node->stats.offloaded == 0)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		explain_text(&node->stats, es);
	else
		list_run(&node->stats, es);
}
