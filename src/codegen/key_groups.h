/*-------------------------------------------------------------------------
 *
 * key_groups.h
 *	  The kernels of group-coded columns: the refinement kernel, and the kernel that writes such columns.
 *
 * Pure C, called on the worker's main thread.  The caller owns, and frees, the texts that it is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_KEY_GROUPS_H
#define GC_CODEGEN_KEY_GROUPS_H

/*
 * The refinement kernel splits the key groups of a column's values by an attribute that a table
 * has of each value.  It takes three launches, with the same words:
 *
 *	  GC_REFINE_READ scans all chunks (GcScan) of the table.  w[1] and w[2] are the
 *	  addresses of the GcCols of its key and its attribute (0: whether there is a row).  w[3]
 *	  is the attribute's least value.  w[4] u32[range + 1], zeroed before, receives the
 *	  attribute of each value.
 *	  GC_REFINE_FIND: w[5] u16[range + 1] are the key groups so far.  w[6]
 *	  u64[GC_KEY_GROUP_SLOTS], all ones before, and w[7] u32[GC_KEY_GROUP_SLOTS] are slots.
 *	  w[8] u64[2], zeroed before, receives the number of key groups, and whether they are
 *	  more than GC_MAX_KEY_GROUPS.
 *	  GC_REFINE_ASSIGN: w[9] u16[range + 1] receives the new key groups, w[10]
 *	  u32[GC_MAX_KEY_GROUPS] a value of each; nothing, if there are too many.
 *
 * w[0] is the step.  w[11] and w[12] are base and range of the column's values, as for the
 * predicate kernel.  Entry `range` is for NULL, which is a key group of its own.  The text is the
 * same for all programs.  malloc'd; NULL when out of memory.
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
 * Generate the kernel that fills a group-coded column in the chunks of its scan.  w[0] and w[1]
 * are the addresses of the GcCols of the column and the group-coded column.  Chunks of the latter
 * whose data is 0 are left out; others have room for a multiple of 8 rows.  Its width is 1 or 2.
 * w[2] is base, w[3] range, w[4] the key groups.  The text is the same for all programs.  malloc'd;
 * NULL when out of memory.
 */
extern char *gc_generate_key_group_writer(void);
#define GC_KEY_GROUP_WRITER_WORDS	5

#endif							/* GC_CODEGEN_KEY_GROUPS_H */
