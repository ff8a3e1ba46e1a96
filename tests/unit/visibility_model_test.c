/*-------------------------------------------------------------------------
 *
 * visibility_model_test.c
 *	  What snapshots are served of one page, in every order of what can happen to it.
 *
 * A model of one heap page and its bit in the visibility map.  There are writers, VACUUM, loads into a chunk of the heap
 * and into a hot chunk, readers, and a keeper of snapshot fences.  Each does one step at a time; a step is what a lock makes
 * one, or a read without a lock.  All orders of steps are gone through.  A reader is to see what its snapshot sees by the
 * rules of MVCC, which the model knows from the history of all tuples.
 *
 * The steps are those of src/columns: proof.c, fence.h, versions.h and looks.h have the arguments.  Each argument
 * can be left out (GcBreak), and then the model must find an order that goes wrong.
 *
 *-------------------------------------------------------------------------
 */
#include "visibility_model.h"

/*-------------------------------------------------------------------------
 * Readers
 *-------------------------------------------------------------------------
 */
enum
{
	BEGIN, COPY_MAP, JUDGE, LOOK_FOR_FENCE, LOOK, STORE_PROOF, COUNT, HOT, HOT_COUNT, HOT_LOOK, HOT_DONE, READ, END
};

/* The reader has its rows: are they right? */
static void
answer(State *s, int r, uint8_t rows)
{
	if (rows != rows_seen(s, r, s->history, false))
		wrong = true;
	memset(&s->reader[r], 0, sizeof(s->reader[r]));
	s->reader[r].at = END;
}

static void
take_snapshot(State *s, int r)
{
	s->reader[r].xmin = oldest_running(s);
	s->reader[r].xmax = s->next_xid;
	for (uint8_t xid = 1; xid < s->next_xid; xid++)
		s->reader[r].running |= (s->fate[xid] == RUNNING) << xid;
}

static void
copy_map(State *s, int r)
{
	s->reader[r].bit = s->bit;
	s->reader[r].map_lsn = s->map_lsn;
}

static void
raise_since(State *s, uint8_t since)
{
	if (s->hot.since < since)
		s->hot.since = since;
}

static void
judge(State *s, int r)
{
	const bool	bit = s->reader[r].bit || left_out == NO_MAP_BIT;
	const bool	same = s->chunk.proven_lsn == s->reader[r].map_lsn || left_out == NO_MAP_LSN;
	const bool	held = left_out == FENCE_BEFORE_MAP ? s->reader[r].held : fence_held(s, s->chunk.proven_fence);

	s->reader[r].held = 0;
	if (!s->chunk.there || !s->chunk.present)
		s->reader[r].at = COUNT;
	else if (!same && !held)
		s->reader[r].at = LOOK_FOR_FENCE;
	else if (bit)
		answer(s, r, s->chunk.rows);
	else
		s->reader[r].at = COUNT;
}

/* Of a look at the page: it is taken out if it has changed, or its bit is clear. */
static void
store_proof(State *s, int r)
{
	const bool	proven = s->reader[r].done;

	if (!proven)
		s->chunk.present = 0;
	s->chunk.proven_lsn = s->reader[r].map_lsn;
	if (left_out == FENCE_AFTER_LOOK)
		s->reader[r].fence = s->keeper.youngest;
	if (s->reader[r].fence != 0)
		s->chunk.proven_fence = s->reader[r].fence;
	s->reader[r].fence = s->reader[r].done = 0;
	if (proven)
		answer(s, r, s->chunk.rows);
	else
		s->reader[r].at = COUNT;
}

static void
step_reader(State s, int r)
{
	switch (s.reader[r].at)
	{
		case BEGIN:
			if (left_out == MAP_BEFORE_SNAPSHOT || left_out == COUNT_BEFORE_SNAPSHOT)
			{
				copy_map(&s, r);
				s.reader[r].since = s.ended;
			}
			else
				take_snapshot(&s, r);
			s.reader[r].at = COPY_MAP;
			break;
		case COPY_MAP:
			if (left_out == MAP_BEFORE_SNAPSHOT || left_out == COUNT_BEFORE_SNAPSHOT)
				take_snapshot(&s, r);
			if (left_out == FENCE_BEFORE_MAP && !s.reader[r].began)
			{
				s.reader[r].held = fence_held(&s, s.chunk.proven_fence);
				s.reader[r].began = 1;
				break;
			}
			if (left_out != MAP_BEFORE_SNAPSHOT)
				copy_map(&s, r);
			s.reader[r].began = 0;
			s.reader[r].at = JUDGE;
			break;
		case JUDGE:
			judge(&s, r);
			break;
		case LOOK_FOR_FENCE:
			s.reader[r].fence = s.keeper.youngest;
			s.reader[r].at = LOOK;
			break;
		case LOOK:				/* without a lock */
			s.reader[r].done = s.reader[r].bit && (s.page_lsn == s.chunk.page_lsn || left_out == NO_PAGE_LSN);
			s.reader[r].at = STORE_PROOF;
			break;
		case STORE_PROOF:
			store_proof(&s, r);
			break;
		case COUNT:
			s.reader[r].bit = s.reader[r].map_lsn = 0;
			if (!s.hot.there)
				s.reader[r].at = READ;
			else
			{
				if (left_out != COUNT_BEFORE_SNAPSHOT)
					s.reader[r].since = s.ended;
				s.reader[r].at = HOT;
			}
			break;
		case HOT:
			if (s.hot.changed)
				s.reader[r].at = READ;
			else if (s.hot.since >= s.reader[r].since + 1 || left_out == NO_HOT_LSN)
				answer(&s, r, rows_seen(&s, r, s.hot.tuples, left_out == FATE_BEFORE_SNAPSHOT));
			else
				s.reader[r].at = HOT_COUNT;
			break;
		case HOT_COUNT:			/* counts from 1 on, as 0 says that there was no look */
			s.reader[r].began = s.ended + 1;
			s.reader[r].at = HOT_LOOK;
			break;
		case HOT_LOOK:
			if (s.page_lsn != s.hot.page_lsn)
				s.hot.changed = 1;
			s.reader[r].at = HOT_DONE;
			break;
		case HOT_DONE:
			raise_since(&s, left_out == COUNT_AFTER_LOOK ? s.ended + 1 : s.reader[r].began);
			if (s.hot.changed)
				s.reader[r].at = READ;
			else
				answer(&s, r, rows_seen(&s, r, s.hot.tuples, left_out == FATE_BEFORE_SNAPSHOT));
			break;
		case READ:				/* as PostgreSQL does */
			if (s.locked)
				return;
			answer(&s, r, rows_seen(&s, r, s.page, false));
			break;
		default:
			return;
	}
	visit(&s);
}

/*-------------------------------------------------------------------------
 * Scenarios
 *-------------------------------------------------------------------------
 */
static void
step_elsewhere(State s)
{
	if (s.elsewhere)
		return;
	s.elsewhere = 1;
	s.map_lsn++;
	visit(&s);
}

static void
step_all(const State *s)
{
	if (scenario->elsewhere)
		step_elsewhere(*s);
	for (int w = 0; w < scenario->writers; w++)
		step_writer(*s, w);
	step_vacuum(*s);
	if (scenario->load)
		step_load(*s);
	if (scenario->hot)
		step_hot_load(*s);
	step_keeper(*s);
	for (int r = 0; r < scenario->readers; r++)
		step_reader(*s, r);
}

/* Is there an order with a wrong answer? */
static bool
goes_wrong(const Scenario *which, GcBreak without)
{
	State		s;

	scenario = which;
	left_out = without;
	forget_states();
	wrong = false;
	memset(&s, 0, sizeof(s));
	s.page[0] = s.history[0] = (Tuple) {1, 0, 0};
	s.bit = 1;
	s.next_xid = 1;
	s.vacuum.left = which->vacuums;
	s.keeper.rounds = which->rounds;
	visit(&s);
	while (!wrong && take_state(&s))
		step_all(&s);
	return wrong;
}

static const Scenario scenarios[] = {
	{"a chunk of the heap, two writers, VACUUM, two readers", 2, 1, true, false, 0, 2, false, false},
	{"the same where each write moves the map's LSN", 2, 1, true, false, 0, 2, true, true},
	{"a hot chunk, two writers, VACUUM, two readers", 2, 1, false, true, 0, 2, false, false},
	{"both chunks, a writer, VACUUM, two readers", 1, 1, true, true, 0, 2, false, false},
	{"a keeper with four fences, a writer, VACUUM twice, a reader", 1, 2, true, false, 4, 1, true, false},
	{"a keeper with a fence, writes here and elsewhere, VACUUM, two readers", 1, 1, true, false, 1, 2, true, true, true},
	{"a keeper with two fences where VACUUM alone moves the map's LSN, a writer, two readers", 1, 1, true, false, 2, 2, false, false},
};

/* In which one of these what is left out is missed. */
static const Scenario small[] = {
	{"a chunk of the heap", 1, 1, true, false, 0, 1, false, false},
	{"a hot chunk", 1, 0, false, true, 0, 2, false, false},
	{"a keeper", 1, 1, true, false, 3, 1, true, false},
	{"a keeper, and a write elsewhere", 1, 1, true, false, 1, 2, true, false, true},
	{"a keeper, VACUUM twice", 1, 2, true, false, 4, 1, true, false},
};

#define LENGTH(array)	((int) (sizeof(array) / sizeof((array)[0])))

int
main(void)
{
	tap_start();
	for (int i = 0; i < LENGTH(scenarios); i++)
	{
		ok(!goes_wrong(&scenarios[i], KEEP_ALL), "right in every order: %s", scenarios[i].name);
		tap_note("%u states", nseen);
	}
	for (int b = KEEP_ALL + 1; b < NBREAKS; b++)
	{
		int			found = 0;

		while (found < LENGTH(small) && !goes_wrong(&small[found], b))
			found++;
		ok(found < LENGTH(small), "goes wrong if %s", broken[b]);
		if (found < LENGTH(small))
			tap_note("%s: %u states", small[found].name, nseen);
	}
	return tap_done();
}
