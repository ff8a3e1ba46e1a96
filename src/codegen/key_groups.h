/*-------------------------------------------------------------------------
 *
 * key_groups.h
 *	  The kernels of group-coded columns: the refinement kernel, and what writes such columns.
 *
 * Pure C, called on the worker's main thread.  The caller owns, and frees, the texts that it is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_KEY_GROUPS_H
#define GC_CODEGEN_KEY_GROUPS_H

/*
 * The refinement kernel splits key groups of a column's values by an attribute that a table has of
 * each, in three launches:
 *
 *	  w[0] GC_REFINE_READ: over all chunks (GcScan) of the table, w[1] and w[2] the
 *	  addresses of the GcCols of its key and its attribute (0: whether there is a row),
 *	  w[3] the least of the attribute's values; w[4] u32[range + 1], zeroed before, receives each value's;
 *	  GC_REFINE_FIND: w[5] u16[range + 1] the key groups so far, w[6] u64[GC_KEY_GROUP_SLOTS],
 *	  all ones before, w[7] u32[GC_KEY_GROUP_SLOTS], w[8] u64[2], zeroed before: receives the
 *	  number of key groups, and whether they are more than GC_MAX_KEY_GROUPS;
 *	  GC_REFINE_ASSIGN: w[9] u16[range + 1] receives the new key groups, w[10]
 *	  u32[GC_MAX_KEY_GROUPS] a value of each: nothing, if they are too many;
 *
 * w[11] and w[12] are base and range of the column's values, as for the predicate kernel: entry
 * `range` is for NULL, which is a key group of its own.  All words are the same in the three.  The same for all programs.
 * malloc'd; NULL when out of memory.
 */
extern char *gc_generate_refiner(void);
#define GC_REFINER_WORDS	13
enum
{
	GC_REFINE_READ,
	GC_REFINE_FIND,
	GC_REFINE_ASSIGN
};

/*
 * The key group writer fills a key group column in the chunks of its scan: w[0] address of the
 * column's GcCols, w[1] of those of the key group column, whose width is 1 or 2, with data
 * for as many rows as a multiple of 8 has (chunks with data 0 are left out), w[2] base, w[3] range,
 * w[4] the key groups.  The same for all programs.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_key_group_writer(void);
#define GC_KEY_GROUP_WRITER_WORDS	5

#endif							/* GC_CODEGEN_KEY_GROUPS_H */
