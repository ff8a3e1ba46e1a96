/*-------------------------------------------------------------------------
 *
 * profile.c
 *	  Device profiles: granules by architecture, devices of the papers and of today.
 *
 * Granules: NVIDIA's occupancy calculator (CUDA's cuda_occupancy.h tells the same by
 * architecture).  GTX 680 and K40: Li, Yu, Kumar, Tu 2014, table I; TITAN X: Li, Tu, Zeng 2019.
 *
 *-------------------------------------------------------------------------
 */
#include "profile.h"

#include <stddef.h>
#include <string.h>

void
gc_profile_granules(GcProfile *profile, int arch)
{
	profile->warp_size = 32;
	profile->register_unit = 256;
	profile->warp_unit = 4;
	profile->shared_unit = arch >= 80 ? 128 : 256;
	profile->max_registers = arch < 35 ? 63 : 255;
	profile->max_threads = 1024;
	profile->hyper_q = arch >= 35;
}

#define GRANULES(shared, regs, hyperq) \
	.warp_size = 32,.register_unit = 256,.warp_unit = 4,.max_threads = 1024, \
	.shared_unit = shared,.max_registers = regs,.hyper_q = hyperq

static const struct
{
	const char *name;
	GcProfile	profile;
}			known[] = {
	{"GTX 680", {.sms = 8,.max_warps = 64,.max_blocks = 16,.registers = 65536,
			.shared_per_sm = 49152,.shared_per_block = 49152,.l2_bytes = 512 << 10,
	GRANULES(256, 63, false)}},
	{"K40", {.sms = 15,.max_warps = 64,.max_blocks = 16,.registers = 65536,
			.shared_per_sm = 49152,.shared_per_block = 49152,.l2_bytes = 1536 << 10,
	GRANULES(256, 255, true)}},
	{"TITAN X", {.sms = 24,.max_warps = 64,.max_blocks = 32,.registers = 65536,
			.shared_per_sm = 98304,.shared_per_block = 49152,.l2_bytes = 3 << 20,
	GRANULES(256, 255, true)}},
	{"TITAN X Pascal", {.sms = 28,.max_warps = 64,.max_blocks = 32,.registers = 65536,
			.shared_per_sm = 98304,.shared_per_block = 49152,.l2_bytes = 3 << 20,
	GRANULES(256, 255, true)}},
	{"A100", {.sms = 108,.max_warps = 64,.max_blocks = 32,.registers = 65536,
			.shared_per_sm = 167936,.shared_per_block = 166912,.shared_reserved = 1024,
	.l2_bytes = 40 << 20, GRANULES(128, 255, true)}},
	{"H100", {.sms = 132,.max_warps = 64,.max_blocks = 32,.registers = 65536,
			.shared_per_sm = 233472,.shared_per_block = 232448,.shared_reserved = 1024,
	.l2_bytes = 50 << 20, GRANULES(128, 255, true)}},
	{"H200", {.sms = 132,.max_warps = 64,.max_blocks = 32,.registers = 65536,
			.shared_per_sm = 233472,.shared_per_block = 232448,.shared_reserved = 1024,
	.l2_bytes = 60 << 20, GRANULES(128, 255, true)}},
};

const GcProfile *
gc_profile_known(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		if (strcmp(known[i].name, name) == 0)
			return &known[i].profile;
	}
	return NULL;
}

const char *
gc_profile_problem(const GcProfile *p)
{
	if (p->sms < 1 || p->sms > 4096)
		return "its number of multiprocessors is out of range";
	if (p->serial_blocks)
		return NULL;
	if (p->warp_size < 1 || p->warp_size > 1024 || p->max_warps < 1 || p->max_warps > 1024 ||
		p->max_blocks < 1 || p->max_blocks > 1024)
		return "its warps or blocks per multiprocessor are out of range";
	if (p->registers < 1 || p->max_registers < 1 || p->register_unit < 1 || p->warp_unit < 1 ||
		p->warp_unit > p->max_warps)
		return "its registers make no sense";
	if (p->shared_per_sm < 0 || p->shared_per_block < 0 || p->shared_reserved < 0 ||
		p->shared_unit < 1 || p->shared_per_block > p->shared_per_sm)
		return "its shared memory makes no sense";
	if (p->max_threads < p->warp_size)
		return "its largest block is smaller than a warp";
	return NULL;
}
