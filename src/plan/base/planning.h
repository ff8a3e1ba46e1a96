/*-------------------------------------------------------------------------
 *
 * planning.h
 *	  State of the planner's run in progress; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLANNING_H
#define GC_PLANNING_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "utils/hsearch.h"

#include "../../program/program.h"

/* Rows of the relations that a statement reads, in the order in which they are planned, at most. */
#define GC_ROWS_SEEN		128

typedef struct GcRowsSeen
{
	int			n;
	double		rows[GC_ROWS_SEEN];
} GcRowsSeen;

/* Why a statement is not offloaded, at most. */
#define GC_REFUSAL_SIZE		256

/*
 * A relation that could be computed by the device.  That is its core, the relations that it inner-joins; cores that
 * other joins attach to that; and all clauses to be applied.  Built bottom-up in the join hook; one per RelOptInfo, for
 * the duration of planning.
 */
typedef struct GcRelDesc
{
	RelOptInfo *rel;			/* hash key */
	Relids		relids;			/* of rel, and its root: an address may be reused */
	PlannerInfo *root;
	bool		ok;				/* false: refused, for `reason` */
	List	   *leaves;			/* RelOptInfo of each relation of the core */
	List	   *clauses;		/* RestrictInfo: on the core, and above the cores attached to it */
	List	   *attached;		/* GcAttachedDesc, in order */
	const char *reason;
	RelOptInfo *outer;			/* of a join that was described when it was met: its sides */
	RelOptInfo *inner;
} GcRelDesc;

/* A relation that a join other than an inner one attaches to the relations that it comes after. */
typedef struct GcAttachedDesc
{
	GcJoinKind	join;
	GcRelDesc	inner;
	List	   *clauses;		/* RestrictInfo: which rows match */
	List	   *above;			/* of a full join: RestrictInfo to be applied behind it */
	double		share;			/* of the outer rows that come through; left join: 1 */
} GcAttachedDesc;

typedef struct GcPlanning
{
	struct GcPlanning *outer;
	HTAB	   *descs;			/* made at first use */
	MemoryContext context;
	bool		geqo;			/* GEQO tries join orders just now */
	bool		offered;		/* a path of ours was given to the planner */
	bool		storage_seen;	/* the statement looks at how values are stored */
	bool		users_calls;	/* functions of users may be planned in that do */
	bool		cursor;			/* it is a cursor's query */
	bool		parameters;		/* it has some, $1 and so on */
	uint64		key;			/* of the statement, for the plan memory; 0: nothing is remembered */
	bool		whole;			/* the statement was offloaded as a whole before, as the cheaper plan by far */
	int			deepest;		/* by nodes that stood in as many subqueries of FROM, at most */
	bool		went_along;		/* so that a subquery of FROM was not offered */
	List	   *nodes;			/* CustomScan: all that were made, and ... */
	List	   *depths;			/* int: in how many subqueries of FROM each stands */
	bool		narrow;			/* a node of the plan is not cheaper by far, or takes a part of its level's joins */
	bool		replaying;		/* joins are made in the order of before */
	List	   *searches;		/* GcJoinSearch: of levels that are joined (cost/join_order.c) */
	List	   *won;			/* PlannerInfo: levels all of which a node takes along, and is cheaper by far */
	List	   *spare;			/* GcPath: too dear but for the first few of their rows, or
								 * for window functions above */
	Cost		ceiling;		/* relations that cost no more are left to PostgreSQL; 0: none are */
	Cost		most;			/* PostgreSQL's cost of the largest relation that was, or could have been, looked at */
	bool		looked;			/* one was */
	bool		timed;			/* how long the plan takes is wanted */
	Cost		time;			/* that, as gc_execution_time() counts */
	PlannerInfo *unseeing;		/* a query level that does not look at how values are stored, nor those above it */
	char	   *refusal;		/* why the largest part is not offloaded; may be empty; GC_REFUSAL_SIZE */
	GcRowsSeen	seen;			/* of a run without a ceiling; the last member: only its count is set at first */
} GcPlanning;

/* The innermost run; NULL outside the planner, and where nothing is to be offloaded. */
extern GcPlanning *gc_planning;

/* The description of a relation: NULL if there is none yet; a new one, empty. */
extern GcRelDesc *gc_desc_lookup(PlannerInfo *root, RelOptInfo *rel);
extern GcRelDesc *gc_desc_enter(PlannerInfo *root, RelOptInfo *rel);

/* Memory context of all that descriptions refer to and the planner does not keep. */
extern MemoryContext gc_desc_context(void);

/* Is GEQO trying join orders just now?  It frees join relations between its trials. */
extern bool gc_geqo(void);

/* Record a refusal for DEBUG1, EXPLAIN and gpuconc.debug_offload. */
extern void gc_note_refusal(const char *what, const char *reason);

/* A path of ours was given to the planner. */
extern void gc_note_offer(void);

/*
 * In how many subqueries of FROM, or arms of set operations, the level stands that is being planned.  A subquery in an
 * expression, or a CTE, begins at 0: it is planned before its outer level has relations.
 */
extern int	gc_from_depth(const PlannerInfo *root);

/* Does the statement, or this query level of it, look at how a value is stored? */
extern bool gc_storage_seen(PlannerInfo *root);

/* Is it a cursor's query that is being planned? */
extern bool gc_planning_cursor(void);

#endif							/* GC_PLANNING_H */
