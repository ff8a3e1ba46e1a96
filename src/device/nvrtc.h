/*-------------------------------------------------------------------------
 *
 * nvrtc.h
 *	  Compiling kernel text for device cuda; needs no GPU.
 *
 * nvrtc.c says which threads call which function.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_NVRTC_H
#define GC_NVRTC_H

#include "device.h"

typedef struct GcNvrtc GcNvrtc;

/*
 * Find and open NVRTC, preferring the major version given (the driver's: a
 * driver takes the output of every compiler that is not newer than itself).
 * The result lives as long as the process; later calls return the same.
 * NULL with GC_NO_COMPILER in *err when there is none.
 */
extern const GcNvrtc *gc_nvrtc_open(int prefer_major, GcError *err);

/*
 * The target of this architecture, as part of a cache key:
 * "sm_90 nvrtc 13.0".  Or "sm_130 as compute_121 nvrtc 13.0", where NVRTC is
 * older than the GPU and the driver has to finish the compilation.
 * GC_NO_COMPILER when NVRTC cannot compile for it at all.
 */
extern GcCode gc_nvrtc_target(const GcNvrtc *nvrtc, int arch, char *target, size_t size,
							  GcError *err);

/*
 * Compile; thread-safe. log may be NULL; else *log gets NVRTC's log, malloc'd, or NULL.
 */
extern GcCode gc_nvrtc_compile(const GcNvrtc *nvrtc, int arch, const char *source,
							   GcCompileEffort effort, GcImage *image, char **log, GcError *err);

/* Would it compile, as far as NVRTC's front end can tell?  That takes a tenth of the time. */
extern GcCode gc_nvrtc_accepts(const GcNvrtc *nvrtc, int arch, const char *source,
							   GcCompileEffort effort, char **log, GcError *err);

#endif							/* GC_NVRTC_H */
