/*-------------------------------------------------------------------------
 *
 * small_kernels.c
 *	  Kernels that are no pipeline's: each is one loop around a function of the device library.
 *
 * Pure C, called on the worker's main thread.  The text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "../codegen.h"
#include "prologue.h"

/* The compactor: collects the existing groups of a dense group table. */
char *
gc_generate_compactor(void)
{
	return cg_fixed_kernel(GC_COMPACTOR_WORDS, "const u64 *table = (const u64 *) gc_a.w[0];\n"
						   "u32 *flags = (u32 *) gc_a.scan.flags;\n"
						   "for (u64 g = (u64) block * nthreads + thread; g < gc_a.w[1]; g += (u64) nblocks * nthreads) {\n"
						   "const u64 *from = table + g * gc_a.w[2];\n"
						   "if (!from[0]) continue;\n"
						   "const u64 n = GC_ATOMIC_ADD32(&flags[GC_FLAG_GROUPS], 1);\n"
						   "u64 *to = (u64 *) gc_a.w[3] + n * gc_a.w[2];\n"
						   "((u64 *) gc_a.w[4])[n] = g;\n"
						   "for (u64 i = 0; i < gc_a.w[2]; i++) to[i] = from[i];\n"
						   "}\n}\n");
}

/* The kernel that makes the bitmaps of the rows that a request sees. */
char *
gc_generate_holes_kernel(void)
{
	return cg_fixed_kernel(GC_HOLES_KERNEL_WORDS, "const GcVisible *visible = (const GcVisible *) gc_a.w[0];\n"
						   "const u32 pieces = (u32) gc_a.w[2], each = (%d + nthreads - 1) / nthreads;\n"
						   "for (u64 unit = block; unit < gc_a.w[1] * pieces; unit += nblocks) {\n"
						   "const GcVisible v = visible[unit / pieces];\n"
						   "const u32 words = (v.nrows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * (GC_PAD_ROWS / 64);\n"
						   "const u32 begin = (u32) (unit %% pieces) * %d;\n"
						   "const u32 end = begin + %d < words ? begin + %d : words;\n"
						   "const u32 first = begin + thread * each;\n"
						   "if (first < end) gc_fill_visible(&v, first, first + each < end ? first + each : end);\n"
						   "}\n}\n",
						   GC_HOLES_WORDS, GC_HOLES_WORDS, GC_HOLES_WORDS, GC_HOLES_WORDS);
}

/* The kernel that reads the host's memory over the link, to be timed. */
char *
gc_generate_link_kernel(void)
{
	return cg_fixed_kernel(GC_LINK_WORDS, "u32 found = 0;\n"
						   "for (u64 i = (u64) block * nthreads + thread; i < gc_a.w[1]; i += (u64) nblocks * nthreads)\n"
						   "found |= *(const u32 *) (gc_a.w[0] + i * gc_a.w[2]);\n"
	/* So that the reads are not left out. */
						   "if (found == 0x5eed5eedu) *(u32 *) gc_a.w[3] = found;\n"
						   "}\n");
}

/* The kernel that fills a lookup table with a text program's results for the values of a dictionary. */
char *
gc_generate_text_kernel(void)
{
	return cg_fixed_kernel(GC_TEXT_WORDS, "const u8 *bytes = (const u8 *) gc_a.w[0];\n"
						   "const u64 *start = (const u64 *) gc_a.w[1];\n"
						   "const u8 *program = (const u8 *) gc_a.w[6];\n"
						   "const u32 nops = (u32) gc_a.w[7], utf8 = (u32) gc_a.w[8];\n"
						   "for (u64 first = gc_a.w[4] + (u64) block * %d; first < gc_a.w[5]; first += (u64) nblocks * %d) {\n"
						   "const u64 end = first + %d < gc_a.w[5] ? first + %d : gc_a.w[5];\n"
						   "for (u64 c = first + thread; c < end && !GC_STOPPED; c += nthreads) {\n"
						   "GcText t = {0, bytes + start[c], 0, 0, start[c + 1] - start[c], 0, 0};\n"
						   "const i64 value = gc_text_execute(&t, program, nops, utf8);\n"
						   "if (gc_a.w[3] == 1)\n"
						   "((u8 *) gc_a.w[2])[c + 1] = (u8) value;\n"
						   "else\n"
						   "((i32 *) gc_a.w[2])[c + 1] = (i32) value;\n"
						   "}\n}\n}\n",
						   GC_TEXT_VALUES, GC_TEXT_VALUES, GC_TEXT_VALUES, GC_TEXT_VALUES);
}

/* The kernel of windows over kept rows. */
char *
gc_generate_window_kernel(void)
{
	/* Once a step was stopped, none begins, in this launch or in later ones: its input may not be there. */
	return cg_fixed_kernel(GC_WINDOW_WORDS, "GC_BLOCK_ARRAY(u32, stopped, 1);\n"
						   "GC_BLOCK_ARRAY(GcWindowState, parts, 256);\n"
						   "for (u32 s = 0; s < (u32) gc_a.w[GC_WINDOW_NSTEPS]; s++) {\n"
						   "if (thread == 0) stopped[0] = GC_STOPPED;\n"
						   "GC_BARRIER();\n"
						   "if (stopped[0]) break;\n"
						   "const u64 step = gc_a.w[GC_WINDOW_STEPS + 2 * s], end = gc_a.w[GC_WINDOW_STEPS + 2 * s + 1];\n"
						   "const u32 phase = GC_WINDOW_PHASE(step);\n"
						   "const GcWindow window = gc_window(gc_a.w, GC_WINDOW_ORDER(step));\n"
						   "const u32 npacked = phase >= GC_WINDOW_PACK && phase <= GC_WINDOW_MERGE ? gc_window_npacked(&window) : 0;\n"
						   "if (phase == GC_WINDOW_CARRY && block == 0) gc_window_carry(&window, parts, GC_WINDOW_WIDTH(step), thread, nthreads);\n"
						   "if (phase != GC_WINDOW_CARRY)\n"
						   "for (u64 unit = gc_a.w[GC_WINDOW_FROM] + (u64) block * nthreads + thread; unit < end; unit += (u64) nblocks * nthreads)\n"
						   "gc_window_unit(&window, phase, unit, GC_WINDOW_WIDTH(step), npacked);\n"
						   "GC_BARRIER();\n"
						   "}\n}\n");
}
