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
 * The device library and the head of a kernel with nwords argument words, for blocks of at most
 * `threads` threads.  vec: rows of a vector on cuda.
 */
extern void cg_prologue(Text *t, int nwords, int vec, int threads);

#endif							/* GC_PROLOGUE_H */
