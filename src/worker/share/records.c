/*-------------------------------------------------------------------------
 *
 * records.c
 *	  Records (codegen/records.c): which columns of a table are in them, and their memory.
 *
 * A set's kernels over marks that read several columns of a row have them put into records
 * as they come, as long as there is room; nothing is ever moved.  A column's chunk is written
 * by the first scan whose requests read it.
 *
 * Records are a convenience, as class columns are: they take memory that is free, go before
 * those of their table where it is short, and kernels do without where there are none.
 *
 * The worker's main thread.  A set holds a reference to its records; a launch holds one to
 * those that its kernels read.
 *
 *-------------------------------------------------------------------------
 */
#include "records.h"

#include "utils/memutils.h"

#include "../../codegen/packed_rows.h"
#include "../../force.h"
#include "../../settings.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "scan_set.h"
#include "share_launch.h"

/*-------------------------------------------------------------------------
 * Memory
 *-------------------------------------------------------------------------
 */

static void
records_free(GcRecords *r)
{
	gc_device_free(r->data);
	for (int i = 0; i < r->ncolumns; i++)
		gc_derived_free(&r->column[i].column);
	pfree(r);
}

void
gc_records_release(GcRecords *r)
{
	if (--r->users == 0 && r->dropped)
		records_free(r);
}

void
gc_records_forget(GcScanSet *set)
{
	GcRecords  *r = set->records;

	set->records = NULL;
	if (r == NULL)
		return;
	r->dropped = true;
	if (r->users == 0)
		records_free(r);
}

/* Give their memory back, to be written again when there is some to spare. */
bool
gc_records_evict(GcScanSet *set)
{
	if (set->records == NULL || set->records->users > 0)
		return false;
	gc_records_forget(set);
	return true;
}

/*-------------------------------------------------------------------------
 * Columns
 *-------------------------------------------------------------------------
 */

static int
column_number(const GcRecords *r, i16 dir_column)
{
	for (int i = 0; i < r->ncolumns; i++)
	{
		if (r->column[i].dir_column == dir_column)
			return i;
	}
	return -1;
}

/* Widest of a column's codes; 0: it has none. */
static u32
widest(const GcDirColumn *c)
{
	u32			width = 8;

	while (width > 0 && !(c->widths & width))
		width /= 2;
	return width;
}

/* Give a column a place in the records, if there is one. */
static void
add_column(GcRecords *r, const GcDirectory *dir, i16 dir_column)
{
	const u32	width = widest(&dir->columns[dir_column]);
	const u32	bytes = (u32) ((1u << width) - 1);

	if (width == 0 || r->ncolumns == GC_MAX_RECORD_COLUMNS)
		return;
	for (u32 at = 0; at < GC_RECORD_BYTES; at += width)
	{
		if (r->taken & bytes << at)
			continue;
		if (!gc_derived_lay_out(&r->column[r->ncolumns].column, dir, 0, r->data + at, GC_RECORD_BYTES))
			return;
		r->taken |= bytes << at;
		r->column[r->ncolumns++].dir_column = dir_column;
		return;
	}
}

/* Call for the directory's columns that the run's kernel over marks can read in records. */
static void
each_column(const GcRun *run, void (*call) (void *arg, int column, i16 dir_column), void *arg)
{
	const GcPipelineKernel *k = run->share->scan_shape->marked;
	int			n = 0;

	for (int i = 0; i < k->nwords; i++)
		n += k->words[i].type == GC_ARG_COLUMN && k->words[i].part == GC_COLUMN_RECORDS;
	for (int i = 0; i < k->nwords && n >= GC_LEAST_RECORD_COLUMNS; i++)
	{
		const GcArgWord *w = &k->words[i];

		if (w->type == GC_ARG_COLUMN && w->part == GC_COLUMN_RECORDS && run->share->scan_shape->columns[w->index] >= 0)
			call(arg, w->index, run->share->scan_shape->columns[w->index]);
	}
}

/* What each_column's callees work on. */
typedef struct RecordScan
{
	GcRecords  *r;
	const GcDirectory *dir;
	GcRun	   *run;
	u32			body;			/* of that run, one bit */
	bool		any;			/* a column of it is in records */
	u32			readers[GC_MAX_RECORD_COLUMNS];
} RecordScan;

static void
want_column(void *arg, int column, i16 dir_column)
{
	RecordScan *s = arg;

	if (column_number(s->r, dir_column) < 0)
		add_column(s->r, s->dir, dir_column);
}

static void
read_column(void *arg, int column, i16 dir_column)
{
	RecordScan *s = arg;
	int			i = column_number(s->r, dir_column);

	if (i < 0)
		return;
	s->any = true;
	s->readers[i] |= s->body;
	s->run->share->records[column] = s->r->column[i].column.cols;
}

/*-------------------------------------------------------------------------
 * Scans
 *-------------------------------------------------------------------------
 */

/* On device host rows are read one after another, so that only tests want records. */
static bool
are_wanted(void)
{
	bool		failed;
	GcError		err;

	return gc_enable_row_records && gc_record_writer(&err, &failed) != NULL &&
		(!gc_worker.profile.scalar || gc_marks_forced());
}

static GcRecords *
lay_out(const GcDirectory *dir)
{
	GcAddr		data = gc_device_alloc_spare(Max(gc_derived_rows(dir) * GC_RECORD_BYTES, 1));
	GcRecords  *r;

	if (data == 0)
		return NULL;
	r = MemoryContextAllocZero(TopMemoryContext, sizeof(GcRecords));
	r->data = data;
	return r;
}

void
gc_records_reserve(GcScanMembers *scan)
{
	GcScanSet  *set = scan->run[0]->share->scan_shape->set;
	RecordScan	s = {.dir = scan->run[0]->request->inputs[scan->run[0]->main->input].dir};

	if (!are_wanted())
		return;
	if (set->records == NULL)
		set->records = lay_out(s.dir);
	s.r = set->records;
	if (s.r == NULL)
		return;
	for (int m = 0; m < scan->n; m++)
		each_column(scan->run[m], want_column, &s);
	scan->launch->share->records = s.r;
	s.r->users++;
}

GcCode
gc_records_write(GcScanMembers *scan)
{
	RecordScan	s = {.r = scan->launch->share->records};
	bool		failed;
	GcCode		code = GC_OK;

	if (s.r == NULL)
		return GC_OK;
	for (int m = 0; m < scan->n; m++)
	{
		s.run = scan->run[m];
		s.body = 1u << scan->body[m];
		s.run->share->records = MemoryContextAllocZero(s.run->cxt, (s.run->p->ncolumns + 1) * sizeof(GcAddr));
		s.any = false;
		each_column(s.run, read_column, &s);
		pg_atomic_fetch_add_u64(&gc_stats()->record_scans, s.any);
	}
	for (int i = 0; i < s.r->ncolumns && code == GC_OK; i++)
	{
		GcArgs		args = {.w[0] = gc_scan_column(scan, s.r->column[i].dir_column)};

		if (s.readers[i] != 0)
			code = gc_derived_write(scan, &s.r->column[i].column, s.readers[i],
									gc_record_writer(scan->err, &failed), &args, GC_RECORD_WRITER_WORDS);
	}
	return code;
}
