/*-------------------------------------------------------------------------
 *
 * key_groups.c
 *	  The kernels of group-coded columns: the refinement kernel, and the kernel that writes such
 *	  columns.
 *
 * Selection scans test a column with many values mostly by attributes of them in another table: a part's brand, a
 * customer's city.  Values of which that table says the same form a key group.  A group-coded column has each row's key
 * group in the place of its value.  It is narrower.  Also a table by key group fits into shared memory where a table by
 * value does not.  Shared memory answers an order of magnitude more often than the L2 cache.
 *
 * Key groups are a guess, and results never rely on them: tables may change, and requests may
 * test attributes that no key group knows.  For every scan the merge kernel (selection.c) looks
 * at all values.  The selection kernel reads key groups only if the same requests accept all
 * values of each key group.  So key groups need no snapshot, and nothing has to keep them up to
 * date.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "../key_groups.h"
#include "prologue.h"

/*
 * NULL is a key group of its own.  A column without NULLs has arbitrary bits for it in its
 * predicate bitmaps.
 */
char *
gc_generate_refiner(void)
{
	return cg_fixed_kernel(GC_REFINER_WORDS, "u32 *const of = (u32 *) gc_a.w[4];\n"
						   "const u64 first = (u64) block * nthreads + thread, all = (u64) nblocks * nthreads;\n"
						   "const u64 *count = (const u64 *) gc_a.w[8];\n"
						   "if (gc_a.w[0] == %d) {\nGC_TILES\n"
						   "const GcCol key = ((const GcCol *) gc_a.w[1])[gc_src.chunk];\n"
						   "const GcCol attribute = gc_shared_column(gc_a.w[2], gc_src.chunk, gc_a.w[2] != 0);\n"
						   "for (u32 row = gc_first + thread; row < gc_end; row += nthreads)\n"
						   "gc_read_attribute(key, attribute, row, of, (i64) gc_a.w[11], gc_a.w[12], (i64) gc_a.w[3]);\n"
						   "GC_END_TILES\n}\n"
						   "if (gc_a.w[0] == %d)\nfor (u64 i = first; i <= gc_a.w[12]; i += all)\n"
						   "of[i] = gc_key_group_slot((u64 *) gc_a.w[6], (u32 *) gc_a.w[7], (u64 *) gc_a.w[8], "
						   "(u64) ((const u16 *) gc_a.w[5])[i] << 32 | (i == gc_a.w[12] ? 0xffffffffu : of[i]));\n"
						   "if (gc_a.w[0] == %d && !count[1])\nfor (u64 i = first; i <= gc_a.w[12]; i += all) {\n"
						   "const u32 id = ((const u32 *) gc_a.w[7])[of[i]];\n"
						   "((u16 *) gc_a.w[9])[i] = (u16) id;\n((u32 *) gc_a.w[10])[id] = (u32) i;\n}\n}\n",
						   GC_REFINE_READ, GC_REFINE_FIND, GC_REFINE_ASSIGN);
}

char *
gc_generate_key_group_writer(void)
{
	return cg_fixed_kernel(GC_KEY_GROUP_WRITER_WORDS, "GC_TILES\n"
						   "const GcCol from = ((const GcCol *) gc_a.w[0])[gc_src.chunk];\n"
						   "const GcCol to = ((const GcCol *) gc_a.w[1])[gc_src.chunk];\n"
						   "if (!to.data) continue;\n"
						   "GC_PADDED_VECTORS\n"
						   "gc_write_key_groups(to, from, gc_row, (const u16 *) gc_a.w[4], (i64) gc_a.w[2], (u32) gc_a.w[3]);\n"
						   "GC_END_SELECT_VECTORS\nGC_END_TILES\n}\n");
}
