/*-------------------------------------------------------------------------
 *
 * simulator.c
 *	  Discrete-event simulation of Li, Yu, Kumar, Tu 2014's scheduling disciplines.
 *
 * All blocks of a kernel take the same time and run at the same speed, so they end
 * in the order of their starts.  A kernel therefore keeps a queue of its resident
 * blocks, each with the kernel's progress (time at speed 1) at which it ends; the next
 * event is the end of some kernel's oldest block, or an arrival.  At each event: end
 * all blocks that are due, then schedule blocks until no more may or can start.
 *
 * Speeds differ from 1 only by the caller's function, and change only at events.
 *
 *-------------------------------------------------------------------------
 */
#include "simulator.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/*
 * Blocks that end within so small a part of the time elapsed end at one time: sums of
 * the same durations in another order must not make phases of their own.
 */
#define SAME_TIME	1e-10

typedef struct Simulation
{
	const GcProfile *profile;
	const GcSimWorkload *load;
	GcSimWork  *work;
	GcSimResult *result;
	GcSimPhases *phases;		/* or NULL */
	GcSimUse	capacity;		/* of each multiprocessor */
	double		now;
	int			nkernels;
	int			nended;
	int			first;			/* in the order of issue, that still waits */
	int			warps;			/* resident, all multiprocessors */
	double		warp_us;
} Simulation;

static int64_t
round_up(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/*
 * A block's use of a multiprocessor (Li, Yu, Kumar, Tu 2014, eqs. 4 and 7; section IV.A).
 * Registers are handed out to warps in granules: 256 for a warp, which is the "units
 * of 8" per thread of the paper's text; the warps of a block count in multiples of
 * warp_unit for them.  False: no multiprocessor can hold it.
 */
static bool
block_needs(const GcProfile *p, const GcSimKernel *k, const GcSimUse *capacity, GcSimUse *needs)
{
	int64_t		warps = 1;
	int64_t		registers = 0;
	int64_t		shared = 0;

	if (!p->serial_blocks)
	{
		if (k->threads > p->max_threads || k->registers > p->max_registers ||
			k->shared_bytes > p->shared_per_block)
			return false;
		warps = round_up(k->threads, p->warp_size) / p->warp_size;
		if (warps > capacity->warps)
			return false;
		registers = round_up((int64_t) k->registers * p->warp_size, p->register_unit) *
			round_up(warps, p->warp_unit);
		shared = round_up((int64_t) k->shared_bytes + p->shared_reserved, p->shared_unit);
		if (registers > capacity->registers || shared > capacity->shared)
			return false;
	}
	*needs = (GcSimUse) {
		.warps = (int) warps,.blocks = 1,.registers = (int) registers,.shared = (int) shared
	};
	return true;
}

/* Does kernel a come before kernel b in the order of issue? */
static bool
issued_before(const Simulation *s, int a, int b)
{
	const GcSimSpan *spans = s->result->kernels;
	double		arrival_a = s->work->kernels[a].arrival_us;
	double		arrival_b = s->work->kernels[b].arrival_us;

	if (arrival_a != arrival_b)
		return arrival_a < arrival_b;
	if (s->load->breadth_first && !s->profile->hyper_q && spans[a].index != spans[b].index)
		return spans[a].index < spans[b].index;
	return a < b;
}

static GcSimStatus
add_kernel(Simulation *s, int stream, int index)
{
	const GcSimStream *from = &s->load->streams[stream];
	const GcSimKernel *kernel = &from->kernels[index];
	int			k = s->nkernels;
	int			at;
	GcSimUse	needs;

	if (k >= GC_SIM_MAX_KERNELS)
		return GC_SIM_TOO_LARGE;
	s->result->culprit = k;
	if (kernel->blocks == 0 || kernel->threads < 1 || kernel->registers < 0 ||
		kernel->shared_bytes < 0 || !(kernel->block_us > 0 && kernel->block_us <= GC_SIM_MAX_US))
		return GC_SIM_BAD_KERNEL;
	if (kernel->blocks > GC_SIM_MAX_BLOCKS)
		return GC_SIM_TOO_LARGE;
	if (!block_needs(s->profile, kernel, &s->capacity, &needs))
		return GC_SIM_NO_FIT;
	s->result->culprit = -1;

	s->work->kernels[k] = (struct GcSimState) {
		.kernel = kernel,.needs = needs,
		.arrival_us = s->profile->hyper_q && index > 0 ? INFINITY : from->arrival_us,
		.waiting = kernel->blocks,.oldest = -1,.newest = -1,.part = {.kernel = k}
	};
	s->result->kernels[k] = (GcSimSpan) {.stream = stream,.index = index};
	s->work->resident[k] = 0;
	memset(s->work->held[k], 0, sizeof(s->work->held[k]));

	for (at = k; at > 0 && issued_before(s, k, s->work->order[at - 1]); at--)
		s->work->order[at] = s->work->order[at - 1];
	s->work->order[at] = k;
	s->nkernels = k + 1;
	return GC_SIM_OK;
}

/* Check everything and fill the work space. */
static GcSimStatus
prepare(Simulation *s)
{
	const GcProfile *p = s->profile;
	int			slots;

	if (p == NULL || gc_profile_problem(p) != NULL)
		return GC_SIM_BAD_PROFILE;
	s->capacity = p->serial_blocks ? (GcSimUse) {.warps = 1,.blocks = 1} : (GcSimUse) {
		.warps = p->max_warps,.blocks = p->max_blocks,.registers = p->registers,
		.shared = p->shared_per_sm
	};
	/* every block has a warp */
	slots = s->capacity.blocks < s->capacity.warps ? s->capacity.blocks : s->capacity.warps;
	if (p->sms > GC_SIM_MAX_SMS || p->sms * slots > GC_SIM_MAX_RESIDENT ||
		s->load->nstreams > GC_SIM_MAX_STREAMS)
		return GC_SIM_TOO_LARGE;
	if (s->load->nstreams < 0 || (s->load->nstreams > 0 && s->load->streams == NULL))
		return GC_SIM_BAD_STREAM;

	for (int i = 0; i < s->load->nstreams; i++)
	{
		const GcSimStream *stream = &s->load->streams[i];

		if (stream->nkernels < 0 || (stream->nkernels > 0 && stream->kernels == NULL) ||
			!(stream->arrival_us >= 0 && stream->arrival_us <= GC_SIM_MAX_US))
		{
			s->result->culprit = i;
			return GC_SIM_BAD_STREAM;
		}
		for (int j = 0; j < stream->nkernels; j++)
		{
			GcSimStatus status = add_kernel(s, i, j);

			if (status != GC_SIM_OK)
				return status;
		}
	}

	memset(s->work->used, 0, sizeof(s->work->used));
	s->work->free_block = 0;
	for (int i = 0; i < p->sms * slots; i++)
		s->work->blocks[i].next = i + 1;
	return GC_SIM_OK;
}

static void
tell(const Simulation *s, bool start, int kernel, const struct GcSimBlock *block)
{
	GcSimEvent	event = {
		.us = s->now,.start = start,.kernel = kernel,.sm = block->sm,.block = block->number
	};

	if (s->load->event != NULL)
		s->load->event(s->load->event_arg, &event);
}

static int
at_most(int found, int free, int each)
{
	return each > 0 && free / each < found ? free / each : found;
}

/* How many more blocks of such needs a multiprocessor has room for. */
static int
room(const GcSimUse *capacity, const GcSimUse *used, const GcSimUse *needs)
{
	int			n = capacity->blocks - used->blocks;

	n = at_most(n, capacity->warps - used->warps, needs->warps);
	n = at_most(n, capacity->registers - used->registers, needs->registers);
	return at_most(n, capacity->shared - used->shared, needs->shared);
}

/* Where the next block of kernel k goes (discipline 1), or -1: nowhere now. */
static int
choose_sm(const Simulation *s, int k)
{
	const GcSimWork *w = s->work;
	int			best = -1;
	int			best_room = 0;

	for (int sm = 0; sm < s->profile->sms; sm++)
	{
		int			free;
		int			more = 1;	/* above 0: better than the best so far */

		/* spares the divisions where the count alone rules it out */
		if (best >= 0 && w->held[k][sm] > w->held[k][best])
			continue;
		free = room(&s->capacity, &w->used[sm], &w->kernels[k].needs);
		if (free == 0)
			continue;
		if (best >= 0)
		{
			more = w->held[k][best] - w->held[k][sm];
			if (more == 0)
				more = free - best_room;
			if (more == 0)
				more = w->used[best].warps - w->used[sm].warps;
		}
		if (more > 0)
		{
			best = sm;
			best_room = free;
		}
	}
	return best;
}

static void
start_block(Simulation *s, int k, int sm)
{
	GcSimWork  *w = s->work;
	struct GcSimState *state = &w->kernels[k];
	GcSimUse   *used = &w->used[sm];
	int			i = w->free_block;
	struct GcSimBlock *block = &w->blocks[i];

	w->free_block = block->next;
	block->due = state->progress + state->kernel->block_us;
	block->sm = sm;
	block->number = state->kernel->blocks - state->waiting;
	block->next = -1;
	if (state->oldest < 0)
		state->oldest = i;
	else
		w->blocks[state->newest].next = i;
	state->newest = i;

	if (block->number == 0)
		s->result->kernels[k].start_us = s->now;
	state->waiting--;
	state->part.started++;
	w->resident[k]++;
	if (w->held[k][sm]++ == 0)
		state->sms++;
	used->blocks++;
	used->warps += state->needs.warps;
	used->registers += state->needs.registers;
	used->shared += state->needs.shared;
	s->warps += state->needs.warps;
	tell(s, true, k, block);
}

static void
end_oldest_block(Simulation *s, int k)
{
	GcSimWork  *w = s->work;
	struct GcSimState *state = &w->kernels[k];
	int			i = state->oldest;
	struct GcSimBlock *block = &w->blocks[i];
	GcSimUse   *used = &w->used[block->sm];

	tell(s, false, k, block);
	w->resident[k]--;
	if (--w->held[k][block->sm] == 0)
		state->sms--;
	used->blocks--;
	used->warps -= state->needs.warps;
	used->registers -= state->needs.registers;
	used->shared -= state->needs.shared;
	s->warps -= state->needs.warps;
	state->oldest = block->next;
	block->next = w->free_block;
	w->free_block = i;
}

static bool
ended(const GcSimWork *w, int k)
{
	return w->kernels[k].waiting == 0 && w->resident[k] == 0;
}

/*
 * With Hyper-Q a kernel gets in line when the one before it in its stream has ended:
 * behind all that were in sequence already, whatever their streams' ranks.  Observed on an
 * H200 (bench/two_stage/paper003): of four streams A B, all A start before any B.
 */
static void
line_up(Simulation *s)
{
	GcSimWork  *w = s->work;

	for (int k = 1; k < s->nkernels && s->profile->hyper_q; k++)
	{
		int			from = s->first;
		int			to = s->first;

		if (!isinf(w->kernels[k].arrival_us) || s->result->kernels[k].index == 0 || !ended(w, k - 1))
			continue;
		w->kernels[k].arrival_us = s->now;
		while (w->order[from] != k)
			from++;
		while (to < from && w->kernels[w->order[to]].arrival_us <= s->now)
			to++;
		memmove(&w->order[to + 1], &w->order[to], (from - to) * sizeof(w->order[0]));
		w->order[to] = k;
	}
}

/*
 * Start every block that may start and fits (disciplines 2 and 3), in the order of
 * issue; then note what the phase has seen.
 */
static void
schedule(Simulation *s)
{
	GcSimWork  *w = s->work;

	line_up(s);
	for (int i = s->first; i < s->nkernels; i++)
	{
		int			k = w->order[i];
		struct GcSimState *state = &w->kernels[k];
		int			sm;

		if (state->arrival_us > s->now)
			break;				/* so have those after it yet to arrive */
		if (state->waiting > 0 && (s->result->kernels[k].index == 0 || ended(w, k - 1)))
		{
			while (state->waiting > 0 && (sm = choose_sm(s, k)) >= 0)
				start_block(s, k, sm);
		}
		if (state->waiting == 0 && i == s->first)
			s->first++;
		if (state->waiting > 0 && !s->profile->hyper_q)
			break;
	}

	for (int k = 0; k < s->nkernels; k++)
	{
		GcSimPart  *part = &w->kernels[k].part;

		if (w->resident[k] > part->blocks)
			part->blocks = w->resident[k];
		if (w->kernels[k].sms > part->sms)
			part->sms = w->kernels[k].sms;
	}
}

/* Ask how fast each kernel goes, until the next event. */
static GcSimStatus
ask_speeds(Simulation *s)
{
	for (int k = 0; k < s->nkernels; k++)
		s->work->speed[k] = 1;
	if (s->load->speed == NULL)
		return GC_SIM_OK;
	s->load->speed(s->load->speed_arg, s->nkernels, s->work->resident, s->work->speed);
	for (int k = 0; k < s->nkernels; k++)
	{
		if (s->work->resident[k] > 0 &&
			!(s->work->speed[k] >= GC_SIM_MIN_SPEED && s->work->speed[k] <= GC_SIM_MAX_SPEED))
		{
			s->result->culprit = k;
			return GC_SIM_BAD_SPEED;
		}
	}
	return GC_SIM_OK;
}

/* When the next stream arrives that has not; infinity: all have. */
static double
next_arrival(const Simulation *s)
{
	for (int i = s->first; i < s->nkernels; i++)
	{
		double		arrival = s->work->kernels[s->work->order[i]].arrival_us;

		if (arrival > s->now)
			return arrival;
	}
	return INFINITY;
}

/*
 * Let time pass until the next event, and end the blocks that are due then.  There always is an
 * event.  Let nothing be resident and nothing to arrive.  Then the first waiting kernel in the
 * order of issue would have started: its predecessors have ended, and an empty multiprocessor
 * can hold a block of it.
 */
static GcSimStatus
pass_time(Simulation *s, bool *kernel_ended)
{
	GcSimWork  *w = s->work;
	double		arrival = next_arrival(s);
	double		end = INFINITY;
	double		elapsed;
	int			due = -1;

	*kernel_ended = false;
	for (int k = 0; k < s->nkernels; k++)
	{
		double		left;

		if (w->resident[k] == 0)
			continue;
		left = (w->blocks[w->kernels[k].oldest].due - w->kernels[k].progress) / w->speed[k];
		if (s->now + left < end)
		{
			end = s->now + left;
			due = k;
		}
	}
	if (due < 0 && isinf(arrival))
		return GC_SIM_NO_FIT;	/* cannot be; but better than to wait for ever */
	elapsed = (end < arrival ? end : arrival) - s->now;
	s->warp_us += s->warps * elapsed;
	s->now = end < arrival ? end : arrival;

	for (int k = 0; k < s->nkernels; k++)
	{
		struct GcSimState *state = &w->kernels[k];

		if (w->resident[k] == 0)
			continue;
		state->progress += elapsed * w->speed[k];
		if (k == due && end <= arrival)
			state->progress = w->blocks[state->oldest].due;	/* whatever was rounded */
		while (state->oldest >= 0 && w->blocks[state->oldest].due - state->progress <=
			   w->speed[k] * s->now * SAME_TIME)
			end_oldest_block(s, k);
		if (ended(w, k))
		{
			s->result->kernels[k].end_us = s->now;
			s->nended++;
			*kernel_ended = true;
		}
	}
	return GC_SIM_OK;
}

/* The phase that began at start_us is over. */
static GcSimStatus
end_phase(Simulation *s, double start_us)
{
	GcSimPhases *phases = s->phases;
	GcSimPhase *phase;

	if (phases == NULL)
		return GC_SIM_OK;
	/* each ends with at least one kernel, so there are no more of them than kernels */
	phase = &phases->phases[phases->nphases++];
	*phase = (GcSimPhase) {
		.start_us = start_us,.end_us = s->now,.first_part = phases->nparts
	};
	for (int k = 0; k < s->nkernels; k++)
	{
		GcSimPart  *part = &s->work->kernels[k].part;

		if (part->blocks == 0)
			continue;
		if (phases->nparts >= GC_SIM_MAX_PARTS)
			return GC_SIM_TOO_LARGE;
		phases->parts[phases->nparts++] = *part;
		phase->nparts++;
		*part = (GcSimPart) {.kernel = k};
	}
	return GC_SIM_OK;
}

GcSimStatus
gc_simulate(const GcProfile *profile, const GcSimWorkload *load, GcSimWork *work,
			GcSimResult *result, GcSimPhases *phases)
{
	Simulation	s = {
		.profile = profile,.load = load,.work = work,.result = result,.phases = phases
	};
	double		phase_start = 0;
	bool		kernel_ended;
	GcSimStatus status;

	result->nkernels = 0;
	result->makespan_us = result->mean_warps = 0;
	result->culprit = -1;
	if (phases != NULL)
		phases->nphases = phases->nparts = 0;

	status = prepare(&s);
	while (status == GC_SIM_OK && s.nended < s.nkernels)
	{
		schedule(&s);
		status = ask_speeds(&s);
		if (status == GC_SIM_OK)
			status = pass_time(&s, &kernel_ended);
		if (status == GC_SIM_OK && kernel_ended)
		{
			status = end_phase(&s, phase_start);
			phase_start = s.now;
		}
	}
	if (status == GC_SIM_OK)
	{
		result->nkernels = s.nkernels;
		result->makespan_us = s.now;
		result->mean_warps = s.now > 0 ? s.warp_us / s.now : 0;
	}
	return status;
}

const char *
gc_sim_status_text(GcSimStatus status)
{
	switch (status)
	{
		case GC_SIM_OK:
			return "simulated";
		case GC_SIM_BAD_PROFILE:
			return "the device makes no sense";
		case GC_SIM_BAD_STREAM:
			return "a stream makes no sense";
		case GC_SIM_BAD_KERNEL:
			return "a kernel makes no sense";
		case GC_SIM_NO_FIT:
			return "a block fits no multiprocessor";
		case GC_SIM_BAD_SPEED:
			return "a kernel's speed is out of range";
		case GC_SIM_TOO_LARGE:
			return "too large to simulate";
	}
	return "unknown";
}
