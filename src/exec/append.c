/*-------------------------------------------------------------------------
 *
 * append.c
 *	  Append inputs: the tables of a partitioned table, an inheritance tree or a UNION
 *	  ALL, whose chunks are read as those of one.
 *
 * Each table is opened, loaded and judged for itself (gather.c).  Then their directories
 * are put together (columns/serve/combined.c), so that all that follows sees one table.
 * What is read as delta, of all of them, is one private chunk.
 *
 * A combined directory has all columns that the tables have cached, not only those that
 * are read.  So statements that read different columns have the same one, with the same
 * id, and share tables that are kept by it.
 *
 * Runs in backends, under the guard of the request slot.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "../columns/store/store.h"
#include "../program/hash.h"

/* More cells than this are not made for columns that are not read. */
#define MAX_CELLS	(1 << 16)

/* A table has the column, but cannot serve it. */
#define COLUMN_BAD	(-100)

/* The column of a part's directory that is the input's column attno, as in GcCombination. */
static int
part_column(const GcScanState *node, const GcInputState *part, const GcPlanPart *pp, int attno)
{
	int16		attnum = GC_PLAN_ATTNUMS(node->plan)[pp->first_attnum + attno - 1];

	if (attnum <= 0)
		return attnum == GC_ATTNUM_PART ? GC_COMBINED_NUMBER : GC_COMBINED_ABSENT;
	for (uint32 c = 0; c < part->dir->ncolumns; c++)
	{
		if (part->dir->columns[c].spec.attnum == attnum)
			return part->dir->columns[c].problem == GC_COL_OK ? (int) c : COLUMN_BAD;
	}
	return COLUMN_BAD;
}

/* Which of the input's columns does the program read? */
static bool *
columns_read(const GcScanState *node, const GcInputState *in, int natts)
{
	bool	   *read = palloc0((natts + 1) * sizeof(bool));

	for (int c = 0; c < in->ncols; c++)
		read[gc_columns(node->logical)[in->first + c].attnum] = true;
	return read;
}

/* Add a column to the combination, if every part with chunks has it, of one kind. */
static bool
add_column(const GcScanState *node, GcInputState *in, const GcPlanPart *pp, int attno, int *columns, int stride)
{
	const GcColSpec *spec = NULL;

	for (int i = 0; i < in->nparts; i++)
	{
		GcInputState *part = &in->parts[i];
		const GcColSpec *other;

		columns[i * stride] = GC_COMBINED_ABSENT;
		if (part->dir == NULL)
			continue;
		columns[i * stride] = part_column(node, part, &pp[i], attno);
		if (columns[i * stride] == COLUMN_BAD)
			return false;
		if (columns[i * stride] < 0)
			continue;
		other = &part->dir->columns[columns[i * stride]].spec;
		if (spec && (spec->kind != other->kind || spec->rtrim != other->rtrim))
			return false;
		spec = other;
	}
	return true;
}

/* Have the dictionaries of a text column one behind another. */
static GcCode
concatenate(GcInputState *in, int column, int stride, const int *columns, bool rtrim, uint32 *first_codes,
			GcDictView **result, GcError *err)
{
	const GcDictView **views = palloc((in->nparts + 1) * sizeof(GcDictView *));
	uint32	   *first = palloc((in->nparts + 1) * sizeof(uint32));
	uint64		total = 0;

	for (int i = 0; i < in->nparts; i++)
	{
		const GcDirectory *dir = in->parts[i].dir;

		views[i] = gc_dict_view(dir && columns[i * stride + column] >= 0
								? dir->columns[columns[i * stride + column]].state : NULL, rtrim);
		total += gc_dict_count(views[i]);
	}
	if (total > GC_DICT_MAX_VALUES)
		return gc_fail(err, GC_NOT_CACHEABLE, "A text column has too many values in all tables together.");
	*result = gc_dict_concatenated(views, in->nparts, rtrim, first);
	for (int i = 0; i < in->nparts; i++)
		first_codes[i * stride + column] = first[i];
	return GC_OK;
}

static GcCode
choose_columns(GcScanState *node, GcInputState *in, const GcPlanInput *pin, GcCombination *c, int *columns,
			   uint32 *first_codes, int16 *attnos, GcError *err)
{
	const GcPlanPart *pp = &GC_PLAN_PARTS(node->plan)[pin->first_part];
	const int	stride = pin->natts;
	bool	   *read = columns_read(node, in, pin->natts);
	uint64		nchunks = 0;
	GcCode		code = GC_OK;
	int		   *place = palloc0((pin->natts + 1) * sizeof(int));

	for (int i = 0; i < in->nparts; i++)
		nchunks += in->parts[i].dir ? in->parts[i].dir->nchunks : 0;
	for (int a = 1; a <= pin->natts && code == GC_OK; a++)
	{
		const int	n = c->ncolumns;
		GcDictView *dict = NULL;

		/* A column without a name in the query is another column in each query. */
		if (!read[a] && GC_PLAN_ATTNUMS(node->plan)[pp->first_attnum + a - 1] <= 0)
			continue;
		if (!read[a] && nchunks * pin->natts > MAX_CELLS)
			continue;
		if (!add_column(node, in, pp, a, columns + n, stride))
			continue;
		for (int i = 0; i < in->nparts && dict == NULL && code == GC_OK; i++)
		{
			const GcDirectory *dir = in->parts[i].dir;

			if (dir && columns[i * stride + n] >= 0 && GC_KIND_IS_CODE(dir->columns[columns[i * stride + n]].spec.kind))
				code = concatenate(in, n, stride, columns, dir->columns[columns[i * stride + n]].spec.rtrim,
								   first_codes, &dict, err);
		}
		place[a] = ++c->ncolumns;
		attnos[n] = a;
		for (int k = 0; k < in->ncols; k++)
		{
			if (gc_columns(node->logical)[in->first + k].attnum == a)
				in->dicts[k] = dict;
		}
	}
	for (int k = 0; k < in->ncols; k++)
		in->dir_column[k] = place[gc_columns(node->logical)[in->first + k].attnum] - 1;
	return code;
}

/* The matrix with rows of `stride` columns, as one with rows of n. */
static void
narrow(void *matrix, int nrows, int stride, int n, Size width)
{
	for (int i = 1; i < nrows; i++)
		memmove((char *) matrix + (Size) i * n * width, (char *) matrix + (Size) i * stride * width, n * width);
}

/* Have the cells of columns that are one value. */
static bool
have_zeros(GcCombination *c)
{
	for (int i = 0; i < c->nparts * c->ncolumns; i++)
	{
		if (c->columns[i] < 0)
			return (c->zeros = gc_store_zeros()) != NULL;
	}
	return true;
}

/* Equal hashes, equal combined directories. */
static uint64
combination_id(const GcCombination *c, const int16 *attnos)
{
	uint64	   *ids = palloc((c->nparts + 1) * sizeof(uint64));
	GcHash		h[3];
	GcHash		all;

	for (int i = 0; i < c->nparts; i++)
		ids[i] = c->dirs[i] ? c->dirs[i]->id : 0;
	h[0] = gc_hash_bytes(ids, c->nparts * sizeof(uint64), c->ncolumns);
	h[1] = gc_hash_bytes(c->columns, c->nparts * c->ncolumns * sizeof(int), h[0].h[0]);
	h[2] = gc_hash_bytes(c->first_codes, c->nparts * c->ncolumns * sizeof(uint32), h[0].h[1]);
	all = gc_hash_bytes(h, sizeof(h), c->key.relid);
	all.h[1] ^= gc_hash_bytes(attnos, c->ncolumns * sizeof(int16), c->key.dbid).h[0];
	return gc_store_combined_id((uint64 *) all.h);
}

/* Chunks that are served of the input: the parts' by their new numbers. */
static void
combine_served(GcInputState *in)
{
	GcServed   *all = &in->served;
	uint32		n = 0;

	memset(all, 0, sizeof(*all));
	for (int i = 0; i < in->nparts; i++)
		n += in->parts[i].served.nchunks;
	all->chunks = palloc((n + 1) * sizeof(GcServedChunk));
	for (int i = 0; i < in->nparts; i++)
		gc_combine_served(all, &in->parts[i].served, in->combination.first_chunks[i]);
}

/* Without chunks there are only the texts of the delta. */
static void
lack_dictionaries(GcInputState *in)
{
	for (int c = 0; c < in->ncols; c++)
	{
		if (GC_KIND_IS_CODE(in->specs[c].kind))
			in->dicts[c] = gc_dict_view(NULL, in->specs[c].rtrim);
	}
}

GcCode
gc_append_combine(GcScanState *node, int input, GcError *err)
{
	GcInputState *in = &node->inputs[input];
	const GcPlanInput *pin = &node->plan->inputs[input];
	GcCombination *c = &in->combination;
	const Size	cells = (Size) in->nparts * Max(pin->natts, 1);
	int		   *columns = palloc0(cells * sizeof(int));
	uint32	   *first_codes = palloc0(cells * sizeof(uint32));
	int16	   *attnos = palloc0((pin->natts + 1) * sizeof(int16));
	GcCode		code;
	bool		any = false;

	*c = (GcCombination) {.nparts = in->nparts,.columns = columns,.first_codes = first_codes};
	c->dirs = palloc0((in->nparts + 1) * sizeof(GcDirectory *));
	c->first_chunks = palloc0((in->nparts + 1) * sizeof(uint32));
	for (int i = 0; i < in->nparts; i++)
	{
		c->dirs[i] = in->parts[i].dir;
		any |= c->dirs[i] != NULL;
	}
	lack_dictionaries(in);
	in->dir = NULL;
	if (any)
	{
		code = choose_columns(node, in, pin, c, columns, first_codes, attnos, err);
		if (code != GC_OK)
			return code;
		narrow(columns, in->nparts, pin->natts, c->ncolumns, sizeof(int));
		narrow(first_codes, in->nparts, pin->natts, c->ncolumns, sizeof(uint32));
		c->key = (GcRelKey) {.dbid = MyDatabaseId,
		.relid = OidIsValid(pin->relid) ? pin->relid : RelationGetRelid(in->parts[0].rel)};
		c->id = combination_id(c, attnos);
		if (!have_zeros(c))
			return gc_fail(err, GC_CACHE_FULL, "There is no room for a column of zeros.");
		in->dir = gc_combine(c, palloc(gc_combined_size(c)));
	}
	combine_served(in);
	return GC_OK;
}

Size
gc_append_size(const GcInputState *in)
{
	return in->nparts > 0 && in->dir ? gc_combined_size(&in->combination) : 0;
}

const GcDirectory *
gc_append_write(const GcInputState *in, void *memory)
{
	return gc_combine(&in->combination, memory);
}
