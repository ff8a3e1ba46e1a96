/*-------------------------------------------------------------------------
 *
 * seen.c
 *	  The range of a column's cached values, and the size of its dictionary, for the planner.
 *
 * Runs in backends, in the planner.
 *
 *-------------------------------------------------------------------------
 */
#include "missing.h"

#include "access/table.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"

#include "../encode/spec.h"
#include "../store/dict.h"
#include "../store/directory.h"
#include "../store/epoch.h"
#include "../store/store.h"

/* The facts that the cache knows of a column.  False: it is not there. */
static bool
look(const GcDirectory *dir, const GcColSpec *spec, GcSeenColumn *seen)
{
	const int	c = dir ? gc_directory_column(dir, spec) : -1;
	const GcDirColumn *column;

	if (c < 0 || dir->columns[c].problem != GC_COL_OK)
		return false;
	column = &dir->columns[c];
	seen->any = column->span.min <= column->span.max && column->span.min >= PG_INT64_MIN &&
		column->span.max <= PG_INT64_MAX;
	seen->min = column->span.min;
	seen->max = column->span.max;
	if (GC_KIND_IS_CODE(spec->kind))
	{
		GcDictView *view = gc_dict_view(column->state, spec->rtrim);

		seen->values = gc_dict_count(view);
		pfree(view);
	}
	return true;
}

bool
gc_column_seen(Oid relid, int16 attnum, GcSeenColumn *seen)
{
	Relation	rel = table_open(relid, NoLock);
	const char *reason;
	GcColSpec	spec;
	bool		found = false;

	memset(seen, 0, sizeof(*seen));
	if (gc_col_spec(rel, attnum, &spec, &reason))
	{
		gc_guard_enter();
		found = look(gc_directory(rel), &spec, seen);
		gc_guard_leave();
		if (!found)
			seen->values = gc_analyzed_values(rel, attnum, Max(rel->rd_rel->reltuples, 0));
	}
	table_close(rel, NoLock);
	return found;
}
