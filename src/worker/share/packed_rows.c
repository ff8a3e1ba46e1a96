/*-------------------------------------------------------------------------
 *
 * packed_rows.c
 *	  Packed rows (codegen/kernel/packed_rows.c): which columns of a table are in them, and their
 *	  memory.
 *
 * Some kernels over selection bitmaps read several columns of a row.  These columns are put into
 * packed rows as the kernels come, as long as there is room; no column ever moves.  The first
 * scan whose requests read a column's chunk writes it.
 *
 * Packed rows are optional, as group-coded columns are.  They take free memory and are evicted
 * before their table's columns.  Kernels do without them where they are missing.
 *
 * The worker's main thread.  A set holds a reference to its packed rows; a launch holds one to
 * those that its kernels read.
 *
 *-------------------------------------------------------------------------
 */
#include "packed_rows.h"

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
packed_rows_free(GcPackedRows *r)
{
	gc_device_free(r->data);
	for (int i = 0; i < r->ncolumns; i++)
		gc_derived_free(&r->column[i].column);
	pfree(r);
}

void
gc_packed_rows_release(GcPackedRows *r)
{
	if (--r->users == 0 && r->dropped)
		packed_rows_free(r);
}

void
gc_packed_rows_forget(GcScanSet *set)
{
	GcPackedRows  *r = set->packed_rows;

	set->packed_rows = NULL;
	if (r == NULL)
		return;
	r->dropped = true;
	if (r->users == 0)
		packed_rows_free(r);
}

/* Give back the packed rows' memory.  They are written again when memory is to spare. */
bool
gc_packed_rows_evict(GcScanSet *set)
{
	if (set->packed_rows == NULL || set->packed_rows->users > 0)
		return false;
	gc_packed_rows_forget(set);
	return true;
}

/*-------------------------------------------------------------------------
 * Columns
 *-------------------------------------------------------------------------
 */

static int
column_number(const GcPackedRows *r, i16 dir_column)
{
	for (int i = 0; i < r->ncolumns; i++)
	{
		if (r->column[i].dir_column == dir_column)
			return i;
	}
	return -1;
}

/* Largest width of a column's codes; 0: it has none. */
static u32
widest(const GcDirColumn *c)
{
	u32			width = 8;

	while (width > 0 && !(c->widths & width))
		width /= 2;
	return width;
}

/* Give a column its bytes in the packed rows, if there is room. */
static void
add_column(GcPackedRows *r, const GcDirectory *dir, u32 nchunks, i16 dir_column)
{
	const u32	width = widest(&dir->columns[dir_column]);
	const u32	bytes = (u32) ((1u << width) - 1);

	if (width == 0 || r->ncolumns == GC_MAX_PACKED_ROW_COLUMNS)
		return;
	for (u32 at = 0; at < GC_PACKED_ROW_BYTES; at += width)
	{
		if (r->taken & bytes << at)
			continue;
		if (!gc_derived_lay_out(&r->column[r->ncolumns].column, dir, nchunks, 0, r->data + at,
								GC_PACKED_ROW_BYTES))
			return;
		r->taken |= bytes << at;
		r->column[r->ncolumns++].dir_column = dir_column;
		return;
	}
}

/*
 * Call for the directory's columns that the run's kernel over its selection bitmap can read in
 * packed rows.
 */
static void
each_column(const GcRun *run, void (*call) (void *arg, int column, i16 dir_column), void *arg)
{
	const GcPipelineKernel *k = run->schedule.share->scan_shape->selection;
	int			n = 0;

	for (int i = 0; i < k->nwords; i++)
		n += k->words[i].type == GC_ARG_COLUMN && k->words[i].part == GC_COLUMN_PACKED_ROWS;
	for (int i = 0; i < k->nwords && n >= GC_LEAST_PACKED_ROW_COLUMNS; i++)
	{
		const GcArgWord *w = &k->words[i];

		if (w->type == GC_ARG_COLUMN && w->part == GC_COLUMN_PACKED_ROWS && run->schedule.share->scan_shape->columns[w->index] >= 0)
			call(arg, w->index, run->schedule.share->scan_shape->columns[w->index]);
	}
}

/* What each_column's callees work on. */
typedef struct PackedRowScan
{
	GcPackedRows  *r;
	const GcDirectory *dir;
	u32			nchunks;		/* of it, which the scan may read */
	GcRun	   *run;
	u32			member_no;		/* of that run, one bit */
	bool		any;			/* whether one of its columns is in packed rows */
	u32			readers[GC_MAX_PACKED_ROW_COLUMNS];
} PackedRowScan;

static void
want_column(void *arg, int column, i16 dir_column)
{
	PackedRowScan *s = arg;

	if (column_number(s->r, dir_column) < 0)
		add_column(s->r, s->dir, s->nchunks, dir_column);
}

static void
read_column(void *arg, int column, i16 dir_column)
{
	PackedRowScan *s = arg;
	int			i = column_number(s->r, dir_column);

	if (i < 0)
		return;
	s->any = true;
	s->readers[i] |= s->member_no;
	s->run->schedule.share->packed_rows[column] = s->r->column[i].column.cols;
}

/*-------------------------------------------------------------------------
 * Scans
 *-------------------------------------------------------------------------
 */

/*
 * On device host rows are read one after another, so packed rows help nothing there; only tests
 * want them.
 */
static bool
are_wanted(void)
{
	bool		failed;
	GcError		err;

	return gc_debug_packed_rows && gc_packed_row_writer(&err, &failed) != NULL &&
		(!gc_worker.profile.scalar || gc_selection_forced());
}

static GcPackedRows *
lay_out(const GcDirectory *dir, u32 nchunks)
{
	GcAddr		data = gc_device_alloc_spare(Max(gc_derived_rows(dir, nchunks) * GC_PACKED_ROW_BYTES, 1), true);
	GcPackedRows  *r;

	if (data == 0)
		return NULL;
	gc_device_label(data, GC_MEMORY_COLUMNS);
	r = MemoryContextAllocZero(TopMemoryContext, sizeof(GcPackedRows));
	r->data = data;
	return r;
}

void
gc_packed_rows_reserve(GcScanMembers *scan)
{
	GcScanSet  *set = scan->run[0]->schedule.share->scan_shape->set;
	PackedRowScan	s = {.dir = scan->run[0]->request->inputs[scan->run[0]->main->input].dir,
	.nchunks = scan->run[0]->schedule.scan_chunks};

	if (!are_wanted())
		return;
	if (set->packed_rows == NULL)
		set->packed_rows = lay_out(s.dir, s.nchunks);
	s.r = set->packed_rows;
	if (s.r == NULL)
		return;
	for (int m = 0; m < scan->n; m++)
		each_column(scan->run[m], want_column, &s);
	scan->launch->share->packed_rows = s.r;
	s.r->users++;
}

GcCode
gc_packed_rows_write(GcScanMembers *scan)
{
	PackedRowScan	s = {.r = scan->launch->share->packed_rows};
	bool		failed;
	GcCode		code = GC_OK;

	if (s.r == NULL)
		return GC_OK;
	for (int m = 0; m < scan->n; m++)
	{
		s.run = scan->run[m];
		s.member_no = 1u << scan->member_no[m];
		s.run->schedule.share->packed_rows = MemoryContextAllocZero(s.run->cxt, (s.run->p->ncolumns + 1) * sizeof(GcAddr));
		s.any = false;
		each_column(s.run, read_column, &s);
		pg_atomic_fetch_add_u64(&gc_stats()->packed_row_scans, s.any);
	}
	for (int i = 0; i < s.r->ncolumns && code == GC_OK; i++)
	{
		GcArgs		args = {.w[0] = gc_scan_column(scan, s.r->column[i].dir_column)};

		if (s.readers[i] != 0)
			code = gc_derived_write(scan, &s.r->column[i].column, s.readers[i],
									gc_packed_row_writer(scan->err, &failed), &args, GC_PACKED_ROW_WRITER_WORDS);
	}
	return code;
}
