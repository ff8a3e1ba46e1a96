/*-------------------------------------------------------------------------
 *
 * selection.h
 *	  The kernels of shared selection scans: predicate, merge and selection kernels.
 *
 * Pure C, called on the worker's main thread.  The caller owns, and frees, the texts that it is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_SELECTION_H
#define GC_CODEGEN_SELECTION_H

#include "codegen.h"

/* Columns that a marker tests. */
#define GC_MAX_TESTED		16

/* Hash builds of a pipeline whose probes are answered by value. */
#define GC_MAX_PLACED		8

/* A hash build that is probed with what depends on one column. */
typedef struct GcPlaced
{
	u16			build;
	u16			column;			/* of the program */
} GcPlaced;

/* What a pipeline tests of its columns, one at a time. */
typedef struct GcTests
{
	u64			steps;			/* bit s: step s of the pipeline is such a test */
	int			ncolumns;
	u16			column[GC_MAX_TESTED];	/* of the program */
	u64			placed;			/* bit s: step s is the probe of a placed build */
	int			nplaced;
	GcPlaced	place[GC_MAX_PLACED];
} GcTests;

/*
 * The steps of a pipeline that depend on one column each, out of those that `allowed`
 * (by column of the program) says may be tested: filters, and probes, on integer codes.
 * What may fail is no test, since it is not for every row to fail.  Probes of hash builds
 * that are expected to drop no row are placed only: to test them costs a lookup per row,
 * as does the place.
 */
extern void gc_find_tests(const GcProgram *p, u16 pipeline, const bool *allowed, GcTests *tests);

/*
 * Generate the tester: for each tested column q, entry i of a bitmap (GC_TEST_BITS) says
 * whether value GC_TEST_BASE + i passes all tests of that column, entry GC_TEST_RANGE
 * whether NULL does; so a bitmap has GC_TEST_RANGE + 1 bits, in words of 32.  For each
 * placed build, entry i of a table (GC_ARG_PLACE, GC_TEST_BITS) is the newest row
 * of the build that value GC_TEST_BASE + i of its column finds, + 1, or 0; with
 * GC_PLACE_MORE where there are others behind it (GC_BUILD_PART_NEXT), or GC_PLACE_BAD: a
 * row that comes to it raises GC_FLAG_DATA; entry GC_TEST_RANGE is for NULL.  Such a build has fewer than GC_PLACE_MORE rows.
 * Entries are u32, or u64 with the codes of the row's payloads in the upper half
 * (gc_place_bytes).  The caller frees source->text.
 */
extern int	gc_place_bytes(const GcProgram *p, u16 build);
extern GcCode gc_generate_tester(const GcProgram *p, u16 pipeline, const GcTests *tests,
								 GcKernelSource *source, GcError *err);

/*
 * The combiner puts the bitmaps of up to GC_MAX_MARKED requests together: w[0] is the
 * address of w[1] GcMarkTables.  The same for all programs.  malloc'd; NULL when out of
 * memory.
 */
extern char *gc_generate_combiner(void);
#define GC_COMBINER_WORDS	2

/* Per tested column of the scan: which requests accept each value. */
typedef struct GcMarkTable
{
	u64			table;			/* u32[range + 1]: bit m: request m does; the last
								 * entry is for NULL */
	u64			range;
	u64			classes;		/* u16[range + 1]: class of each value, or 0: none, and
								 * the next three are not used */
	u64			members;		/* u32[]: a value of each class */
	u64			class_table;	/* u32[]: as table, by class */
	u64			misfit;			/* u32, 0 before: raised if some class has values that
								 * not the same requests accept */
	u64			bits[GC_MAX_MARKED];	/* request m's bitmap; 0: it tests other columns
										 * only */
} GcMarkTable;

/* A column as a marker reads it. */
typedef struct GcMarkerColumn
{
	u8			width;			/* of its codes in bytes; 0: differs between chunks */
	bool		nullable;
	bool		shared;			/* its table is copied to shared memory */
	u8			class_width;	/* 1 or 2: it has classes, of so many bytes in its class
								 * column, whose table is copied instead; 0: none */
	u8			copies;			/* wanted of it, a power of two up to 32, so that lanes have
								 * their own; 0: one */
} GcMarkerColumn;

/* Copies that there are: of some tables just one, whatever is wanted. */
extern int	gc_table_copies(const GcMarkerColumn *column);

/* Shared memory of a table that is copied: by value of range + 1 entries, by class of as many as there are. */
#define GC_MARK_SHARED_BYTES(entries, copies)	(((u64) (entries) * (copies) + 1) / 2 * 8)

/*
 * Generate the marker: it reads n columns, looks each value up in its table, and writes
 * for every request the rows that all its columns accept, as a bitmap per chunk in the
 * layout of GcCol.nulls: its marks, but where the digest says that there are none; and that, u32 per
 * GC_DIGEST_ROWS rows of a chunk.  GcSource.valid is the set of requests that read the
 * chunk; nothing is written for others.  Columns whose tables are shared should come
 * first, as they are tested first.  Where a column has classes, its class column is read
 * instead, but not in chunks that have none (GcCol.data 0), nor if the combiner raised
 * misfit.  GC_MARKER_WORDS(n) words:
 *
 *	  w[0] set of requests, w[1] address of the marks, w[2] bytes of marks per chunk,
 *	  w[3] bytes of marks per request, w[4] address of the digest; and per column, from
 *	  w[GC_MARKER_WORDS(k)] on: address of its GcCols, address of its table, base, range (as for the tester), and
 *	  readers << 32 | accepting, the requests that read it, and those that accept every
 *	  value of it; of a column with classes also: address of the class column's GcCols,
 *	  address of its table, number of classes, address of misfit.
 *
 * The caller frees the text; NULL when out of memory.
 */
extern char *gc_generate_marker(const GcMarkerColumn *column, int n);
#define GC_MARKER_THREADS	256		/* per block: more would leave registers unused */
#define GC_MARKER_WORDS(n)	(5 + 9 * (n))

/* Bytes of a table of so many values; shared tables lie one after another. */
#define GC_MARK_TABLE_BYTES(range)	GC_MARK_SHARED_BYTES((u64) (range) + 1, 1)

#endif							/* GC_CODEGEN_SELECTION_H */
