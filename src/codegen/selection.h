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

/* Columns that a selection kernel tests. */
#define GC_MAX_PREDICATES		16

/* Hash builds of a pipeline whose probes are answered by value. */
#define GC_MAX_DIRECT_LOOKUPS		8

/* A hash build that is probed with what depends on one column. */
typedef struct GcDirectLookup
{
	u16			build;
	u16			column;			/* of the program */
} GcDirectLookup;

/* What a pipeline tests of its columns, one at a time. */
typedef struct GcPredicates
{
	u64			steps;			/* bit s: step s of the pipeline is such a test */
	int			ncolumns;
	u16			column[GC_MAX_PREDICATES];	/* of the program */
	u64			direct;			/* bit s: step s is the probe of a placed build */
	int			nlookups;
	GcDirectLookup	lookup[GC_MAX_DIRECT_LOOKUPS];
} GcPredicates;

/*
 * The steps of a pipeline that depend on one column each, out of those that `allowed`
 * (by column of the program) says may be tested: filters, and probes, on integer codes.
 * What may fail is no test, since it is not for every row to fail.  Probes of hash builds
 * that are expected to drop no row are placed only: to test them costs a lookup per row,
 * as does the place.
 */
extern void gc_find_predicates(const GcProgram *p, u16 pipeline, const bool *allowed, GcPredicates *predicates);

/*
 * Generate the predicate kernel: for each tested column q, entry i of a bitmap (GC_PREDICATE_BITS) says
 * whether value GC_PREDICATE_BASE + i passes all tests of that column, entry GC_PREDICATE_RANGE
 * whether NULL does; so a bitmap has GC_PREDICATE_RANGE + 1 bits, in words of 32.  For each
 * placed build, entry i of a table (GC_ARG_DIRECT, GC_PREDICATE_BITS) is the newest row
 * of the build that value GC_PREDICATE_BASE + i of its column finds, + 1, or 0; with
 * GC_DIRECT_MORE where there are others behind it (GC_BUILD_PART_NEXT), or GC_DIRECT_BAD: a
 * row that comes to it raises GC_FLAG_DATA; entry GC_PREDICATE_RANGE is for NULL.  Such a build has fewer than GC_DIRECT_MORE rows.
 * Entries are u32, or u64 with the codes of the row's payloads in the upper half
 * (gc_direct_bytes).  The caller frees source->text.
 */
extern int	gc_direct_bytes(const GcProgram *p, u16 build);
extern GcCode gc_generate_predicate_kernel(const GcProgram *p, u16 pipeline, const GcPredicates *predicates,
								 GcKernelSource *source, GcError *err);

/*
 * The merge kernel puts the bitmaps of up to GC_MAX_SELECTED requests together: w[0] is the
 * address of w[1] GcMarkTables.  The same for all programs.  malloc'd; NULL when out of
 * memory.
 */
extern char *gc_generate_merge_kernel(void);
#define GC_MERGE_WORDS	2

/* Per tested column of the scan: which requests accept each value. */
typedef struct GcSelectTable
{
	u64			table;			/* u32[range + 1]: bit m: request m does; the last
								 * entry is for NULL */
	u64			range;
	u64			key_groups;		/* u16[range + 1]: key group of each value, or 0: none, and
								 * the next three are not used */
	u64			members;		/* u32[]: a value of each key group */
	u64			key_group_table;	/* u32[]: as table, by key group */
	u64			mismatch;			/* u32, 0 before: raised if some key group has values that
								 * not the same requests accept */
	u64			bits[GC_MAX_SELECTED];	/* request m's bitmap; 0: it tests other columns
										 * only */
} GcSelectTable;

/* A column as a selection kernel reads it. */
typedef struct GcSelectorColumn
{
	u8			width;			/* of its codes in bytes; 0: differs between chunks */
	bool		nullable;
	bool		shared;			/* its table is copied to shared memory */
	u8			key_group_width;	/* 1 or 2: it has key groups, of so many bytes in its key group
								 * column, whose table is copied instead; 0: none */
	u8			copies;			/* wanted of it, a power of two up to 32, so that lanes have
								 * their own; 0: one */
} GcSelectorColumn;

/* Copies that there are: of some tables just one, whatever is wanted. */
extern int	gc_table_copies(const GcSelectorColumn *column);

/* Shared memory of a table that is copied: by value of range + 1 entries, by key group of as many as there are. */
#define GC_SELECT_SHARED_BYTES(entries, copies)	(((u64) (entries) * (copies) + 1) / 2 * 8)

/*
 * Generate the selection kernel: it reads n columns, looks each value up in its table, and writes
 * for every request the rows that all its columns accept, as a bitmap per chunk in the
 * layout of GcCol.nulls: its marks, but where the block summary says that there are none; and that, u32 per
 * GC_SUMMARY_ROWS rows of a chunk.  GcSource.valid is the set of requests that read the
 * chunk; nothing is written for others.  Columns whose tables are shared should come
 * first, as they are tested first.  Where a column has key groups, its key group column is read
 * instead, but not in chunks that have none (GcCol.data 0), nor if the merge kernel raised
 * mismatch.  GC_SELECTOR_WORDS(n) words:
 *
 *	  w[0] set of requests, w[1] address of the marks, w[2] bytes of marks per chunk,
 *	  w[3] bytes of marks per request, w[4] address of the block summary; and per column, from
 *	  w[GC_SELECTOR_WORDS(k)] on: address of its GcCols, address of its table, base, range (as for the predicate kernel), and
 *	  readers << 32 | accepting, the requests that read it, and those that accept every
 *	  value of it; of a column with key groups also: address of the key group column's GcCols,
 *	  address of its table, number of key groups, address of mismatch.
 *
 * The caller frees the text; NULL when out of memory.
 */
extern char *gc_generate_selector(const GcSelectorColumn *column, int n);
#define GC_SELECTOR_THREADS	256		/* per block: more would leave registers unused */
#define GC_SELECTOR_WORDS(n)	(5 + 9 * (n))

/* Bytes of a table of so many values; shared tables lie one after another. */
#define GC_SELECT_TABLE_BYTES(range)	GC_SELECT_SHARED_BYTES((u64) (range) + 1, 1)

#endif							/* GC_CODEGEN_SELECTION_H */
