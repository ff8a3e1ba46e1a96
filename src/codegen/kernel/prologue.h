/*-------------------------------------------------------------------------
 *
 * prologue.h
 *	  The beginning of every kernel's text.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROLOGUE_H
#define GC_PROLOGUE_H

#include "../expr/text.h"

/*
 * The head of a kernel with nwords argument words, for blocks of at most
 * `threads` threads.  vec: rows of a vector on cuda.
 */
extern void cg_prologue(Text *t, int nwords, int vec, int threads);

/*
 * Put those parts of the device library before the head of kernel t that the kernel needs.  Each text that cg_prologue
 * began is to end with this.  Out of memory, t has failed and is empty.
 */
extern void cg_add_library(Text *t);

/* A whole kernel with this body, for blocks of at most 256 threads; NULL: out of memory. */
extern char *cg_fixed_kernel(int nwords, const char *body,...) __attribute__((format(printf, 2, 3)));

#endif							/* GC_PROLOGUE_H */
