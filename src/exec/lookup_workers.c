/*-------------------------------------------------------------------------
 *
 * lookup_workers.c
 *	  Entries of a lookup table computed by parallel workers.
 *
 * Functions such as regexp_replace() take microseconds for a text, and a column may have millions of texts.
 * PostgreSQL's own plan has parallel workers for that, and so has the session that makes the table: as many as a
 * Gather may have.
 *
 * Entries are divided into blocks.  Of n workers and the session, each one computes every (n + 1)-th block.  A worker
 * sends the results of a block by its queue.  The session takes blocks in their order, so that texts get their codes in
 * the order of entries.  It computes what is missing once a worker is gone.
 *
 * Workers read texts in the shared memory of the column's dictionary, which stays there under the session's guard.
 * They have the session's user, settings and snapshot, as PostgreSQL's parallel workers have.
 *
 * Runs in backends, and in their parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#include "compute.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/readfuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "storage/condition_variable.h"
#include "storage/shm_mq.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/wait_event.h"

#include "../columns/encode/pgkinds.h"
#include "../compat.h"

/* Keys of the shared parts. */
#define KEY_TASK	1
#define KEY_QUEUES	2

#define BLOCK_ENTRIES	256
#define QUEUE_BYTES		(256 * 1024)

typedef struct Task
{
	ConditionVariable launched;
	pg_atomic_uint32 nworkers;	/* 0: not known yet */
	uint32		from;
	uint32		end;
	GcDictContents texts;		/* the text of entry i is number i - 1 */
	GcKind		kind;			/* of the texts */
	int			padded;			/* their blank-padded length, or 0 */
	char		expr[FLEXIBLE_ARRAY_MEMBER];
} Task;

/*-------------------------------------------------------------------------
 * Which tables
 *-------------------------------------------------------------------------
 */

static bool
is_unsafe_function(Oid function, void *context)
{
	return func_parallel(function) != PROPARALLEL_SAFE;
}

/* Is there something below that a parallel worker must not compute? */
static bool
is_unsafe(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, CoerceToDomain) || check_functions_in_node(node, is_unsafe_function, context) ||
		expression_tree_walker(node, is_unsafe, context);
}

/* The table's expression. */
static Expr *
expression_of(const GcLookupWork *w)
{
	return list_nth(((CustomScan *) w->b->node->css.ss.ps.plan)->custom_exprs, w->lut->expr);
}

bool
gc_may_use_workers(const GcLookupWork *w)
{
	return max_parallel_workers_per_gather > 0 && w->wanted == NULL && w->second == NULL &&
		w->own == 0 && GC_KIND_IS_CODE(w->argkind) && gc_dict_shared(w->from) && w->lut->cacheable &&
		!is_unsafe((Node *) expression_of(w), NULL);
}

/*-------------------------------------------------------------------------
 * A worker
 *-------------------------------------------------------------------------
 */

static Var *
only_var(Expr *expr)
{
	return linitial_node(Var, pull_var_clause((Node *) expr, 0));
}

static TupleTableSlot *
slot_of(const Var *var)
{
	TupleDesc	desc = CreateTemplateTupleDesc(var->varattno);
	TupleTableSlot *slot;

	for (int i = 1; i <= var->varattno; i++)
		TupleDescInitEntry(desc, i, NULL, var->vartype, var->vartypmod, 0);
	slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(slot->tts_isnull, true, var->varattno * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

static Datum
text_of(const Task *t, uint32 i)
{
	const uint64 start = t->texts.start[i - 1];
	const uint32 len = (uint32) (t->texts.start[i] - start);
	const int	blanks = t->padded > 0 ? t->padded - pg_mbstrlen_with_len(t->texts.bytes + start, len) : 0;

	return gc_bytes_datum(t->kind, t->texts.bytes + start, len, Max(blanks, 0));
}

static void
put_result(StringInfo block, Datum value, bool isnull, bool byval, int16 len)
{
	char	   *to;

	enlargeStringInfo(block, datumEstimateSpace(value, isnull, byval, len));
	to = block->data + block->len;
	datumSerialize(value, isnull, byval, len, &to);
	block->len = to - block->data;
}

static void
compute_block(const Task *t, uint32 from, ExprState *expr, ExprContext *econtext, int attno, StringInfo block)
{
	int16		len;
	bool		byval;
	TupleTableSlot *slot = econtext->ecxt_scantuple;

	get_typlenbyval(exprType((Node *) expr->expr), &len, &byval);
	resetStringInfo(block);
	for (uint32 i = from; i < Min(from + BLOCK_ENTRIES, t->end); i++)
	{
		MemoryContext old;
		bool		isnull;
		Datum		value;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		slot->tts_isnull[attno - 1] = false;
		slot->tts_values[attno - 1] = text_of(t, i);
		value = ExecEvalExpr(expr, econtext, &isnull);
		MemoryContextSwitchTo(old);
		put_result(block, value, isnull, byval, len);
	}
}

void
gc_lookup_worker_main(dsm_segment *seg, shm_toc *toc)
{
	Task	   *t = shm_toc_lookup(toc, KEY_TASK, false);
	shm_mq	   *mq = (shm_mq *) ((char *) shm_toc_lookup(toc, KEY_QUEUES, false) +
								 (Size) ParallelWorkerNumber * QUEUE_BYTES);
	Expr	   *expr = stringToNode(t->expr);
	Var		   *var = only_var(expr);
	ExprContext *econtext = CreateStandaloneExprContext();
	ExprState  *state = ExecInitExpr(expr, NULL);
	StringInfoData block;
	shm_mq_handle *queue;
	uint32		n;

	/* Errors go to the session, which catches or logs them.  The server's log would have those that it catches, too. */
	(void) NewGUCNestLevel();
	(void) set_config_option("log_min_messages", "panic", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	shm_mq_set_sender(mq, MyProc);
	queue = shm_mq_attach(mq, seg, NULL);
	econtext->ecxt_scantuple = slot_of(var);
	initStringInfo(&block);
	while ((n = pg_atomic_read_u32(&t->nworkers)) == 0)
		ConditionVariableSleep(&t->launched, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	for (uint64 from = t->from + (uint64) ParallelWorkerNumber * BLOCK_ENTRIES; from < t->end;
		 from += (uint64) (n + 1) * BLOCK_ENTRIES)
	{
		compute_block(t, from, state, econtext, var->varattno, &block);
		if (shm_mq_send(queue, block.len, block.data, false, true) != SHM_MQ_SUCCESS)
			break;
	}
	shm_mq_detach(queue);
}

/*-------------------------------------------------------------------------
 * The session
 *-------------------------------------------------------------------------
 */

/* Write what the workers are to do, and a queue for each. */
static Task *
make_task(ParallelContext *pcxt, const GcLookupWork *w, uint32 from, uint32 end, const GcEntries *entries,
		  const char *expr)
{
	Task	   *t = shm_toc_allocate(pcxt->toc, offsetof(Task, expr) + strlen(expr) + 1);
	char	   *queues = shm_toc_allocate(pcxt->toc, (Size) pcxt->nworkers * QUEUE_BYTES);

	ConditionVariableInit(&t->launched);
	pg_atomic_init_u32(&t->nworkers, 0);
	t->from = from;
	t->end = end;
	t->texts = gc_dict_contents(gc_dict_shared(w->from));
	t->kind = w->argkind;
	t->padded = entries->padded;
	strcpy(t->expr, expr);
	shm_toc_insert(pcxt->toc, KEY_TASK, t);
	shm_toc_insert(pcxt->toc, KEY_QUEUES, queues);
	for (int i = 0; i < pcxt->nworkers; i++)
		shm_mq_set_receiver(shm_mq_create(queues + (Size) i * QUEUE_BYTES, QUEUE_BYTES), MyProc);
	return t;
}

/* Take a block's results.  False: no more is wanted. */
static bool
take_block(const GcEntries *entries, char *from, uint32 first, uint32 end, MemoryContext scratch)
{
	bool		more = true;

	for (uint32 i = first; i < end && more; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(scratch);
		bool		isnull;
		Datum		value = datumRestore(&from, &isnull);

		MemoryContextSwitchTo(old);
		more = entries->take(entries->arg, i, value, isnull);
	}
	MemoryContextReset(scratch);
	return more;
}

/*
 * Take all blocks in their order.  A worker that has not sent its block has ended, or raised an error that comes here.
 */
static void
take_blocks(shm_mq_handle **queues, uint32 n, const Task *t, const GcEntries *entries)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "gpuconc results of workers",
												  ALLOCSET_DEFAULT_SIZES);
	bool		more = true;

	for (uint64 from = t->from, k = 0; from < t->end && more; from += BLOCK_ENTRIES, k = (k + 1) % (n + 1))
	{
		const uint32 end = Min(from + BLOCK_ENTRIES, t->end);
		Size		size;
		void	   *data;

		CHECK_FOR_INTERRUPTS();
		if (k < n && shm_mq_receive(queues[k], &size, &data, false) == SHM_MQ_SUCCESS)
			more = take_block(entries, data, from, end, scratch);
		else
			more = entries->compute(entries->arg, from, end);
	}
	MemoryContextDelete(scratch);
}

/* Entries computed by the workers that could be launched, and by this session. */
static void
use_workers(ParallelContext *pcxt, Task *t, const GcEntries *entries)
{
	const uint32 n = pcxt->nworkers_launched;
	char	   *queues = shm_toc_lookup(pcxt->toc, KEY_QUEUES, false);
	shm_mq_handle **handles = palloc(n * sizeof(shm_mq_handle *));

	for (uint32 i = 0; i < n; i++)
		handles[i] = shm_mq_attach((shm_mq *) (queues + (Size) i * QUEUE_BYTES), pcxt->seg, pcxt->worker[i].bgwhandle);
	/*
	 * An error of one worker ends the others.  One that begins after that logs that its memory is gone, so all have
	 * begun before the first one computes.
	 */
	for (uint32 i = 0; i < n; i++)
		(void) shm_mq_wait_for_attach(handles[i]);
	pg_atomic_write_u32(&t->nworkers, n);
	ConditionVariableBroadcast(&t->launched);
	take_blocks(handles, n, t, entries);
	/* One that still sends ends with that. */
	for (uint32 i = 0; i < n; i++)
		shm_mq_detach(handles[i]);
	WaitForParallelWorkersToFinish(pcxt);
}

bool
gc_compute_by_workers(const GcLookupWork *w, uint32 from, uint32 end, const GcEntries *entries)
{
	const char *expr = nodeToString(expression_of(w));
	ParallelContext *pcxt;
	Task	   *t;
	bool		launched;

	EnterParallelMode();
	pcxt = CreateParallelContext("gpuconc", "gc_lookup_worker_main", max_parallel_workers_per_gather);
	shm_toc_estimate_chunk(&pcxt->estimator, offsetof(Task, expr) + strlen(expr) + 1);
	shm_toc_estimate_chunk(&pcxt->estimator, (Size) pcxt->nworkers * QUEUE_BYTES);
	shm_toc_estimate_keys(&pcxt->estimator, 2);
	InitializeParallelDSM(pcxt);
	t = make_task(pcxt, w, from, end, entries, expr);
	LaunchParallelWorkers(pcxt);
	launched = pcxt->nworkers_launched > 0;
	if (launched)
		use_workers(pcxt, t, entries);
	else
		(void) entries->compute(entries->arg, from, end);
	DestroyParallelContext(pcxt);
	ExitParallelMode();
	return launched;
}
