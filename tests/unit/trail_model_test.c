/*-------------------------------------------------------------------------
 *
 * trail_model_test.c
 *	  Which changes of one page sessions find on the WAL's trail, in every order of what can happen.
 *
 * A model of a heap page, writers, the WAL, the trail's ring, a load of the page into a hot chunk, a copy of that
 * chunk, and readers.  Each does one step at a time; a step is what a lock makes one, or a read or write without a lock.
 * All orders of steps are gone through.  A reader that finds the page unmarked is served what the chunk has: that must be
 * all that its snapshot sees.
 *
 * The steps are those of src/columns/trail.c, looks.c and hot_chunk.c; trail.h has the argument.  Each part of it can be
 * left out (GcBreak), and then the model must find an order that goes wrong.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <stdint.h>

#define NREADERS	2
#define NWRITERS	2
#define MOST_RING	4

/* What is left out. */
typedef enum GcBreak
{
	KEEP_ALL,
	GOAL_BEFORE_SNAPSHOT,		/* how far the WAL goes is asked before the snapshot is taken */
	NO_GOAL,					/* the trail is taken as it is */
	POSITION_AFTER_READ,		/* a chunk's position is noted after its page was read */
	PLACE_AFTER_LOOK,			/* and that of a look under the page's lock after the look */
	PLACE_WITHOUT_LOCK,			/* that look takes no lock */
	VOID_KEPT,					/* a trail that begins anew leaves old positions valid */
	NO_FLOOR_BEFORE,			/* what the ring has overwritten is not asked for, before the walk */
	NO_FLOOR_BEHIND,			/* and behind it */
	FLOOR_LATE,					/* the floor is raised after a place was overwritten */
	LEADS_FIRST,				/* the trail is said to lead somewhere before the head is there */
	RAISE_BEFORE_MARKS,			/* a chunk's position is raised before its pages are marked */
	MARK_LEFT_BEHIND,			/* a page is copied without its mark */
	COPY_BEFORE_POSITION,		/* the mark is copied before the position is read */
	NBREAKS
} GcBreak;

static const char *const broken[NBREAKS] = {
	"", "how far the WAL goes is asked before the snapshot is taken", "the trail is taken as it is",
	"a chunk's position is noted after its page was read", "a look's position is noted after the look", "a look that gives a position takes no lock",
	"a trail that begins anew leaves old positions valid", "the floor is not asked for before a walk", "the floor is not asked for behind a walk",
	"the floor is raised after a place was overwritten", "the trail leads somewhere before its head is there",
	"a position is raised before the marks are there", "a page is copied without its mark", "a mark is copied before the position is read"
};

typedef struct Scenario
{
	const char *name;
	int			writers;
	int			readers;
	int			elsewhere;		/* records of other pages */
	int			anew;			/* how often the trail is lost */
	int			ring;			/* its places */
	bool		copy;
	bool		begun;			/* the trail is there at first */
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
		uint8_t		locked, step, anew, floor, head, leads_to, new_head, next, end;
		uint8_t		ring[MOST_RING];	/* LSN; 0: of another page */
	}			trail;
	struct
	{
		uint8_t		there, values, lsn, changed, followed;
	}			hot[2];			/* and its copy */
	struct
	{
		uint8_t		at, position, changed;
	}			load, copy;
	struct
	{
		uint8_t		at, seen, goal, chunk, position, from, walk, placed, again;
	}			reader[NREADERS];
} __attribute__((aligned(8))) State;

static const Scenario *scenario;
static GcBreak left_out;

#include "explore.h"

static bool wrong;

/* Readers that have changed places are the same state, unless one of them has the lock of the trail. */
static void
visit(State *s)
{
	if (scenario->readers > 1 && memcmp(&s->reader[0], &s->reader[1], sizeof(s->reader[0])) < 0)
	{
		State		other = *s;

		s->reader[0] = other.reader[1];
		s->reader[1] = other.reader[0];
		if (s->trail.locked != 0)
			s->trail.locked = 3 - s->trail.locked;
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
	const bool	late = left_out == POSITION_AFTER_READ;

	switch (s.load.at++)
	{
		case 0:
		case 1:
			if ((s.load.at == 1) != late)
				s.load.position = s.trail.head;
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
			s.hot[0].followed = s.load.position;
			break;
		default:
			return;
	}
	visit(&s);
}

static void
step_copy(State s)
{
	const bool	late = left_out == COPY_BEFORE_POSITION;

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
				s.copy.position = s.hot[0].followed;
			else if (left_out != MARK_LEFT_BEHIND)
				s.copy.changed = s.hot[0].changed;
			break;
		case 3:
			s.hot[1] = s.hot[0];
			s.hot[1].changed = s.copy.changed;
			s.hot[1].followed = s.copy.position;
			break;
		default:
			return;
	}
	visit(&s);
}

/*-------------------------------------------------------------------------
 * The trail, which a reader reads that has the lock
 *-------------------------------------------------------------------------
 */
enum
{
	APPEND, OVERWRITE, PUBLISH, LEAD, ANEW_FLOOR, DONE
};

static void
begin_reading(State *s, bool anew)
{
	s->trail.new_head = s->trail.head + anew;
	s->trail.next = s->trail.leads_to;
	s->trail.end = s->wal;
	s->trail.step = anew ? ANEW_FLOOR : APPEND;
}

static void
overwrite(State *s)
{
	s->trail.next++;
	s->trail.ring[s->trail.new_head++ % scenario->ring] = s->record_of[s->trail.next] ? s->trail.next : 0;
}

static bool
is_full(const State *s)
{
	return s->trail.new_head - s->trail.floor >= scenario->ring;
}

static void
step_trail(State *s)
{
	const bool	swap = left_out == LEADS_FIRST;

	switch (s->trail.step)
	{
		case APPEND:
			if (s->trail.next == s->trail.end)
				s->trail.step = PUBLISH;
			else if (is_full(s) && left_out != FLOOR_LATE)
			{
				s->trail.floor = s->trail.new_head - scenario->ring + 1;
				s->trail.step = OVERWRITE;
			}
			else
			{
				s->trail.step = is_full(s) ? OVERWRITE : APPEND;
				overwrite(s);
			}
			return;
		case OVERWRITE:
			if (left_out == FLOOR_LATE)
				s->trail.floor = s->trail.new_head - scenario->ring;
			else
				overwrite(s);
			s->trail.step = APPEND;
			return;
		case ANEW_FLOOR:
			if (left_out != VOID_KEPT)
				s->trail.floor = s->trail.new_head;
			s->trail.next = s->trail.end;
			s->trail.step = PUBLISH;
			return;
		case PUBLISH:
		case LEAD:
			if ((s->trail.step == PUBLISH) != swap)
				s->trail.head = s->trail.new_head;
			else
				s->trail.leads_to = s->trail.next;
			s->trail.step++;
			if (s->trail.step > LEAD)
			{
				s->trail.step = s->trail.new_head = s->trail.next = s->trail.end = s->trail.locked = 0;
			}
			return;
	}
}

/*-------------------------------------------------------------------------
 * Readers
 *-------------------------------------------------------------------------
 */
enum
{
	BEGIN, GOAL, CHUNK, REACH, POSITION, FOLLOWED, FLOOR, WALK, FLOOR_AGAIN, RAISE, PLACE, PLACE_LOOK, PLACE_RAISE, ANSWER, END
};

static void
end_reader(State *s, int r)
{
	memset(&s->reader[r], 0, sizeof(s->reader[r]));
	s->reader[r].at = END;
}

/* A chunk's position is void: it gets a new one, once. */
static void
find_void(State *s, int r)
{
	if (s->reader[r].again)
		end_reader(s, r);
	else
	{
		s->reader[r].again = 1;
		s->reader[r].at = PLACE;
	}
}

/* True: the step has been visited, or is none. */
static bool
reach(State *s, int r)
{
	if (s->trail.locked == r + 1)
		step_trail(s);
	else if ((s->trail.leads_to != 0 && s->trail.leads_to >= s->reader[r].goal) || left_out == NO_GOAL)
		s->reader[r].at = POSITION;
	else if (s->trail.locked)
		return true;
	else
	{
		s->trail.locked = r + 1;
		if (s->trail.leads_to != 0 && s->trail.anew < scenario->anew)
		{
			State		lost = *s;

			lost.trail.anew++;
			begin_reading(&lost, true);
			visit(&lost);
		}
		begin_reading(s, s->trail.leads_to == 0);
	}
	return false;
}

static void
walk(State *s, int r)
{
	uint8_t		lsn;

	if (s->reader[r].walk >= s->reader[r].position)
	{
		s->reader[r].at = FLOOR_AGAIN;
		return;
	}
	lsn = s->trail.ring[s->reader[r].walk++ % scenario->ring];
	if (lsn > s->hot[s->reader[r].chunk].lsn)
		s->hot[s->reader[r].chunk].changed = 1;
}

static void
raise_followed(State *s, int r, uint8_t to)
{
	const int	c = s->reader[r].chunk;

	if (s->hot[c].followed < to)
		s->hot[c].followed = to;
}

static void
step_reader(State s, int r)
{
	const int	c = s.reader[r].chunk;

	switch (s.reader[r].at)
	{
		case BEGIN:
		case GOAL:
			if ((s.reader[r].at++ == BEGIN) != (left_out == GOAL_BEFORE_SNAPSHOT))
				s.reader[r].seen = s.committed;
			else
				s.reader[r].goal = s.wal;
			break;
		case CHUNK:
			s.reader[r].chunk = s.hot[1].there;
			s.reader[r].at = REACH;
			break;
		case REACH:
			if (reach(&s, r))
				return;
			break;
		case POSITION:
			s.reader[r].position = s.trail.head;
			s.reader[r].at = FOLLOWED;
			/* It needed the trail for another table. */
			if (!s.hot[0].there)
				end_reader(&s, r);
			break;
		case FOLLOWED:
			s.reader[r].from = s.reader[r].walk = s.hot[c].followed;
			s.reader[r].at = FLOOR;
			if (left_out == RAISE_BEFORE_MARKS)
				raise_followed(&s, r, s.reader[r].position);
			break;
		case FLOOR:
			s.reader[r].at = WALK;
			if (s.reader[r].from < s.trail.floor && left_out != NO_FLOOR_BEFORE)
				find_void(&s, r);
			break;
		case WALK:
			walk(&s, r);
			break;
		case FLOOR_AGAIN:
			s.reader[r].at = RAISE;
			if (s.reader[r].from < s.trail.floor && left_out != NO_FLOOR_BEHIND && left_out != NO_FLOOR_BEFORE)
				find_void(&s, r);
			break;
		case RAISE:
			raise_followed(&s, r, s.reader[r].position);
			s.reader[r].at = ANSWER;
			break;
		case PLACE:
			if (left_out != PLACE_AFTER_LOOK)
				s.reader[r].placed = s.trail.head;
			s.reader[r].at = PLACE_LOOK;
			break;
		case PLACE_LOOK:
			if (s.locked && left_out != PLACE_WITHOUT_LOCK)
				return;
			if (s.page_lsn != s.hot[c].lsn)
				s.hot[c].changed = 1;
			s.reader[r].at = PLACE_RAISE;
			break;
		case PLACE_RAISE:
			raise_followed(&s, r, left_out == PLACE_AFTER_LOOK ? s.trail.head : s.reader[r].placed);
			s.reader[r].at = FOLLOWED;
			break;
		case ANSWER:
			if (!s.hot[c].changed && (s.reader[r].seen & ~s.hot[c].values) != 0)
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
	s.trail.floor = s.trail.head = 1;
	s.trail.leads_to = which->begun;
	visit(&s);
	while (!wrong && take_state(&s))
		step_all(&s);
	return wrong;
}

static const Scenario scenarios[] = {
	{"two writers, two readers", 2, 2, 0, 0, 4, false},
	{"a writer, a trail that is lost, two readers", 1, 2, 0, 1, 4, false},
	{"a writer, a ring that is overwritten, two readers", 1, 2, 2, 0, 1, false},
	{"a writer, a ring of two places, a trail that is lost, two readers", 1, 2, 1, 1, 2, false},
	{"a writer, a copy of the chunk, two readers", 1, 2, 0, 0, 4, true},
	{"two writers, a trail from the start, two readers", 2, 2, 0, 0, 4, false, true},
	{"a writer, a ring from the start that is overwritten, two readers", 1, 2, 2, 0, 1, false, true},
	{"a writer, a copy of the chunk, a trail that is lost, two readers", 1, 2, 0, 1, 2, true},
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
