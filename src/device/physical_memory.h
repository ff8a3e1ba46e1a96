/*-------------------------------------------------------------------------
 *
 * physical_memory.h
 *	  The memory that this machine, or the container, has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PHYSICAL_MEMORY_H
#define GC_PHYSICAL_MEMORY_H

#include "../../cuda/gc_abi.h"

/*
 * Bytes of physical memory, or the least that a control group of this process allows.  /proc and /sys lie below
 * `root`, which is "" but in tests.
 */
extern u64	gc_physical_memory(const char *root);

#endif							/* GC_PHYSICAL_MEMORY_H */
