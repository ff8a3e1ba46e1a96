/*-------------------------------------------------------------------------
 *
 * simulate.c
 *	  Show what a workload does on a device, by bench/simulator.
 *
 *	  simulate [-k] [-t TRACE.json] [WORKLOAD]
 *
 * Prints the phases, as Li, Yu, Kumar, Tu 2014 draws them; with -k also when each kernel began and
 * ended.  With -t writes every block as a trace event, for https://ui.perfetto.dev or
 * chrome://tracing: a process for each multiprocessor, and one for the streams.
 *
 * A workload (default: standard input) is text, an item on each line, # a comment:
 *
 *	  device GTX 680
 *	  hyper_q off						default: as the device has it
 *	  issue breadth						default: depth; see simulator.h
 *	  kernel A registers=11 threads=1024 shared=0 us=14000
 *	  stream at=5000 repeat=4 A*8 B*6		kernels and their blocks; four such streams
 *
 * The first kernel A of the second stream is called A2, another one in it A2.2.
 *
 *-------------------------------------------------------------------------
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../simulator/simulator.h"

#define MAX_KINDS	64
#define SPACE		" \t\r\n"

/* Where a block of the trace began. */
typedef struct Begun
{
	double		us;
	int			lane;			/* of its multiprocessor */
} Begun;

static const char *path = "standard input";
static int	line_number;

static GcProfile profile;
static const char *device;

static int	nkinds;
static struct Kind
{
	char		name[32];
	GcSimKernel kernel;			/* without its blocks */
}			kinds[MAX_KINDS];

static int	nkernels;
static GcSimKernel kernels[GC_SIM_MAX_KERNELS];
static char labels[GC_SIM_MAX_KERNELS][64];
static GcSimStream streams[GC_SIM_MAX_STREAMS];
static GcSimWorkload load = {.streams = streams};

static GcSimWork work;
static GcSimResult result;
static GcSimPhases phases;

static FILE *trace;
static Begun *begun[GC_SIM_MAX_KERNELS];
static bool busy[GC_SIM_MAX_SMS][GC_SIM_MAX_RESIDENT];

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *fmt,...)
{
	va_list		ap;

	fprintf(stderr, "simulate: %s", path);
	if (line_number > 0)
		fprintf(stderr, ":%d", line_number);
	fprintf(stderr, ": ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

static double
number(const char *text, double max)
{
	char	   *end;
	double		value = strtod(text, &end);

	if (end == text || *end != 0 || !(value >= 0 && value <= max))
		fail("\"%s\" is not a number from 0 to %g", text, max);
	return value;
}

static int
whole_number(const char *text, int max)
{
	double		value = number(text, max);

	if (value != (int) value)
		fail("\"%s\" is not a whole number", text);
	return (int) value;
}

/* The value of a word KEY=VALUE, or NULL if it is not one of that key. */
static const char *
value_of(const char *word, const char *key)
{
	size_t		n = strlen(key);

	return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* The rest of the line, without blanks around it. */
static char *
rest_of_line(void)
{
	char	   *rest = strtok(NULL, "\r\n");
	size_t		n;

	if (rest == NULL)
		fail("something is missing on this line");
	rest += strspn(rest, SPACE);
	for (n = strlen(rest); n > 0 && isspace((unsigned char) rest[n - 1]); n--)
		rest[n - 1] = 0;
	return rest;
}

static bool
one_of(const char *no, const char *yes)
{
	const char *word = rest_of_line();

	if (strcmp(word, no) != 0 && strcmp(word, yes) != 0)
		fail("\"%s\" is neither %s nor %s", word, no, yes);
	return strcmp(word, yes) == 0;
}

static void
read_device(void)
{
	const char *name = rest_of_line();
	const GcProfile *known = gc_profile_known(name);

	if (device != NULL)
		fail("there is a device already");
	if (known == NULL)
		fail("no device is known as \"%s\"", name);
	profile = *known;
	device = strdup(name);
}

static void
read_kernel(void)
{
	struct Kind *kind = &kinds[nkinds];
	const char *word = strtok(NULL, SPACE);
	const char *value;

	if (nkinds == MAX_KINDS)
		fail("more than %d kinds of kernels", MAX_KINDS);
	if (word == NULL || strlen(word) >= sizeof(kind->name))
		fail("a kernel needs a name of up to %zu letters", sizeof(kind->name) - 1);
	for (const char *c = word; *c != 0; c++)
	{
		if (!isalnum((unsigned char) *c) && *c != '_')
			fail("\"%s\" is no name", word);
	}
	for (int i = 0; i < nkinds; i++)
	{
		if (strcmp(kinds[i].name, word) == 0)
			fail("there is a kernel %s already", word);
	}
	strcpy(kind->name, word);
	while ((word = strtok(NULL, SPACE)) != NULL)
	{
		if ((value = value_of(word, "registers")) != NULL)
			kind->kernel.registers = whole_number(value, 1 << 20);
		else if ((value = value_of(word, "threads")) != NULL)
			kind->kernel.threads = whole_number(value, 1 << 20);
		else if ((value = value_of(word, "shared")) != NULL)
			kind->kernel.shared_bytes = whole_number(value, 1 << 30);
		else if ((value = value_of(word, "us")) != NULL)
			kind->kernel.block_us = number(value, GC_SIM_MAX_US);
		else
			fail("a kernel has no \"%s\"", word);
	}
	nkinds++;
}

/* A word KIND*BLOCKS becomes the next kernel of the stream. */
static void
read_stream_kernel(char *word, const GcSimStream *stream)
{
	char	   *star = strchr(word, '*');
	int			kind = 0;
	int			same = 1;
	int			n;

	if (star == NULL)
		fail("\"%s\" is not KERNEL*BLOCKS", word);
	*star = 0;
	while (kind < nkinds && strcmp(kinds[kind].name, word) != 0)
		kind++;
	if (kind == nkinds)
		fail("there is no kernel %s", word);
	if (nkernels == GC_SIM_MAX_KERNELS)
		fail("more than %d kernels", GC_SIM_MAX_KERNELS);
	kernels[nkernels] = kinds[kind].kernel;
	kernels[nkernels].blocks = whole_number(star + 1, GC_SIM_MAX_BLOCKS);
	n = sprintf(labels[nkernels], "%s%d", word, (int) (stream - streams) + 1);
	for (const GcSimKernel *k = stream->kernels; k < &kernels[nkernels]; k++)
	{
		const char *label = labels[k - kernels];

		if (strncmp(label, labels[nkernels], n) == 0 && (label[n] == 0 || label[n] == '.'))
			same++;
	}
	if (same > 1)
		sprintf(labels[nkernels] + n, ".%d", same);
	nkernels++;
}

static void
read_stream(void)
{
	char	   *line = rest_of_line();
	double		at = 0;
	int			repeat = 1;

	for (int i = 0; i < repeat; i++)
	{
		GcSimStream *stream = &streams[load.nstreams];
		char	   *copy = strdup(line);
		const char *value;

		if (load.nstreams == GC_SIM_MAX_STREAMS)
			fail("more than %d streams", GC_SIM_MAX_STREAMS);
		stream->kernels = &kernels[nkernels];
		for (char *word = strtok(copy, SPACE); word != NULL; word = strtok(NULL, SPACE))
		{
			if ((value = value_of(word, "at")) != NULL)
				at = number(value, GC_SIM_MAX_US);
			else if ((value = value_of(word, "repeat")) != NULL)
			{
				repeat = whole_number(value, GC_SIM_MAX_STREAMS);
				if (repeat == 0)
					fail("a stream cannot be repeated 0 times");
			}
			else
				read_stream_kernel(word, stream);
		}
		stream->arrival_us = at;
		stream->nkernels = (int) (&kernels[nkernels] - stream->kernels);
		load.nstreams++;
		free(copy);
	}
}

static void
read_workload(FILE *file)
{
	char		line[4096];
	int			hyper_q = -1;

	while (fgets(line, sizeof(line), file) != NULL)
	{
		const char *word;

		line_number++;
		if (strlen(line) == sizeof(line) - 1)
			fail("the line is longer than %zu bytes", sizeof(line) - 2);
		line[strcspn(line, "#")] = 0;
		word = strtok(line, SPACE);
		if (word == NULL)
			continue;
		if (strcmp(word, "device") == 0)
			read_device();
		else if (strcmp(word, "hyper_q") == 0)
			hyper_q = one_of("off", "on");
		else if (strcmp(word, "issue") == 0)
			load.breadth_first = one_of("depth", "breadth");
		else if (strcmp(word, "kernel") == 0)
			read_kernel();
		else if (strcmp(word, "stream") == 0)
			read_stream();
		else
			fail("\"%s\" is nothing that a workload has", word);
	}
	line_number = 0;
	if (ferror(file))
		fail("could not be read");
	if (device == NULL)
		fail("it names no device");
	if (hyper_q >= 0)
		profile.hyper_q = hyper_q;
}

static void
trace_block(void *arg, const GcSimEvent *event)
{
	Begun	   *block = &begun[event->kernel][event->block];

	(void) arg;
	if (event->start)
	{
		block->us = event->us;
		block->lane = 0;
		while (busy[event->sm][block->lane])
			block->lane++;
		busy[event->sm][block->lane] = true;
		return;
	}
	busy[event->sm][block->lane] = false;
	fprintf(trace, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"block\",\"pid\":%d,\"tid\":%d,"
			"\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"block\":%u}}",
			labels[event->kernel], event->sm + 1, block->lane + 1, block->us,
			event->us - block->us, event->block);
}

static void
begin_trace(const char *name)
{
	trace = fopen(name, "w");
	if (trace == NULL)
	{
		path = name;
		fail("could not be written");
	}
	for (int k = 0; k < nkernels; k++)
	{
		begun[k] = calloc(kernels[k].blocks + 1, sizeof(Begun));
		if (begun[k] == NULL)
			fail("its blocks need too much memory");
	}
	fprintf(trace, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
			"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"streams\"}}");
	for (int sm = 0; sm < profile.sms; sm++)
		fprintf(trace, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,"
				"\"args\":{\"name\":\"multiprocessor %d\"}}", sm + 1, sm);
	load.event = trace_block;
}

static void
end_trace(const char *name)
{
	for (int k = 0; k < result.nkernels; k++)
	{
		const GcSimSpan *span = &result.kernels[k];

		fprintf(trace, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"kernel\",\"pid\":0,\"tid\":%d,"
				"\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"blocks\":%u}}", labels[k], span->stream + 1,
				span->start_us, span->end_us - span->start_us, kernels[k].blocks);
	}
	fprintf(trace, "\n]}\n");
	if (fflush(trace) != 0 || ferror(trace) || fclose(trace) != 0)
	{
		path = name;
		fail("could not be written");
	}
}

static void
print_phases(void)
{
	printf("%s (%d multiprocessors) %s Hyper-Q: %d kernels in %d streams%s\n\n", device,
		   profile.sms, profile.hyper_q ? "with" : "without", nkernels, load.nstreams,
		   load.breadth_first ? ", issued breadth-first" : "");
	printf("phase    from ms      to ms     for ms  kernel:blocks/multiprocessors, at most at a time\n");
	for (int i = 0; i < phases.nphases; i++)
	{
		const GcSimPhase *phase = &phases.phases[i];

		printf("%5d %10.3f %10.3f %10.3f ", i + 1, phase->start_us / 1000, phase->end_us / 1000,
			   (phase->end_us - phase->start_us) / 1000);
		for (int j = 0; j < phase->nparts; j++)
		{
			const GcSimPart *part = &phases.parts[phase->first_part + j];

			printf(" %s:%u/%d", labels[part->kernel], part->blocks, part->sms);
		}
		printf("\n");
	}
	printf("\nmakespan %.3f ms, %.1f of %d warps per multiprocessor held on average\n",
		   result.makespan_us / 1000, result.mean_warps / profile.sms, profile.max_warps);
}

static void
print_kernels(void)
{
	printf("\nkernel     blocks    from ms      to ms\n");
	for (int k = 0; k < result.nkernels; k++)
		printf("%-10s %6u %10.3f %10.3f\n", labels[k], kernels[k].blocks,
			   result.kernels[k].start_us / 1000, result.kernels[k].end_us / 1000);
}

int
main(int argc, char **argv)
{
	const char *trace_name = NULL;
	bool		show_kernels = false;
	bool		bad_usage = false;
	FILE	   *file = stdin;
	GcSimStatus status;
	int			needs;

	while ((needs = getopt(argc, argv, "kt:")) != -1)
	{
		if (needs == 'k')
			show_kernels = true;
		else if (needs == 't')
			trace_name = optarg;
		else
			bad_usage = true;
	}
	if (bad_usage || optind + 1 < argc)
	{
		fprintf(stderr, "usage: simulate [-k] [-t TRACE.json] [WORKLOAD]\n");
		return 2;
	}
	if (optind < argc)
	{
		path = argv[optind];
		file = fopen(path, "r");
		if (file == NULL)
			fail("could not be opened");
	}
	read_workload(file);
	if (trace_name != NULL)
		begin_trace(trace_name);
	status = gc_simulate(&profile, &load, &work, &result, &phases);
	if (status != GC_SIM_OK)
		fail("%s%s%s", gc_sim_status_text(status), result.culprit >= 0 ? ": " : "",
			 result.culprit >= 0 ? labels[result.culprit] : "");
	print_phases();
	if (show_kernels)
		print_kernels();
	if (trace != NULL)
		end_trace(trace_name);
	return 0;
}
