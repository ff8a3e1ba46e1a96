/*-------------------------------------------------------------------------
 *
 * compile.h
 *	  Compiled kernels for tests, each text only once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TEST_COMPILE_H
#define GC_TEST_COMPILE_H

#include "../../../src/device/device.h"
#include "../../../src/device/nvrtc.h"

/*
 * The image of a text for a device.  Images are kept in the directory $GPUCONC_TEST_KERNELS, if it is
 * set, by the extension's own code (kcache_disk.c), for all test programs and all runs.  Main thread.
 */
extern GcCode compile_kernel(GcDevice *dev, const char *text, GcCompileEffort effort, GcImage *image, GcError *err);

/*
 * A test: NVRTC compiles the text for this architecture.  Of sm_80, only the front end is tested unless
 * $GPUCONC_TEST_FULL is set: its texts are those of sm_90 (but not those of older GPUs).
 */
extern void compiles_for_gpu(const GcNvrtc *nvrtc, int arch, const char *text, GcCompileEffort effort, const char *what);

/* Compile the text for both architectures, or skip the test where there is no NVRTC.  Frees the text. */
extern void text_compiles(char *text, const char *what);

#endif							/* GC_TEST_COMPILE_H */
