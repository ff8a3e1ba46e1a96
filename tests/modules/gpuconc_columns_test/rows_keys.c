/*-------------------------------------------------------------------------
 *
 * rows_keys.c
 *	  A test of rows_key.h: pairs of states have equal keys if, and only if, they read equal rows.
 *
 * A state is drawn as the rows that are seen.  It is then represented in a way that is drawn, too: put
 * together anew, or as a base with an amendment, of one table or of several.  That is done by the code
 * that does so for requests.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "columns/serve/combined.h"
#include "columns/serve/rows_key.h"
#include "columns/serve/serving.h"
#include "columns/store/directory.h"

#include "gpuconc_columns_test.h"

PG_FUNCTION_INFO_V1(gpuconc_columns_test_rows_keys);

#define MAX_CHUNKS	6
#define MAX_PARTS	3
#define MAX_ROWS	48			/* of a chunk */

/* Rows that a request reads.  Bit r of seen[c]: row r of chunk c. */
typedef struct State
{
	uint64		id;
	uint32		nchunks;
	uint32		nheap;
	uint32		nrows[MAX_CHUNKS];
	uint64		seen[MAX_CHUNKS];
} State;

static uint64 random_state;

/* Below n. */
static uint32
draw(uint32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32) ((random_state >> 32) % n);
}

static uint64
draw_bits(void)
{
	const uint64 some = (uint64) draw(PG_UINT32_MAX) << 32 | draw(PG_UINT32_MAX);

	return draw(2) ? some : some & ((uint64) draw(PG_UINT32_MAX) << 32 | draw(PG_UINT32_MAX));
}

static uint64
all_rows(uint32 n)
{
	return (UINT64CONST(1) << n) - 1;
}

/*-------------------------------------------------------------------------
 * States
 *-------------------------------------------------------------------------
 */
static void
draw_state(State *state)
{
	memset(state, 0, sizeof(State));
	state->id = 1 + draw(1000);
	state->nchunks = 1 + draw(MAX_CHUNKS);
	state->nheap = draw(state->nchunks + 1);
	for (uint32 c = 0; c < state->nchunks; c++)
	{
		state->nrows[c] = draw(8) ? 1 + draw(MAX_ROWS) : 0;
		state->seen[c] = draw(4) == 0 ? all_rows(state->nrows[c]) : draw(4) == 0 ? 0 : ~draw_bits() & all_rows(state->nrows[c]);
	}
}

/* Change something small, which may leave all as it was. */
static void
change_state(State *state)
{
	const uint32 c = draw(state->nchunks);
	const uint32 d = draw(state->nchunks);
	const uint64 seen = state->seen[c];
	const uint64 page = UINT64CONST(0xff) << draw(MAX_ROWS);

	switch (draw(7))
	{
		case 0:
			state->seen[c] ^= UINT64CONST(1) << draw(MAX_ROWS);
			break;
		case 1:
			state->seen[c] ^= page;
			break;
		case 2:
			state->seen[c] = ~seen;
			break;
		case 3:
			state->seen[c] = draw(2) ? seen << 1 : seen >> 1;
			break;
		case 4:
			state->seen[c] = state->seen[d];
			state->seen[d] = seen;
			break;
		case 5:
			state->seen[c] = draw(2) ? 0 : ~UINT64CONST(0);
			break;
		default:
			state->id++;
			break;
	}
	state->seen[c] &= all_rows(state->nrows[c]);
	state->seen[d] &= all_rows(state->nrows[d]);
}

static bool
reads_the_same(const State *a, const State *b)
{
	return a->id == b->id && memcmp(a->seen, b->seen, sizeof(a->seen)) == 0;
}

/*-------------------------------------------------------------------------
 * Representations
 *-------------------------------------------------------------------------
 */
static GcDirectory *
make_directory(const State *state)
{
	const Size	size = gc_directory_size(state->nchunks, 0);
	const GcRelKey key = {0};
	GcDirectory *dir = palloc(size);

	gc_directory_init(dir, size, state->id, &key, state->nchunks, state->nheap, 0);
	for (uint32 c = 0; c < state->nchunks; c++)
		dir->facts[c].nrows = state->nrows[c];
	return dir;
}

/* Put together anew; one by one, or rows that follow each other at once. */
static void
serve_anew(const State *state, GcServed *served)
{
	const bool	singly = draw(2);

	memset(served, 0, sizeof(GcServed));
	served->chunks = palloc((state->nchunks + 1) * sizeof(GcServedChunk));
	for (uint32 c = 0; c < state->nchunks; c++)
	{
		GcHoles		holes = {0};

		for (uint32 row = 0; row < state->nrows[c];)
		{
			uint32		end = row;

			while (end < state->nrows[c] && !(state->seen[c] >> end & 1) && (end == row || !singly))
				end++;
			gc_add_hole(&holes, row, end);
			row = Max(end, row + 1);
		}
		gc_append_chunk(served, c, state->nrows[c], &holes);
	}
}

/* Holes, apart from each other, of all rows that the base sees in excess, and perhaps of others. */
static void
draw_amendment(const State *base, const State *state, GcAmendment *a)
{
	memset(a, 0, sizeof(GcAmendment));
	a->holes = palloc(MAX_CHUNKS * MAX_ROWS * sizeof(GcAmendedHole));
	for (uint32 c = 0; c < state->nchunks; c++)
	{
		const uint64 gone = ~state->seen[c] & (base->seen[c] | draw_bits()) & all_rows(state->nrows[c]);

		for (uint32 row = 0; row < state->nrows[c]; row++)
		{
			if (!(gone >> row & 1))
				continue;
			if (row > 0 && (gone >> (row - 1) & 1))
				a->holes[a->nholes - 1].hole.to++;
			else
				a->holes[a->nholes++] = (GcAmendedHole) {c, {row, row + 1}};
		}
	}
}

/* A base that sees more, amended. */
static void
serve_amended(const State *state, const GcDirectory *dir, GcServed *served)
{
	State		more = *state;
	GcBase	   *base = palloc0(sizeof(GcBase));
	GcAmendment a;

	for (uint32 c = 0; c < state->nchunks; c++)
		more.seen[c] |= draw(2) ? draw_bits() & draw_bits() & all_rows(state->nrows[c]) : 0;
	serve_anew(&more, &base->served);
	if (draw(2))
	{
		for (uint32 k = 0; k < base->served.nchunks; k++)
			base->served.chunks[k].holes_hash = gc_holes_hash(&base->served.chunks[k]);
	}
	draw_amendment(&more, state, &a);
	gc_amend(dir, base, &a, served);
}

static GcDirectory *
serve_table(const State *state, GcServed *served)
{
	GcDirectory *dir = make_directory(state);

	if (draw(3))
		serve_amended(state, dir, served);
	else
		serve_anew(state, served);
	return dir;
}

/* As several tables, of which each has some of the chunks, or none. */
static GcDirectory *
serve_combined(const State *state, GcServed *served)
{
	const GcDirectory *dirs[MAX_PARTS];
	uint32		first_chunks[MAX_PARTS];
	GcServed	parts[MAX_PARTS];
	GcCombination c = {.id = state->id,.nparts = 1 + draw(MAX_PARTS),.dirs = dirs,.first_chunks = first_chunks};
	GcDirectory *dir;
	uint32		at = 0;

	for (int i = 0; i < c.nparts; i++)
	{
		const uint32 n = i == c.nparts - 1 ? state->nchunks - at : draw(state->nchunks - at + 1);
		State		part = {.id = 1000 + draw(10),.nchunks = n,.nheap = draw(n + 1)};

		memcpy(part.nrows, state->nrows + at, n * sizeof(uint32));
		memcpy(part.seen, state->seen + at, n * sizeof(uint64));
		dirs[i] = serve_table(&part, &parts[i]);
		if (n == 0 && draw(2))
			dirs[i] = NULL;
		at += n;
	}
	dir = gc_combine(&c, palloc(gc_combined_size(&c)));
	memset(served, 0, sizeof(GcServed));
	served->chunks = palloc((state->nchunks + 1) * sizeof(GcServedChunk));
	for (int i = 0; i < c.nparts; i++)
		gc_combine_served(served, &parts[i], first_chunks[i]);
	return dir;
}

/* The state's key, in a representation that is drawn; has it edits? */
static GcHash
key_of(const State *state, bool *edited)
{
	GcServed	served;
	GcDirectory *dir = (draw(2) ? serve_table : serve_combined) (state, &served);

	*edited = false;
	for (uint32 k = 0; k < served.nchunks; k++)
		*edited |= served.chunks[k].nedits > 0;
	if (gc_rows_key(dir, &served, 1).h[0] != 0)
		elog(ERROR, "a reader of a delta has a key");
	return gc_rows_key(dir, &served, 0);
}

/*-------------------------------------------------------------------------
 * Pairs
 *-------------------------------------------------------------------------
 */
static char *
show(const State *state)
{
	char	   *text = psprintf("directory " UINT64_FORMAT ":", state->id);

	for (uint32 c = 0; c < state->nchunks; c++)
		text = psprintf("%s " UINT64_FORMAT "/%u", text, state->seen[c], state->nrows[c]);
	return text;
}

/* How many pairs read the same, how many do not, and in how many of the former only one has edits. */
Datum
gpuconc_columns_test_rows_keys(PG_FUNCTION_ARGS)
{
	const int64 pairs = PG_GETARG_INT64(0);
	int64		same = 0;
	int64		edited = 0;
	Datum		values[3];
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "pair", ALLOCSET_DEFAULT_SIZES);

	columns_test_require_superuser();
	random_state = 88172645463325252ull;
	for (int64 i = 0; i < pairs; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);
		bool		edits[2];
		bool		equal;
		State		a;
		State		b;
		GcHash		key[2];

		CHECK_FOR_INTERRUPTS();
		draw_state(&a);
		b = a;
		if (draw(3))
			change_state(&b);
		key[0] = key_of(&a, &edits[0]);
		key[1] = key_of(&b, &edits[1]);
		equal = memcmp(&key[0], &key[1], sizeof(GcHash)) == 0;
		if (equal != reads_the_same(&a, &b))
			elog(ERROR, "pair " INT64_FORMAT " has %s keys: %s; %s", i, equal ? "equal" : "different", show(&a), show(&b));
		same += equal;
		edited += equal && edits[0] != edits[1];
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
	}
	MemoryContextDelete(cxt);
	values[0] = Int64GetDatum(same);
	values[1] = Int64GetDatum(pairs - same);
	values[2] = Int64GetDatum(edited);
	return columns_test_a_row(fcinfo, values);
}
