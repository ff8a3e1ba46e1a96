/*-------------------------------------------------------------------------
 *
 * spec.c
 *	  Columns and relations that can be cached, by their kinds.
 *
 * Runs in backends and loaders; reads catalogs.  Every refusal has a reason, a
 * lower-case phrase without a period that completes "cannot cache it: ...".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "../store/columns.h"
#include "pgkinds.h"
#include "spec.h"
#include "../../compat.h"

/* Note the reason; returns false for the caller to return. */
static bool
refuse(const char **reason, const char *why)
{
	*reason = why;
	return false;
}

bool
gc_col_spec(Relation rel, AttrNumber attnum, GcColSpec *spec, const char **reason)
{
	Form_pg_attribute att;

	*reason = NULL;
	memset(spec, 0, sizeof(GcColSpec));
	spec->attnum = attnum;

	if (attnum <= 0)
		return refuse(reason, "it is a system column or the whole row");
	if (attnum > RelationGetNumberOfAttributes(rel))
		return refuse(reason, "there is no such column");
	att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	if (att->attisdropped)
		return refuse(reason, "the column is dropped");
	if (att->attgenerated != '\0' && att->attgenerated != ATTRIBUTE_GENERATED_STORED)
		return refuse(reason, "the column is generated when it is read");

	spec->typmod = att->atttypmod;
	spec->typid = getBaseTypeAndTypmod(att->atttypid, &spec->typmod);
	spec->collation = att->attcollation;
	spec->kind = gc_type_kind(spec->typid);

	if (spec->kind == GC_KIND_NONE)
		return refuse(reason, psprintf("type %s is not supported",
									   format_type_be(att->atttypid)));
	if (spec->kind == GC_TEXT || spec->kind == GC_NAME)
	{
		if (!gc_collation_deterministic(spec->collation))
			return refuse(reason, "nondeterministic collation");
		if (spec->typid == BPCHAROID)
		{
			if (spec->typmod < 0)
				return refuse(reason, "type character without a length is not supported");
			spec->rtrim = true;
		}
	}
	return true;
}

bool
gc_rel_plannable(Relation rel, const char **reason)
{
	*reason = NULL;
	if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW)
		return refuse(reason, "it is not a table or materialized view");
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return refuse(reason, "it is a temporary table");
	if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		return refuse(reason, "it is an unlogged table");
	if (RelationGetRelid(rel) < FirstNormalObjectId)
		return refuse(reason, "it is a system catalog");
	if (rel->rd_tableam != GetHeapamTableAmRoutine())
		return refuse(reason, "its access method is not heap");
	return true;
}

bool
gc_rel_servable(Relation rel, const char **reason)
{
	if (!gc_rel_plannable(rel, reason))
		return false;

	/*
	 * In the transaction that made this file, COPY FREEZE adds rows to pages
	 * that are all-visible already, and TRUNCATE empties the file in place.
	 * Under wal_level = minimal none of that shows in any LSN.
	 */
	if (rel->rd_createSubid != InvalidSubTransactionId ||
		GC_REL_NEW_SUBID(rel) != InvalidSubTransactionId ||
		GC_REL_FIRST_SUBID(rel) != InvalidSubTransactionId)
		return refuse(reason, "it was created or rewritten in this transaction");

	/* VACUUM might then remove rows that the snapshot still sees. */
	if (GC_OLD_SNAPSHOTS_EXPIRE())
		return refuse(reason, "old_snapshot_threshold is set");
	return true;
}

bool
gc_rel_loadable(Relation rel, const char **reason)
{
	if (!gc_rel_servable(rel, reason))
		return false;

	/*
	 * This transaction may have added a column with a default, which changes no
	 * page.  If it aborts, the next column to be added gets the same number, and
	 * might have the same type and another default.
	 */
	if (CheckRelationLockedByMe(rel, AccessExclusiveLock, true))
		return refuse(reason, "this transaction holds an exclusive lock on it");
	return true;
}

bool
gc_rel_cacheable(Relation rel, Snapshot snapshot, const char **reason)
{
	if (!gc_rel_servable(rel, reason))
		return false;
	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		return refuse(reason, "the snapshot is not an MVCC snapshot");
	if (IsParallelWorker())
		return refuse(reason, "this is a parallel worker");

	if (gc_reads_are_tracked())
		return refuse(reason, GC_SERIALIZABLE);
	return true;
}

/*
 * Writers check for a conflict before they clear the map bit, relying on scans to lock the heap page.  A scan that is
 * served from chunks does not do that.  Only a transaction on a safe snapshot, which has given up its predicate locks,
 * cannot be part of a conflict.
 */
bool
gc_reads_are_tracked(void)
{
	return IsolationIsSerializable() && !(XactReadOnly && XactDeferrable && ShareSerializableXact() == NULL);
}
