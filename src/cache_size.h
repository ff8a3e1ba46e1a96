/*-------------------------------------------------------------------------
 *
 * cache_size.h
 *	  How large gpuconc.host_cache_size is where nobody has set it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CACHE_SIZE_H
#define GC_CACHE_SIZE_H

/* Megabytes that suit this machine, and that can be had as shared memory.  Called by the postmaster. */
extern int	gc_suitable_cache_mb(void);

#endif							/* GC_CACHE_SIZE_H */
