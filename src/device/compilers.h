/*-------------------------------------------------------------------------
 *
 * compilers.h
 *	  Compiling for device cuda in processes of their own.
 *
 * NVRTC reads one text at a time, whatever threads ask for it.  That is a fifth of a quick compilation, and a tenth
 * of a full one (NVRTC 13.0, sm_90, 30 kernels of TPC-H).  Of two threads 1.96 were at work on average, of four 3.7,
 * of eight 5.3, of 16 5.2.  Of processes, 1.98, 3.9, 7.2 and 11.7 were.  Eight threads of an idle machine of 16
 * cores compiled 2.4 times as much as one.  So each compile thread has a process, the program gpuconc_compiler,
 * which is another NVRTC.  Where there is none, or it ended, NVRTC compiles in the worker.  But a text fails that was
 * being compiled when a signal ended the process: the text might end the worker in the same way.
 *
 * Start and stop: the worker's main thread, with no compile thread there.  Start comes before the CUDA driver is
 * initialized, as nothing is forked from then on.  The rest: any thread, several at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COMPILERS_H
#define GC_COMPILERS_H

#include "device.h"

struct GcNvrtc;

/* An order is written to a compiler, and the text behind it.  Both ends are of one version, on one machine. */
typedef struct GcCompileOrder
{
	u64			source_size;
	i32			prefer_major;	/* as gc_nvrtc_open()'s */
	i32			arch;
	i32			effort;			/* GcCompileEffort */
	i32			pad;
} GcCompileOrder;

/* An answer, and behind it the image, or the text of the error. */
typedef struct GcCompileAnswer
{
	u64			size;
	i32			code;			/* GcCode */
	i32			pad;
} GcCompileAnswer;

/* Start n processes of a program; fewer where that is refused.  A process of another version ends at once. */
extern void gc_compilers_start(const char *program, const char *version, int n);

/* End them, and wait for that. */
extern void gc_compilers_stop(void);

/* How many there are. */
extern int	gc_compilers_count(void);

/* gc_nvrtc_compile() without a log, in a process that is free. */
extern GcCode gc_compilers_compile(const struct GcNvrtc *nvrtc, int prefer_major, int arch, const char *source,
								   GcCompileEffort effort, GcImage *image, GcError *err);

/* Have each process compile a text, as the first compilation takes longer than others. */
extern void gc_compilers_warm_up(int prefer_major, int arch, const char *source);

#endif							/* GC_COMPILERS_H */
