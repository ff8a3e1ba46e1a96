/*-------------------------------------------------------------------------
 *
 * rows_util.h
 *	  For rows_test.c, join_test.c and groups_test.c: row sinks, and what comes out of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ROWS_UTIL_H
#define GC_ROWS_UTIL_H

#include "fused_util.h"

#define GARBAGE			0xA5
#ifndef MAX_OUTS
#define MAX_OUTS		4
#endif

/* Values of one result row, and the NULL flags. */
typedef struct Out
{
	u64			w[MAX_OUTS + 1];
} Out;

static int
compare_outs(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(Out));
}

static u64 __attribute__((unused))
code_of(i16 column, int c, u32 r, int number, u64 *nulls)
{
	const TableColumn *t = find_column(column);
	double		f = (double) t->value[c][r];
	u64			code = (u64) t->value[c][r];

	if (t->kind == GC_FLOAT8)
		memcpy(&code, &f, 8);
	*nulls |= (u64) t->null[c][r] << number;
	return t->null[c][r] ? 0 : code;
}

/* ---------- sinks ---------- */

/* A sink of `cap` rows and what is behind it, full of garbage but for the flags. */
static void
prepare_sink(Member *m, u64 cap)
{
	m->rows_cap = cap;
	lay_out_sink(m);
	(void) take(256);
	must(ops->fill(stream, m->sink, GARBAGE, m->part[4] + 256, NULL));
	must(ops->fill(stream, m->sink, 0, m->part[0], NULL));
}

/*
 * Are there as many of the wanted rows as there is room for, and none twice?  Is the number of
 * all right, and nothing behind?
 */
static bool
check_sink(const Member *m, const Out *wanted, u64 n)
{
	const u64	there = n < m->rows_cap ? n : m->rows_cap;
	u8		   *sink = malloc(m->part[4] + 256);
	const u32  *flags = (const u32 *) sink;
	const u64  *columns = (const u64 *) (sink + m->part[3]);
	Out		   *got = malloc((there + 1) * sizeof(Out));
	bool		right;

	must(ops->copy_out(stream, sink, m->sink, m->part[4] + 256, NULL));
	must(finish(stream, NULL));
	right = flags[GC_FLAG_ROWS] == n && (flags[GC_FLAG_ROWS_FULL] != 0) == (n > m->rows_cap) &&
		flags[GC_FLAG_DATA] == 0;
	for (u64 r = 0; r < there; r++)
	{
		const u64	nulls = columns[MAX_OUTS * m->rows_cap + r];

		for (int w = 0; w <= MAX_OUTS; w++)
			got[r].w[w] = w < MAX_OUTS && nulls >> w & 1 ? 0 : columns[w * m->rows_cap + r];
	}
	qsort(got, there, sizeof(Out), compare_outs);
	/* both are sorted: what is there must be found in what was wanted, one for one */
	for (u64 r = 0, w = 0; r < there && right; r++, w++)
	{
		while (w < n && compare_outs(&wanted[w], &got[r]) < 0)
			w++;
		right = w < n && compare_outs(&wanted[w], &got[r]) == 0;
	}
	for (u64 w = 0; w <= MAX_OUTS; w++)
	{
		for (u64 r = there; r < m->rows_cap; r++)
			right &= columns[w * m->rows_cap + r] == 0x0101010101010101ull * GARBAGE;
	}
	for (u64 b = m->part[4]; b < m->part[4] + 256; b++)
		right &= sink[b] == GARBAGE;
	if (!right)
		tap_note("%llu rows wanted, room for %llu, flags say %u%s", (unsigned long long) n, (unsigned long long) m->rows_cap,
				 flags[GC_FLAG_ROWS], flags[GC_FLAG_ROWS_FULL] ? " and full" : "");
	free(got);
	free(sink);
	return right;
}

static void __attribute__((unused))
run_member(Member *m, const Loaded *k, const GcKernelSource *source, u32 chunks, u32 threads, u32 turn)
{
	GcSource	sources[NCHUNKS + 1];
	GcArgs		args = {.w = {0}};
	u32			n = 0;

	for (int i = 0; i < source->nwords; i++)
		args.w[i] = member_word(m, &source->words[i]);
	args.scan.flags = m->sink;
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		if (chunks >> c & 1)
			sources[n++] = (GcSource) {m->valid[c], c, CHUNK_ROWS[c]};
	}
	launch_scan(k, &args, source->nwords, sources, n, 0, threads, turn);
}

#endif							/* GC_ROWS_UTIL_H */
