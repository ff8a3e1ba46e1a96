/*-------------------------------------------------------------------------
 *
 * visibility_model.h
 *	  For visibility_model_test.c: one heap page, its bit in the visibility map, the WAL, and what changes and loads the page.
 *
 * The steps of writers, VACUUM and loads; readers are in visibility_model_test.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VISIBILITY_MODEL_H
#define GC_VISIBILITY_MODEL_H

#include "harness.h"

#include <stdint.h>

#define NTUPLES		4
#define NREADERS	2
#define NWRITERS	2

/* Parts that are left out. */
typedef enum GcBreak
{
	KEEP_ALL,
	MAP_BEFORE_SNAPSHOT,		/* the map is copied before the snapshot is taken */
	NO_MAP_BIT,					/* the LSN alone counts */
	NO_MAP_LSN,					/* the bit alone counts */
	NO_SECOND_LOOK,				/* a load asks neither the page nor the map again */
	NO_PAGE_LSN,				/* a look does not compare the page's LSN */
	LOOK_WITHOUT_LOCK,			/* a look does not lock the page */
	BOUND_BEFORE_SNAPSHOT,		/* the bound is taken before the snapshot */
	BOUND_FLUSHED,				/* the bound is where the WAL is flushed to, and no more */
	NOT_PENDING,				/* who commits without a flush does not say so before */
	END_BEFORE_PENDING,			/* the end of such commits is asked for before those that are pending */
	DONE_BEFORE_END,			/* and is told after they are said to be done */
	PROVEN_AFTER_READ,			/* where the WAL ends is asked after a load has read the page */
	NOW_AFTER_LOOK,				/* and after a sweep's look */
	RAISE_BEFORE_MARK,			/* a chunk's proof is raised before its page is marked */
	CLEARED_KEPT,				/* a sweep keeps a page whose bit is clear, without a look */
	NAMED_NOT_MARKED,			/* what the WAL names is not looked at */
	KNOWN_TOO_FAR,				/* the WAL counts as known up to where it is inserted */
	NO_HOT_PROOF,				/* a hot page is not proven */
	FATE_BEFORE_SNAPSHOT,		/* what became of a transaction is asked, and not the snapshot */
	NBREAKS
} GcBreak;

static const char *const broken[NBREAKS] = {
	"", "the map is copied before the snapshot is taken", "the map's bit is not asked for", "the map's LSN is not asked for",
	"a load asks neither the page nor the map again", "a look does not compare the page's LSN", "a look does not lock the page",
	"the bound is taken before the snapshot", "the bound is where the WAL is flushed to", "who commits without a flush does not say so before",
	"the end of such commits is asked for before those that are pending", "their end is told after they are said to be done",
	"where the WAL ends is asked after a load has read the page", "where the WAL ends is asked after a sweep's look",
	"a proof is raised before the mark is there", "a sweep keeps a page whose bit is clear",
	"what the WAL names is not looked at",
	"the WAL counts as known up to where it is inserted", "a hot page is not proven", "a transaction's fate counts before the snapshot"
};

/* Processes of a scenario, and how often VACUUM does what it does. */
typedef struct Scenario
{
	const char *name;
	int			writers;
	int			vacuums;
	bool		load;
	bool		hot;
	int			readers;
	bool		newer;			/* clearing the bit moves the map page's LSN */
	bool		insert_first;	/* the first writer inserts; else it updates */
	bool		async;			/* commits are not flushed */
	bool		elsewhere;		/* VACUUM of another page moves the map page's LSN once */
} Scenario;

typedef struct Tuple
{
	uint8_t		value;			/* 0: there is none */
	uint8_t		xmin;			/* 0: frozen */
	uint8_t		xmax;
} Tuple;

enum
{
	UNUSED, RUNNING, COMMITTED, FAILED
};

/* All bytes, so that states are compared as such.  Records have numbers from 2 on, which are LSNs, too. */
typedef struct State
{
	Tuple		page[NTUPLES];
	Tuple		history[NTUPLES];
	uint8_t		bit, locked, page_lsn, map_lsn;
	uint8_t		wal, flushed, pending, async_end;
	uint8_t		named[16];		/* by record: does it name the page? */
	uint8_t		next_xid, fate[NWRITERS + 1], elsewhere;
	struct
	{
		uint8_t		at, xid, lsn;
	}			writer[NWRITERS];
	struct
	{
		uint8_t		at, horizon, left;
	}			vacuum;
	struct
	{
		uint8_t		at, bit, map_lsn, page_lsn, rows, proven_to;
	}			load;
	struct
	{
		uint8_t		there, present, rows, page_lsn, proven_lsn, proven_to;
	}			chunk;
	struct
	{
		uint8_t		at, proven_to;
	}			hot_load;
	struct
	{
		uint8_t		there, changed, page_lsn, proven_to;
		Tuple		tuples[NTUPLES];
	}			hot;
	struct
	{
		uint8_t		at, xmin, xmax, running, pending, bound, bit, map_lsn, since, known, changed;
	}			reader[NREADERS];
} __attribute__((aligned(8))) State;

static const Scenario *scenario;
static GcBreak left_out;

#include "explore.h"

static bool wrong;

/* Readers that have changed places are the same state. */
static void
visit(State *s)
{
	if (memcmp(&s->reader[0], &s->reader[1], sizeof(s->reader[0])) < 0 && scenario->readers > 1)
	{
		State		other = *s;

		s->reader[0] = other.reader[1];
		s->reader[1] = other.reader[0];
	}
	add_state(s);
}

static uint8_t
add_record(State *s, bool names_page)
{
	s->named[++s->wal] = names_page;
	return s->wal;
}

/*-------------------------------------------------------------------------
 * Transactions
 *-------------------------------------------------------------------------
 */

/* Does the reader's snapshot see what the transaction did?  Frozen: all do. */
static bool
sees(const State *s, int r, uint8_t xid)
{
	if (xid == 0)
		return true;
	return s->fate[xid] == COMMITTED && xid < s->reader[r].xmax && !(s->reader[r].running >> xid & 1);
}

/* A set of values. */
static uint8_t
rows_seen(const State *s, int r, const Tuple *tuples, bool by_fate)
{
	uint8_t		rows = 0;

	for (int i = 0; i < NTUPLES; i++)
	{
		const Tuple *t = &tuples[i];
		const bool	born = by_fate ? t->xmin == 0 || s->fate[t->xmin] == COMMITTED : sees(s, r, t->xmin);
		const bool	gone = t->xmax != 0 && (by_fate ? s->fate[t->xmax] == COMMITTED : sees(s, r, t->xmax));

		if (t->value != 0 && born && !gone)
			rows |= 1 << t->value;
	}
	return rows;
}

static uint8_t
oldest_running(const State *s)
{
	for (uint8_t xid = 1; xid < s->next_xid; xid++)
	{
		if (s->fate[xid] == RUNNING)
			return xid;
	}
	return s->next_xid;
}

static uint8_t
compute_horizon(const State *s)
{
	uint8_t		horizon = oldest_running(s);

	for (int r = 0; r < scenario->readers; r++)
	{
		if (s->reader[r].xmin != 0 && s->reader[r].xmin < horizon)
			horizon = s->reader[r].xmin;
	}
	return horizon;
}

/*-------------------------------------------------------------------------
 * Writers and VACUUM
 *-------------------------------------------------------------------------
 */
static void
add_tuple(Tuple *tuples, uint8_t value, uint8_t xmin)
{
	for (int i = 0; i < NTUPLES; i++)
	{
		if (tuples[i].value == 0)
		{
			tuples[i] = (Tuple) {value, xmin, 0};
			return;
		}
	}
	tap_bail("no room for a tuple");
}

static void
change_tuples(Tuple *tuples, int w, uint8_t xid)
{
	const bool	insert = (w == 0) == scenario->insert_first;

	if (insert)
	{
		add_tuple(tuples, 2 + w, xid);
		return;
	}
	/* An update of the row that there is at first, which the other writer leaves alone. */
	for (int i = 0; i < NTUPLES; i++)
	{
		if (tuples[i].value == 1)
			tuples[i].xmax = xid;
	}
	add_tuple(tuples, 2 + w, xid);
}

/* A commit that is flushed; or its first step, if it is not. */
static void
commit(State *s, int w)
{
	s->writer[w].lsn = add_record(s, false);
	if (scenario->async)
		return;
	s->flushed = s->wal;
	s->fate[s->writer[w].xid] = COMMITTED;
	s->writer[w].at = 9;
}

static void
tell_end(State *s, int w)
{
	if (s->async_end < s->writer[w].lsn)
		s->async_end = s->writer[w].lsn;
}

static void
step_writer(State s, int w)
{
	const uint8_t xid = s.writer[w].xid;
	const bool	counted = left_out != NOT_PENDING;

	switch (s.writer[w].at++)
	{
		case 0:					/* begin, and lock the page */
			if (s.locked)
				return;
			s.locked = 1;
			s.writer[w].xid = s.next_xid++;
			s.fate[s.writer[w].xid] = RUNNING;
			break;
		case 1:					/* newer servers keep the map page locked until the record is there */
			if (!scenario->newer)
				s.bit = 0;
			change_tuples(s.page, w, xid);
			change_tuples(s.history, w, xid);
			break;
		case 2:
			s.writer[w].lsn = add_record(&s, true);
			if (scenario->newer && s.bit)
			{
				s.bit = 0;
				s.map_lsn = s.wal;
			}
			break;
		case 3:
			s.page_lsn = s.writer[w].lsn;
			s.locked = 0;
			break;
		case 4:					/* end, either way; or be pending */
			s.fate[xid] = FAILED;
			s.writer[w].at = 9;
			visit(&s);
			s.fate[xid] = RUNNING;
			s.writer[w].at = 5;
			if (scenario->async)
				s.pending += counted;
			else
				commit(&s, w);
			break;
		case 5:
			commit(&s, w);
			break;
		case 6:
			s.fate[xid] = COMMITTED;
			break;
		case 7:
		case 8:
			if ((s.writer[w].at == 8) != (left_out == DONE_BEFORE_END))
				tell_end(&s, w);
			else
				s.pending -= counted;
			break;
		default:
			return;
	}
	visit(&s);
}

/* Prune, and set the bit if all that is left is visible to all. */
static void
vacuum_page(State *s)
{
	bool		all = true;
	bool		pruned = false;

	for (int i = 0; i < NTUPLES; i++)
	{
		Tuple	   *t = &s->page[i];
		const bool	dead = t->xmax != 0 && s->fate[t->xmax] == COMMITTED && t->xmax < s->vacuum.horizon;

		if (t->value == 0)
			continue;
		if (dead || s->fate[t->xmin] == FAILED)
		{
			*t = (Tuple) {0};
			pruned = true;
			continue;
		}
		if (t->xmin != 0 && !(s->fate[t->xmin] == COMMITTED && t->xmin < s->vacuum.horizon))
			all = false;
		if (t->xmax != 0 && s->fate[t->xmax] != FAILED)
			all = false;
	}
	if (pruned)
		s->page_lsn = add_record(s, true);
	if (all && !s->bit)
	{
		s->bit = 1;
		s->map_lsn = add_record(s, true);
	}
}

static void
step_vacuum(State s)
{
	if (s.vacuum.at == 0)
	{
		if (s.vacuum.left == 0)
			return;
		s.vacuum.horizon = compute_horizon(&s);
		s.vacuum.at = 1;
	}
	else
	{
		if (s.locked)
			return;
		vacuum_page(&s);
		s.vacuum.at = s.vacuum.horizon = 0;
		s.vacuum.left--;
	}
	visit(&s);
}

/*-------------------------------------------------------------------------
 * Loads
 *-------------------------------------------------------------------------
 */
static void
end_load(State *s, bool proven, uint8_t map_lsn)
{
	if (proven && s->load.rows != 0xFF)
	{
		s->chunk.there = s->chunk.present = 1;
		s->chunk.rows = s->load.rows;
		s->chunk.page_lsn = s->load.page_lsn;
		s->chunk.proven_lsn = map_lsn;
		s->chunk.proven_to = left_out == PROVEN_AFTER_READ ? s->wal : s->load.proven_to;
	}
	memset(&s->load, 0, sizeof(s->load));
	s->load.at = 4;
}

static void
step_load(State s)
{
	switch (s.load.at)
	{
		case 0:
			s.load.proven_to = s.wal;
			s.load.at = 1;
			break;
		case 1:					/* copy the map */
			s.load.bit = s.bit;
			s.load.map_lsn = s.map_lsn;
			if (s.bit)
				s.load.at = 2;
			else
				end_load(&s, false, 0);
			break;
		case 2:					/* read the page, if it says itself that it is all-visible */
			if (s.locked)
				return;
			s.load.rows = 0xFF;
			if (s.bit || left_out == NO_SECOND_LOOK)
			{
				s.load.rows = 0;
				for (int i = 0; i < NTUPLES; i++)
					s.load.rows |= s.page[i].value ? 1 << s.page[i].value : 0;
			}
			s.load.page_lsn = s.page_lsn;
			s.load.at = 3;
			if (left_out == NO_SECOND_LOOK)
				end_load(&s, true, s.load.map_lsn);
			break;
		case 3:					/* copy the map again; if its LSN has moved, the page's tells */
			if (s.locked && s.map_lsn != s.load.map_lsn)
				return;
			end_load(&s, s.bit && (s.map_lsn == s.load.map_lsn || s.page_lsn == s.load.page_lsn), s.map_lsn);
			break;
		default:
			return;
	}
	visit(&s);
}

static void
step_hot_load(State s)
{
	switch (s.hot_load.at++)
	{
		case 0:
			s.hot_load.proven_to = s.wal;
			break;
		case 1:
			if (s.locked)
				return;
			s.hot.page_lsn = s.page_lsn;
			memcpy(s.hot.tuples, s.page, sizeof(s.page));
			break;
		case 2:
			s.hot.there = 1;
			s.hot.proven_to = left_out == PROVEN_AFTER_READ ? s.wal : s.hot_load.proven_to;
			break;
		default:
			return;
	}
	visit(&s);
}

#endif							/* GC_VISIBILITY_MODEL_H */
