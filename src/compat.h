/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  The newer servers' names, for all the servers that we build on.
 *
 * Each entry gives PostgreSQL 15 the API of a later major, so that the rest of
 * the sources is written once, against the newest.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COMPAT_H
#define GC_COMPAT_H

#include "postgres.h"

#include "port/atomics.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#if PG_VERSION_NUM < 150000
#error "gpuconc needs PostgreSQL 15 or later"
#endif

/* 16 renamed RelFileNode and its members to RelFileLocator. */
#if PG_VERSION_NUM >= 160000
#define GC_REL_FILE(rel)		((rel)->rd_locator)
#define GC_REL_SPC(rel)			((rel)->rd_locator.spcOid)
#define GC_REL_DB(rel)			((rel)->rd_locator.dbOid)
#define GC_REL_NUMBER(rel)		((rel)->rd_locator.relNumber)
#define GC_REL_NEW_SUBID(rel)	((rel)->rd_newRelfilelocatorSubid)
#define GC_REL_FIRST_SUBID(rel) ((rel)->rd_firstRelfilelocatorSubid)
#define GcRelFile				RelFileLocator
#define GC_FILE_DB(file)		((file).dbOid)
#define GC_FILE_NUMBER(file)	((file).relNumber)
#else
#define GC_REL_FILE(rel)		((rel)->rd_node)
#define GC_REL_SPC(rel)			((rel)->rd_node.spcNode)
#define GC_REL_DB(rel)			((rel)->rd_node.dbNode)
#define GC_REL_NUMBER(rel)		((rel)->rd_node.relNode)
#define GC_REL_NEW_SUBID(rel)	((rel)->rd_newRelfilenodeSubid)
#define GC_REL_FIRST_SUBID(rel) ((rel)->rd_firstRelfilenodeSubid)
#define GcRelFile				RelFileNode
#define GC_FILE_DB(file)		((file).dbNode)
#define GC_FILE_NUMBER(file)	((file).relNode)
#endif

/* 16 replaced the ownership check of each kind of object by one. */
#if PG_VERSION_NUM >= 160000
#define GC_OWNS_RELATION(relid, roleid) \
	object_ownercheck(RelationRelationId, (relid), (roleid))
#else
#define GC_OWNS_RELATION(relid, roleid) \
	pg_class_ownercheck((relid), (roleid))
#endif

/* Likewise of permission to call a function.  Users include acl.h and pg_proc.h. */
#if PG_VERSION_NUM >= 160000
#define GC_MAY_CALL(function, roleid) \
	(object_aclcheck(ProcedureRelationId, (function), (roleid), ACL_EXECUTE) == ACLCHECK_OK)
#else
#define GC_MAY_CALL(function, roleid) \
	(pg_proc_aclcheck((function), (roleid), ACL_EXECUTE) == ACLCHECK_OK)
#endif

/* 16 moved what must be permitted out of the range table.  Without an error. */
#if PG_VERSION_NUM >= 160000
#define GC_IS_PERMITTED(stmt)	ExecCheckPermissions((stmt)->rtable, (stmt)->permInfos, false)
#else
#define GC_IS_PERMITTED(stmt)	ExecCheckRTPerms((stmt)->rtable, false)
#endif

/* 16 made JSON of values of any type by a node of its own. */
#if PG_VERSION_NUM >= 160000
#define GC_IS_JSON_CONSTRUCTOR(node)	IsA((node), JsonConstructorExpr)
#else
#define GC_IS_JSON_CONSTRUCTOR(node)	false
#endif

/* Likewise, who reads a relation of the planner's; and an entry of a query's range table that this user reads. */
#if PG_VERSION_NUM >= 160000
#include "parser/parse_relation.h"
#define GC_REL_USER(rel, rte)	((rel)->userid)
#define GC_SET_USER(query, rte, user) \
	(addRTEPermissionInfo(&(query)->rteperminfos, (rte))->checkAsUser = (user))
#else
#define GC_REL_USER(rel, rte)	((rte)->checkAsUser)
#define GC_SET_USER(query, rte, user)	((rte)->checkAsUser = (user))
#endif

/* 17 gave each process one number; before, it is its place among all PGPROCs. */
#if PG_VERSION_NUM >= 170000
#define GC_MY_PROC_NUMBER		(MyProcNumber)
#else
#define GC_MY_PROC_NUMBER		(MyProc->pgprocno)
#endif

/* 17 lets an extension name its wait events; `id` is a uint32 that keeps one. */
#if PG_VERSION_NUM >= 170000
#define GC_WAIT_EVENT(id, name) \
	((id) != 0 ? (id) : ((id) = WaitEventExtensionNew(name)))
#else
#define GC_WAIT_EVENT(id, name) ((void) (id), PG_WAIT_EXTENSION)
#endif

/* 17 dropped old_snapshot_threshold. */
#if PG_VERSION_NUM >= 170000
#define GC_OLD_SNAPSHOTS_EXPIRE() false
#else
#define GC_OLD_SNAPSHOTS_EXPIRE() (old_snapshot_threshold >= 0)
#endif

/* 16 dropped the prefixes of a table's counters.  To be used after pgstat_should_count_relation(). */
#if PG_VERSION_NUM >= 160000
#define GC_SCANS_COUNTED(rel)	((rel)->pgstat_info->counts.numscans)
#define GC_ROWS_COUNTED(rel)	((rel)->pgstat_info->counts.tuples_returned)
#else
#define GC_SCANS_COUNTED(rel)	((rel)->pgstat_info->t_counts.t_numscans)
#define GC_ROWS_COUNTED(rel)	((rel)->pgstat_info->t_counts.t_tuples_returned)
#endif

/* 18 marks in expressions that grouping sets may make them NULL.  Below the grouping, they do not. */
#if PG_VERSION_NUM >= 180000
#include "rewrite/rewriteManip.h"
#define GC_BELOW_GROUPING(root, expr) \
	((root)->group_rtindex <= 0 ? (expr) : \
	 (Node *) remove_nulling_relids((Node *) (expr), bms_make_singleton((root)->group_rtindex), NULL))
#else
#define GC_BELOW_GROUPING(root, expr)	(expr)
#endif

/*
 * 18 has Vars of an entry of the range table for what a query groups by.  Before, there were copies
 * of these expressions, which mean the same if there are no grouping sets.  So make them again.
 */
#if PG_VERSION_NUM >= 180000
#include "optimizer/optimizer.h"
/* From 18 on, Vars of a query's groups are of an entry for them: put the expressions back in their places. */
static inline void
gc_expand_grouping(Query *query)
{
	ListCell   *lc;

	if (!query->hasGroupRTE || query->groupingSets)
		return;
	query->targetList = (List *) flatten_group_exprs(NULL, query, (Node *) query->targetList);
	query->havingQual = flatten_group_exprs(NULL, query, query->havingQual);
	query->hasGroupRTE = false;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		/* Entries keep their numbers. */
		if (rte->rtekind != RTE_GROUP)
			continue;
		rte->rtekind = RTE_RESULT;
		rte->groupexprs = NIL;
	}
}
#else
#define gc_expand_grouping(query)	((void) 0)
#endif

/* 18 has an entry for the grouping in the range table, which is no relation to EXPLAIN. */
#if PG_VERSION_NUM >= 180000
#define GC_IS_GROUPING(rte)		((rte)->rtekind == RTE_GROUP)
#else
#define GC_IS_GROUPING(rte)		((void) (rte), false)
#endif

/* 16 keeps all calls of an aggregate, not the first alone. */
#if PG_VERSION_NUM >= 160000
#define GC_AGGREGATE_OF(info)	linitial_node(Aggref, (info)->aggrefs)
#else
#define GC_AGGREGATE_OF(info)	((info)->representative_aggref)
#endif

/* From 16 on an equivalence class holds wherever it is used. */
#if PG_VERSION_NUM < 160000
#define GC_EC_BELOW_OUTER_JOIN(ec)	((ec)->ec_below_outer_join)
#else
#define GC_EC_BELOW_OUTER_JOIN(ec)	false
#endif

/* From 16 on a join relation's relids have outer joins among them. */
#if PG_VERSION_NUM >= 160000
#define GC_ALL_RELIDS(root)		((root)->all_query_rels)
#else
#define GC_ALL_RELIDS(root)		((root)->all_baserels)
#endif

/* Equalities that equivalence classes have between the two sides of an inner join. */
#if PG_VERSION_NUM >= 160000
#define GC_IMPLIED_EQUALITIES(root, joined, outer, inner) \
	generate_join_implied_equalities((root), (joined), (outer), (inner), NULL)
#else
#define GC_IMPLIED_EQUALITIES(root, joined, outer, inner) \
	generate_join_implied_equalities((root), (joined), (outer), (inner))
#endif

/* 16 added the permissions of the range table, 18 the relations that pruning left. */
#if PG_VERSION_NUM >= 180000
#define GC_INIT_RANGE_TABLE(estate, from) \
	ExecInitRangeTable((estate), (from)->es_range_table, (from)->es_rteperminfos, \
					   bms_copy((from)->es_unpruned_relids))
#elif PG_VERSION_NUM >= 160000
#define GC_INIT_RANGE_TABLE(estate, from) \
	ExecInitRangeTable((estate), (from)->es_range_table, (from)->es_rteperminfos)
#else
#define GC_INIT_RANGE_TABLE(estate, from) \
	ExecInitRangeTable((estate), (from)->es_range_table)
#endif

/* 18 gave INTERSECT and EXCEPT two inputs, which were an Append. */
#if PG_VERSION_NUM >= 180000
#define GC_SET_OPERATION_INPUTS(path)	list_make2((path)->leftpath, (path)->rightpath)
#else
#define GC_SET_OPERATION_INPUTS(path)	list_make1((path)->subpath)
#endif

/* Is a kind of path in it that a setting disables?  18 counts these, and before each cost very much. */
#if PG_VERSION_NUM >= 180000
#define GC_IS_DISABLED(path)	((path)->disabled_nodes > 0)
#else
#define GC_IS_DISABLED(path)	((path)->total_cost >= disable_cost)
#endif

/* 18 has NOT NULL constraints that are not valid yet. */
#if PG_VERSION_NUM >= 180000
#define GC_IS_NOT_NULL(desc, attno) \
	(TupleDescCompactAttr((desc), (attno) - 1)->attnullability == ATTNULLABLE_VALID)
#else
#define GC_IS_NOT_NULL(desc, attno) \
	(TupleDescAttr((desc), (attno) - 1)->attnotnull)
#endif

/* 18 prunes partitions before a plan is executed, and keeps what that left in the state. */
#if PG_VERSION_NUM >= 180000
#define GC_COPY_PRUNING(estate, from) \
	((estate)->es_part_prune_infos = (from)->es_part_prune_infos, \
	 (estate)->es_part_prune_states = (from)->es_part_prune_states, \
	 (estate)->es_part_prune_results = (from)->es_part_prune_results, \
	 (estate)->es_partition_directory = (from)->es_partition_directory)
#else
#define GC_COPY_PRUNING(estate, from)	((void) 0)
#endif

/* 16 moved the macros of varlenas. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* From 16 on a Var says which outer joins may have made it NULL.  Users include rewriteManip.h. */
#if PG_VERSION_NUM >= 160000
#define GC_OUTER_JOIN_RELIDS(root) ((root)->outer_join_rels)
#define GC_WITHOUT_NULLING(node, relids) remove_nulling_relids((node), (relids), NULL)
#define GC_NULLED_BY(var)	((var)->varnullingrels)
#define GC_SET_NULLED_BY(var, relids) ((var)->varnullingrels = (relids))
#else
#define GC_OUTER_JOIN_RELIDS(root) ((Relids) NULL)
#define GC_WITHOUT_NULLING(node, relids) (node)
#define GC_NULLED_BY(var)	((Relids) NULL)
#define GC_SET_NULLED_BY(var, relids) ((void) (relids))
#endif

/* 16 took permissions out of the range table's entries: entry 1 of `to` gets those of `rte`. */
#if PG_VERSION_NUM >= 160000
#define GC_COPY_PERMISSIONS(to, entry, from, rte) \
	((to)->rteperminfos = list_make1(copyObject(getRTEPermissionInfo((from)->rteperminfos, (rte)))), \
	 (entry)->perminfoindex = 1)
#else
#define GC_COPY_PERMISSIONS(to, entry, from, rte) ((void) 0)
#endif

/* 17 took the conditions that end a window early out of the query. */
#if PG_VERSION_NUM >= 170000
#define GC_RUN_CONDITION(path)	((path)->runCondition)
#define GC_RUN_CONDITIONS(window, func)	((func)->runCondition)
#define GC_RUN_CLAUSE(condition, func) \
	((Node *) make_opclause(((WindowFuncRunCondition *) (condition))->opno, BOOLOID, false, \
							((WindowFuncRunCondition *) (condition))->wfunc_left ? (Expr *) (func) : ((WindowFuncRunCondition *) (condition))->arg, \
							((WindowFuncRunCondition *) (condition))->wfunc_left ? ((WindowFuncRunCondition *) (condition))->arg : (Expr *) (func), \
							InvalidOid, ((WindowFuncRunCondition *) (condition))->inputcollid))
#else
#define GC_RUN_CLAUSE(condition, func)	((Node *) (condition))
#define GC_RUN_CONDITION(path)	((path)->winclause->runCondition)
#define GC_RUN_CONDITIONS(window, func)	((window)->runCondition)
#endif

/* 19 has window functions that pass over NULLs. */
#if PG_VERSION_NUM >= 190000
#define GC_IGNORES_NULLS(func)	((func)->ignore_nulls != 0)
#else
#define GC_IGNORES_NULLS(func)	false
#endif

/* 17 allows subtransactions of this kind in parallel mode. */
#define GC_SUBXACTS_IN_PARALLEL_MODE (PG_VERSION_NUM >= 170000)

/* 18 took EXPLAIN's output apart. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* 18 says before a function's type that it does not return. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn				pg_attribute_noreturn()
#endif

/* 18 has directions of sorting, and interpretations of operators, of any access method. */
#if PG_VERSION_NUM >= 180000
#include "access/cmptype.h"
typedef CompareType GcDirection;
#define GC_GREATER	COMPARE_GT
#define GC_IS_DESCENDING(key)	((key)->pk_cmptype == COMPARE_GT)
#define GC_PATHKEY_OPERATOR(key, type) \
	get_opfamily_member_for_cmptype((key)->pk_opfamily, (type), (type), (key)->pk_cmptype)
#else
typedef int16 GcDirection;
#define GC_GREATER	BTGreaterStrategyNumber
#define GC_IS_DESCENDING(key)	((key)->pk_strategy == BTGreaterStrategyNumber)
#define GC_PATHKEY_OPERATOR(key, type) \
	get_opfamily_member((key)->pk_opfamily, (type), (type), (key)->pk_strategy)
#define get_op_index_interpretation(opno) get_op_btree_interpretation(opno)
#endif

/* 18 notes in a sort clause that its operator is a "greater than". */
#if PG_VERSION_NUM >= 180000
#define GC_SET_DESCENDING(clause, descending)	((clause)->reverse_sort = (descending))
#else
#define GC_SET_DESCENDING(clause, descending)	((void) 0)
#endif

/* 18 says of any access method how rows compare.  Both kinds of numbers are a btree's strategies. */
#if PG_VERSION_NUM >= 180000
#define GC_ROW_COMPARISON(row)	((row)->cmptype)
#else
#define GC_ROW_COMPARISON(row)	((row)->rctype)
#endif

/* 18 keeps what is known of a collation in one place.  Users include pg_locale.h. */
#if PG_VERSION_NUM >= 180000
#define GC_COLLATE_IS_C(collation) \
	(OidIsValid(collation) && pg_newlocale_from_collation(collation)->collate_is_c)
#define GC_CTYPE_IS_C(collation) \
	(OidIsValid(collation) && pg_newlocale_from_collation(collation)->ctype_is_c)
#else
#define GC_COLLATE_IS_C(collation)	lc_collate_is_c(collation)
#define GC_CTYPE_IS_C(collation)	lc_ctype_is_c(collation)
#endif

/* 18 has reverse() of bytea, too. */
#if PG_VERSION_NUM < 180000
#define F_REVERSE_TEXT	F_REVERSE
#endif

/* A statement's relation, until the statement ends; from 18 on NULL if it was pruned.  Users include executor.h. */
#if PG_VERSION_NUM >= 180000
#define GC_OPEN_RELATION(estate, rti) \
	(bms_is_member((rti), (estate)->es_unpruned_relids) ? ExecGetRangeTableRelation((estate), (rti), false) : NULL)
#else
#define GC_OPEN_RELATION(estate, rti)	ExecGetRangeTableRelation((estate), (rti))
#endif

/* PostgreSQL's transaction ids in shared memory. */
#if PG_VERSION_NUM >= 170000
#define GC_TRANSAM_VARIABLES	TransamVariables
#else
#define GC_TRANSAM_VARIABLES	ShmemVariableCache
#endif

/* From 17 on a setting ends long transactions, those of background workers as well.  Users include guc.h. */
#if PG_VERSION_NUM >= 170000
#define GC_NO_TRANSACTION_TIMEOUT()	SetConfigOption("transaction_timeout", "0", PGC_USERSET, PGC_S_SESSION)
#else
#define GC_NO_TRANSACTION_TIMEOUT() ((void) 0)
#endif

#endif							/* GC_COMPAT_H */
