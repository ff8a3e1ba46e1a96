/*-------------------------------------------------------------------------
 *
 * wal_changes_model_test.c
 *	  Which changes of one page sessions find in the WAL, in every order of what can happen.
 *
 * A model of a heap page, writers, the WAL, and the ring of pages that it names.  A load brings the page into a hot
 * chunk, which is copied, and there are readers.  Each does one step at a time; a step is all that is done under one
 * lock, or a read or write without a lock.  All orders of steps are gone through.  A reader that finds the page
 * unmarked is served what the chunk has: that must be all that its snapshot sees.
 *
 * The steps are those of src/columns/serve/wal_changes.c, fresh.c and load/hot_chunk.c; their headers have the argument.  Each part of
 * it can be left out (GcBreak), and then the model must find an order that goes wrong.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <stdint.h>

#define NREADERS	2
#define NWRITERS	2
#define MOST_RING	4

/* Parts that are left out. */
typedef enum GcBreak
{
	KEEP_ALL,
	BOUND_BEFORE_SNAPSHOT,		/* the bound is taken before the snapshot */
	NO_BOUND,					/* the ring is taken as it is */
	PROVEN_AFTER_READ,			/* where the WAL ends is asked after a load has read the page */
	NOW_AFTER_LOOK,				/* and after a sweep's look */
	SWEEP_WITHOUT_LOCK,			/* that look takes no lock */
	LOOK_WITHOUT_LOCK,			/* nor one at a page that is named */
	OLD_FLOOR,					/* a ring that begins anew has its old floor */
	NO_FLOOR,					/* the floor is not asked for */
	FLOOR_FIRST,				/* it is asked for before the ring is copied */
	FLOOR_LATE,					/* it is raised after a place was overwritten */
	COMPLETE_FIRST,				/* the ring is said to be complete before the head is there */
	RAISE_BEFORE_MARKS,			/* a chunk's proof is raised before its pages are marked */
	RAISE_TO_NOW,				/* a chunk's proof is raised to where the WAL is inserted */
	MARK_LEFT_BEHIND,			/* a page is copied without its mark */
	COPY_BEFORE_PROOF,			/* the mark is copied before the proof is read */
	NBREAKS
} GcBreak;

static const char *const broken[NBREAKS] = {
	"", "the bound is taken before the snapshot", "the ring is taken as it is",
	"where the WAL ends is asked after a load has read the page", "where the WAL ends is asked after a sweep's look",
	"a sweep's look takes no lock", "a look at a page that is named takes no lock",
	"a ring that begins anew has its old floor", "the floor is not asked for", "the floor is asked for before the ring is copied",
	"the floor is raised after a place was overwritten", "the ring is complete before its head is there",
	"a proof is raised before the marks are there", "a proof is raised to where the WAL is inserted", "a page is copied without its mark",
	"a mark is copied before the proof is read"
};

typedef struct Scenario
{
	const char *name;
	int			writers;
	int			readers;
	int			elsewhere;		/* records of other pages */
	int			anew;			/* how often the ring begins anew */
	int			ring;			/* its places */
	bool		copy;
	bool		begun;			/* the ring is there at first */
} Scenario;

/* All bytes, so that states are compared as such.  Records have numbers from 2 on, which are LSNs, too. */
typedef struct State
{
	uint8_t		values, page_lsn, locked, wal, committed, elsewhere;
	uint8_t		record_of[8];	/* is it one of this page? */
	struct
	{
		uint8_t		at, lsn;
	}			writer[NWRITERS];
	struct
	{
		uint8_t		locked, step, anew, floor, head, complete_to, new_head, next, end;
		uint8_t		lsn[MOST_RING]; /* 0: not filled yet */
		uint8_t		named[MOST_RING];	/* is it this page? */
	}			ring;
	struct
	{
		uint8_t		there, values, lsn, changed, proven_to;
	}			hot[2];			/* and its copy */
	struct
	{
		uint8_t		at, proven_to, changed;
	}			load, copy;
	struct
	{
		uint8_t		at, seen, bound, chunk, known, head, since, floor, walk, named;
	}			reader[NREADERS];
} __attribute__((aligned(8))) State;

static const Scenario *scenario;
static GcBreak left_out;

#include "explore.h"

static bool wrong;

/* Readers that have changed places are the same state, unless one of them has the lock of the ring. */
static void
visit(State *s)
{
	if (scenario->readers > 1 && memcmp(&s->reader[0], &s->reader[1], sizeof(s->reader[0])) < 0)
	{
		State		other = *s;

		s->reader[0] = other.reader[1];
		s->reader[1] = other.reader[0];
		if (s->ring.locked != 0)
			s->ring.locked = 3 - s->ring.locked;
	}
	add_state(s);
}

/*-------------------------------------------------------------------------
 * Writers, a load, and a copy
 *-------------------------------------------------------------------------
 */
static void
step_writer(State s, int w)
{
	switch (s.writer[w].at++)
	{
		case 0:
			if (s.locked)
				return;
			s.locked = 1;
			break;
		case 1:
			s.values |= 1 << w;
			break;
		case 2:
			s.writer[w].lsn = ++s.wal;
			s.record_of[s.wal] = 1;
			break;
		case 3:
			s.page_lsn = s.writer[w].lsn;
			s.locked = 0;
			break;
		case 4:
			s.committed |= 1 << w;
			break;
		default:
			return;
	}
	visit(&s);
}

static void
step_elsewhere(State s)
{
	if (s.elsewhere == scenario->elsewhere)
		return;
	s.elsewhere++;
	s.wal++;
	visit(&s);
}

static void
step_load(State s)
{
	const bool	late = left_out == PROVEN_AFTER_READ;

	switch (s.load.at++)
	{
		case 0:
		case 1:
			if ((s.load.at == 1) != late)
				s.load.proven_to = s.wal;
			else if (s.locked)
				return;
			else
			{
				s.hot[0].values = s.values;
				s.hot[0].lsn = s.page_lsn;
			}
			break;
		case 2:
			s.hot[0].there = 1;
			s.hot[0].proven_to = s.load.proven_to;
			break;
		default:
			return;
	}
	visit(&s);
}

static void
step_copy(State s)
{
	const bool	late = left_out == COPY_BEFORE_PROOF;

	if (!s.hot[0].there)
		return;
	switch (s.copy.at++)
	{
		case 0:
			/* One that has changed is not worth it. */
			if (s.hot[0].changed)
				return;
			break;
		case 1:
		case 2:
			if ((s.copy.at == 2) != late)
				s.copy.proven_to = s.hot[0].proven_to;
			else if (left_out != MARK_LEFT_BEHIND)
				s.copy.changed = s.hot[0].changed;
			break;
		case 3:
			s.hot[1] = s.hot[0];
			s.hot[1].changed = s.copy.changed;
			s.hot[1].proven_to = s.copy.proven_to;
			break;
		default:
			return;
	}
	visit(&s);
}

/*-------------------------------------------------------------------------
 * The ring, into which a reader reads that has the lock
 *-------------------------------------------------------------------------
 */
enum
{
	APPEND, OVERWRITE, PUBLISH, COMPLETE, ANEW_FLOOR
};

static void
begin_reading(State *s, bool anew)
{
	s->ring.new_head = s->ring.head;
	s->ring.next = s->ring.complete_to;
	s->ring.end = s->wal;
	s->ring.step = anew ? ANEW_FLOOR : APPEND;
}

static void
overwrite(State *s)
{
	const int	place = s->ring.new_head++ % scenario->ring;

	s->ring.next++;
	s->ring.lsn[place] = s->ring.next;
	s->ring.named[place] = s->record_of[s->ring.next];
}

static void
raise_floor(State *s, uint8_t to)
{
	if (s->ring.floor < to)
		s->ring.floor = to;
}

static void
step_ring(State *s)
{
	const uint8_t old = s->ring.lsn[s->ring.new_head % scenario->ring];

	switch (s->ring.step)
	{
		case APPEND:
			if (s->ring.next == s->ring.end)
				s->ring.step = PUBLISH;
			else if (left_out == FLOOR_LATE && old > s->ring.floor)
			{
				overwrite(s);
				s->ring.step = OVERWRITE;
			}
			else if (old > s->ring.floor)
			{
				raise_floor(s, old);
				s->ring.step = OVERWRITE;
			}
			else
				overwrite(s);
			return;
		case OVERWRITE:
			if (left_out == FLOOR_LATE)
				raise_floor(s, s->ring.next - scenario->ring);
			else
				overwrite(s);
			s->ring.step = APPEND;
			return;
		case ANEW_FLOOR:
			if (left_out != OLD_FLOOR)
				raise_floor(s, s->ring.end);
			s->ring.next = s->ring.end;
			s->ring.step = PUBLISH;
			return;
		case PUBLISH:
		case COMPLETE:
			if ((s->ring.step == PUBLISH) != (left_out == COMPLETE_FIRST))
				s->ring.head = s->ring.new_head;
			else
				s->ring.complete_to = s->ring.next;
			s->ring.step++;
			if (s->ring.step > COMPLETE)
				s->ring.step = s->ring.new_head = s->ring.next = s->ring.end = s->ring.locked = 0;
			return;
	}
}

/*-------------------------------------------------------------------------
 * Readers
 *-------------------------------------------------------------------------
 */
enum
{
	BEGIN, BOUND, CHUNK, REACH, SINCE, HEAD, FLOOR_FIRST_ASKED, WALK, FLOOR, LOOK, RAISE, NOW, SWEEP, SWEEP_RAISE, ANSWER, END
};

static void
end_reader(State *s, int r)
{
	memset(&s->reader[r], 0, sizeof(s->reader[r]));
	s->reader[r].at = END;
}

/* True: the step has been visited, or is none. */
static bool
reach(State *s, int r)
{
	if (s->ring.locked == r + 1)
		step_ring(s);
	else if ((s->ring.complete_to != 0 && s->ring.complete_to >= s->reader[r].bound) || left_out == NO_BOUND)
	{
		s->reader[r].known = s->ring.complete_to;
		s->reader[r].at = SINCE;
		/* It needed the ring for another table. */
		if (!s->hot[0].there)
			end_reader(s, r);
	}
	else if (s->ring.locked)
		return true;
	else
	{
		s->ring.locked = r + 1;
		if (s->ring.complete_to != 0 && s->ring.anew < scenario->anew)
		{
			State		lost = *s;

			lost.ring.anew++;
			begin_reading(&lost, true);
			visit(&lost);
		}
		begin_reading(s, s->ring.complete_to == 0);
	}
	return false;
}

/* A place that is filled, and was not read yet: its record ends behind the proof, and names the page. */
static void
walk(State *s, int r)
{
	const int	place = s->reader[r].walk % scenario->ring;

	if (s->reader[r].walk >= s->reader[r].head)
	{
		s->reader[r].walk = s->reader[r].head = 0;
		s->reader[r].at = FLOOR;
		return;
	}
	if (s->ring.named[place] && s->ring.lsn[place] > s->reader[r].since && s->ring.lsn[place] > s->hot[s->reader[r].chunk].lsn)
		s->reader[r].named = 1;
	s->reader[r].walk++;
}

static void
raise_proof(State *s, int r, uint8_t to)
{
	const int	c = s->reader[r].chunk;

	if (s->hot[c].proven_to < to)
		s->hot[c].proven_to = to;
}

static void
look(State *s, int r)
{
	const int	c = s->reader[r].chunk;

	if (s->page_lsn != s->hot[c].lsn)
		s->hot[c].changed = 1;
}

static void
step_reader(State s, int r)
{
	switch (s.reader[r].at)
	{
		case BEGIN:
		case BOUND:
			if ((s.reader[r].at++ == BEGIN) != (left_out == BOUND_BEFORE_SNAPSHOT))
				s.reader[r].seen = s.committed;
			else
				s.reader[r].bound = s.wal;
			break;
		case CHUNK:
			s.reader[r].chunk = s.hot[1].there;
			s.reader[r].at = s.hot[s.reader[r].chunk].there && s.hot[s.reader[r].chunk].proven_to >= s.reader[r].bound ? ANSWER : REACH;
			break;
		case REACH:
			if (reach(&s, r))
				return;
			break;
		case SINCE:
			s.reader[r].since = s.hot[s.reader[r].chunk].proven_to;
			s.reader[r].at = HEAD;
			break;
		case HEAD:
			s.reader[r].head = s.ring.head;
			s.reader[r].walk = s.ring.head > scenario->ring ? s.ring.head - scenario->ring : 0;
			s.reader[r].at = left_out == FLOOR_FIRST ? FLOOR_FIRST_ASKED : WALK;
			break;
		case FLOOR_FIRST_ASKED:
			s.reader[r].floor = s.ring.floor;
			s.reader[r].at = WALK;
			break;
		case WALK:
			walk(&s, r);
			break;
		case FLOOR:
			if (left_out != FLOOR_FIRST && left_out != NO_FLOOR)
				s.reader[r].floor = s.ring.floor;
			s.reader[r].at = s.reader[r].since < s.reader[r].floor ? NOW : LOOK;
			s.reader[r].floor = 0;
			if (left_out == RAISE_BEFORE_MARKS && s.reader[r].at == LOOK)
				raise_proof(&s, r, s.reader[r].known);
			break;
		case LOOK:
			if (s.reader[r].named)
			{
				if (s.locked && left_out != LOOK_WITHOUT_LOCK)
					return;
				look(&s, r);
			}
			s.reader[r].at = RAISE;
			break;
		case RAISE:
			raise_proof(&s, r, left_out == RAISE_TO_NOW ? s.wal : s.reader[r].known);
			s.reader[r].at = ANSWER;
			break;
		case NOW:
			s.reader[r].known = s.wal;
			s.reader[r].at = SWEEP;
			break;
		case SWEEP:
			if (s.locked && left_out != SWEEP_WITHOUT_LOCK)
				return;
			look(&s, r);
			s.reader[r].at = SWEEP_RAISE;
			break;
		case SWEEP_RAISE:
			raise_proof(&s, r, left_out == NOW_AFTER_LOOK ? s.wal : s.reader[r].known);
			s.reader[r].at = ANSWER;
			break;
		case ANSWER:
			if (!s.hot[s.reader[r].chunk].changed && (s.reader[r].seen & ~s.hot[s.reader[r].chunk].values) != 0)
				wrong = true;
			end_reader(&s, r);
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
step_all(const State *s)
{
	for (int w = 0; w < scenario->writers; w++)
		step_writer(*s, w);
	step_elsewhere(*s);
	step_load(*s);
	if (scenario->copy)
		step_copy(*s);
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
	s.wal = 1;
	s.page_lsn = 1;
	s.ring.floor = 1;
	s.ring.complete_to = which->begun;
	visit(&s);
	while (!wrong && take_state(&s))
		step_all(&s);
	return wrong;
}

static const Scenario scenarios[] = {
	{"two writers, two readers", 2, 2, 0, 0, 4, false},
	{"a writer, a ring that begins anew, two readers", 1, 2, 0, 1, 4, false},
	{"a writer, a ring that is overwritten, two readers", 1, 2, 2, 0, 1, false},
	{"a writer, a ring of two places that begins anew, two readers", 1, 2, 1, 1, 2, false},
	{"a writer, a copy of the chunk, two readers", 1, 2, 0, 0, 4, true},
	{"two writers, a ring from the start, two readers", 2, 2, 0, 0, 4, false, true},
	{"a writer, a ring from the start that is overwritten, two readers", 1, 2, 2, 0, 1, false, true},
	{"a writer, a copy of the chunk, a ring that begins anew, two readers", 1, 2, 0, 1, 2, true},
	{"a writer, writes elsewhere, a ring from the start that begins anew, two readers", 1, 2, 1, 1, 4, false, true},
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

		while (found < LENGTH(scenarios) && !goes_wrong(&scenarios[found], b))
			found++;
		ok(found < LENGTH(scenarios), "goes wrong if %s", broken[b]);
		if (found < LENGTH(scenarios))
			tap_note("%s: %u states", scenarios[found].name, nseen);
	}
	return tap_done();
}
