/*-------------------------------------------------------------------------
 *
 * simulator_random_test.c
 *	  The simulator against its own rules, on random workloads and devices.
 *
 * A slow observer sees every start and end of a block, keeps its own books, and says
 * which rule was broken; result and phases are compared with its books.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>
#include <time.h>

#include "../../bench/simulator/simulator.h"

#define MAX_LOG		(1 << 16)
#define MAX_RANDOM	24			/* kernels of a random workload */

static GcSimWork work;
static GcSimResult result;
static GcSimPhases phases;
static GcSimEvent event_log[MAX_LOG];
static int	nlog;

static void
log_event(void *arg, const GcSimEvent *event)
{
	(void) arg;
	if (nlog < MAX_LOG)
		event_log[nlog] = *event;
	nlog++;
}

static uint64_t random_state = 88172645463325252ULL;

static uint32_t
random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) (random_state >> 32) % n;
}

/* Amounts of each resource: warps, blocks, registers, shared memory. */
typedef struct Amounts
{
	long		of[4];
} Amounts;

/* The observer's books: what it has seen of each kernel and multiprocessor. */
typedef struct Observer
{
	GcProfile	profile;
	bool		breadth_first;
	bool		timed;			/* all speeds are 1 */
	Amounts		capacity;
	int			nkernels;
	struct Seen
	{
		GcSimKernel kernel;
		int			stream;
		int			index;
		double		arrival;
		Amounts		needs;
		uint32_t	started;
		uint32_t	ended;
		double		block_start[64];
		int			block_sm[64];
		int			on[64];		/* blocks on each multiprocessor */
		double		first;
		double		last;
	}			seen[MAX_RANDOM];
	Amounts		used[64];
	double		now;
	double		warp_us;
	int			exceeded;		/* faults of each kind */
	int			idle;
	int			unordered;
	int			bunched;
	int			wrong;
} Observer;

static Observer books;

/* The needs of a block, by the paper's formulas; not as simulator.c computes them. */
static bool
observer_needs(const Observer *o, const GcSimKernel *k, Amounts *a)
{
	const GcProfile *p = &o->profile;
	long		warps = 0;
	long		register_warps = 0;
	long		granules = 0;
	long		shared = 0;

	while (warps * p->warp_size < k->threads)
		warps++;
	while (register_warps < warps)
		register_warps += p->warp_unit;
	while (granules * p->register_unit < (long) k->registers * p->warp_size)
		granules++;
	while (shared < k->shared_bytes + p->shared_reserved)
		shared += p->shared_unit;
	*a = (Amounts) {{warps, 1, register_warps * granules * p->register_unit, shared}};
	for (int r = 0; r < 4; r++)
	{
		if (a->of[r] > o->capacity.of[r])
			return false;
	}
	return k->threads <= p->max_threads && k->registers <= p->max_registers &&
		k->shared_bytes <= p->shared_per_block;
}

static bool
fits(const Observer *o, const struct Seen *k, int sm)
{
	for (int r = 0; r < 4; r++)
	{
		if (o->used[sm].of[r] + k->needs.of[r] > o->capacity.of[r])
			return false;
	}
	return true;
}

/* May blocks of k be scheduled, given what has arrived until `until`? */
static bool
may_start(const Observer *o, int k, double until)
{
	const struct Seen *seen = &o->seen[k];

	if (seen->started == seen->kernel.blocks || seen->arrival > until)
		return false;
	if (seen->index > 0 && seen[-1].ended < seen[-1].kernel.blocks)
		return false;
	for (int other = 0; other < o->nkernels && !o->profile.hyper_q; other++)
	{
		const struct Seen *s = &o->seen[other];
		bool		before = s->arrival != seen->arrival ? s->arrival < seen->arrival :
			o->breadth_first && s->index != seen->index ? s->index < seen->index : other < k;

		if (before && s->started < s->kernel.blocks)
			return false;
	}
	return true;
}

/* Time goes on to `until`: nothing that could have started before may be left. */
static void
observe_time(Observer *o, double until)
{
	for (int k = 0; k < o->nkernels; k++)
	{
		for (int sm = 0; sm < o->profile.sms; sm++)
		{
			if (fits(o, &o->seen[k], sm) && may_start(o, k, nextafter(until, 0)))
				o->idle++;
		}
	}
	for (int sm = 0; sm < o->profile.sms; sm++)
		o->warp_us += o->used[sm].of[0] * (until - o->now);
	o->now = until;
}

static void
observe(void *arg, const GcSimEvent *event)
{
	Observer   *o = arg;
	struct Seen *k = &o->seen[event->kernel];
	int			sm = event->sm;

	if (event->us < o->now || event->kernel >= o->nkernels || sm >= o->profile.sms ||
		event->block != (event->start ? k->started : k->ended))
	{
		o->wrong++;
		return;
	}
	if (event->us > o->now)
		observe_time(o, event->us);
	if (!event->start)
	{
		double		took = event->us - k->block_start[event->block];

		if (k->block_sm[event->block] != sm || (o->timed ?
												fabs(took - k->kernel.block_us) > 1e-6 :
												took < k->kernel.block_us - 1e-6))
			o->wrong++;
		k->ended++;
		k->on[sm]--;
		k->last = event->us;
	}
	else
	{
		o->unordered += !may_start(o, event->kernel, event->us);
		o->exceeded += !fits(o, k, sm);
		for (int other = 0; other < o->profile.sms; other++)
			o->bunched += k->on[other] < k->on[sm] && fits(o, k, other);
		if (k->started == 0)
			k->first = event->us;
		k->block_start[event->block] = event->us;
		k->block_sm[event->block] = sm;
		k->started++;
		k->on[sm]++;
	}
	for (int r = 0; r < 4; r++)
		o->used[sm].of[r] += event->start ? k->needs.of[r] : -k->needs.of[r];
	log_event(NULL, event);
}

static GcProfile
random_profile(void)
{
	static const char *const names[] = {"GTX 680", "K40", "A100"};
	GcProfile	p = *gc_profile_known(names[random_below(3)]);

	p.sms = 1 + random_below(12);
	p.hyper_q = random_below(2);
	if (random_below(2))
	{
		p.max_blocks = 1 + random_below(16);
		p.max_warps = 4 + random_below(61);
		p.registers = 256 * (4 + random_below(253));
		p.warp_unit = 1 + random_below(4);
		p.shared_unit = 1 + random_below(512);
	}
	return p;
}

/* A workload that the observer thinks possible; false: it thinks it is not. */
static bool
random_workload(GcSimStream *list, GcSimKernel *kernels, int *nstreams)
{
	bool		possible = true;
	double		unit = random_below(2) ? 1 : 0.1;

	*nstreams = 1 + random_below(6);
	books.nkernels = 0;
	for (int i = 0; i < *nstreams; i++)
	{
		list[i].nkernels = random_below(5);
		list[i].kernels = &kernels[books.nkernels];
		list[i].arrival_us = random_below(2) ? 0 : random_below(20);
		for (int j = 0; j < list[i].nkernels; j++)
		{
			struct Seen *seen = &books.seen[books.nkernels];

			kernels[books.nkernels++] = seen->kernel = (GcSimKernel) {
				.registers = random_below(60),.threads = 1 + random_below(random_below(2) ? 1024 : 200),
				.shared_bytes = random_below(2) ? 0 : random_below(20000),
				.blocks = 1 + random_below(random_below(2) ? 64 : 8),
				.block_us = unit * (1 + random_below(12))
			};
			seen->stream = i;
			seen->index = j;
			seen->arrival = list[i].arrival_us;
			possible = observer_needs(&books, &seen->kernel, &seen->needs) && possible;
		}
	}
	return possible;
}

/* No schedule at all could be shorter. */
static double
lower_bound(const Observer *o)
{
	double		total[4] = {0};
	double		stream_end = 0;
	double		bound = 0;

	for (int k = 0; k < o->nkernels; k++)
	{
		const struct Seen *seen = &o->seen[k];
		long		alone = o->capacity.of[1];

		for (int r = 0; r < 4; r++)
		{
			if (seen->needs.of[r] > 0 && o->capacity.of[r] / seen->needs.of[r] < alone)
				alone = o->capacity.of[r] / seen->needs.of[r];
			total[r] += seen->kernel.block_us * seen->kernel.blocks * seen->needs.of[r] /
				((double) o->capacity.of[r] * o->profile.sms);
			bound = fmax(bound, total[r]);
		}
		if (seen->index == 0)
			stream_end = seen->arrival;
		stream_end += seen->kernel.block_us * ceil(seen->kernel.blocks / (double) (alone * o->profile.sms));
		bound = fmax(bound, stream_end);
	}
	return bound;
}

/* Do result and phases say what was seen? */
static bool
told_truly(const Observer *o)
{
	double		last = 0;
	double		start = 0;
	uint32_t	started = 0;
	uint32_t	blocks = 0;

	for (int k = 0; k < o->nkernels; k++)
	{
		const struct Seen *seen = &o->seen[k];
		const GcSimSpan *span = &result.kernels[k];

		if (span->stream != seen->stream || span->index != seen->index ||
			span->start_us != seen->first || span->end_us != seen->last)
			return false;
		last = fmax(last, seen->last);
		blocks += seen->kernel.blocks;
	}
	for (int i = 0; i < phases.nphases; i++)
	{
		bool		found = false;

		for (int k = 0; k < o->nkernels; k++)
			found |= result.kernels[k].end_us == phases.phases[i].end_us;
		if (!found || phases.phases[i].start_us != start)
			return false;
		start = phases.phases[i].end_us;
	}
	for (int i = 0; i < phases.nparts; i++)
		started += phases.parts[i].started;
	return started == blocks && start == last && result.makespan_us == last &&
		fabs(result.mean_warps * last - o->warp_us) <= 1e-6 * (1 + o->warp_us);
}

/* A device whose bandwidth is enough for *arg blocks at full speed. */
static void
share_bandwidth(void *arg, int nkernels, const uint32_t *resident, double *speed)
{
	double		blocks = 0;

	for (int k = 0; k < nkernels; k++)
		blocks += resident[k];
	for (int k = 0; k < nkernels; k++)
	{
		if (blocks > *(double *) arg)
			speed[k] *= *(double *) arg / blocks;
	}
}

static bool
same_events(const GcSimEvent *a, const GcSimEvent *b, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (a[i].us != b[i].us || a[i].start != b[i].start || a[i].kernel != b[i].kernel ||
			a[i].sm != b[i].sm || a[i].block != b[i].block)
			return false;
	}
	return true;
}

static void
random_test(int rounds, bool timed)
{
	static GcSimEvent before[MAX_LOG];
	static const Observer nothing;
	int			refused = 0, misjudged = 0, unfinished = 0, too_short = 0, lies = 0, differ = 0;
	int			exceeded = 0, idle = 0, unordered = 0, bunched = 0, wrong = 0;
	int			events = 0;

	for (int round = 0; round < rounds; round++)
	{
		GcSimStream list[6];
		GcSimKernel kernels[MAX_RANDOM];
		double		enough = 1 + random_below(50);
		GcSimWorkload load = {.streams = list,.event = observe,.event_arg = &books};
		int			seen;
		bool		possible;

		books = nothing;
		books.profile = random_profile();
		books.capacity = (Amounts) {{books.profile.max_warps, books.profile.max_blocks,
			books.profile.registers, books.profile.shared_per_sm}};
		books.timed = timed;
		possible = random_workload(list, kernels, &load.nstreams);
		load.breadth_first = books.breadth_first = random_below(2);
		if (!timed)
		{
			load.speed = share_bandwidth;
			load.speed_arg = &enough;
		}
		nlog = 0;
		memset(&work, 0xa5, sizeof(work));
		if (gc_simulate(&books.profile, &load, &work, &result, &phases) != GC_SIM_OK)
		{
			misjudged += possible;
			refused++;
			continue;
		}
		misjudged += !possible;
		for (int k = 0; k < books.nkernels; k++)
			unfinished += books.seen[k].ended != books.seen[k].kernel.blocks;
		too_short += result.makespan_us < lower_bound(&books) * (1 - 1e-9);
		lies += !told_truly(&books);
		exceeded += books.exceeded;
		idle += books.idle;
		unordered += books.unordered;
		bunched += books.bunched;
		wrong += books.wrong;
		events += nlog;

		seen = nlog;
		memcpy(before, event_log, seen * sizeof(before[0]));
		nlog = 0;
		load.event = log_event;
		load.breadth_first ^= books.profile.hyper_q;	/* which then changes nothing */
		gc_simulate(&books.profile, &load, &work, &result, NULL);
		differ += nlog != seen || !same_events(before, event_log, seen);
	}
	tap_note("%d random workloads, %d refused, %d events", rounds, refused, events);
	ok(refused < rounds / 2, "most of the random workloads are possible");
	is(misjudged, 0, "those refused cannot run, and the others can");
	is(exceeded, 0, "no multiprocessor holds more than it has");
	is(idle, 0, "no block waits that may start and fits");
	is(unordered, 0, "no block starts before its turn");
	is(bunched, 0, "each goes where fewest of its kernel are");
	is(wrong, 0, "each starts once and ends once, in its time");
	is(unfinished, 0, "and all of them do");
	is(too_short, 0, "no makespan is below the bounds");
	is(lies, 0, "result and phases tell what happened");
	is(differ, 0, "the same again is the same");
}

/* One kernel alone: as many rounds as Li, Yu, Kumar, Tu 2014's equation 1 says. */
static void
rounds_test(void)
{
	int			faults = 0;

	for (int i = 0; i < 500; i++)
	{
		const GcProfile *gtx = gc_profile_known("GTX 680");
		GcSimKernel k = {1 + random_below(63), 128 * (1 + random_below(8)), random_below(30000),
		1 + random_below(5000), 7};
		int			gamma = k.threads / 32;
		int			theta = (k.registers * 32 + 255) / 256 * 256;
		int			delta = 65536 / theta / 4 * 4;
		int			beta_w = 64 / gamma < 16 ? 64 / gamma : 16;
		int			zeta = (k.shared_bytes + 255) / 256 * 256;
		int			beta_s = zeta > 0 ? 49152 / zeta : 16;
		int			beta = delta / gamma < beta_w ? delta / gamma : beta_w;
		GcSimStream stream = {1, &k, 0};
		GcSimWorkload load = {.nstreams = 1,.streams = &stream};
		GcSimStatus status = gc_simulate(gtx, &load, &work, &result, NULL);

		if (beta_s < beta)
			beta = beta_s;
		if (beta == 0 ? status != GC_SIM_NO_FIT : status != GC_SIM_OK ||
			result.makespan_us != 7 * ceil(k.blocks / (beta * 8.0)))
			faults++;
	}
	is(faults, 0, "a kernel alone takes the rounds of equation 1");
}

/* Many streams of large grids; how long that takes is printed, not asserted. */
static void
large_test(void)
{
	enum {STREAMS = 16};
	static GcSimKernel kernels[4 * STREAMS];
	static GcSimStream list[STREAMS];
	GcSimWorkload load = {.nstreams = STREAMS,.streams = list};
	double		busy = 0;
	clock_t		began;

	for (int k = 0; k < 4 * STREAMS; k++)
	{
		kernels[k] = (GcSimKernel) {32 + k % 32, 128 + 32 * (k % 13), k * 256, 2000 + 40 * k,
		10 + k % 17};
		busy += (double) kernels[k].blocks * kernels[k].block_us * ((kernels[k].threads + 31) / 32);
	}
	for (int i = 0; i < STREAMS; i++)
		list[i] = (GcSimStream) {4, &kernels[4 * i], i};
	began = clock();
	is(gc_simulate(gc_profile_known("H100"), &load, &work, &result, &phases), GC_SIM_OK,
	   "16 streams of four kernels of thousands of blocks");
	tap_note("%.0f us simulated in %.0f ms", result.makespan_us,
			 1000.0 * (clock() - began) / CLOCKS_PER_SEC);
	ok(fabs(result.mean_warps * result.makespan_us - busy) < 1e-6 * busy, "no work is lost");
}

int
main(void)
{
	tap_start();
	random_test(2000, true);
	random_test(500, false);
	rounds_test();
	large_test();
	return tap_done();
}
