/*-------------------------------------------------------------------------
 *
 * rows_key.c
 *	  Keys of the rows that a request reads of an input: equal keys, equal rows.  See rows_key.h.
 *
 * Runs in backends, under a guard.
 *
 *-------------------------------------------------------------------------
 */
#include "rows_key.h"

StaticAssertDecl(sizeof(GcHole) == sizeof(uint64), "a hole must be a word of a set");

static GcHash
hash_holes(const GcServedChunk *chunk)
{
	GcHash		set = gc_holes_hash(chunk);

	for (uint32 i = 0; i < chunk->nedits; i++)
	{
		const GcHoleEdit *e = &chunk->edits[i];

		gc_hash_add(&set, &e->hole, 1);
		gc_hash_take(&set, chunk->holes + e->from, e->to - e->from);
	}
	return set;
}

GcHash
gc_rows_key(const GcDirectory *dir, const GcServed *served, uint64 delta_rows)
{
	GcHash		key = {{0x7365, 0x7276}};
	uint32		k = 0;

	if (dir == NULL || delta_rows > 0)
		return (GcHash) {{0, 0}};
	gc_hash_mix(&key, &dir->id, sizeof(dir->id));
	for (uint32 c = 0; c < dir->nchunks; c++)
	{
		const GcServedChunk *chunk = k < served->nchunks && served->chunks[k].chunk == c ? &served->chunks[k++] : NULL;
		const GcHole whole = {0, dir->facts[c].nrows};
		GcHash		set = {{0, 0}};

		if (chunk ? chunk->nholes == 0 : whole.to == 0)
			continue;
		if (chunk)
			set = hash_holes(chunk);
		else
			gc_hash_add(&set, &whole, 1);
		gc_hash_mix(&key, &c, sizeof(c));
		gc_hash_mix(&key, &set, sizeof(set));
	}
	Assert(k == served->nchunks);
	return key;
}
