/*-------------------------------------------------------------------------
 *
 * invalidation.c
 *	  Which tables have changed since something was remembered of them.
 *
 * Invalidations are counted, and a table of which something is remembered keeps the count of its last one.  So an
 * invalidation costs the same however much is remembered, and one of another table next to nothing.  Sessions that make
 * many temporary tables keep their memory of plans.  It is asked for when something remembered is used.
 *
 * Planner, in backends; the counts are a backend's own.
 *
 *-------------------------------------------------------------------------
 */
#include "invalidation.h"

#include "access/transam.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

/* Where more tables are watched, it is begun anew, and all of them are taken to have changed. */
#define MOST_WATCHED	8192

typedef struct Watched
{
	Oid			relid;
	uint64		changed;
} Watched;

static HTAB *watched = NULL;
static uint64 now = 1;
static uint64 all_changed = 0;
static uint64 any_changed = 0;

/* A relation was invalidated; 0: any may have been.  The system's relations are nothing to users' tables. */
static void
note_change(Datum arg, Oid relid)
{
	Watched    *table;

	if (OidIsValid(relid) && relid < FirstNormalObjectId)
		return;
	any_changed = ++now;
	if (!OidIsValid(relid))
		all_changed = now;
	else if (watched && (table = hash_search(watched, &relid, HASH_FIND, NULL)) != NULL)
		table->changed = now;
}

uint64
gc_invalidation_watch(const Oid *tables, int ntables)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(Watched),.hcxt = TopMemoryContext};

	if (watched && hash_get_num_entries(watched) + ntables > MOST_WATCHED)
	{
		hash_destroy(watched);
		watched = NULL;
		all_changed = any_changed = ++now;
	}
	if (watched == NULL)
		watched = hash_create("gpuconc watched tables", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (int i = 0; i < ntables; i++)
	{
		bool		found;
		Watched    *table = OidIsValid(tables[i]) ? hash_search(watched, &tables[i], HASH_ENTER, &found) : NULL;

		if (table && !found)
			table->changed = 0;
	}
	return now;
}

bool
gc_invalidated_since(uint64 *then, const Oid *tables, int ntables)
{
	if (any_changed <= *then)
		return false;
	if (all_changed > *then)
		return true;
	for (int i = 0; i < ntables; i++)
	{
		const Watched *table = OidIsValid(tables[i]) ? hash_search(watched, &tables[i], HASH_FIND, NULL) : NULL;

		if (table && table->changed > *then)
			return true;
	}
	*then = now;
	return false;
}

bool
gc_any_invalidated_since(uint64 then)
{
	return any_changed > then;
}

void
gc_invalidation_install(void)
{
	CacheRegisterRelcacheCallback(note_change, (Datum) 0);
}
