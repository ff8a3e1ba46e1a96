/*-------------------------------------------------------------------------
 *
 * state.h
 *	  State of generating one pipeline's part of a kernel; private to codegen/.
 *
 * A Cg lives on the stack of the function that begins it (cg_begin), which also ends it (cg_finish,
 * cg_free).  It owns its texts until then; the program, the variant and the source belong to its caller.
 * The worker's main thread alone has any.
 *
 * Names in generated text.  Columns are dN (description), cN (vector), nN (NULLs
 * of the vector), vN and vnN (one row's value and NULL flag).  Parameters are pN,
 * lookup tables LN, lists IN.  Builds are bN_*, with xN the matching row or dense
 * index; payloads are yN and ynN; lookups of gathered rows are zN.  Packed codes are wN, of which those from firstN on,
 * but not endN, pass (in all lanes of a word: fromN and toN).  Temporaries are tN and, for their NULL flags, tnN.
 * Accumulators in registers are aN, their share from one vector sN, and a block's eN.
 *
 * In a fused kernel each member has C scopes of its own, so that members use the same names, with
 * two exceptions.  Column numbers are those of the physical columns, the same for all members.
 * Accumulators live as long as the kernel, so they get the member's number behind theirs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_STATE_H
#define GC_CODEGEN_STATE_H

#include "../codegen.h"
#include "text.h"

/* A value in generated text: C expressions for it and its NULL flag ("0": never). */
typedef struct Operand
{
	char		v[64];
	char		n[40];
} Operand;

/* Codes of a column that are read a vector ahead, as words. */
typedef struct AheadColumn
{
	int			k;				/* local number */
	u8			width;
} AheadColumn;

#define GC_AHEAD_BYTES		64	/* of these in a thread's registers, at most */

/* The producer's part of a kernel, up to an edge. */
typedef struct Producer
{
	Text		descs;
	Text		body;
	bool		filtered;		/* as in Cg */
	int			lane_rows;		/* GC_LANE_ROWS */
	int			rounds;			/* GC_FILTERED_ROUNDS */
	AheadColumn ahead[GC_AHEAD_BYTES / 8];
	int			nahead;
} Producer;

typedef struct Cg
{
	/* The program and pipeline, the target, and how generating went. */
	const GcProgram *p;
	const GcPPipeline *pl;
	GcProgram  *settled;		/* a copy for this pipeline (emit.c), which p then is; or NULL */
	u16			unmatched;		/* build whose rows without a match are scanned; GC_NONE */
	const GcVariant *variant;
	GcKernelSource *src;		/* NULL in a fused kernel */
	GcCode		code;			/* the first failure */
	GcError    *err;

	/* A member of a fused kernel: NULL in a kernel of one pipeline. */
	struct Fusion *fusion;
	int			member;
	int			first_per_warp;	/* number of its first per-warp word */
	const i16  *physical;		/* physical column of each column of p */
	char		suffix[16];		/* behind names that live as long as the kernel */

	/* The texts, which are joined at the end. */
	Text		decls;			/* kernel or member scope: constants */
	Text		descs;			/* tile scope: column descriptions; fused: ranges of codes */
	Text		body;
	Text	   *out;			/* where statements go now */

	/* Local numbers by first use; -1: not used yet. */
	i16			column[GC_MAX_COLUMNS];
	i16			param[GC_MAX_PARAMS];
	i16			lut[GC_MAX_LUTS];
	i16			list[GC_MAX_LISTS];
	i16			build[GC_MAX_BUILDS];
	int			ncolumns;
	int			nparams;
	int			nluts;
	int			nlists;
	int			nbuilds;
	int			npayloads;
	int			ntemps;
	int			pair_words;		/* 1 + first argument word of a scan that tries pairs; 0: not yet */

	/* The phase for which statements are emitted now. */
	bool		in_rows;		/* row phase: values are scalars */
	bool		late;			/* vector phase: only live rows are loaded */
	bool		gather;			/* few rows are left: several rows' values are read together */

	int			halvings;		/* twice the halvings of rows by the steps tested so far (GcColumnReach) */

	/* How rows come to the sink. */
	bool		dense_rows;		/* the row phase reads the vectors already loaded */
	bool		filtered;		/* the vector phase leaves few rows, which are gathered */
	bool		once;			/* a row comes to the sink at most once */
	bool		all_rows;		/* all rows come, and gc_pass says which ones count */
	bool		counted;		/* as parts, and live rows are exactly those that count */
	bool		parts;			/* ungrouped, each row at most once: sums of one vector
								 * are added up apart (sN), counts have 32 bits */

	/* An edge that is not fused (step/steps.c). */
	bool		produces;		/* rows go into packets */
	bool		consumes;		/* rows come out of packets */
	u32			passed;			/* builds whose matches are in packets */
	int			edge_words;		/* first argument word of the edge */
	Producer	producer;

	/* Costs of loads. */
	int			loaded_bytes;	/* of a row, by whole vectors */
	int			gathered;		/* that one gathered row's values take */
	AheadColumn ahead[GC_AHEAD_BYTES / 8];
	int			nahead;
	int			ahead_bytes;	/* that are read ahead, of one vector */

	/* Declared in the current scope, by local number and by build. */
	bool		array[GC_MAX_COLUMNS];	/* vector is loaded */
	bool		scalar[GC_MAX_COLUMNS]; /* row value is declared */
	bool		index[GC_MAX_BUILDS];	/* xN is declared */
	bool		at[GC_MAX_BUILDS];	/* bN_at is declared */
	i16		   *payload;		/* npayloads of the program: local number of the
								 * declared row value, or -1 */

	/* Batched lookups of gathered rows. */
	i16		   *batched;		/* npayloads: number of the array, or one of these */
#define GC_NOT_BATCHED	(-1)
#define GC_BATCH_WANTED	(-2)	/* it was required in the vector phase */
	i16			batched_direct[GC_MAX_BUILDS];	/* as batched[], for entries of direct lookup
												 * tables, or GC_NOT_BATCHED */
	int			nbatched;
} Cg;

#endif							/* GC_CODEGEN_STATE_H */
