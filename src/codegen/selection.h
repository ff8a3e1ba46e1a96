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

/* Hash builds of a pipeline that are looked up directly. */
#define GC_MAX_DIRECT_LOOKUPS		8

/* A hash build whose probe depends on one column. */
typedef struct GcDirectLookup
{
	u16			build;
	u16			column;			/* of the program */
} GcDirectLookup;

/* Predicates of a pipeline that depend on one column each. */
typedef struct GcPredicates
{
	u64			steps;			/* bit s: step s of the pipeline is such a predicate */
	int			ncolumns;
	u16			column[GC_MAX_PREDICATES];	/* of the program */
	u64			direct;			/* bit s: step s probes a build that is looked up directly */
	int			nlookups;
	GcDirectLookup	lookup[GC_MAX_DIRECT_LOOKUPS];
} GcPredicates;

/*
 * Find the steps of a pipeline that depend on one column each: filters, and probes, on integer
 * codes.  `allowed`, by column of the program, says which columns may be tested.  A step that may
 * fail is no predicate, since not every row may reach it.  A probe of a hash build that is
 * expected to drop no row gets a direct lookup only.  As a predicate it would cost one more lookup
 * per row.
 */
extern void gc_find_predicates(const GcProgram *p, u16 pipeline, const bool *allowed, GcPredicates *predicates);

/*
 * Generate the predicate kernel.  For each tested column q, entry i of a bitmap
 * (GC_PREDICATE_BITS) says whether value GC_PREDICATE_BASE + i passes all predicates of that
 * column.  Entry GC_PREDICATE_RANGE is for NULL, so a bitmap has GC_PREDICATE_RANGE + 1 bits, in
 * words of 32.
 *
 * For each build that is looked up directly, entry i of a table (GC_ARG_DIRECT,
 * GC_PREDICATE_BITS) is for value GC_PREDICATE_BASE + i.  It is the newest row of the build that
 * the value finds, + 1, or 0.  GC_DIRECT_MORE is set where others are behind that row
 * (GC_BUILD_PART_NEXT).  A row that comes to GC_DIRECT_BAD raises GC_FLAG_DATA.  Entry
 * GC_PREDICATE_RANGE is for NULL.  Such a build has fewer than GC_DIRECT_MORE rows.  Entries are
 * u32, or u64 with the codes of the row's payloads in the upper half (gc_direct_bytes).
 *
 * The caller frees source->text.
 */
extern int	gc_direct_bytes(const GcProgram *p, u16 build);
extern GcCode gc_generate_predicate_kernel(const GcProgram *p, u16 pipeline, const GcPredicates *predicates,
								 GcKernelSource *source, GcError *err);

/*
 * Generate the merge kernel, which puts the predicate bitmaps of up to GC_MAX_SELECTED requests
 * side by side.  w[0] is the address of w[1] GcSelectTables.  The text is the same for all
 * programs.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_merge_kernel(void);
#define GC_MERGE_WORDS	2

/* The predicate table of a tested column: the query bitmap of each value. */
typedef struct GcSelectTable
{
	u64			table;			/* u32[range + 1]: bit m: request m accepts the value; the last
								 * entry is for NULL */
	u64			range;
	u64			key_groups;		/* u16[range + 1]: key group of each value; 0: none, and the
								 * next three are not used */
	u64			members;		/* u32[]: a value of each key group */
	u64			key_group_table;	/* u32[]: as table, by key group */
	u64			mismatch;		/* u32, 0 before: raised if the values of a key group have
								 * different query bitmaps */
	u64			bits[GC_MAX_SELECTED];	/* request m's predicate bitmap; 0: it does not test
										 * this column */
} GcSelectTable;

/* A column as a selection kernel reads it. */
typedef struct GcSelectorColumn
{
	u8			width;			/* of its codes in bytes; 0: differs between chunks */
	bool		nullable;
	bool		shared;			/* its table is copied to shared memory */
	u8			key_group_width;	/* of its codes in the group-coded column, 1 or 2; the
									 * table by key group is then copied instead; 0: no key
									 * groups */
	u8			copies;			/* wanted copies of the table, a power of two up to 32, so that
								 * lanes have their own; 0: one */
} GcSelectorColumn;

/* Copies that the table really has: some tables have just one, whatever is wanted. */
extern int	gc_table_copies(const GcSelectorColumn *column);

/*
 * Shared memory of a copied table.  entries: range + 1 by value, the number of key groups by key
 * group.
 */
#define GC_SELECT_SHARED_BYTES(entries, copies)	(((u64) (entries) * (copies) + 1) / 2 * 8)

/*
 * Generate the selection kernel.  It reads n columns, and looks each value up in the column's
 * table.  For every request it writes a selection bitmap per chunk, in the layout of GcCol.nulls:
 * the rows that all its columns accept.  It also writes the block summary, a u32 per
 * GC_SUMMARY_ROWS rows of a chunk.  A selection bitmap is not written where the block summary says
 * that it has no rows.
 *
 * GcSource.valid is the set of requests that read the chunk; nothing is written for others.
 * Columns with shared tables should come first, as they are tested first.  Where a column has key
 * groups, its group-coded column is read instead.  The column itself is read in chunks without key
 * groups (GcCol.data 0), and if the merge kernel raised mismatch.
 *
 * GC_SELECTOR_WORDS(n) words:
 *
 *	  w[0] set of requests, w[1] address of the selection bitmaps, w[2] bytes of one per chunk,
 *	  w[3] bytes of one in all.  w[4] address of the block summary.
 *	  Per column, from w[GC_SELECTOR_WORDS(k)] on: address of its GcCols, address of its table,
 *	  base, range (as for the predicate kernel), and readers << 32 | accepting.  These are the
 *	  requests that read it, and those that accept every value of it.
 *	  Of a column with key groups also: address of the group-coded column's GcCols, address of
 *	  its table, number of key groups, address of mismatch.
 *
 * The caller frees the text; NULL when out of memory.
 */
extern char *gc_generate_selector(const GcSelectorColumn *column, int n);
#define GC_SELECTOR_THREADS	256		/* per block: more would leave registers unused */
#define GC_SELECTOR_WORDS(n)	(5 + 9 * (n))

/* Bytes of a table of `range` values and NULL; shared tables lie one after another. */
#define GC_SELECT_TABLE_BYTES(range)	GC_SELECT_SHARED_BYTES((u64) (range) + 1, 1)

#endif							/* GC_CODEGEN_SELECTION_H */
