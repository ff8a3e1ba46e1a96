/*-------------------------------------------------------------------------
 *
 * prologue.h
 *	  What every kernel's text begins with.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROLOGUE_H
#define GC_PROLOGUE_H

#include "text.h"

/*
 * The device library and the head of a kernel with so many argument words, for blocks of up to so many
 * threads.  vec: rows of a vector on cuda.
 */
extern void cg_prologue(Text *t, int nwords, int vec, int threads);

#endif							/* GC_PROLOGUE_H */
