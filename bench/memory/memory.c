/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  Replays requests through the worker's replacement policies, and says what went over the link.
 *
 *	  memory QUERIES [--requests N] [--seed N] [--csv]	traces made of queries' column sets
 *	  memory --replay TRACE [--csv]						a recorded trace as it is
 *
 * See README.md for traces (traces.c), the model, and what the optimum is.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/worker/memory/replacement.h"
#include "traces.h"

#define POLICIES		4			/* of GcReplacement; then comes the optimum */
#define NEVER			UINT32_MAX

/*-------------------------------------------------------------------------
 * Policies
 *-------------------------------------------------------------------------
 */

typedef struct Outcome
{
	uint64_t	read;			/* bytes that requests read */
	uint64_t	link;			/* of these: not there */
	uint32_t	places;			/* that requests read, with all columns of them */
	uint32_t	whole;			/* of these: all was there */
	double		mean_us;		/* of a decision */
	double		most_us;
	int			most_candidates;
	uint64_t	decisions;
} Outcome;

/* Time of the processor: other programs run beside this one. */
static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static uint64_t held[MOST_UNITS];	/* bytes of the unit that are there */
static GcUses uses[MOST_UNITS];
static uint64_t used_at[MOST_UNITS];
static double mean_bytes;		/* of a request */

/* Requests that have begun and are not over: at which of its units each is. */
typedef struct Running
{
	uint32_t	request;
	const Query *query;
	int			at;
} Running;

static Running running[MOST_SESSIONS];
static int	nrunning = 0;
static float soon[MOST_UNITS];

/*
 * After how many more requests will those that have begun read each unit?  Each gets on while all others
 * read as many bytes.
 */
static void
look_ahead(void)
{
	memset(soon, 0, sizeof(soon));
	for (int r = 0; r < nrunning; r++)
	{
		const Query *q = running[r].query;
		double		bytes = 0;

		for (int k = running[r].at; k < q->n; k++)
		{
			const float requests = (float) (bytes / mean_bytes * nrunning) + 0.01f;
			float	   *of_unit = &soon[q->unit[k]];

			*of_unit = *of_unit == 0 || requests < *of_unit ? requests : *of_unit;
			bytes += (double) units[q->unit[k]].bytes;
		}
	}
}

/* A request reads its next unit; it is over behind the last one. */
static void
get_on(uint32_t request)
{
	int			r = 0;

	while (r < nrunning && running[r].request != request)
		r++;
	if (r == nrunning)
		running[nrunning++] = (Running) {.request = request,.query = &queries[query_of[request]]};
	if (++running[r].at == running[r].query->n)
		running[r] = running[--nrunning];
}

/* Let units go until `need` bytes have. */
static void
make_room(GcReplacement policy, uint64_t need, uint32_t now, Outcome *o)
{
	static GcVictim v[MOST_UNITS];
	static GcChosen chosen[MOST_UNITS];
	int			n = 0;
	int			taken;
	double		began;
	double		us;

	look_ahead();
	for (int i = 0; i < nunits; i++)
	{
		if (held[i] > 0)
			v[n++] = (GcVictim) {.bytes = held[i],.cost = held[i],.uses = uses[i],.used = used_at[i],
			.soon = soon[i],.place = units[i].place,.piece = i};
	}
	began = now_us();
	taken = gc_replacement_choose(policy, v, n, need, now, chosen);
	us = now_us() - began;
	o->mean_us += us;
	o->most_us = us > o->most_us ? us : o->most_us;
	o->most_candidates = n > o->most_candidates ? n : o->most_candidates;
	o->decisions++;
	for (int i = 0; i < taken; i++)
	{
		uint64_t   *bytes = &held[v[chosen[i].victim].piece];
		const uint64_t goes = *bytes < need ? *bytes : need;

		*bytes -= goes;
		need -= goes;
	}
}

/* Are two accesses those of one request to columns of one place? */
static bool
same_place(uint32_t a, uint32_t b)
{
	const Unit *ua = &units[sequence[a].unit];
	const Unit *ub = &units[sequence[b].unit];

	return sequence[a].request == sequence[b].request && ua->db == ub->db && ua->rel == ub->rel && ua->place == ub->place;
}

static Outcome
run_policy(GcReplacement policy, uint64_t memory)
{
	Outcome		o = {0};
	uint64_t	in_use = 0;
	uint64_t	before = 0;		/* o.link when the present place began */
	uint32_t	now = 0;

	mean_bytes = 0;
	for (uint32_t i = 0; i < naccesses; i++)
		mean_bytes += (double) units[sequence[i].unit].bytes / sequence[naccesses - 1].request;

	memset(held, 0, sizeof(held));
	memset(uses, 0, sizeof(uses));
	nrunning = 0;
	for (uint32_t i = 0; i < naccesses; i++)
	{
		const Unit *u = &units[sequence[i].unit];
		uint64_t   *bytes = &held[sequence[i].unit];

		now = sequence[i].request > now ? sequence[i].request : now;
		get_on(sequence[i].request);
		gc_uses_note(&uses[sequence[i].unit], now);
		used_at[sequence[i].unit] = i + 1;
		o.read += u->bytes;
		o.link += u->bytes - *bytes;
		in_use += u->bytes - *bytes;
		*bytes = u->bytes;
		if (i + 1 < naccesses && same_place(i, i + 1))
			continue;
		o.places++;
		o.whole += o.link == before;
		before = o.link;
		/* Between the parts of a scan, what it has just read may go as well. */
		if (in_use > memory)
		{
			make_room(policy, in_use - memory, now, &o);
			in_use = memory;
		}
	}
	o.mean_us /= o.decisions ? o.decisions : 1;
	return o;
}

/*-------------------------------------------------------------------------
 * The optimum
 *-------------------------------------------------------------------------
 */

/* A heap of units by when they are needed again, the last first; some entries are old. */
typedef struct Needed
{
	uint32_t	when;
	uint32_t	unit;
} Needed;

static Needed *heap = NULL;
static uint32_t nheap = 0;

static void
heap_push(Needed n)
{
	uint32_t	at = nheap++;

	for (; at > 0 && heap[(at - 1) / 2].when < n.when; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = n;
}

static void
heap_pop(void)
{
	const Needed sinks = heap[--nheap];
	uint32_t	at = 0;

	for (uint32_t child = 1; child < nheap; child = 2 * at + 1)
	{
		if (child + 1 < nheap && heap[child + 1].when > heap[child].when)
			child++;
		if (sinks.when >= heap[child].when)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = sinks;
}

/* Belady's MIN over single bytes: what is needed last goes, also of what was just read. */
static Outcome
run_optimum(uint64_t memory)
{
	static uint32_t needed[MOST_UNITS];
	uint32_t   *next = malloc((naccesses + 1) * sizeof(uint32_t));
	Outcome		o = {0};
	uint64_t	in_use = 0;

	memset(held, 0, sizeof(held));
	heap = realloc(heap, (naccesses + 1) * sizeof(Needed));
	nheap = 0;
	for (int i = 0; i < nunits; i++)
		needed[i] = NEVER;
	for (uint32_t i = naccesses; i-- > 0;)
	{
		next[i] = needed[sequence[i].unit];
		needed[sequence[i].unit] = i;
	}
	for (uint32_t i = 0; i < naccesses; i++)
	{
		const uint32_t unit = sequence[i].unit;

		needed[unit] = next[i];
		heap_push((Needed) {.when = next[i],.unit = unit});
		o.read += units[unit].bytes;
		o.link += units[unit].bytes - held[unit];
		in_use += units[unit].bytes - held[unit];
		held[unit] = units[unit].bytes;
		while (in_use > memory)
		{
			const Needed last = heap[0];
			uint64_t	goes;

			if (needed[last.unit] != last.when || held[last.unit] == 0)
			{
				heap_pop();
				continue;
			}
			goes = held[last.unit] < in_use - memory ? held[last.unit] : in_use - memory;
			held[last.unit] -= goes;
			in_use -= goes;
		}
	}
	free(next);
	return o;
}

/*-------------------------------------------------------------------------
 * Tables
 *-------------------------------------------------------------------------
 */

static const char *const kind_names[] = {"zipf", "uniform", "cycle", "phase", "hungry", "recorded"};

static bool csv = false;

/* Percentage of places of which a request found all that it reads. */
static double
whole(const Outcome *o)
{
	return 100.0 * o->whole / o->places;
}

static void
compare(Kind kind, int sessions, int percent, int requests, uint64_t seed)
{
	static Choice c;
	Outcome		o[POLICIES];
	Outcome		best;
	double		spared[POLICIES + 1];
	int			all[MOST_QUERIES] = {0};
	uint64_t	memory;

	for (int i = 0; i < nqueries; i++)
		all[i] = i;
	memory = union_bytes(all, nqueries) / 100 * percent;
	seed_traces(seed);
	begin_choice(&c, kind, memory, requests);
	make_sequence(&c, sessions, requests);
	best = run_optimum(memory);
	spared[POLICIES] = 100.0 * (best.read - best.link) / best.read;
	for (int p = 0; p < POLICIES; p++)
	{
		o[p] = run_policy(p, memory);
		spared[p] = 100.0 * (o[p].read - o[p].link) / o[p].read;
	}
	if (csv)
		printf("%s,%d,%d,%llu,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.1f,%.1f,%d\n", kind_names[kind], sessions, percent, (unsigned long long) seed,
			   spared[0], spared[1], spared[2], spared[3], spared[4], whole(&o[GC_REPLACE_LRU]), whole(&o[GC_REPLACE_LFU]), whole(&o[GC_REPLACE_VALUE]),
			   o[GC_REPLACE_VALUE].mean_us, o[GC_REPLACE_VALUE].most_us, o[GC_REPLACE_VALUE].most_candidates);
	else
	{
		const double rival = spared[0] > spared[1] ? spared[0] : spared[1];

		printf("| %-8s | %2d | %3d %% | %5.1f | %5.1f | %5.1f | %5.1f | %5.1f | %5.2f | %5.2f | %4.1f |\n", kind_names[kind], sessions, percent,
			   spared[0], spared[1], spared[2], spared[3], spared[4], rival > 0 ? spared[3] / rival : 99.99,
			   spared[3] / spared[4], o[GC_REPLACE_VALUE].mean_us);
	}
	fflush(stdout);
}

typedef struct Options
{
	const char *path;
	bool		replay;
	int			requests;
	uint64_t	seed;
} Options;

static void
read_options(Options *o, int argc, char **argv)
{
	*o = (Options) {.requests = 500,.seed = 1};
	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--csv") == 0)
			csv = true;
		else if (strcmp(argv[i], "--replay") == 0)
			o->replay = true;
		else if (strcmp(argv[i], "--requests") == 0 && i + 1 < argc)
			o->requests = atoi(argv[++i]);
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			o->seed = strtoull(argv[++i], NULL, 10);
		else
			o->path = argv[i];
	}
	if (o->path == NULL || o->requests < 1)
		die("usage: memory [--replay] TRACE [--requests N] [--seed N] [--csv]");
}

int
main(int argc, char **argv)
{
	static const int sessions[] = {1, 4, 16, MOST_SESSIONS};
	static const int percents[] = {75, 50, 25};
	Options		o;

	read_options(&o, argc, argv);
	read_queries(o.path, !o.replay);
	if (nqueries == 0)
		die("the trace has no requests");
	if (csv)
		printf("trace,sessions,memory,seed,lru,lfu,cdr,value,optimum,lru_whole,lfu_whole,value_whole,decision_us,most_us,candidates\n");
	else
		printf("| trace | sessions | memory | lru | lfu | cdr | value | optimum | value / best of lru, lfu | value / optimum | decision, us |\n"
			   "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int kind = 0; kind < RECORDED && !o.replay; kind++)
	{
		for (int s = 0; s < 4; s++)
		{
			for (int p = 0; p < 3; p++)
				compare(kind, sessions[s], percents[p], o.requests, o.seed);
		}
	}
	for (int p = 0; p < 3 && o.replay; p++)
		compare(RECORDED, 1, percents[p], nqueries, o.seed);
	return 0;
}
