/*-------------------------------------------------------------------------
 *
 * kernels.h
 *	  Kernel texts for the tests: one text for both targets, as the code
 *	  generator's are, but independent of the device library.
 *
 * A body sees: args (const GcArgs *), block, nblocks, lane (thread within the
 * block), nlanes, shared (dynamic shared memory, u32 *), and the macros below.
 * Loops that wait for another launch give up after TURNS turns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TEST_KERNELS_H
#define GC_TEST_KERNELS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Makefile says where the header is. */
#ifndef GC_ABI_PATH
#define GC_ABI_PATH "../../cuda/gc_abi.h"
#endif

static const char kernel_prelude[] =
"#ifdef __CUDACC_RTC__\n"
"#define BEGIN extern \"C\" __global__ void gc_kernel(const GcArgs a) { \\\n"
"	const GcArgs *args = &a; extern __shared__ u32 shared[]; \\\n"
"	u32 block = blockIdx.x, nblocks = gridDim.x, lane = threadIdx.x, nlanes = blockDim.x;\n"
"#define ADD(p, v) atomicAdd((p), (v))\n"
"#define SYNC() __syncthreads()\n"
"#define FENCE() __threadfence()\n"
"#define TURNS 20000000ull\n"
"#else\n"
"#define BEGIN void gc_kernel(const GcArgs *args, u32 block, u32 nblocks, void *scratch) { \\\n"
"	u32 *shared = (u32 *) scratch; u32 lane = 0, nlanes = 1;\n"
"#define ADD(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)\n"
"#define SYNC() ((void) 0)\n"
"#define FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)\n"
"#define TURNS 4000000000ull\n"
"#endif\n"
"#define END (void) args; (void) shared; (void) block; (void) nblocks; (void) lane; (void) nlanes; }\n"
"#define P(i) ((u32 *) args->w[i])\n"
"#define V(i) ((volatile u32 *) args->w[i])\n";

/* w0: u32[nblocks], each block adds 1 to its own; w1: u32, adds the block's number. */
static const char kernel_count[] =
"BEGIN if (lane == 0) { ADD(P(0) + block, 1u); ADD(P(1), block); } END\n";

/* w0: u32[nblocks], the sum of w1 words of shared memory before use; then dirties them. */
static const char kernel_shared[] =
"BEGIN\n"
"	u32 words = (u32) args->w[1], sum = 0;\n"
"#ifdef __CUDACC_RTC__\n"
"	for (u32 i = lane; i < words; i += nlanes) shared[i] = 0;\n"
"	SYNC();\n"
"#endif\n"
"	if (lane == 0) { for (u32 i = 0; i < words; i++) sum += shared[i]; P(0)[block] = sum + 1; }\n"
"	SYNC();\n"
"	for (u32 i = lane; i < words; i += nlanes) shared[i] = 0xdeadbeefu + i;\n"
"END\n";

/*
 * Wait (a bounded time) until *w0 is not 0; then *w1 = *w2 + 1.  If it gives up,
 * *w1 = 0xffffffff.
 */
static const char kernel_await[] =
"BEGIN if (lane == 0) {\n"
"	u64 turns = 0;\n"
"	while (V(0)[0] == 0 && turns < TURNS) turns++;\n"
"	FENCE();\n"
"	V(1)[0] = V(0)[0] != 0 ? V(2)[0] + 1 : 0xffffffffu;\n"
"} END\n";

/* *w0 = w1 after adding up *w2 many times over; w3 turns: a slow store. */
static const char kernel_slow_store[] =
"BEGIN if (lane == 0) {\n"
"	u32 sum = 0; for (u64 i = 0; i < args->w[3]; i++) sum += V(2)[0];\n"
"	FENCE(); V(0)[0] = (u32) args->w[1] + (sum == 1 ? 1 : 0);\n"
"} END\n";

/* *w0 = *w0 * w1 + w2: what comes out tells in which order launches ran. */
static const char kernel_affine[] =
"BEGIN if (block == 0 && lane == 0) P(0)[0] = P(0)[0] * (u32) args->w[1] + (u32) args->w[2]; END\n";

/*
 * Blocks add 1 to w1[1] and wait until *w0 is not 0; those from number w3 on also until *w2 is not
 * 0.  Then they add 1 to *w1; or, if they give up waiting, a large number.
 */
static const char kernel_progress[] =
"BEGIN if (lane == 0) {\n"
"	u64 turns = 0;\n"
"	ADD(P(1) + 1, 1u);\n"
"	while (V(0)[0] == 0 && turns < TURNS) turns++;\n"
"	if (block >= args->w[3]) while (V(2)[0] == 0 && turns < TURNS) turns++;\n"
"	ADD(P(1), turns < TURNS ? 1u : 1000000u);\n"
"	if (turns >= TURNS) V(2)[0] = 1;\n"
"} END\n";

/* 128-bit arithmetic, which numeric is made of: *(u64[2]) w0 = (w1 * w2) / w3. */
static const char kernel_int128[] =
"BEGIN if (block == 0 && lane == 0) {\n"
"	u128 x = (u128) args->w[1] * args->w[2] / args->w[3];\n"
"	u64 *out = (u64 *) args->w[0]; out[0] = (u64) x; out[1] = (u64) (x >> 64);\n"
"} END\n";

/* *(double *) w0 = w1 * w2 + w3 as doubles: not to be fused. */
static const char kernel_double[] =
"BEGIN if (block == 0 && lane == 0) {\n"
"	const double *in = (const double *) &args->w[1];\n"
"	*(double *) args->w[0] = in[0] * in[1] + in[2];\n"
"} END\n";

/* *w1 = *w0, wherever that is. */
static const char kernel_poke[] =
"BEGIN if (block == 0 && lane == 0) V(1)[0] = V(0)[0]; END\n";

/* The last word of the arguments. */
static const char kernel_last_word[] =
"BEGIN if (block == 0 && lane == 0) *(u64 *) args->w[0] = args->w[GC_MAX_ARG_WORDS - 1]; END\n";

static const char kernel_bad[] =
"BEGIN this_is_not_declared = 1; END\n";

static const struct
{
	const char *name;
	const char *body;
}			test_kernels[] __attribute__((unused)) = {
	{"count", kernel_count},
	{"shared", kernel_shared},
	{"await", kernel_await},
	{"slow_store", kernel_slow_store},
	{"affine", kernel_affine},
	{"progress", kernel_progress},
	{"int128", kernel_int128},
	{"double", kernel_double},
	{"poke", kernel_poke},
	{"last_word", kernel_last_word},
};

#define N_TEST_KERNELS ((int) (sizeof(test_kernels) / sizeof(test_kernels[0])))

/* The complete text of a kernel with this body, malloc'd. */
static char *
kernel_text(const char *body)
{
	FILE	   *file = fopen(GC_ABI_PATH, "r");
	size_t		max = 1 << 20;
	char	   *text = calloc(1, max);
	size_t		size;

	if (file == NULL || text == NULL)
	{
		printf("Bail out! cannot read %s\n", GC_ABI_PATH);
		exit(1);
	}
	size = fread(text, 1, max / 2, file);
	fclose(file);
	snprintf(text + size, max - size, "\n%s%s", kernel_prelude, body);
	return text;
}

#endif							/* GC_TEST_KERNELS_H */
