/*-------------------------------------------------------------------------
 *
 * fake_cuda.h
 *	  Control of the driver that only pretends: see fake_cuda.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FAKE_CUDA_H
#define GC_FAKE_CUDA_H

#include "../../src/device/cuda_api.h"
#include "../../cuda/gc_abi.h"

typedef struct FakeCuda
{
	/* Set by the test. */
	long		fail_at;		/* number of the call that fails; 0: none */
	CuResult	fail_with;
	size_t		free_bytes;		/* what cuMemAlloc has to give, less what it gave */
	int			arch;			/* 90 */
	int			bad_gpus;		/* that cannot be had, before the one that can */
	int			no_host_pointers;	/* the device cannot use those of registered memory */
	int			not_ready;		/* answers of cuEventQuery and cuStreamQuery before "done" */

	/* Counted by the driver. */
	long		calls;			/* but for error strings */
	int			contexts;		/* retained, likewise the next */
	int			streams;
	int			events;
	int			allocations;
	int			modules;
	int			registered;
	int			unblocked;		/* calls that came with signals not blocked */
	char		failed[64];		/* the call that failed */

	/* Arguments of the last calls. */
	size_t		alloc_size;
	int			max_dynamic;
	int			carveout;		/* percent */
	int			carveouts;		/* calls */
	unsigned int stream_flags;
	unsigned int *word;			/* to be written by the stream, which the test does */
	int			stream_queries;
	unsigned int grid;
	unsigned int block;
	unsigned int shared;
	GcArgs		args;
} FakeCuda;

#endif							/* GC_FAKE_CUDA_H */
