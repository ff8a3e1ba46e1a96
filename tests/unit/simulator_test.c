/*-------------------------------------------------------------------------
 *
 * simulator_test.c
 *	  The simulator against the figures of Li, Yu, Kumar, Tu 2014.
 *
 * Kernels of tables III and IV; what every phase holds and how long it lasts, as
 * section IV tells.  Then what the paper leaves out: arrivals, speeds, bad input.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>

#include "../../bench/simulator/simulator.h"

#define MS			1000.0
#define MAX_LOG		(1 << 16)

/* Tables III and IV; the time of C to F is not told, and does not matter. */
#define KERNEL_A(n)	{11, 1024, 0, n, 14 * MS}
#define KERNEL_B(n)	{33, 1024, 0, n, 20 * MS}
#define KERNEL_C(n)	{11, 256, 0, n, 10 * MS}
#define KERNEL_D(n)	{44, 256, 0, n, 10 * MS}
#define KERNEL_E(n)	{11, 256, 24576, n, 10 * MS}
#define KERNEL_F(n)	{44, 256, 24576, n, 10 * MS}

static GcSimWork work;
static GcSimResult result;
static GcSimPhases phases;
static GcSimEvent event_log[MAX_LOG];
static int	nlog;

static const GcSimStream *streams;	/* of the workload being looked at */

static void
log_event(void *arg, const GcSimEvent *event)
{
	(void) arg;
	if (nlog < MAX_LOG)
		event_log[nlog] = *event;
	nlog++;
}

static GcSimStatus
simulate(const GcProfile *profile, const GcSimStream *list, int n, bool breadth_first)
{
	GcSimWorkload load = {
		.nstreams = n,.streams = list,.breadth_first = breadth_first,.event = log_event
	};

	streams = list;
	nlog = 0;
	memset(&work, 0xa5, sizeof(work));	/* what it finds there must not matter */
	memset(&phases, 0xa5, sizeof(phases));
	return gc_simulate(profile, &load, &work, &result, &phases);
}

/*-------------------------------------------------------------------------
 * The paper's figures
 *-------------------------------------------------------------------------
 */

/* A kernel as the paper writes it: letter of table III and number of the stream. */
static const char *
name_of(int kernel, char *buffer)
{
	const GcSimSpan *span = &result.kernels[kernel];
	const GcSimKernel *k = &streams[span->stream].kernels[span->index];
	char		letter = k->threads == 1024 ? (k->registers == 11 ? 'A' : 'B') :
		k->shared_bytes == 0 ? (k->registers == 11 ? 'C' : 'D') :
		(k->registers == 11 ? 'E' : 'F');

	sprintf(buffer, "%c%d", letter, span->stream + 1);
	return buffer;
}

/* Add to a text of at most TEXT bytes; what is too long is cut, and so fails. */
#define TEXT		2048

static void __attribute__((format(printf, 2, 3)))
append(char *text, const char *fmt,...)
{
	size_t		length = strlen(text);
	va_list		ap;

	va_start(ap, fmt);
	vsnprintf(text + length, TEXT - length, fmt, ap);
	va_end(ap);
}

/* Phase by its Roman-numbered place, from 1: times in ms, "A1:8/8" is blocks/SMs. */
static void
phase_is(int number, double start_ms, double end_ms, const char *wanted)
{
	char		got[TEXT] = "";
	char		name[16];
	const GcSimPhase *phase = &phases.phases[number - 1];

	if (number > phases.nphases)
	{
		ok(false, "there is a phase %d", number);
		return;
	}
	for (int i = 0; i < phase->nparts; i++)
	{
		const GcSimPart *part = &phases.parts[phase->first_part + i];

		append(got, "%s%s:%u/%d", i > 0 ? " " : "", name_of(part->kernel, name),
			   part->blocks, part->sms);
	}
	if (!ok(phase->start_us == start_ms * MS && phase->end_us == end_ms * MS &&
			strcmp(got, wanted) == 0, "phase %d: %s for %g ms", number, wanted,
			end_ms - start_ms))
		printf("#   got %s, %g to %g\n", got, phase->start_us / MS, phase->end_us / MS);
}

/* The grid of multiprocessors from time ms on: "5*A1+B2 3*A1+B3". */
static void
grid_is(const GcProfile *profile, double ms, const char *wanted)
{
	static char cell[GC_SIM_MAX_SMS][TEXT];
	char		got[TEXT] = "";
	char		name[16];

	for (int sm = 0; sm < profile->sms; sm++)
	{
		cell[sm][0] = 0;
		for (int k = 0; k < result.nkernels; k++)
		{
			int			held = 0;

			for (int i = 0; i < nlog && event_log[i].us <= ms * MS; i++)
			{
				if (event_log[i].sm == sm && event_log[i].kernel == k)
					held += event_log[i].start ? 1 : -1;
			}
			for (; held > 0; held--)
				append(cell[sm], "%s%s", cell[sm][0] ? "+" : "", name_of(k, name));
		}
	}
	for (int sm = 0; sm < profile->sms; sm++)
	{
		int			alike = 0;
		bool		seen = false;

		for (int other = 0; other < profile->sms; other++)
		{
			if (strcmp(cell[sm], cell[other]) == 0)
			{
				alike++;
				seen |= other < sm;
			}
		}
		if (!seen)
			append(got, "%s%d*%s", got[0] ? " " : "", alike, cell[sm][0] ? cell[sm] : "-");
	}
	if (!ok(strcmp(got, wanted) == 0, "at %g ms: %s", ms, wanted))
		printf("#   got %s\n", got);
}

static void
times_are(int kernel, double start_ms, double end_ms)
{
	char		name[16];
	const GcSimSpan *span = &result.kernels[kernel];

	if (!ok(span->start_us == start_ms * MS && span->end_us == end_ms * MS,
			"%s runs from %g to %g ms", name_of(kernel, name), start_ms, end_ms))
		printf("#   got %g to %g\n", span->start_us / MS, span->end_us / MS);
}

/* Section IV.A: how many blocks of two kernels one multiprocessor holds together. */
static void
occupancy_test(void)
{
	GcProfile	one = *gc_profile_known("GTX 680");
	const GcSimKernel a = KERNEL_A(1), b = KERNEL_B(2), b1 = KERNEL_B(1), a9 = KERNEL_A(9);
	const GcSimKernel c = KERNEL_C(1), d = KERNEL_D(9), d1 = KERNEL_D(99), c9 = KERNEL_C(99);
	const GcSimKernel e = KERNEL_E(1), f = KERNEL_F(9);
	const GcSimStream ab[] = {{1, &a, 0}, {1, &b, 0}};
	const GcSimStream ba[] = {{1, &b1, 0}, {1, &a9, 0}};
	const GcSimStream cd[] = {{1, &c, 0}, {1, &d, 0}};
	const GcSimStream ef[] = {{1, &e, 0}, {1, &f, 0}};
	const GcSimStream aa[] = {{1, &a9, 0}};
	const GcSimStream bb[] = {{1, &b, 0}};
	const GcSimStream cc[] = {{1, &c9, 0}};
	const GcSimStream dd[] = {{1, &d1, 0}};

	one.sms = 1;
	simulate(&one, ab, 2, false);
	grid_is(&one, 0, "1*A1+B2");
	ok(result.kernels[1].start_us == 0 && result.makespan_us == 40 * MS,
	   "the second B waits for registers of the first, not for A");
	simulate(&one, ba, 2, false);
	grid_is(&one, 0, "1*B1+A2");
	simulate(&one, cd, 2, false);
	grid_is(&one, 0, "1*C1+D2+D2+D2+D2+D2");
	simulate(&one, ef, 2, false);
	grid_is(&one, 0, "1*E1+F2");

	/* table III's occupancies: 100%, 50%, 100%, 63% of 64 warps */
	simulate(&one, aa, 1, false);
	is(phases.parts[0].blocks * 32, 64, "kernel A alone: 64 warps");
	is(phases.parts[0].sms, 1, "on its one multiprocessor");
	simulate(&one, bb, 1, false);
	is(phases.parts[0].blocks * 32, 32, "kernel B alone: 32 warps");
	simulate(&one, cc, 1, false);
	is(phases.parts[0].blocks * 8, 64, "kernel C alone: 64 warps");
	simulate(&one, dd, 1, false);
	is(phases.parts[0].blocks * 8, 40, "kernel D alone: 40 warps, 63%");
}

/* Figure 5: eight streams, each A with four blocks, four of them at a time. */
static void
figure5_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	const GcSimKernel a = KERNEL_A(4);
	GcSimStream list[8];

	tap_note("figure 5");
	for (int i = 0; i < 8; i++)
		list[i] = (GcSimStream) {1, &a, 0};
	is(simulate(gtx, list, 8, false), GC_SIM_OK, "simulated");
	is(phases.nphases, 2, "two phases");
	phase_is(1, 0, 14, "A1:4/4 A2:4/4 A3:4/4 A4:4/4");
	phase_is(2, 14, 28, "A5:4/4 A6:4/4 A7:4/4 A8:4/4");
	ok(result.mean_warps == 8 * 64, "every multiprocessor is full of warps throughout");
	simulate(gc_profile_known("K40"), list, 8, false);
	is(phases.nphases, 2, "two phases on K40 too, which has room for 30 blocks");
	phase_is(1, 0, 14, "A1:4/4 A2:4/4 A3:4/4 A4:4/4 A5:4/4 A6:4/4 A7:4/4 A8:2/2");
}

/* Figure 6: A(8), B(5), B(5): blocks are spread over all multiprocessors. */
static void
figure6_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	const GcSimKernel a = KERNEL_A(8), b = KERNEL_B(5);
	const GcSimStream list[] = {{1, &a, 0}, {1, &b, 0}, {1, &b, 0}};

	tap_note("figure 6");
	simulate(gtx, list, 3, false);
	is(phases.nphases, 3, "three phases");
	phase_is(1, 0, 14, "A1:8/8 B2:5/5 B3:3/3");
	grid_is(gtx, 0, "5*A1+B2 3*A1+B3");
	phase_is(2, 14, 20, "B2:5/5 B3:3/3");
	grid_is(gtx, 14, "5*B2 3*B3");
	phase_is(3, 20, 40, "B3:2/2");
	grid_is(gtx, 20, "2*B3 6*-");
	is(phases.parts[phases.phases[2].first_part].started, 2, "the last two B3 start in it");
}

/* Figures 7 and 8: A(8), B(8), A(8): a block starts when there is room, not later. */
static void
figure7_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	const GcSimKernel a = KERNEL_A(8), b = KERNEL_B(8);
	const GcSimStream list[] = {{1, &a, 0}, {1, &b, 0}, {1, &a, 0}};

	tap_note("figures 7 and 8: pattern 1");
	simulate(gtx, list, 3, false);
	is(phases.nphases, 3, "three phases");
	phase_is(1, 0, 14, "A1:8/8 B2:8/8");
	grid_is(gtx, 0, "8*A1+B2");
	phase_is(2, 14, 20, "B2:8/8 A3:8/8");
	grid_is(gtx, 14, "8*B2+A3");
	phase_is(3, 20, 28, "A3:8/8");
	grid_is(gtx, 20, "8*A3");
	is(phases.parts[phases.phases[2].first_part].started, 0, "no block starts in phase III");
}

/* Figure 9: four streams, each A(8) then B(6), without Hyper-Q. */
static void
figure9_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	GcProfile	hyper_q = *gtx;
	const GcSimKernel ab[] = {KERNEL_A(8), KERNEL_B(6)};
	const GcSimKernel scaled[] = {{16, 1024, 0, 132, 7 * MS}, {34, 1024, 0, 99, 10 * MS}};
	GcSimStream list[] = {{2, ab, 0}, {2, ab, 0}, {2, ab, 0}, {2, ab, 0}};
	GcSimResult depth_first;

	tap_note("figure 9");
	simulate(gtx, list, 4, false);
	is(phases.nphases, 8, "eight phases");
	/* there is room for A2 beside A1, yet B1 stands between them */
	phase_is(1, 0, 14, "A1:8/8");
	grid_is(gtx, 0, "8*A1");
	phase_is(2, 14, 28, "B1:6/6 A2:8/8");
	grid_is(gtx, 14, "6*B1+A2 2*A2");
	/* six go on with B1, the other two take B2; A3 would fit, but four B2 wait */
	phase_is(3, 28, 34, "B1:6/6 B2:2/2");
	grid_is(gtx, 28, "6*B1 2*B2");
	/* after B1 has ended, the other four B2, and then A3 */
	phase_is(4, 34, 48, "B2:6/6 A3:8/8");
	grid_is(gtx, 34, "6*B2+A3 2*A3");
	/* as in phase III: A4 would fit, but two B3 wait */
	phase_is(5, 48, 54, "B2:4/4 B3:4/4");
	grid_is(gtx, 48, "4*B2 4*B3");
	phase_is(6, 54, 68, "B3:6/6 A4:8/8");
	grid_is(gtx, 54, "6*B3+A4 2*A4");
	phase_is(7, 68, 74, "B3:2/2 B4:6/6");
	grid_is(gtx, 68, "2*B3 6*B4");
	phase_is(8, 74, 88, "B4:6/6");
	grid_is(gtx, 74, "2*- 6*B4");
	times_are(2, 14, 28);
	times_are(3, 28, 54);
	times_are(4, 34, 48);
	depth_first = result;

	tap_note("what figure 9 rules out");
	simulate(gtx, list, 4, true);
	ok(result.kernels[2].start_us == 0, "issued breadth-first, A2 would start with A1");
	hyper_q.hyper_q = true;
	simulate(&hyper_q, list, 4, false);
	ok(result.kernels[2].start_us == 0, "with Hyper-Q, so it would");
	ok(result.makespan_us <= depth_first.makespan_us, "and all would be done no later");

	/* Scaled to an H200's multiprocessors, and there observed: every A before any B. */
	for (int i = 0; i < 4; i++)
		list[i] = (GcSimStream) {2, scaled, 0};
	simulate(gc_profile_known("H200"), list, 4, false);
	times_are(0, 0, 7);
	times_are(2, 0, 7);
	times_are(4, 7, 14);
	times_are(6, 7, 14);
	times_are(1, 14, 24);
	times_are(3, 14, 34);
	times_are(5, 24, 44);
	times_are(7, 34, 44);
}

/* Figure 10: eight streams of A(1) then B(1) on K40: all A before any B. */
static void
figure10_test(void)
{
	const GcProfile *k40 = gc_profile_known("K40");
	GcProfile	without = *k40;
	const GcSimKernel ab[] = {KERNEL_A(1), KERNEL_B(1)};
	GcSimStream list[8];

	tap_note("figure 10");
	for (int i = 0; i < 8; i++)
		list[i] = (GcSimStream) {2, ab, 0};
	simulate(k40, list, 8, false);
	is(phases.nphases, 2, "two phases");
	phase_is(1, 0, 14, "A1:1/1 A2:1/1 A3:1/1 A4:1/1 A5:1/1 A6:1/1 A7:1/1 A8:1/1");
	phase_is(2, 14, 34, "B1:1/1 B2:1/1 B3:1/1 B4:1/1 B5:1/1 B6:1/1 B7:1/1 B8:1/1");
	grid_is(k40, 0, "1*A1 1*A2 1*A3 1*A4 1*A5 1*A6 1*A7 1*A8 7*-");
	without.hyper_q = false;
	simulate(&without, list, 8, false);
	times_are(0, 0, 14);
	times_are(1, 14, 34);
	times_are(2, 14, 28);
	times_are(15, 112, 132);
}

/*-------------------------------------------------------------------------
 * Beyond the paper: ties, arrivals, speeds, limits
 *-------------------------------------------------------------------------
 */

/* Which of two multiprocessors a block takes that fits both. */
static void
tie_test(void)
{
	GcProfile	two = *gc_profile_known("GTX 680");
	const GcSimKernel little_shared = {11, 512, 256, 1, 14}, narrow = {11, 64, 256, 1, 14};
	const GcSimKernel much_shared = {11, 32, 20000, 1, 14}, wide = {11, 512, 0, 1, 14};
	const GcSimStream by_room[] = {{1, &much_shared, 0}, {1, &wide, 0}, {1, &much_shared, 0}};
	const GcSimStream by_warps[] = {{1, &little_shared, 0}, {1, &narrow, 0}, {1, &much_shared, 0}};
	const GcSimStream by_place[] = {{1, &narrow, 0}};
	const GcSimKernel tenth[] = {{11, 32, 0, 1, 0.1}, {11, 32, 0, 1, 0.1}, {11, 32, 0, 1, 0.1}};
	const GcSimKernel tenths = {11, 32, 0, 1, 0.3};
	const GcSimStream same[] = {{1, &tenths, 0}, {3, tenth, 0}};

	tap_note("ties");
	two.sms = 2;
	simulate(&two, by_room, 3, false);
	ok(event_log[0].sm == 0 && event_log[1].sm == 1 && event_log[2].sm == 1,
	   "one where more of its kind would fit");
	simulate(&two, by_warps, 3, false);
	ok(event_log[0].sm == 0 && event_log[1].sm == 1 && event_log[2].sm == 1,
	   "then one with fewer warps");
	simulate(&two, by_place, 1, false);
	is(event_log[0].sm, 0, "then the first");
	simulate(&two, same, 2, false);
	is(phases.nphases, 3, "three tenths end together with 0.3");
}

static void
arrival_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	const GcSimKernel a = KERNEL_A(8), b = KERNEL_B(8);
	const GcSimStream list[] = {{1, &a, 5 * MS}, {0, NULL, 0}, {1, &b, 2 * MS}, {1, &a, 100 * MS}};

	tap_note("arrivals");
	is(simulate(gtx, list, 4, false), GC_SIM_OK, "simulated");
	times_are(0, 5, 19);
	times_are(1, 2, 22);
	times_are(2, 100, 114);
	is(phases.nphases, 3, "three phases");
	phase_is(1, 0, 19, "A1:8/8 B3:8/8");
	phase_is(3, 22, 114, "A4:8/8");
	ok(result.makespan_us == 114 * MS, "until the last one has ended");
	ok(fabs(result.mean_warps - 8 * 32 * 48.0 / 114) < 1e-9, "idle time counts for the mean");
	is(simulate(gtx, list, 0, false), GC_SIM_OK, "a workload of nothing");
	ok(result.makespan_us == 0 && result.mean_warps == 0 && phases.nphases == 0 && nlog == 0,
	   "takes no time");
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

static void
answer(void *arg, int nkernels, const uint32_t *resident, double *speed)
{
	(void) resident;
	for (int k = 0; k < nkernels; k++)
		speed[k] = *(double *) arg;
}

static void
speed_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	const GcSimKernel a = {16, 256, 0, 8, 10 * MS}, b = {16, 256, 0, 8, 20 * MS};
	const GcSimStream list[] = {{1, &a, 0}, {1, &b, 0}};
	double		enough = 8;
	GcSimWorkload load = {
		.nstreams = 2,.streams = list,.speed = share_bandwidth,.speed_arg = &enough
	};
	double		bad[] = {0, -1, NAN, INFINITY, 1e-300};

	tap_note("speeds");
	streams = list;
	is(gc_simulate(gtx, &load, &work, &result, NULL), GC_SIM_OK, "phases are not needed");
	/* at half speed until the first has ended, then the other half alone */
	times_are(0, 0, 20);
	times_are(1, 0, 30);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		load.speed = answer;
		load.speed_arg = &bad[i];
		ok(gc_simulate(gtx, &load, &work, &result, NULL) == GC_SIM_BAD_SPEED &&
		   result.culprit == 0, "a speed of %g is refused", bad[i]);
	}
}

static GcSimStatus
simulate_one(const GcProfile *profile, GcSimKernel kernel)
{
	const GcSimStream list[] = {{1, &kernel, 0}};

	return simulate(profile, list, 1, false);
}

/* A block needs what it needs, or the kernel is refused. */
static void
bad_kernel_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	const GcProfile *h100 = gc_profile_known("H100");

	tap_note("kernels that cannot be");
	is(simulate_one(gtx, (GcSimKernel) {16, 32, 0, 0, 1}), GC_SIM_BAD_KERNEL, "no blocks");
	is(result.culprit, 0, "and whose fault it is");
	is(simulate_one(gtx, (GcSimKernel) {16, 0, 0, 1, 1}), GC_SIM_BAD_KERNEL, "no threads");
	is(simulate_one(gtx, (GcSimKernel) {-1, 1, 0, 1, 1}), GC_SIM_BAD_KERNEL, "negative registers");
	is(simulate_one(gtx, (GcSimKernel) {16, 1, -1, 1, 1}), GC_SIM_BAD_KERNEL, "negative shared memory");
	is(simulate_one(gtx, (GcSimKernel) {16, 1, 0, 1, 0}), GC_SIM_BAD_KERNEL, "no time");
	is(simulate_one(gtx, (GcSimKernel) {16, 1, 0, 1, NAN}), GC_SIM_BAD_KERNEL, "no number");
	is(simulate_one(gtx, (GcSimKernel) {16, 1, 0, 1, INFINITY}), GC_SIM_BAD_KERNEL, "for ever");
	is(simulate_one(gtx, (GcSimKernel) {16, 1025, 0, 1, 1}), GC_SIM_NO_FIT, "too many threads");
	is(simulate_one(gtx, (GcSimKernel) {64, 1, 0, 1, 1}), GC_SIM_NO_FIT, "too many registers for a thread");
	is(simulate_one(gtx, (GcSimKernel) {63, 1024, 0, 1, 1}), GC_SIM_OK, "as many registers as there are");
	is(simulate_one(h100, (GcSimKernel) {65, 1024, 0, 1, 1}), GC_SIM_NO_FIT, "more than there are");
	is(simulate_one(gtx, (GcSimKernel) {16, 1, 49153, 1, 1}), GC_SIM_NO_FIT, "too much shared memory");
	is(simulate_one(gtx, (GcSimKernel) {16, 1, 49152, 1, 1}), GC_SIM_OK, "just as much as there is");
	is(simulate_one(h100, (GcSimKernel) {16, 1, 232448, 1, 1}), GC_SIM_OK, "with what the system takes");
	is(simulate_one(gtx, (GcSimKernel) {INT32_MAX, INT32_MAX, INT32_MAX, 1, 1}), GC_SIM_NO_FIT, "too much of all");
	is(simulate_one(gtx, (GcSimKernel) {16, 1, 0, UINT32_MAX, 1}), GC_SIM_TOO_LARGE, "too many blocks");

}

static void
bad_workload_test(void)
{
	const GcProfile *gtx = gc_profile_known("GTX 680");
	GcProfile	broken = *gtx;
	GcProfile	large = *gtx;
	GcProfile	host = {.serial_blocks = true,.scalar = true,.shares_cpu = true,.sms = 4};
	static GcSimKernel many[GC_SIM_MAX_KERNELS + 1];
	static GcSimStream crowd[GC_SIM_MAX_STREAMS + 1];
	GcSimStream bad[] = {{1, many, 0}, {1, many, 0}};

	tap_note("workloads and devices that cannot be");
	for (int i = 0; i <= GC_SIM_MAX_KERNELS; i++)
		many[i] = (GcSimKernel) KERNEL_A(1);
	for (int i = GC_SIM_OK; i <= GC_SIM_TOO_LARGE; i++)
		ok(strcmp(gc_sim_status_text((GcSimStatus) i), "unknown") != 0, "status %d has a text", i);

	bad[1].arrival_us = -1;
	is(simulate(gtx, bad, 2, false), GC_SIM_BAD_STREAM, "a stream from before the beginning");
	is(result.culprit, 1, "which is the second");
	bad[1] = (GcSimStream) {1, NULL, 0};
	is(simulate(gtx, bad, 2, false), GC_SIM_BAD_STREAM, "a stream that has no kernels");
	bad[1] = (GcSimStream) {-1, many, 0};
	is(simulate(gtx, bad, 2, false), GC_SIM_BAD_STREAM, "a stream of fewer than none");
	is(simulate(gtx, NULL, 1, false), GC_SIM_BAD_STREAM, "no streams");
	bad[0].nkernels = GC_SIM_MAX_KERNELS;
	is(simulate(gtx, bad, 1, false), GC_SIM_OK, "as many kernels as there is room for");
	ok(result.makespan_us == GC_SIM_MAX_KERNELS * 14 * MS &&
	   phases.nphases == GC_SIM_MAX_KERNELS, "one after another");
	bad[0].nkernels = GC_SIM_MAX_KERNELS + 1;
	is(simulate(gtx, bad, 1, false), GC_SIM_TOO_LARGE, "one more");
	is(simulate(gtx, crowd, GC_SIM_MAX_STREAMS + 1, false), GC_SIM_TOO_LARGE, "too many streams");

	is(simulate(NULL, bad, 0, false), GC_SIM_BAD_PROFILE, "no device");
	broken.max_warps = 0;
	is(simulate(&broken, bad, 0, false), GC_SIM_BAD_PROFILE, "a device without warps");
	large.sms = GC_SIM_MAX_SMS + 1;
	is(simulate(&large, bad, 0, false), GC_SIM_TOO_LARGE, "too many multiprocessors");
	large.sms = GC_SIM_MAX_SMS;
	large.max_blocks = 1024;
	large.max_warps = 1024;
	is(simulate(&large, bad, 0, false), GC_SIM_TOO_LARGE, "too many blocks on them");

	is(simulate_one(&host, (GcSimKernel) {16, 1, 1 << 30, 8, 5}), GC_SIM_OK, "a host");
	ok(result.makespan_us == 10, "runs a block per processor");
}

int
main(void)
{
	tap_start();
	occupancy_test();
	figure5_test();
	figure6_test();
	figure7_test();
	figure9_test();
	figure10_test();
	tie_test();
	arrival_test();
	speed_test();
	bad_kernel_test();
	bad_workload_test();
	return tap_done();
}
