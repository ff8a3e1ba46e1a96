/*-------------------------------------------------------------------------
 *
 * force.h
 *	  What debug settings force: one function per question.
 *
 * Only settings.c, which defines these settings, reads them elsewhere.  Every process has them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FORCE_H
#define GC_FORCE_H

#include "settings.h"

/*-------------------------------------------------------------------------
 * gpuconc.debug_offload, in backends
 *-------------------------------------------------------------------------
 */
static inline bool
gc_offload_forbidden(void)
{
	return gc_debug_offload == GC_OFFLOAD_FORBID;
}

/* Should this backend look at queries at all? */
static inline bool
gc_offload_active(void)
{
	return gc_preloaded && gc_enabled && !gc_offload_forbidden();
}

/* Is a query that is not offloaded an error? */
static inline bool
gc_offload_required(void)
{
	return gc_debug_offload == GC_OFFLOAD_REQUIRE;
}

/* Is what can be offloaded offloaded, whatever it costs? */
static inline bool
gc_offload_forced(void)
{
	return gc_debug_offload == GC_OFFLOAD_PREFER || gc_offload_required();
}

/*-------------------------------------------------------------------------
 * gpuconc.debug_rewrite, in backends
 *-------------------------------------------------------------------------
 */

/* May queries be rewritten before they are planned? */
static inline bool
gc_rewriting_allowed(void)
{
	return gc_debug_rewrite != GC_REWRITE_NEVER;
}

/* Is the plan of a rewritten query taken, whatever it is? */
static inline bool
gc_rewriting_forced(void)
{
	return gc_debug_rewrite == GC_REWRITE_ALWAYS;
}

/*-------------------------------------------------------------------------
 * gpuconc.debug_force_shared_scan and its like, in the worker
 *-------------------------------------------------------------------------
 */

/* How scans are to be shared wherever that is possible; GC_FORCE_NONE: where it pays. */
static inline GcForce
gc_forced_sharing(void)
{
	return gc_debug_force_shared_scan;
}

/* Are scans to be shared in some way wherever that is possible?  Then requests wait for the kernels. */
static inline bool
gc_sharing_forced(void)
{
	return gc_forced_sharing() != GC_FORCE_NONE;
}

/* Are scans to be shared by selection wherever that is possible? */
static inline bool
gc_selection_forced(void)
{
	return gc_forced_sharing() == GC_FORCE_SELECTION;
}

/* May scans be shared by selection? */
static inline bool
gc_selection_allowed(void)
{
	return gc_debug_shared_selection && (!gc_sharing_forced() || gc_selection_forced());
}

/* Are kernels to be co-resident wherever they fit? */
static inline bool
gc_coresident_forced(void)
{
	return gc_debug_force_coresident;
}

/* May kernels be launched in gangs? */
static inline bool
gc_gangs_allowed(void)
{
	return gc_debug_gang != GC_GANG_OFF;
}

/* Do requests wait for active launches of their kernel, whatever these take? */
static inline bool
gc_gangs_forced(void)
{
	return gc_debug_gang == GC_GANG_WAIT;
}

/* Requests that must wait before any is started; 0: any number. */
static inline int
gc_requests_held(void)
{
	return gc_debug_hold_requests;
}

/* Are the kernel texts wanted that a GPU would be given? */
static inline bool
gc_gpu_texts_wanted(void)
{
	return gc_debug_gpu_kernels;
}

/* Architecture of the GPU that device host is to pretend to be; 0: none. */
static inline int
gc_pretended_arch(void)
{
	return gc_debug_pretend_gpu;
}

/* Bytes per second that the pretended GPU's link moves; 0: as fast as the host copies. */
static inline double
gc_pretended_link(void)
{
	return gc_debug_pretend_gpu ? gc_debug_pretend_link * 1024.0 : 0;
}

#endif							/* GC_FORCE_H */
