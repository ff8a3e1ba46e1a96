/*-------------------------------------------------------------------------
 *
 * reserve.c
 *	  Room that sessions have been promised which load columns.  See reserve.h.
 *
 * Runs in backends and loader workers.  Each process writes its own cell; the processes that work at its loads count
 * down its bytes.
 *
 * The spinlock is held by a process that reserves, for one look at all cells.
 *
 *-------------------------------------------------------------------------
 */
#include "reserve.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "../../compat.h"
#include "../../shmem.h"

typedef struct ReserveCell
{
	pg_atomic_uint64 since;		/* 0: nothing is reserved */
	pg_atomic_uint64 bytes;		/* not taken yet */
} ReserveCell;

typedef struct Reservations
{
	slock_t		lock;
	int			ncells;
	ReserveCell cells[FLEXIBLE_ARRAY_MEMBER];	/* by process number */
} Reservations;

static Reservations *shared = NULL;
static bool reserved = false;

/* The reservations: one cell for each process that can be attached. */
void
gc_reserve_shmem(void)
{
	const int	ncells = MaxBackends + NUM_AUXILIARY_PROCS;
	bool		made;

	shared = gc_shmem("gpuconc reservations",
					  add_size(offsetof(Reservations, cells), mul_size(ncells, sizeof(ReserveCell))), &made);
	if (!made)
		return;
	SpinLockInit(&shared->lock);
	shared->ncells = ncells;
	for (int i = 0; i < ncells; i++)
	{
		pg_atomic_init_u64(&shared->cells[i].since, 0);
		pg_atomic_init_u64(&shared->cells[i].bytes, 0);
	}
}

/*-------------------------------------------------------------------------
 * The end
 *-------------------------------------------------------------------------
 */
void
gc_reserve_end(void)
{
	ReserveCell *cell;

	if (!reserved)
		return;
	cell = &shared->cells[GC_MY_PROC_NUMBER];
	pg_atomic_write_u64(&cell->bytes, 0);
	pg_atomic_write_u64(&cell->since, 0);
	reserved = false;
}

/* A process that exits has reserved nothing any more. */
static void
end_at_exit(int code, Datum arg)
{
	gc_reserve_end();
}

/* Reservations of a transaction end with it, whatever its end. */
static void
end_with_transaction(XactEvent event, void *arg)
{
	gc_reserve_end();
}

/* An error within a subtransaction ends a query, too. */
static void
end_with_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		gc_reserve_end();
}

/* See to it, once for a process, that no reservation outlives its transaction. */
static void
register_end(void)
{
	static bool registered = false;

	if (registered)
		return;
	before_shmem_exit(end_at_exit, 0);
	RegisterXactCallback(end_with_transaction, NULL);
	RegisterSubXactCallback(end_with_subtransaction, NULL);
	registered = true;
}

/*-------------------------------------------------------------------------
 * Reserving
 *-------------------------------------------------------------------------
 */
Size
gc_reserved_by_others(void)
{
	Size		bytes = 0;

	for (int i = 0; i < shared->ncells; i++)
	{
		if (i != GC_MY_PROC_NUMBER)
			bytes += pg_atomic_read_u64(&shared->cells[i].bytes);
	}
	return bytes;
}

bool
gc_reserve(Size bytes, Size room)
{
	ReserveCell *cell = &shared->cells[GC_MY_PROC_NUMBER];
	const TimestampTz now = GetCurrentTimestamp();

	if (reserved)
		return true;
	register_end();
	SpinLockAcquire(&shared->lock);
	if (bytes <= room && gc_reserved_by_others() <= room - bytes)
	{
		pg_atomic_write_u64(&cell->bytes, bytes);
		pg_atomic_write_u64(&cell->since, now);
		reserved = true;
	}
	SpinLockRelease(&shared->lock);
	return reserved;
}

void
gc_reserve_taken(int procno, Size bytes)
{
	ReserveCell *cell;
	uint64		left;

	if (procno < 0)
		return;
	cell = &shared->cells[procno];
	left = pg_atomic_read_u64(&cell->bytes);
	while (left > 0 && !pg_atomic_compare_exchange_u64(&cell->bytes, &left, left - Min(left, bytes)))
		;
}

TimestampTz
gc_reserve_horizon(TimestampTz since)
{
	for (int i = 0; i < shared->ncells; i++)
	{
		const TimestampTz other = pg_atomic_read_u64(&shared->cells[i].since);

		if (other != 0)
			since = Min(since, other);
	}
	return since;
}
