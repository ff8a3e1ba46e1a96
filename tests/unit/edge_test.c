/*-------------------------------------------------------------------------
 *
 * edge_test.c [host|cuda]
 *	  Edges between a pipeline's steps: the same joins as in join_test.c, cut before each step that can be cut before.
 *
 * Packets are materialized, slot by slot, or go through a channel: with no more slots than blocks, slots that
 * are enough with few packets, or one block alone; or they refill a block.  The same rows must come out, or the same
 * sums; nothing may be written behind
 * the slots; and as many packets must be counted as came out where nothing is behind the edge.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#define JOIN_TEST_MAIN
#include "join_test.c"

#define MAX_BLOCKS		7
#define BEHIND			256		/* bytes that must stay as they are */

/* One kernel of a cut pipeline. */
typedef struct CutKernel
{
	GcKernelSource source;
	Loaded		loaded;
} CutKernel;

/* Memory of an edge. */
typedef struct Packets
{
	GcAddr		slots;
	GcAddr		control;
	u64			slot_bytes;
	u64			control_bytes;
	u32			cap;
	u32			runs;
	u32			nslots;
} Packets;

/* A seed decides in how many ways memory is divided. */
static Packets
make_packets(const GcVariant *v, u32 packet_bytes, u32 sources, u32 turn)
{
	const bool	channel = v->edge != GC_EDGE_MATERIALIZE;
	const u32	tiles = channel ? GC_CHANNEL_TILES : 1 + turn % (TILES + 1);
	Packets		p = {.cap = tiles * GC_TILE_ROWS,.runs = (TILES + tiles - 1) / tiles};

	p.nslots = channel ? MAX_BLOCKS + turn % 2 : p.runs * sources;
	p.slot_bytes = (u64) p.cap * packet_bytes;
	p.control_bytes = channel ? GC_CHANNEL_BYTES(p.nslots, sources) : (p.nslots + 1) * sizeof(u32);
	p.slots = take(p.nslots * p.slot_bytes + BEHIND);
	p.control = take(p.control_bytes + BEHIND);
	must(ops->fill(stream, p.slots + p.nslots * p.slot_bytes, GARBAGE, BEHIND, NULL));
	must(ops->fill(stream, p.control + p.control_bytes, GARBAGE, BEHIND, NULL));
	must(ops->fill(stream, p.control, 0, p.control_bytes, NULL));
	return p;
}

static u64
edge_word(const Packets *p, u8 part, u32 turn)
{
	switch (part)
	{
		case GC_EDGE_WORD_SLOTS:
			return p->slots;
		case GC_EDGE_WORD_CONTROL:
			return p->control;
		case GC_EDGE_WORD_CAP:
			return p->cap;
		case GC_EDGE_WORD_RUNS:
			return p->runs;
		case GC_EDGE_WORD_NSLOTS:
			return p->nslots;
		case GC_EDGE_WORD_ENOUGH:
			return turn % 2 ? 100 : 20000;
		case GC_EDGE_WORD_TILES:
			return 1 + turn % 2;
		default:
			return turn % 4 * 2;
	}
}

/* On up to MAX_BLOCKS blocks, or on a single one, which then is producer and consumer by itself. */
static void
launch_cut(const Loaded *k, GcArgs *args, int nwords, const GcSource *sources, u32 n, u32 threads, u32 turn)
{
	const GcLaunch shape = {turn % 3 == 0 ? 1 : MAX_BLOCKS - turn % 3, threads, 0, 0};

	args->scan.sources = put(sources, (n + 1) * sizeof(GcSource));
	args->scan.nsources = n;
	args->scan.tiles_per_source = TILES;
	args->scan.ntiles = n * TILES;
	must(ops->launch(stream, k->kernel, &shape, args, nwords, NULL));
	must(finish(stream, NULL));
}

static void
run_cut(const Member *m, const CutKernel *k, const Packets *packets, u32 chunks, u32 threads, u32 turn)
{
	GcSource	sources[NCHUNKS + 1];
	GcArgs		args = {.w = {0}};
	u32			n = 0;

	for (int i = 0; i < k->source.nwords; i++)
		args.w[i] = k->source.words[i].type == GC_ARG_EDGE ? edge_word(packets, k->source.words[i].part, turn)
			: member_word(m, &k->source.words[i]);
	args.scan.flags = m->sink;
	args.scan.timed = 1;
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		if (chunks >> c & 1)
			sources[n++] = (GcSource) {m->valid[c], c, CHUNK_ROWS[c]};
	}
	launch_cut(&k->loaded, &args, k->source.nwords, sources, n, threads, turn);
}

static bool
is_garbage(GcAddr at)
{
	u8			bytes[BEHIND];

	must(ops->copy_out(stream, bytes, at, BEHIND, NULL));
	must(finish(stream, NULL));
	for (int i = 0; i < BEHIND; i++)
	{
		if (bytes[i] != GARBAGE)
			return false;
	}
	return true;
}

/* Packets that passed; no number of them where there were more at a time than that, or none although some passed. */
static u64
packets_counted(const Member *m)
{
	u64			n,
				held;

	must(ops->copy_out(stream, &n, m->sink + GC_PACKETS_AT, sizeof(n), NULL));
	must(ops->copy_out(stream, &held, m->sink + GC_HELD_AT, sizeof(held), NULL));
	must(finish(stream, NULL));
	return held > n || (held == 0) != (n == 0) ? ~(u64) 0 : n;
}

/* Kernels of a pipeline with this edge, over no chunk, each alone, and all. */
static void
check_cut(int i, Form form, const GcVariant *v, const CutKernel *k, int nkernels, u32 packet_bytes)
{
	static const u32 threads[] = {32, 96, 256};
	const Request *q = &requests[i];
	Member	   *m = &members[i][form];
	const bool	at_sink = v->edge_step == gc_pipelines(m->p)[m->pipeline].nsteps;
	int			wrong = 0;
	u64			rows = 0;

	for (int c = 0; c <= NCHUNKS + 1; c++)
	{
		const GcAddr begin = top;
		const u32	chunks = c < NCHUNKS ? 1u << c : c == NCHUNKS ? 0 : ALL_CHUNKS;
		const Packets packets = make_packets(v, packet_bytes, __builtin_popcount(chunks), c + i);
		u64			n;
		Out		   *wanted = wanted_rows(q, form, chunks, &n);

		prepare_sink(m, n);
		if (form == FORM_SUMS)
			must(ops->fill(stream, m->sink, 0, m->part[4], NULL));
		must(ops->fill(stream, m->build[0][5], 0, BUILD_CAP, NULL));
		for (int n_kernel = 0; n_kernel < nkernels; n_kernel++)
			run_cut(m, &k[n_kernel], &packets, chunks, threads[c % 3], c + i);
		wrong += form == FORM_SUMS ? !check_sums(m, wanted, n) : !check_sink(m, wanted, n);
		wrong += !check_noted(m, q);
		wrong += !is_garbage(packets.slots + packets.nslots * packets.slot_bytes);
		wrong += !is_garbage(packets.control + packets.control_bytes);
		wrong += at_sink && packets_counted(m) != n;
		rows += n;
		free(wanted);
		top = begin;
	}
	ok(wrong == 0, "%s, %s, %s before step %d, %u bytes a packet: %llu rows", q->name, form_names[form],
	   v->edge == GC_EDGE_REFILL ? "refill" : v->edge == GC_EDGE_CHANNEL ? "channel" : "materialize", v->edge_step, packet_bytes, (unsigned long long) rows);
}

static void
generate_cut(int i, Form form, const GcVariant *v, GcKernelSource *source)
{
	const Member *m = &members[i][form];
	GcError		err = {GC_OK, ""};

	if (gc_generate(m->p, m->pipeline, v, source, &err) != GC_OK)
		tap_bail(err.detail);
}

/* The variants of the kernels of a pipeline with an edge before a step: one or two.  Which edge goes by turns. */
static int
cut_variants(int i, Form form, int step, int vec, GcVariant *v)
{
	const int	turn = (i + form + step) % 3;

	v[0] = members[i][form].variant;
	v[0].vec = vec;
	v[0].edge = turn == 0 ? GC_EDGE_MATERIALIZE : turn == 1 ? GC_EDGE_CHANNEL : GC_EDGE_REFILL;
	v[0].edge_step = step;
	v[0].edge_side = turn > 0 ? GC_EDGE_BOTH : GC_EDGE_PRODUCER;
	v[1] = v[0];
	v[1].edge_side = GC_EDGE_CONSUMER;
	return turn > 0 ? 1 : 2;
}

static void
test_step(int i, Form form, int step)
{
	const Member *m = &members[i][form];
	GcVariant	v[2];
	CutKernel	k[2];
	const int	n = cut_variants(i, form, step, on_host ? 0 : i % 2 ? 8 : 16, v);

	for (int j = 0; j < n; j++)
	{
		generate_cut(i, form, &v[j], &k[j].source);
		k[j].loaded = load_with(k[j].source.text, GC_COMPILE_FULL);
	}
	check_cut(i, form, &v[0], k, n, gc_edge_shape(m->p, m->pipeline, step).packet_bytes);
	for (int j = 0; j < n; j++)
	{
		unload(&k[j].loaded);
		free(k[j].source.text);
	}
}

/* Some forms of each request: rows that are few come in another way, and so do sums. */
static bool
is_tested(int i, Form form)
{
	return form == FORM_FEW ? i % 2 == 0 : form != FORM_SELECTED && (i + form) % 3 == 0;
}

static u64
steps_of(int i, Form form)
{
	u64			steps;

	(void) gc_pipeline_edges(members[i][form].p, members[i][form].pipeline, &steps);
	return steps;
}

static void
test_texts(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (int n = 0; n < NREQUESTS * FORMS; n++)
	{
		const int	i = n / FORMS;
		const Form	form = n % FORMS;
		u64			steps = is_tested(i, form) ? steps_of(i, form) : 0;

		for (int step = 0; steps >> step; step++)
		{
			GcVariant	v[2];
			const int	nkernels = steps >> step & 1 ? cut_variants(i, form, step, step % 2 ? 8 : 16, v) : 0;

			for (int j = 0; j < nkernels; j++)
			{
				GcKernelSource source;

				generate_cut(i, form, &v[j], &source);
				compiles_for_gpu(nvrtc, n % 2 ? 80 : 90, source.text, GC_COMPILE_QUICK, requests[i].name);
				free(source.text);
			}
		}
	}
}

/* Whatever may find several rows for one ends the steps before which there can be an edge. */
static void
test_steps(int i, Form form)
{
	const Member *m = &members[i][form];
	const GcPPipeline *pl = &gc_pipelines(m->p)[m->pipeline];
	const Request *q = &requests[i];
	const bool	several = returns_matches(q) && !of_dim(q);
	const u64	steps = steps_of(i, form);

	ok(steps != 0 && (steps >> pl->nsteps & 1) == !several, "%s, %s: edges before steps %llx", q->name, form_names[form],
	   (unsigned long long) steps);
}

int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	for (int i = 0; i < NTABLE; i++)
		make_column(&table[i]);
	index_builds();
	for (int n = 0; n < NREQUESTS * FORMS; n++)
	{
		const int	i = n / FORMS;
		const Form	form = n % FORMS;

		if (!is_tested(i, form))
			continue;
		make_member(i, form);
		test_steps(i, form);
		for (int step = 0; steps_of(i, form) >> step; step++)
		{
			if (steps_of(i, form) >> step & 1)
				test_step(i, form, step);
		}
	}
	test_texts();
	for (int i = 0; i < NREQUESTS * FORMS; i++)
		free(members[i / FORMS][i % FORMS].p);
	free_columns();
	stop_device();
	return tap_done();
}
