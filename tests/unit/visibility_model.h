/*-------------------------------------------------------------------------
 *
 * visibility_model.h
 *	  For visibility_model_test.c: one heap page, its bit in the visibility map, and what changes, loads and proves it.
 *
 * The steps of writers, VACUUM, loads and the keeper; readers are in visibility_model_test.c.
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

/* What is left out. */
typedef enum GcBreak
{
	KEEP_ALL,
	MAP_BEFORE_SNAPSHOT,		/* the map is copied before the snapshot is taken */
	NO_MAP_BIT,					/* the LSN alone counts */
	NO_MAP_LSN,					/* the bit alone counts */
	NO_SECOND_LOOK,				/* a load asks neither the page nor the map again */
	NO_PAGE_LSN,				/* a proof does not look at the page */
	FENCE_BEFORE_MAP,			/* whether the fence is held is asked before the map is copied */
	FENCE_EVER,					/* a fence counts that is held no more */
	FENCE_WITHOUT_SNAPSHOT,		/* a fence is there before its snapshot */
	FENCE_AFTER_LOOK,			/* a look proves for a fence that began after it */
	FENCE_ENDS_LATE,			/* a snapshot is let go before its fence ends */
	RENEW_ALL,					/* a keeper hands on what is not proven */
	RENEW_CLEARED,				/* and pages whose bit is clear */
	COUNT_BEFORE_SNAPSHOT,		/* the count of ended transactions is read before the snapshot is taken */
	COUNT_AFTER_LOOK,			/* and after a look, not before */
	NO_HOT_LSN,					/* a hot page is not looked at */
	FATE_BEFORE_SNAPSHOT,		/* what became of a transaction is asked, and not the snapshot */
	NBREAKS
} GcBreak;

static const char *const broken[NBREAKS] = {
	"", "the map is copied before the snapshot is taken", "the map's bit is not asked for", "the map's LSN is not asked for",
	"a load asks neither the page nor the map again", "a proof does not look at the page's LSN", "the fence is asked for before the map is copied",
	"a fence counts that is held no more", "a fence is there before its snapshot", "a look proves for a fence that began after it",
	"a fence ends after its snapshot", "a keeper hands on what is not proven", "a keeper hands on pages whose bit is clear",
	"the count of ended transactions is read before the snapshot is taken", "the count is read after a look",
	"a hot page's LSN is not looked at", "a transaction's fate counts before the snapshot"
};

/* Processes of a scenario, and how often VACUUM and the keeper do what they do. */
typedef struct Scenario
{
	const char *name;
	int			writers;
	int			vacuums;
	bool		load;
	bool		hot;
	int			rounds;
	int			readers;
	bool		newer;			/* clearing the bit moves the map page's LSN */
	bool		insert_first;	/* the first writer inserts; else it updates */
	bool		elsewhere;		/* a write to another page moves the map page's LSN once */
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

/* All bytes, so that states are compared as such. */
typedef struct State
{
	Tuple		page[NTUPLES];
	Tuple		history[NTUPLES];
	uint8_t		bit, locked, page_lsn, map_lsn;
	uint8_t		next_xid, fate[NWRITERS + 1], ended, elsewhere;
	struct
	{
		uint8_t		at, xid;
	}			writer[NWRITERS];
	struct
	{
		uint8_t		at, horizon, left;
	}			vacuum;
	struct
	{
		uint8_t		at, bit, map_lsn, page_lsn, rows, fence;
	}			load;
	struct
	{
		uint8_t		there, present, rows, page_lsn, proven_lsn, proven_fence;
	}			chunk;
	uint8_t		hot_load;
	struct
	{
		uint8_t		there, changed, page_lsn, since;
		Tuple		tuples[NTUPLES];
	}			hot;
	struct
	{
		uint8_t		at, rounds, bit, map_lsn, oldest, youngest, last;
		uint8_t		xmin[3];	/* of snapshots held; 0: none */
	}			keeper;
	struct
	{
		uint8_t		at, xmin, xmax, running, bit, map_lsn, fence, held, since, began, done;
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
	for (int i = 0; i < 3; i++)
	{
		if (s->keeper.xmin[i] != 0 && s->keeper.xmin[i] < horizon)
			horizon = s->keeper.xmin[i];
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

static void
step_writer(State s, int w)
{
	const uint8_t xid = s.writer[w].xid;

	switch (s.writer[w].at++)
	{
		case 0:					/* begin */
			s.writer[w].xid = s.next_xid++;
			s.fate[s.writer[w].xid] = RUNNING;
			break;
		case 1:					/* lock the page and clear its bit */
			if (s.locked)
				return;
			s.locked = 1;
			if (s.bit && scenario->newer)
				s.map_lsn++;
			s.bit = 0;
			break;
		case 2:
			change_tuples(s.page, w, xid);
			change_tuples(s.history, w, xid);
			break;
		case 3:
			s.page_lsn++;
			s.locked = 0;
			break;
		case 4:					/* end, either way */
			s.ended++;
			s.fate[xid] = FAILED;
			visit(&s);
			s.fate[xid] = COMMITTED;
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
	s->page_lsn += pruned;
	if (all && !s->bit)
	{
		s->bit = 1;
		s->map_lsn++;
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
static bool
fence_held(const State *s, uint8_t fence)
{
	if (left_out == FENCE_EVER)
		return fence != 0;
	return fence != 0 && s->keeper.oldest != 0 && s->keeper.oldest <= fence;
}

static void
end_load(State *s, bool proven, uint8_t map_lsn)
{
	s->load.at = 4;
	if (proven && s->load.rows != 0xFF)
	{
		s->chunk.there = s->chunk.present = 1;
		s->chunk.rows = s->load.rows;
		s->chunk.page_lsn = s->load.page_lsn;
		s->chunk.proven_lsn = map_lsn;
		s->chunk.proven_fence = s->load.fence;
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
			s.load.fence = s.keeper.youngest;
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
		case 3:					/* copy the map again; if it has changed, the fence, or the page's LSN, tells */
			end_load(&s, s.bit && (s.map_lsn == s.load.map_lsn || fence_held(&s, s.load.fence) || s.page_lsn == s.load.page_lsn),
					 s.map_lsn);
			break;
		default:
			return;
	}
	visit(&s);
}

static void
step_hot_load(State s)
{
	if (s.hot_load || s.locked)
		return;
	s.hot_load = 1;
	s.hot.there = 1;
	s.hot.page_lsn = s.page_lsn;
	memcpy(s.hot.tuples, s.page, sizeof(s.page));
	visit(&s);
}

/*-------------------------------------------------------------------------
 * The keeper
 *-------------------------------------------------------------------------
 */
static void
begin_fence(State *s)
{
	s->keeper.youngest = ++s->keeper.last;
	if (s->keeper.oldest == 0)
		s->keeper.oldest = s->keeper.last;
}

static void
renew_proof(State *s)
{
	if (!s->chunk.there || (s->chunk.proven_lsn != s->keeper.map_lsn && !fence_held(s, s->chunk.proven_fence) &&
							left_out != RENEW_ALL))
		return;
	if (!s->keeper.bit && left_out != RENEW_CLEARED)
		s->chunk.present = 0;
	s->chunk.proven_lsn = s->keeper.map_lsn;
	s->chunk.proven_fence = s->keeper.youngest;
}

static void
step_keeper(State s)
{
	if (s.keeper.rounds == 0)
		return;
	switch (s.keeper.at++)
	{
		case 0:
			if (left_out == FENCE_WITHOUT_SNAPSHOT)
				begin_fence(&s);
			else
				s.keeper.xmin[2] = oldest_running(&s);
			break;
		case 1:
			if (left_out == FENCE_WITHOUT_SNAPSHOT)
				s.keeper.xmin[2] = oldest_running(&s);
			else
				begin_fence(&s);
			break;
		case 2:					/* copy the map, unless the table is locked */
			s.keeper.at = 4;
			visit(&s);
			s.keeper.at = 3;
			s.keeper.bit = s.bit;
			s.keeper.map_lsn = s.map_lsn;
			break;
		case 3:
			renew_proof(&s);
			s.keeper.bit = s.keeper.map_lsn = 0;
			break;
		case 4:					/* the last fence but one ends, before its snapshot does */
			if (s.keeper.xmin[0] != 0 && left_out != FENCE_ENDS_LATE)
				s.keeper.oldest = s.keeper.last - 1;
			if (left_out == FENCE_ENDS_LATE)
				s.keeper.xmin[0] = 0;
			break;
		case 5:
			if (left_out == FENCE_ENDS_LATE && s.keeper.last > 2)
				s.keeper.oldest = s.keeper.last - 1;
			s.keeper.xmin[0] = s.keeper.xmin[1];
			s.keeper.xmin[1] = s.keeper.xmin[2];
			s.keeper.xmin[2] = 0;
			s.keeper.at = 0;
			s.keeper.rounds--;
			break;
	}
	visit(&s);
}

#endif							/* GC_VISIBILITY_MODEL_H */
