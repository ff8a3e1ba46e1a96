/*-------------------------------------------------------------------------
 *
 * policy_test.c
 *	  Tests of the scheduling policies: whatever is ready, decisions make sense.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/sched/model/occupancy.h"
#include "../../src/sched/policy/policy.h"
#include "../../src/sched/policy/start.h"

static uint64_t seed = 1;

static int
draw(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int) ((seed >> 33) % (uint64_t) below);
}

static const int shared_sizes[] = {0, 8192, 5120, 79000, 123000, 130000, 205000, 232448, 300000};

/* A kernel like ours: types 1 .. ntypes are the same every time. */
static void
make_item(const GcProfile *profile, int type, GcCandidate *candidate)
{
	uint64_t	saved = seed;
	GcKernelNeeds   *o = &candidate->needs;

	memset(candidate, 0, sizeof(*candidate));
	seed = type * 77;
	candidate->type = type;
	candidate->scan = draw(3);
	candidate->tiles = 1 + draw(10000);
	o->registers = 16 + draw(100);
	o->shared_bytes = shared_sizes[draw(9)];
	o->max_threads = o->threads = o->shared_bytes > 29000 ? 1024 : 256;
	o->occupancy = gc_occupancy(profile, o->registers, o->threads, o->shared_bytes);
	o->alone_us = 20 + draw(1000);
	/* of a fused scan, of a selection scan, of none */
	candidate->fused = draw(3) - 1;
	candidate->member_mask = candidate->fused < 0 ? 0 : candidate->fused == 1 ? UINT32_MAX : 1u << draw(16) | 1u << draw(16);
	candidate->columns = candidate->fused == 1 ? 1 + draw(0xffff) : 0;
	candidate->fused_us = 1 + draw(300);
	seed = saved;
}

/* One that fits beside others, over table 1, that takes so long alone. */
static void
make_small(GcCandidate *candidate, double alone_us)
{
	*candidate = (GcCandidate) {.type = 1,.scan = 1,.tiles = 10000,.fused = -1,
	.needs = {.registers = 40,.max_threads = 256,.threads = 256,.occupancy = 6,.shared_bytes = 8192,.alone_us = alone_us}};
}

/* Are blocks and threads of this launch possible on the device? */
static bool
possible(const GcSchedule *s, const GcStart *start)
{
	const GcKernelNeeds *o = start->fused >= 0 ? &s->fused[start->fused].needs
		: &s->candidate[start->candidate[0]].needs;

	return start->grid.blocks >= 1 && start->grid.threads >= 1 &&
		(int) start->grid.threads <= o->max_threads;
}

/* The fault of a decision; NULL: none. */
static const char *
problem(const GcSchedule *s, const GcDecision *d)
{
	int			seen[GC_MAX_CANDIDATES] = {0};

	if (s->ncandidates > 0 && s->nactive == 0 && d->nstarts == 0)
		return "nothing starts on an idle device";
	for (int k = 0; k < d->nstarts; k++)
	{
		const GcStart *start = &d->start[k];
		uint32_t	member_mask = 0;

		if (start->ncandidates < 1 || start->ncandidates > GC_MAX_MEMBERS)
			return "a launch of no or too many candidates";
		if (start->fused >= 0 && start->ncandidates > s->fused[start->fused].most)
			return "a scan that serves more than it may";
		if (start->fused < 0 && start->ncandidates != 1)
			return "several candidates in a kernel of one";
		if (!possible(s, start))
			return "an impossible grid";
		for (int i = 0; i < start->ncandidates; i++)
		{
			const GcCandidate *candidate = &s->candidate[start->candidate[i]];

			if (start->candidate[i] < 0 || start->candidate[i] >= s->ncandidates || seen[start->candidate[i]]++)
				return "an candidate that does not exist, or twice";
			if (start->fused < 0)
				continue;
			if (candidate->fused != start->fused || !(candidate->member_mask & 1u << start->member_no[i]) ||
				(member_mask & 1u << start->member_no[i]) || candidate->scan != s->candidate[start->candidate[0]].scan)
				return "a member that is not the candidate's, or twice";
			member_mask |= 1u << start->member_no[i];
		}
	}
	return NULL;
}

/* Does what policy kernel starts fit a multiprocessor together, beside what is active? */
static bool
fits(const GcSchedule *s, const GcDecision *d)
{
	int			room[GC_NEEDS];

	gc_sm_limits(s->profile, room);
	for (int a = 0; a < s->nactive; a++)
	{
		const GcActive *active = &s->active[a];
		int			per_sm = ((int) active->grid.blocks + s->profile->sms - 1) / s->profile->sms;
		int			need[GC_NEEDS];

		if (gc_blocks_need(s->profile, active->registers, (int) active->grid.threads, active->shared_bytes, per_sm, need))
		{
			for (int r = 0; r < GC_NEEDS; r++)
				room[r] = room[r] > need[r] ? room[r] - need[r] : 0;
		}
	}
	for (int k = 0; k < d->nstarts; k++)
	{
		const GcStart *start = &d->start[k];
		const GcKernelNeeds *o = &s->candidate[start->candidate[0]].needs;
		int			per_sm = ((int) start->grid.blocks + s->profile->sms - 1) / s->profile->sms;
		int			need[GC_NEEDS];

		if (start->fused >= 0)
			continue;
		if (!gc_blocks_need(s->profile, o->registers, (int) start->grid.threads, o->shared_bytes, per_sm, need) ||
			!gc_needs_fit(need, room))
			return d->nstarts == 1 && s->nactive == 0;
		for (int r = 0; r < GC_NEEDS; r++)
			room[r] -= need[r];
	}
	return true;
}

/* Is every item started that could run, unless it waits for a shared scan? */
static bool
all_start(const GcSchedule *s, const GcDecision *d)
{
	bool		started[GC_MAX_CANDIDATES] = {false};
	bool		scans = false;

	for (int k = 0; k < d->nstarts; k++)
	{
		scans = scans || d->start[k].fused >= 0;
		for (int i = 0; i < d->start[k].ncandidates; i++)
			started[d->start[k].candidate[i]] = true;
	}
	for (int i = 0; i < s->ncandidates; i++)
	{
		if (!started[i] && s->candidate[i].needs.occupancy > 0 && !(scans && s->candidate[i].fused >= 0))
			return false;
	}
	return true;
}

static void
test_random(const char *name, int rounds)
{
	const GcProfile *profile = gc_profile_known(name);
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	static GcCandidate candidates[GC_MAX_CANDIDATES];
	static GcActive active[8];
	static GcFusedKernel fused[2];
	static GcScanTimes times[2];
	const char *wrong = NULL;
	bool		together = true;
	bool		all = true;
	int			shared_scans[2] = {0, 0};
	int			largest = 0;
	int			batches = 0;
	uint64_t	random_state = 7;

	for (int r = 0; r < rounds && wrong == NULL; r++)
	{
		GcSchedule	s = {.profile = profile,
			.policy = (GcPolicy) draw(5),.force_shared = draw(4) == 0,.utilisation = draw(2),.idle_overlap = 0.8,.busy_overlap = 0.8,.together = 0.2 + draw(8) * 0.1,.random_state = &random_state,.candidate = candidates,.active = active,
		.fused = fused,.nfused = 2};
		int			ntypes = 1 + draw(20);

		s.ncandidates = draw(4) == 0 ? draw(GC_MAX_CANDIDATES + 1) : draw(12);
		s.nactive = draw(3) == 0 ? draw(4) : 0;
		for (int i = 0; i < s.ncandidates; i++)
			make_item(profile, 1 + draw(ntypes), &candidates[i]);
		for (int a = 0; a < s.nactive; a++)
			active[a] = (GcActive)
		{
			.grid = {1 + draw(2000), 32 * (1 + draw(32))},.registers = 16 + draw(50),
				.shared_bytes = draw(100000),.scan = draw(3)
		};
		for (int f = 0; f < 2; f++)
		{
			fused[f].most = draw(2) ? 2 + draw(GC_MAX_MEMBERS) : GC_MAX_MEMBERS;
			fused[f].needs = (GcKernelNeeds)
			{
				.registers = 100,.max_threads = 512,.threads = 512,.occupancy = 1
			};
			times[f].scan_us = draw(300);
			fused[f].times = &times[f];
		}
		for (int c = 0; c < GC_MAX_SHARED_COLUMNS; c++)
			times[1].column_us[c] = draw(60);
		memset(d, 0xee, sizeof(*d));
		memset(work, draw(256), gc_decide_work_size());
		gc_decide(&s, work, d);
		wrong = problem(&s, d);
		if (wrong)
			printf("# policy %d, %d candidates, %d active: %s\n", s.policy, s.ncandidates, s.nactive, wrong);
		if (s.policy == GC_POLICY_KERNEL && !fits(&s, d))
			together = false;
		if (s.nactive == 0 && s.policy == GC_POLICY_TWOSTAGE && !all_start(&s, d))
			all = false;
		for (int k = 0; k < d->nstarts; k++)
		{
			if (d->start[k].fused >= 0)
				shared_scans[d->start[k].fused]++;
			if (d->start[k].ncandidates > largest)
				largest = d->start[k].ncandidates;
		}
		batches += d->planned > 1;
	}
	ok(wrong == NULL, "%s: decisions make sense", name);
	ok(together, "%s: what the kernel model direct_tables fits together", name);
	ok(all, "%s: two stages leave nothing behind that could run", name);
	ok(shared_scans[0] > 50 && shared_scans[1] > 50 && largest == GC_MAX_MEMBERS && batches > 0,
	   "%s: there were shared scans (%d fused, %d by columns) of up to %d, and plans of several batches (%d)",
	   name, shared_scans[0], shared_scans[1], largest, batches);
	free(work);
	free(d);
}

static int	begins_most = 16;	/* that its scans serve */
static double scan_predicted_us;	/* of the scan that begins() saw start last */
static double begins_us = 100;	/* what that scan takes, before its members */
static double begins_pressure = 0;	/* of the thread that launches it */
static double begins_load = 1;	/* of the device */

/*
 * Members of the scan that starts if n requests wait beside these; 0: none, all wait.  -1: one
 * that gains little by it; 1000: it starts by itself.
 */
static int
begins(int n, const GcActive *active, int nactive)
{
	const GcProfile *profile = gc_profile_known("H200");
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	GcCandidate	   *candidates = calloc(GC_MAX_CANDIDATES, sizeof(GcCandidate));
	const GcScanTimes times = {.scan_us = n < 0 ? 300 : begins_us};
	GcFusedKernel selector = {.needs = {.registers = 60,.max_threads = 512,.threads = 512,.occupancy = 1},.most = begins_most,
	.selection = true,.times = &times};
	uint64_t	random_state = 7;
	GcSchedule	s = {.profile = profile,.policy = GC_POLICY_TWOSTAGE,.idle_overlap = 0.8,.busy_overlap = 0.8,.together = 0.8,
		.random_state = &random_state,.ncandidates = abs(n),.candidate = candidates,.nactive = nactive,.active = active,
	.nfused = 1,.fused = &selector,.utilisation = begins_load,.residual_part = 0.6,.host_pressure = begins_pressure};
	int			members = 0;

	for (int i = 0; i < s.ncandidates; i++)
	{
		make_small(&candidates[i], 400);
		candidates[i].fused = 0;
		candidates[i].member_mask = UINT32_MAX >> (32 - begins_most);
		candidates[i].columns = 1;
		candidates[i].fused_us = 20;
	}
	gc_decide(&s, work, d);
	for (int k = 0; k < d->nstarts; k++)
	{
		members += d->start[k].fused >= 0 ? d->start[k].ncandidates : 1000;
		scan_predicted_us = d->start[k].predicted_us;
	}
	free(candidates);
	free(work);
	free(d);
	return members;
}

/* A batch's time in sequence, from its begin; and one's own beside what is active. */
static void
test_beside(void)
{
	const GcProfile *profile = gc_profile_known("H200");
	const GcActive active = {.alone_us = 60,.members = 1};
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	GcCandidate	   *candidates = calloc(GC_MAX_CANDIDATES, sizeof(GcCandidate));
	GcSchedule	s = {.profile = profile,.policy = GC_POLICY_TWOSTAGE,.idle_overlap = 0.9,.busy_overlap = 0.75,.together = 0.8,
	.ncandidates = 2,.candidate = candidates,.active = &active};

	for (int i = 0; i < 2; i++)
		make_small(&candidates[i], 100);
	gc_decide(&s, work, d);
	ok(d->nstarts == 2 && fabs(d->predicted_us - 180) < 1e-9, "two in sequence take 0.9 of their sum, since their batch began");
	s.ncandidates = 1;
	gc_decide(&s, work, d);
	ok(d->nstarts == 1 && fabs(d->predicted_us - 100) < 1e-9, "one alone what it takes alone");
	s.nactive = 1;
	gc_decide(&s, work, d);
	ok(d->nstarts == 1 && fabs(d->predicted_us - 120) < 1e-9, "and beside another 0.75 of both, since it began");
	s.busy_overlap = 0.1;
	gc_decide(&s, work, d);
	ok(fabs(d->predicted_us - 100) < 1e-9, "but no less than alone");
	free(candidates);
	free(work);
	free(d);
}

/* How many of two candidates of one text start next to an active launch of theirs, that takes so long? */
static int
gang_starts(double active_us, uint32_t active_scan, uint32_t second_scan, double utilisation, bool force)
{
	const GcActive active = {.alone_us = active_us,.members = 1,.scan = active_scan,.gang = 5};
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	GcCandidate	   *candidates = calloc(GC_MAX_CANDIDATES, sizeof(GcCandidate));
	GcSchedule	s = {.profile = gc_profile_known("H200"),.policy = GC_POLICY_TWOSTAGE,.idle_overlap = 0.9,.busy_overlap = 0.75,.together = 0.8,
	.ncandidates = 2,.candidate = candidates,.nactive = active_us > 0,.active = &active,.utilisation = utilisation,.force_gang = force};
	int			n;

	for (int i = 0; i < 2; i++)
	{
		make_small(&candidates[i], 100);
		candidates[i].gang = 5;
	}
	candidates[1].scan = second_scan;
	gc_decide(&s, work, d);
	n = d->nstarts;
	free(candidates);
	free(work);
	free(d);
	return n;
}

static void
test_gangs(void)
{
	is(gang_starts(0, 0, 2, 1, false), 2, "kernels of one text start on an idle device");
	is(gang_starts(100, 3, 2, 1, false), 0, "and wait for a short launch of theirs");
	is(gang_starts(100, 1, 2, 1, false), 0, "also that over the active one's table, so that nobody waits for ever");
	is(gang_starts(100, 1, 1, 1, false), 2, "but not if all are over one table");
	is(gang_starts(5000, 3, 2, 1, false), 2, "nor for a long one");
	is(gang_starts(100, 3, 2, 0.1, false), 2, "nor where the device has little to do");
	is(gang_starts(5000, 3, 2, 0.1, true), 0, "unless they have to");
}

/* The set that a scan serves, of n requests that wait for it; alone_us: by their own kernels. */
static uint64_t
served(int n, const double *alone_us)
{
	const GcProfile *profile = gc_profile_known("H200");
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	GcCandidate	   *candidates = calloc(GC_MAX_CANDIDATES, sizeof(GcCandidate));
	const GcScanTimes times = {.scan_us = 100};
	GcFusedKernel selector = {.needs = {.registers = 60,.max_threads = 512,.threads = 512,.occupancy = 1},.most = 32,
	.selection = true,.times = &times};
	GcSchedule	s = {.profile = profile,.policy = GC_POLICY_TWOSTAGE,.idle_overlap = 0.8,.busy_overlap = 0.8,.together = 0.8,
	.ncandidates = n,.candidate = candidates,.nfused = 1,.fused = &selector,.utilisation = 1};
	uint64_t	set = 0;

	for (int i = 0; i < n; i++)
	{
		make_small(&candidates[i], alone_us[i]);
		candidates[i].fused = 0;
		candidates[i].columns = 1;
		candidates[i].fused_us = 20;
	}
	gc_decide(&s, work, d);
	for (int m = 0; d->nstarts == 1 && m < d->start[0].ncandidates; m++)
	{
		if (d->start[0].member_no[m] != m)
			set = 0;
		set |= (uint64_t) 1 << d->start[0].candidate[m];
	}
	free(candidates);
	free(work);
	free(d);
	return set;
}

/* Who is left out of a scan that cannot serve all. */
static void
test_left_out(void)
{
	double		alone_us[64];

	for (int i = 0; i < 64; i++)
		alone_us[i] = 400 - i;
	is(served(32, alone_us), ((uint64_t) 1 << 32) - 1, "a scan serves all who wait, if they are no more than it can");
	is(served(33, alone_us), ((uint64_t) 1 << 32) - 1, "of more, the oldest");
}

/* When a shared scan begins beside what is active on its table. */
static void
test_begin(void)
{
	const GcActive marking = {.scan = 1,.fused = true,.members = 5,.alone_us = 400};
	const GcActive selection = {.scan = 1,.fused = true,.members = 5,.alone_us = 400,.selection = true,.residual_us = 90};
	const GcActive full = {.scan = 1,.fused = true,.members = 16,.alone_us = 400,.selection = true};
	const GcActive elsewhere = {.scan = 2,.fused = true,.members = 5,.alone_us = 400,.selection = true,.residual_us = 70};
	const GcActive most = {.scan = 1,.fused = true,.members = 32,.alone_us = 400,.selection = true};
	const GcActive own = {.scan = 1,.members = 1,.alone_us = 50};
	const GcActive both[] = {selection, marking};
	const GcActive beside[] = {most, own};
	const GcActive two[] = {selection, full};

	is(begins(5, NULL, 0), 5, "a shared scan begins on an idle device");
	ok(fabs(scan_predicted_us - 200) < 1e-9, "and takes what the scan and its members do");
	is(begins(1, NULL, 0), 1, "also one for one request, if its tests take less time as selection bitmaps");
	is(begins(1, &elsewhere, 1), 1, "and beside one of another table");
	is(begins(1, &selection, 1), 0, "but one request waits where others are about to end");
	is(begins(-1, NULL, 0), 1000, "and where it would gain too little, its own kernel runs");
	begins_us = 640;
	is(begins(2, NULL, 0), 2, "two side by side save less than many: a scan that takes 0.85 of their time begins");
	begins_us = 700;
	is(begins(2, NULL, 0), 2000, "one of 0.93 does not");
	begins_us = 2000;
	is(begins(6, NULL, 0), 6000, "of six, one of 0.88 does not, either");
	begins_us = 100;
	begins_pressure = 10;
	is(begins(2, NULL, 0), 2000, "where launches take longer than kernels, two keep to their own");
	begins_pressure = 5;
	is(begins(8, NULL, 0), 8, "and where kernels take longer, eight share");
	begins_pressure = 0;
	is(begins(5, &elsewhere, 1), 5, "and beside one of another table");
	ok(fabs(scan_predicted_us - 200) < 1e-9, "whose requests do not count");
	is(begins(16, &marking, 1), 0, "but waits for one whose selection bitmaps are not done");
	is(begins(5, &selection, 1), 5, "once they are, as many begin as it serves");
	ok(fabs(scan_predicted_us - (200 + 90 * 0.6)) < 1e-9, "and what is left of it takes its time");
	is(begins(4, &selection, 1), 0, "fewer wait");
	is(begins(16, both, 2), 0, "and all, if another is at its selection bitmaps");
	is(begins(15, two, 2), 0, "of several, the largest counts");
	is(begins(20, two, 2), 16, "and a full one begins");
	begins_most = 32;
	is(begins(24, &most, 1), 24, "one that is large begins, if the last one was larger");
	is(begins(23, &most, 1), 0, "and one that is not does not");
	is(begins(40, &most, 1), 32, "of more, those that one serves begin");
	is(begins(23, &own, 1), 0, "few wait for one by its own kernel, too");
	is(begins(24, &own, 1), 24, "many do not");
	is(begins(24, beside, 2), 24, "nor where that began beside a scan");
	begins_load = 0.1;
	is(begins(23, beside, 2), 23, "where there is little to do, nobody waits for more to come");
	is(begins(1, &selection, 1), 1, "not even one");
	is(begins(16, &marking, 1), 0, "but selection bitmaps are waited for");
	begins_load = 1;
	begins_most = 16;
}

/*-------------------------------------------------------------------------
 * Hard sets
 *-------------------------------------------------------------------------
 */

/*
 * Sets of many small kernels, so that many numbers of them are tried, and their registers and
 * shared memory are as scarce as their warps.
 */
static void
make_hard(const GcProfile *profile, GcCandidate *candidate, int n)
{
	int			most_registers = 3 + draw(6);
	int			shared = 5 + draw(40);
	int			threads = 64 << draw(4);

	memset(candidate, 0, n * sizeof(GcCandidate));
	for (int i = 0; i < n; i++)
	{
		GcKernelNeeds   *o = &candidate[i].needs;

		candidate[i].type = i + 1;
		candidate[i].tiles = 30000;
		candidate[i].fused = -1;
		o->registers = 8 + 8 * draw(most_registers);
		o->shared_bytes = draw(1000) * shared;
		o->threads = o->max_threads = threads;
		o->occupancy = gc_occupancy(profile, o->registers, o->threads, o->shared_bytes);
		o->alone_us = 200 + draw(20);
	}
}

static void
make_set(const GcSchedule *s, bool hard, GcCandidate *candidate, GcActive *active)
{
	if (hard)
		make_hard(s->profile, candidate, s->ncandidates);
	for (int i = 0; !hard && i < s->ncandidates; i++)
		make_item(s->profile, 1 + draw(40), &candidate[i]);
	for (int a = 0; a < s->nactive; a++)
		active[a] = (GcActive)
	{
		.grid = {132, 64 << draw(3)},.registers = 16 + 8 * draw(4),.shared_bytes = draw(30000),.members = 1
	};
}

/* Policy kernel's decisions make sense and fit together, of whatever sets. */
static void
test_hard(void)
{
	static GcCandidate candidate[GC_MAX_CANDIDATES];
	GcActive	active[3];
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	uint64_t	random_state = 7;
	GcSchedule	s = {.profile = gc_profile_known("H200"),.policy = GC_POLICY_KERNEL,.idle_overlap = 0.7,.busy_overlap = 0.7,.together = 0.7,
	.random_state = &random_state,.candidate = candidate,.active = active};
	int			wrong = 0;
	int			several = 0;

	for (int r = 0; r < 3000; r++)
	{
		s.ncandidates = r % 2 ? 65 : 1 + draw(GC_MAX_CANDIDATES);
		s.nactive = draw(2) * draw(4);
		make_set(&s, r % 8 > 0, candidate, active);
		memset(d, 0xee, sizeof(*d));
		memset(work, 0xee, sizeof(*work));
		gc_decide(&s, work, d);
		wrong += problem(&s, d) != NULL || !fits(&s, d);
		several += d->nstarts > 1;
	}
	is(wrong, 0, "decisions about hard sets make sense and fit together");
	ok(several > 1000, "mostly several kernels start (%d)", several);
	free(work);
	free(d);
}

/* Two kernels over one table of so many MB each, at 1 MB a microsecond, that take so long alone. */
static void
make_two(GcCandidate candidate[2], float mb, double alone_us, uint32_t shared_bytes)
{
	for (int i = 0; i < 2; i++)
	{
		candidate[i] = (GcCandidate) {.type = 1 + (uint32_t) i,.scan = 1 + (uint32_t) i,.tiles = 100000,.fused = -1,
		.nloads = 1,.load = {{7, mb * 1e6f}}};
		candidate[i].needs = (GcKernelNeeds) {.registers = 32,.max_threads = 1024,.threads = 1024,.occupancy = 2,
			.shared_bytes = shared_bytes,.alone_us = alone_us,.issue_part = 0.5,
		.warp_flight = 4000};
	}
}

/* Blocks of the second of two kernels that start at once. */
static int
second_grid(GcSchedule *s, GcDecideWork *work, GcDecision *d)
{
	gc_decide(s, work, d);
	return d->nstarts == 2 ? (int) d->start[1].grid.blocks : -1;
}

static void
test_waves(void)
{
	static const GcCalibration calibration = {.read_bandwidth = 1e6,.flight_bytes = 40000,.overlap_other_tables = 1,
	.overlap_same_table = 0.3,.fused = 0.1};
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	GcActive	active = {.grid = {132, 256},.registers = 32,.scan = 2,.members = 1,.alone_us = 100};
	GcCandidate		candidate[2];
	GcSchedule	s = {.profile = gc_profile_known("H200"),.calibration = &calibration,
	.policy = GC_POLICY_TWOSTAGE,.idle_overlap = 1,.busy_overlap = 1,.together = 1,.ncandidates = 2,.candidate = candidate};

	make_two(candidate, 200, 400, 1000);
	is(second_grid(&s, work, d), 132 * 4, "what is bound by something else than memory has two blocks for each place");
	make_two(candidate, 200, 210, 1000);
	is(second_grid(&s, work, d), 132 * 2, "what is bound by memory has one");
	make_two(candidate, 20, 100, 1000);
	is(second_grid(&s, work, d), 132 * 2, "as what takes too short a time for that");
	make_two(candidate, 200, 400, 100000);
	is(second_grid(&s, work, d), 132 * 2, "or has large tables of its own in each block");
	make_two(candidate, 200, 4000, 100000);
	is(second_grid(&s, work, d), 132 * 4, "unless it takes much longer");
	s.calibration = NULL;
	is(second_grid(&s, work, d), 132 * 2, "without a calibration that is not known");
	s.calibration = &calibration;
	candidate[1].nloads = 0;
	is(second_grid(&s, work, d), 132 * 2, "nor of one whose columns are not");
	candidate[1].nloads = 1;
	s.nactive = 1;
	s.active = &active;
	is(second_grid(&s, work, d), 132, "beside others it has its share of the direct_tables");
	s.nactive = 0;
	s.ncandidates = 1;
	gc_decide(&s, work, d);
	is((int) d->start[0].grid.blocks, 132 * 2, "alone, a block for each");
	free(work);
	free(d);
}

/* Policy kernel: those that are placed together start in the order in which they will be side by side. */
static void
test_shared(void)
{
	GcDecideWork *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcDecision *d = malloc(sizeof(GcDecision));
	GcCandidate		candidate[2];
	GcSchedule	s = {.profile = gc_profile_known("H200"),.policy = GC_POLICY_KERNEL,.idle_overlap = 1,.busy_overlap = 1,.together = 1,
	.ncandidates = 2,.candidate = candidate};

	make_two(candidate, 200, 400, 20 * 1024);
	candidate[0].needs.shared_bytes = 0;
	gc_decide(&s, work, d);
	ok(d->nstarts == 2 && d->start[0].candidate[0] == 1 && d->start[1].candidate[0] == 0,
	   "of two that are placed, the one with shared memory starts first");
	ok(!d->start[0].whole_shared && !d->start[1].whole_shared, "how much there is is left to the driver");
	s.policy = GC_POLICY_STREAMS;
	gc_decide(&s, work, d);
	ok(d->start[0].candidate[0] == 0 && !d->start[0].whole_shared, "who is placed as it comes does not");
	free(work);
	free(d);
}

int
main(void)
{
	tap_start();
	test_waves();
	test_shared();
	test_beside();
	test_gangs();
	test_begin();
	test_left_out();
	test_random("H200", 30000);
	test_random("GTX 680", 5000);
	test_hard();
	return tap_done();
}
