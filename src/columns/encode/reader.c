/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Rows of heap pages into an encoder: the inner loops of a load.
 *
 * Runs in backends and loader workers.  A page is copied under its share lock
 * and taken apart afterwards, so that decoding and detoasting never hold it.
 *
 * Tuples are taken apart into one array per wanted column, stopping after the
 * last of them.  Where a tuple has no NULL, the leading attributes of fixed
 * width lie at offsets that are known beforehand.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "../store/columns.h"
#include "../store/dict.h"
#include "encode.h"
#include "reader.h"

/* One attribute on the way to the last wanted one. */
typedef struct GcStep
{
	int16		attlen;
	char		attalign;
	bool		attbyval;
	int			col;			/* wanted column, or -1 */
	int32		offset;			/* in a tuple without NULLs; -1: not fixed */
} GcStep;

struct GcReader
{
	Relation	rel;
	BufferAccessStrategy strategy;
	MemoryContext context;		/* of detoasted values; reset page by page */
	GcEncoder  *encoder;
	int			ncols;
	int			nsteps;
	int			nfixed;			/* leading steps with an offset */
	uint32		fixed_end;		/* offset behind them */
	GcStep	   *steps;
	int			nwanted_fixed;
	GcStep	   *wanted_fixed;	/* the leading steps whose columns are wanted */
	Datum	  **values;			/* per column, MaxHeapTuplesPerPage each */
	bool	  **isnull;
	bool	  **isnull_or_none; /* as isnull, but NULL where the page has none */
	bool	   *has_nulls;		/* per column: some value of this page is NULL */
	PGAlignedBlock page;
};

/* Prepare the way through a tuple. */
static void
plan_steps(GcReader *reader, const GcColSpec *specs)
{
	TupleDesc	desc = RelationGetDescr(reader->rel);
	uint32		offset = 0;
	bool		fixed = true;

	for (int i = 0; i < reader->ncols; i++)
		reader->nsteps = Max(reader->nsteps, specs[i].attnum);
	reader->steps = palloc0(Max(reader->nsteps, 1) * sizeof(GcStep));
	reader->wanted_fixed = palloc0(Max(reader->nsteps, 1) * sizeof(GcStep));

	for (int a = 0; a < reader->nsteps; a++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, a);
		GcStep	   *step = &reader->steps[a];

		step->attlen = att->attlen;
		step->attalign = att->attalign;
		step->attbyval = att->attbyval;
		step->col = -1;
		step->offset = -1;
		for (int i = 0; i < reader->ncols; i++)
		{
			if (specs[i].attnum == a + 1)
				step->col = i;
		}

		fixed = fixed && att->attlen > 0;
		if (fixed)
		{
			step->offset = att_align_nominal(offset, att->attalign);
			offset = step->offset + att->attlen;
			reader->nfixed = a + 1;
			if (step->col >= 0)
				reader->wanted_fixed[reader->nwanted_fixed++] = *step;
		}
	}
	reader->fixed_end = offset;
}

GcReader *
gc_reader_create(Relation rel, int ncols, const GcColSpec *specs)
{
	GcReader   *reader = palloc0(sizeof(GcReader));
	GcDictView **no_dicts = NULL;

	reader->rel = rel;
	reader->strategy = GetAccessStrategy(BAS_BULKREAD);
	reader->context = AllocSetContextCreate(CurrentMemoryContext, "gpuconc page",
											ALLOCSET_DEFAULT_SIZES);
	reader->encoder = gc_encoder_create(ncols, specs, no_dicts, NULL);
	reader->ncols = ncols;
	reader->values = palloc(Max(ncols, 1) * sizeof(Datum *));
	reader->isnull = palloc(Max(ncols, 1) * sizeof(bool *));
	reader->isnull_or_none = palloc(Max(ncols, 1) * sizeof(bool *));
	reader->has_nulls = palloc(Max(ncols, 1) * sizeof(bool));
	for (int i = 0; i < ncols; i++)
	{
		reader->values[i] = palloc(MaxHeapTuplesPerPage * sizeof(Datum));
		reader->isnull[i] = palloc(MaxHeapTuplesPerPage * sizeof(bool));
	}
	plan_steps(reader, specs);
	return reader;
}

/* The encoder that rows are added to; the reader owns it. */
GcEncoder *
gc_reader_encoder(GcReader *reader)
{
	return reader->encoder;
}

/* A value of the page that is being read. */
static inline void
put(GcReader *reader, int col, uint32 row, Datum value, bool isnull)
{
	reader->values[col][row] = value;
	reader->isnull[col][row] = isnull;
	if (isnull)
		reader->has_nulls[col] = true;
}

/* Walk from step `first`, at `offset`, to the last step that the tuple has. */
static inline void
walk(GcReader *reader, HeapTupleHeader tuple, uint32 row, int first, int natts,
	 uint32 offset, bool hasnulls)
{
	char	   *data = (char *) tuple + tuple->t_hoff;

	for (int a = first; a < natts; a++)
	{
		const GcStep *step = &reader->steps[a];

		if (hasnulls && att_isnull(a, tuple->t_bits))
		{
			if (step->col >= 0)
				put(reader, step->col, row, (Datum) 0, true);
			continue;
		}
		offset = att_align_pointer(offset, step->attalign, step->attlen, data + offset);
		if (step->col >= 0)
			put(reader, step->col, row,
				fetch_att(data + offset, step->attbyval, step->attlen), false);
		offset = att_addlength_pointer(offset, step->attlen, data + offset);
	}
}

/* Columns added after the tuple was written: their default, or NULL. */
static void
add_missing(GcReader *reader, uint32 row, int natts)
{
	for (int a = natts; a < reader->nsteps; a++)
	{
		if (reader->steps[a].col >= 0)
		{
			bool		isnull;
			Datum		value = getmissingattr(RelationGetDescr(reader->rel), a + 1, &isnull);

			put(reader, reader->steps[a].col, row, value, isnull);
		}
	}
}

/* Take the wanted columns out of a tuple.  Those of fixed place are found without a walk. */
static inline void
take_apart(GcReader *reader, HeapTupleHeader tuple, uint32 row)
{
	int			natts = Min(HeapTupleHeaderGetNatts(tuple), reader->nsteps);

	if ((tuple->t_infomask & HEAP_HASNULL) || natts < reader->nfixed)
		walk(reader, tuple, row, 0, natts, 0, (tuple->t_infomask & HEAP_HASNULL) != 0);
	else
	{
		char	   *data = (char *) tuple + tuple->t_hoff;

		for (int i = 0; i < reader->nwanted_fixed; i++)
		{
			const GcStep *step = &reader->wanted_fixed[i];

			put(reader, step->col, row,
				fetch_att(data + step->offset, step->attbyval, step->attlen), false);
		}
		walk(reader, tuple, row, reader->nfixed, natts, reader->fixed_end, false);
	}
	if (unlikely(natts < reader->nsteps))
		add_missing(reader, row, natts);
}

/* Copy a page under its lock; false if it is not all-visible. */
static bool
copy_visible_page(GcReader *reader, BlockNumber blkno, XLogRecPtr *lsn)
{
	Buffer		buffer = ReadBufferExtended(reader->rel, MAIN_FORKNUM, blkno,
											RBM_NORMAL, reader->strategy);
	Page		page = BufferGetPage(buffer);
	bool		ok;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	ok = PageIsAllVisible(page);
	*lsn = BufferGetLSNAtomic(buffer);
	if (ok)
		memcpy(reader->page.data, page, BLCKSZ);
	UnlockReleaseBuffer(buffer);
	return ok;
}

XLogRecPtr
gc_reader_copy_page(GcReader *reader, BlockNumber blkno, Buffer *buffer)
{
	XLogRecPtr	lsn;

	*buffer = ReadBuffer(reader->rel, blkno);
	LockBuffer(*buffer, BUFFER_LOCK_SHARE);
	lsn = BufferGetLSNAtomic(*buffer);
	memcpy(reader->page.data, BufferGetPage(*buffer), BLCKSZ);
	UnlockReleaseBuffer(*buffer);
	return lsn;
}

bool
gc_reader_page_is_new(GcReader *reader)
{
	return PageIsNew((Page) reader->page.data);
}

OffsetNumber
gc_reader_last_offset(GcReader *reader)
{
	Page		page = (Page) reader->page.data;

	return PageIsNew(page) ? InvalidOffsetNumber : PageGetMaxOffsetNumber(page);
}

HeapTupleHeader
gc_reader_tuple(GcReader *reader, OffsetNumber offset)
{
	Page		page = (Page) reader->page.data;
	ItemId		item = PageGetItemId(page, offset);

	return ItemIdIsNormal(item) ? (HeapTupleHeader) PageGetItem(page, item) : NULL;
}

void
gc_reader_add_tuples(GcReader *reader, const OffsetNumber *offsets, uint32 n)
{
	MemoryContext old;

	memset(reader->has_nulls, 0, reader->ncols * sizeof(bool));
	for (uint32 i = 0; i < n; i++)
		take_apart(reader, gc_reader_tuple(reader, offsets[i]), i);
	for (int c = 0; c < reader->ncols; c++)
		reader->isnull_or_none[c] = reader->has_nulls[c] ? reader->isnull[c] : NULL;

	old = MemoryContextSwitchTo(reader->context);
	gc_encoder_add_rows(reader->encoder, n, reader->values, reader->isnull_or_none);
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->context);
}

bool
gc_reader_add_page(GcReader *reader, BlockNumber blkno, XLogRecPtr *lsn, OffsetNumber *missing,
				   uint32 *nmissing)
{
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	OffsetNumber last;
	uint32		n = 0;

	if (!copy_visible_page(reader, blkno, lsn))
		return false;

	last = gc_reader_last_offset(reader);
	while (last >= FirstOffsetNumber && gc_reader_tuple(reader, last) == NULL)
		last--;
	*nmissing = 0;
	for (OffsetNumber i = FirstOffsetNumber; i <= last; i++)
	{
		if (gc_reader_tuple(reader, i) == NULL)
		{
			missing[(*nmissing)++] = i;
			continue;
		}
		if (n >= MaxHeapTuplesPerPage)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("too many tuples in block %u of relation \"%s\"",
							blkno, RelationGetRelationName(reader->rel))));

		/* All-visible: every tuple that is there at all, and none is dead. */
		offsets[n++] = i;
	}
	gc_reader_add_tuples(reader, offsets, n);
	return true;
}
