/*-------------------------------------------------------------------------
 *
 * visibility_model_test.c
 *	  What snapshots are served of one page, in every order of what can happen to it.
 *
 * A model of one heap page, its bit in the visibility map, and the WAL.  There are writers, VACUUM, loads into a
 * chunk of the heap and into a hot chunk, and readers.  Each does one step at a time; a step is all that is done
 * under one lock, or a read without a lock.  All orders of steps are gone through.  A reader is to see what its
 * snapshot sees by the rules of MVCC, which the model knows from the history of all tuples.
 *
 * The steps are those of src/columns: wal_changes.h, fresh.h and versions.h have the arguments.  Each argument can be left out
 * (GcBreak), and then the model must find an order that goes wrong.  What the WAL names is simply known here;
 * wal_changes_model_test.c has how.
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
	BEGIN, PENDING, BOUND, LATE_SNAPSHOT, PROVE_HOT, HOT_KNOWN, HOT_LOOK, HOT_NOW, HOT_SWEEP, HOT_RAISE,
	COPY_MAP, JUDGE, KNOWN, LOOK, NOW, SWEEP, RAISE, STORE, PROVEN, HOT, READ, END
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

static uint8_t
bound_without_pending(const State *s)
{
	if (left_out == BOUND_FLUSHED)
		return s->flushed;
	return s->flushed > s->async_end ? s->flushed : s->async_end;
}

/* Two steps: who is pending, and the rest. */
static void
take_bound(State *s, int r)
{
	if (left_out == END_BEFORE_PENDING)
	{
		if (s->reader[r].at == PENDING)
			s->reader[r].bound = bound_without_pending(s);
		else if (s->pending > 0)
			s->reader[r].bound = s->wal;
	}
	else if (s->reader[r].at == PENDING)
		s->reader[r].pending = s->pending > 0;
	else
		s->reader[r].bound = s->reader[r].pending && left_out != BOUND_FLUSHED ? s->wal : bound_without_pending(s);
	if (s->reader[r].at == BOUND)
		s->reader[r].pending = 0;
}

/* The WAL is known as far as it is flushed, which is at least the bound. */
static void
know_changes(State *s, int r)
{
	if (s->flushed < s->reader[r].bound)
		s->flushed = s->reader[r].bound;
	s->reader[r].known = left_out == KNOWN_TOO_FAR ? s->wal : s->flushed;
}

/* Does the WAL name the page, in records that a reader looks for? */
static bool
is_named(const State *s, int r, uint8_t page_lsn)
{
	const uint8_t end = left_out == KNOWN_TOO_FAR ? s->flushed : s->reader[r].known;

	for (uint8_t lsn = s->reader[r].since + 1; lsn <= end && left_out != NAMED_NOT_MARKED; lsn++)
	{
		if (s->named[lsn] && lsn > page_lsn)
			return true;
	}
	return false;
}

static bool
has_changed(const State *s, uint8_t page_lsn)
{
	return s->page_lsn != page_lsn && left_out != NO_PAGE_LSN;
}

static bool
must_wait(const State *s)
{
	return s->locked && left_out != LOOK_WITHOUT_LOCK;
}

static void
raise_proof(uint8_t *proven_to, uint8_t to)
{
	if (*proven_to < to)
		*proven_to = to;
}

/* Visit the state in which the reader takes the other evidence: a sweep. */
static void
also_sweep(const State *s, int r, uint8_t at)
{
	State		other = *s;

	other.reader[r].at = at;
	visit(&other);
}

/* False: not now. */
static bool
step_hot_proof(State *s, int r)
{
	switch (s->reader[r].at)
	{
		case PROVE_HOT:
			if (!s->hot.there || s->hot.proven_to >= s->reader[r].bound || left_out == NO_HOT_PROOF)
			{
				s->reader[r].at = COPY_MAP;
				break;
			}
			also_sweep(s, r, HOT_NOW);
			s->reader[r].since = s->hot.proven_to;
			s->reader[r].at = HOT_KNOWN;
			break;
		case HOT_KNOWN:
			know_changes(s, r);
			if (left_out == RAISE_BEFORE_MARK)
				raise_proof(&s->hot.proven_to, s->reader[r].known);
			s->reader[r].at = HOT_LOOK;
			break;
		case HOT_LOOK:
			if (is_named(s, r, s->hot.page_lsn))
			{
				if (must_wait(s))
					return false;
				s->hot.changed |= has_changed(s, s->hot.page_lsn);
			}
			s->reader[r].at = HOT_RAISE;
			break;
		case HOT_NOW:
			s->reader[r].known = s->wal;
			if (left_out == RAISE_BEFORE_MARK)
				raise_proof(&s->hot.proven_to, s->reader[r].known);
			s->reader[r].at = HOT_SWEEP;
			break;
		case HOT_SWEEP:
			if (must_wait(s))
				return false;
			s->hot.changed |= has_changed(s, s->hot.page_lsn);
			s->reader[r].at = HOT_RAISE;
			break;
		case HOT_RAISE:
			raise_proof(&s->hot.proven_to, left_out == NOW_AFTER_LOOK ? s->wal : s->reader[r].known);
			s->reader[r].since = s->reader[r].known = 0;
			s->reader[r].at = COPY_MAP;
			break;
	}
	return true;
}

static void
answer_proven(State *s, int r)
{
	const bool	bit = s->reader[r].bit || left_out == NO_MAP_BIT;

	if (s->chunk.present && bit)
		answer(s, r, s->chunk.rows);
	else
		s->reader[r].at = HOT;
}

static void
judge(State *s, int r)
{
	if (!s->chunk.there || !s->chunk.present)
		s->reader[r].at = HOT;
	else if (s->chunk.proven_lsn == s->reader[r].map_lsn || left_out == NO_MAP_LSN)
		s->reader[r].at = PROVEN;
	else if (s->chunk.proven_to >= s->reader[r].bound)
		s->reader[r].at = STORE;
	else
	{
		also_sweep(s, r, NOW);
		s->reader[r].since = s->chunk.proven_to;
		s->reader[r].at = KNOWN;
	}
}

static void
drop_page(State *s)
{
	s->chunk.present = 0;
}

/* False: not now. */
static bool
step_heap_proof(State *s, int r)
{
	switch (s->reader[r].at)
	{
		case KNOWN:
			know_changes(s, r);
			if (left_out == RAISE_BEFORE_MARK)
				raise_proof(&s->chunk.proven_to, s->reader[r].known);
			s->reader[r].at = LOOK;
			break;
		case LOOK:
			if (is_named(s, r, s->chunk.page_lsn))
			{
				if (must_wait(s))
					return false;
				s->reader[r].changed = has_changed(s, s->chunk.page_lsn);
			}
			s->reader[r].at = RAISE;
			break;
		case NOW:
			s->reader[r].known = s->wal;
			if (left_out == RAISE_BEFORE_MARK)
				raise_proof(&s->chunk.proven_to, s->reader[r].known);
			s->reader[r].at = SWEEP;
			break;
		case SWEEP:				/* a page whose bit is clear is not looked at */
			if (!s->reader[r].bit)
				s->reader[r].changed = left_out != CLEARED_KEPT;
			else if (must_wait(s))
				return false;
			else
				s->reader[r].changed = has_changed(s, s->chunk.page_lsn);
			s->reader[r].at = RAISE;
			break;
		case RAISE:
			if (s->reader[r].changed)
				drop_page(s);
			raise_proof(&s->chunk.proven_to, left_out == NOW_AFTER_LOOK ? s->wal : s->reader[r].known);
			s->reader[r].since = s->reader[r].known = s->reader[r].changed = 0;
			s->reader[r].at = STORE;
			break;
		case STORE:
			if (s->chunk.proven_to >= s->reader[r].map_lsn)
				s->chunk.proven_lsn = s->reader[r].map_lsn;
			s->reader[r].at = PROVEN;
			break;
	}
	return true;
}

static void
step_reader(State s, int r)
{
	const bool	late = left_out == BOUND_BEFORE_SNAPSHOT || left_out == MAP_BEFORE_SNAPSHOT;

	switch (s.reader[r].at)
	{
		case BEGIN:
			if (left_out == MAP_BEFORE_SNAPSHOT)
				copy_map(&s, r);
			if (!late)
				take_snapshot(&s, r);
			s.reader[r].at = PENDING;
			break;
		case PENDING:
		case BOUND:
			take_bound(&s, r);
			s.reader[r].at = s.reader[r].at == PENDING ? BOUND : late ? LATE_SNAPSHOT : PROVE_HOT;
			break;
		case LATE_SNAPSHOT:
			take_snapshot(&s, r);
			s.reader[r].at = PROVE_HOT;
			break;
		case COPY_MAP:
			if (left_out != MAP_BEFORE_SNAPSHOT)
				copy_map(&s, r);
			s.reader[r].at = JUDGE;
			break;
		case JUDGE:
			judge(&s, r);
			break;
		case PROVEN:
			answer_proven(&s, r);
			break;
		case HOT:
			s.reader[r].bit = s.reader[r].map_lsn = 0;
			if (s.hot.there && !s.hot.changed && (s.hot.proven_to >= s.reader[r].bound || left_out == NO_HOT_PROOF))
				answer(&s, r, rows_seen(&s, r, s.hot.tuples, left_out == FATE_BEFORE_SNAPSHOT));
			else
				s.reader[r].at = READ;
			break;
		case READ:				/* as PostgreSQL does */
			if (s.locked)
				return;
			answer(&s, r, rows_seen(&s, r, s.page, false));
			break;
		case END:
			return;
		default:
			if (!step_hot_proof(&s, r) || !step_heap_proof(&s, r))
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
	s.map_lsn = add_record(&s, false);
	visit(&s);
}

/* PostgreSQL flushes the WAL now and then. */
static void
step_flush(State s)
{
	if (s.flushed == s.wal)
		return;
	s.flushed = s.wal;
	visit(&s);
}

static void
step_all(const State *s)
{
	if (scenario->elsewhere)
		step_elsewhere(*s);
	step_flush(*s);
	for (int w = 0; w < scenario->writers; w++)
		step_writer(*s, w);
	step_vacuum(*s);
	if (scenario->load)
		step_load(*s);
	if (scenario->hot)
		step_hot_load(*s);
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
	s.wal = s.flushed = s.page_lsn = s.map_lsn = 1;
	s.next_xid = 1;
	s.vacuum.left = which->vacuums;
	visit(&s);
	while (!wrong && take_state(&s))
		step_all(&s);
	return wrong;
}

/* Writers, VACUUMs, a load, a hot load, readers, newer servers, an insert first, commits not flushed, writes elsewhere. */
static const Scenario scenarios[] = {
	{"a chunk of the heap, two writers, VACUUM, a reader", 2, 1, true, false, 1, false, false, false},
	{"the same where each write moves the map's LSN", 2, 1, true, false, 1, true, true, false},
	{"a chunk of the heap, a writer, VACUUM, two readers", 1, 1, true, false, 2, false, false, false},
	{"a hot chunk, two writers, a reader", 2, 0, false, true, 1, false, false, false},
	{"a hot chunk, a writer that does not flush, VACUUM, two readers", 1, 1, false, true, 2, false, false, true},
	{"both chunks, a writer, VACUUM, a reader", 1, 1, true, true, 1, false, false, false},
	{"a chunk of the heap, a writer that does not flush, VACUUM twice, writes elsewhere, a reader", 1, 2, true, false, 1, true, false, true, true},
	{"the same where VACUUM alone moves the map's LSN", 1, 2, true, false, 1, false, false, true, true},
	{"a chunk of the heap, a writer, VACUUM, writes elsewhere, two readers", 1, 1, true, false, 2, true, false, false, true},
};

/* In which one of these what is left out is missed. */
static const Scenario small[] = {
	{"a chunk of the heap", 1, 1, true, false, 1, false, false},
	{"a hot chunk", 1, 0, false, true, 1, false, false},
	{"a hot chunk, two readers", 1, 0, false, true, 2, false, false},
	{"a hot chunk, commits not flushed", 1, 0, false, true, 1, false, false, true},
	{"a hot chunk, commits not flushed, two readers", 1, 0, false, true, 2, false, false, true},
	{"a chunk of the heap, VACUUM twice, writes elsewhere", 1, 2, true, false, 1, false, false, false, true},
	{"a chunk of the heap, VACUUM, writes elsewhere, two readers", 1, 1, true, false, 2, false, false, false, true},
	{"a chunk of the heap, commits not flushed, VACUUM twice, writes elsewhere, two readers", 1, 2, true, false, 2, false, false, true, true},
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
