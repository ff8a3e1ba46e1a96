/*-------------------------------------------------------------------------
 *
 * fused_test.c [host|cuda]
 *	  Fused kernels do what their members' own kernels do.
 *
 * Sixteen requests of all sinks over one table, each with chunks, rows and constants of its own, are run by kernels
 * of their own.  Then fused kernels run one set of them after another.  What is in each sink and its flags must be
 * the same; of requests that take no part, nothing may change.  In every run, words that nobody should look at are
 * 0.  Columns of chunks that no reader of the column reads are at an address that cannot be read.
 *
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "fused_requests.h"

static u32
readers_of(const Fused *f, i16 column)
{
	u32			readers = 0;

	for (int i = 0; i < f->n; i++)
	{
		const Member *m = &members[f->who[i]];

		for (int c = 0; c < m->p->ncolumns; c++)
			readers |= (u32) (m->columns[c] == column) << i;
	}
	return readers;
}

/* Descriptions of a column's chunks; of those that none of its readers reads, bad ones. */
static GcAddr
put_column(const Fused *f, i16 column, u32 mask, const u32 *live)
{
	GcCol		cols[NCHUNKS];
	u32			readers = readers_of(f, column);

	if (!(readers & mask))
		return 0;
	memcpy(cols, find_column(column)->cols, sizeof(cols));
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (!(live[c] & readers))
			cols[c] = (GcCol) {POISON, POISON, 0, 8, 0, cols[c].nrows};
	}
	return put(cols, sizeof(cols));
}

/* The member's u64 per source; 0 where it sees all. */
static GcAddr
put_visible(const Member *m, const u32 *chunk, u32 n)
{
	u64			visible[NCHUNKS + 1] = {0};
	bool		any = false;

	for (u32 s = 0; s < n; s++)
	{
		/* what it does not read, it must not look at */
		visible[s] = m->chunks >> chunk[s] & 1 ? m->valid[chunk[s]] : POISON;
		any |= visible[s] > POISON;
	}
	return any ? put(visible, sizeof(visible)) : 0;
}

/* Run the members in `mask` over those of their chunks that are in `chunks`. */
static void
run_fused(const Fused *f, u32 mask, u32 chunks, u32 turn)
{
	const u64	from = host_ns();
	GcSource	sources[NCHUNKS + 1];
	u32			chunk[NCHUNKS];
	u32			live[NCHUNKS] = {0};
	u32			n = 0;
	GcArgs		args;
	const u64  *ranges[GC_MAX_FUSED];
	u64			ngroups[GC_MAX_FUSED];
	u64			starts[GC_MAX_FUSED];
	u64			shared;
	GcAddr		event = top;

	memset(&args, 0, sizeof(args));
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (int i = 0; i < f->n; i++)
			live[c] |= (chunks >> c & 1 && members[f->who[i]].chunks >> c & 1 && mask >> i & 1) ? 1u << i : 0;
		if (live[c] == 0)
			continue;
		/* members that do not take part may be named, too */
		chunk[n] = c;
		sources[n++] = (GcSource) {live[c] | (turn % 2 ? ~mask : 0), c, CHUNK_ROWS[c]};
	}
	for (int i = 0; i < f->n; i++)
	{
		ranges[i] = members[f->who[i]].ranges;
		ngroups[i] = members[f->who[i]].ngroups;
	}
	shared = gc_fused_shared_bytes(f->m, f->n, mask, ranges, ngroups, starts);
	for (int i = 0; i < f->source.nwords; i++)
	{
		const GcFusedWord *w = &f->source.words[i];
		const Member *m;

		if (w->member == GC_FUSED_ANY)
		{
			args.w[i] = w->word.type == GC_ARG_MEMBERS ? mask : put_column(f, w->word.index, mask, live);
			continue;
		}
		m = &members[f->who[w->member]];
		if (!(mask >> w->member & 1))
			continue;
		if (w->word.type == GC_ARG_SHARED)
			args.w[i] = starts[w->member];
		else if (w->word.type == GC_ARG_VISIBLE)
			args.w[i] = put_visible(m, chunk, n);
		else
			args.w[i] = member_word(m, &w->word);
	}
	args.scan.timed = 1;
	launch_scan(&f->kernel, &args, f->source.nwords, sources, n, shared, 256, turn);
	for (int i = 0; i < f->n; i++)
	{
		if (mask >> i & 1)
			check_times(members[f->who[i]].sink, from, false);
	}
	top = event;
}

/* One launch into empty sinks: those in the mask as wanted, the others untouched. */
static void
check_run(const Fused *f, u32 mask, u32 turn)
{
	int			wrong = -1;

	for (int i = 0; i < f->n; i++)
		empty_sink(&members[f->who[i]]);
	run_fused(f, mask, ~0u, turn);
	for (int i = 0; i < f->n; i++)
	{
		Member	   *m = &members[f->who[i]];

		if (mask >> i & 1)
		{
			if (!same_result(m))
				wrong = i;
		}
		else
		{
			Result		r = fetch(m);

			for (size_t b = 0; b < r.size; b++)
				wrong = r.bytes[b] != 0 ? i : wrong;
			free(r.bytes);
		}
	}
	ok(wrong < 0, "%d members, set 0x%x: sinks and flags are as of kernels of their own", f->n, mask);
	if (wrong >= 0)
		tap_note("wrong: member %d, request %d (%s)", wrong, f->who[wrong], names[f->who[wrong] % 8]);
}

static void
test_sets(void)
{
	static const int all[GC_MAX_FUSED] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	Fused		f;

	make_fused(&f, GC_MAX_FUSED, all);
	for (int i = 0; i < GC_MAX_FUSED; i++)
		check_run(&f, 1u << i, i);
	for (int i = 0; i < 12; i++)
		check_run(&f, draw(1u << 16) & draw(1u << 16), 20 + i);
	for (int i = 0; i < 4; i++)
		check_run(&f, 0xffff, 40 + i);
	check_run(&f, 0, 0);
	check_run(&f, 0, 1);
	free_fused(&f);
}

/* Each request in a kernel for one, and the same request twice or more in a kernel. */
static void
test_few(void)
{
	Fused		f;

	for (int i = 0; i < 8; i++)
	{
		make_fused(&f, 1, &i);
		check_run(&f, 1, i);
		free_fused(&f);
	}
	for (int i = 0; i < 4; i++)
	{
		const int	who[] = {8 + i, i, 15 - i};

		make_fused(&f, 3, who);
		for (u32 mask = 1; mask < 8; mask++)
			check_run(&f, mask, mask);
		free_fused(&f);
	}
}

/*
 * A member's own kernel is launched over private chunks, and a fused kernel over the others.
 * In either order they leave what one launch over all would.
 */
static void
test_two_launches(void)
{
	static const int who[] = {0, 1, 2, 3, 4, 9, 10};
	const int	n = sizeof(who) / sizeof(who[0]);
	const u32	first = 0x0b5;
	Fused		f;

	make_fused(&f, n, who);
	for (int order = 0; order < 2; order++)
	{
		for (int i = 0; i < n; i++)
			empty_sink(&members[who[i]]);
		if (order == 1)
			run_fused(&f, (1u << n) - 1, ~first, 3);
		for (int i = 0; i < n; i++)
			run_alone(&members[who[i]], members[who[i]].pipeline, members[who[i]].sink,
					  members[who[i]].chunks & first, true);
		if (order == 0)
			run_fused(&f, (1u << n) - 1, ~first, 4);
		for (int i = 0; i < n; i++)
			ok(same_result(&members[who[i]]), "request %d (%s), %s chunks of its own: the two launches add up",
			   who[i], names[who[i] % 8], order == 0 ? "after" : "before");
	}
	free_fused(&f);
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
	for (int i = 0; i < NMEMBERS; i++)
		make_member(i);
	test_wanted();
	test_sets();
	test_few();
	test_two_launches();
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
