/*-------------------------------------------------------------------------
 *
 * cg.h
 *	  State shared by the parts of the code generator; private to codegen/.
 *
 * Names in generated text: columns are dN (description), cN (vector), nN (NULLs
 * of the vector), vN and vnN (one row's value and NULL flag); parameters pN;
 * lookup tables LN; lists IN; builds bN_*, with xN the matching row or dense
 * index; payloads yN and ynN; what gathered rows have looked up zN; packed codes wN, of
 * which those from firstN on, but not endN, pass (in all lanes of a word: fromN and toN);
 * temporaries tN and, for their NULL flags, tnN; accumulators in registers aN, their share
 * from one vector sN, and a block's eN.
 *
 * In a fused kernel each member has C scopes of its own, so that all these names are
 * used again, but for two: column numbers are those of the physical columns, the same
 * for all members, and accumulators, which live as long as the kernel, get the
 * member's number behind theirs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CG_H
#define GC_CG_H

#include "codegen.h"

/* Growing text; remembers running out of memory. */
typedef struct Text
{
	char	   *s;
	size_t		len;
	size_t		cap;
	bool		failed;
} Text;

extern void text_addf(Text *t, const char *fmt,...) __attribute__((format(printf, 2, 3)));

/* A value in generated text: C expressions for it and its NULL flag ("0": never). */
typedef struct Operand
{
	char		v[64];
	char		n[40];
} Operand;

/* Vectors of one physical column, loaded once for several members. */
typedef struct SharedVector
{
	u8			column;
	u8			width;
	u8			reg;
	u8			nullable;
	bool		words;			/* packed codes, wN, of which only the width counts */
	u32			members;		/* that want it in their first stage */
} SharedVector;

#define MAX_SHARED_VECTORS	256

/* What the members of a fused kernel have in common while it is generated. */
typedef struct Fusion
{
	GcFusedSource *src;
	bool		asking;			/* first pass: what would each member load? */
	u32			readers[GC_MAX_COLUMNS];	/* members, by physical column */
	SharedVector vectors[MAX_SHARED_VECTORS];
	int			nvectors;
	int			nkept;			/* words that are kept for a tile */
} Fusion;

/* Codes of a column that are read a vector ahead, as words. */
typedef struct AheadColumn
{
	int			k;				/* local number */
	u8			width;
} AheadColumn;

#define GC_AHEAD_BYTES		64	/* of them in a thread's registers */

typedef struct Cg
{
	const GcProgram *p;
	const GcPPipeline *pl;
	const GcVariant *variant;
	GcKernelSource *src;		/* NULL in a fused kernel */

	Fusion	   *fusion;			/* NULL in a kernel of one pipeline */
	int			member;
	int			first_kept;		/* fused: its words among those that are kept */
	const i16  *physical;		/* fused: number of each column of p */
	char		suffix[16];		/* of names that live as long as the kernel */

	Text		decls;			/* kernel or member scope: constants */
	Text		descs;			/* tile scope: column descriptions; fused: ranges of codes */
	Text	   *out;			/* where statements go now */
	Text		body;

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

	bool		in_rows;		/* row phase: values are scalars */
	bool		dense_rows;		/* row phase reads the vectors already loaded */
	bool		once;			/* a row comes to the sink at most once */
	bool		all_rows;		/* all come, and gc_pass says which ones count */
	bool		counted;		/* as parts, and rows that are live are those that count */
	bool		parts;			/* ungrouped, each row at most once: sums of one vector
								 * are added up apart (sN), counts have 32 bits */
	bool		late;			/* vector phase: only live rows are loaded */
	bool		filtered;		/* the vector phase leaves few rows, which are gathered */
	int			loaded_bytes;	/* of a row, by whole vectors */
	AheadColumn ahead[GC_AHEAD_BYTES / 8];
	int			nahead;
	int			ahead_bytes;	/* of a vector */
	bool		gather;			/* few rows are left: of some of them values are read at once */
	int			gathered;		/* registers of those of one row */
	bool		array[GC_MAX_COLUMNS];	/* by local number: vector is loaded */
	bool		scalar[GC_MAX_COLUMNS]; /* by local number: row value is declared */
	bool		index[GC_MAX_BUILDS];	/* xN is declared */
	bool		at[GC_MAX_BUILDS];	/* bN_at is declared */
	i16		   *payload;		/* npayloads of the program: local number of the
								 * declared row value, or -1 */
	i16		   *early;			/* npayloads: number of what gathered rows have looked up, or one of these */
#define GC_NOT_EARLY	(-1)
#define GC_EARLY_WANTED	(-2)	/* the vector phase saw it */
	i16			early_place[GC_MAX_BUILDS];	/* the same for places, or GC_NOT_EARLY */
	int			nearly;
	GcCode		code;
	GcError    *err;
} Cg;

extern const char *const cg_ctype[];
extern const char *const cg_suffix[];
extern const char *const cg_code_type[];	/* by width in bytes */

/* Begin with a pipeline, whose words go to cg->src or cg->fusion; end with it. */
extern GcCode cg_begin(Cg *cg, const GcProgram *p, u16 pipeline, const GcVariant *variant,
					   GcError *err);
extern void cg_free(Cg *cg);

/* End with a kernel of its own: its text becomes that of cg->src, unless something failed. */
extern GcCode cg_finish(Cg *cg, Text *text);

/* The device library and the head of a kernel with so many argument words. */
extern void cg_prologue(Text *t, int nwords, int vec, int threads);

/* Fill cg->decls and cg->body. */
extern void cg_pipeline(Cg *cg);

/* Statement that loads the vector cK of a column, as `how`: GC_LOAD or GC_LATE. */
extern void cg_load(Text *t, const char *how, u8 width, u8 reg, int k);

/*
 * Declarations that only compute from argument words, so that they may be repeated
 * in every scope that needs them; `top`: where the pipeline's part of the shared
 * memory begins.
 */
extern void cg_scope(Cg *cg, Text *t, const char *top);

/* Fill the pipeline's part of the shared memory, within such a scope. */
extern void cg_fill_shared(Cg *cg, Text *t);
extern bool cg_uses_shared(const Cg *cg);

/* fused.c: is the vector of this column, or of its words, loaded by the skeleton? */
extern bool fused_vector(Cg *cg, u16 column, bool words);

/*
 * steps.c: may a step be tested on whole vectors, and what it computes fail?  Do so few rows come to the
 * sink that it had better read them again?
 */
#define MAX_STEPS			256

typedef struct StepLists
{
	const GcPStep *vector[MAX_STEPS];
	const GcPStep *row[MAX_STEPS];
	int			nvector;
	int			nrow;
	int			ngathered;		/* of the row steps, the first so many are tested on gathered rows */
} StepLists;

extern bool cg_is_vector_step(const GcProgram *p, const GcPStep *step);
extern bool cg_is_checked_step(const GcProgram *p, const GcPStep *step);
extern bool cg_few_reach_sink(const GcPPipeline *pl);

/*
 * Which steps are tested on whole vectors, and which row by row on the survivors; and the same for a kernel
 * that gathers these: false if that does not pay.
 */
extern void cg_divide_steps(const GcProgram *p, const GcPPipeline *pl, const GcVariant *variant, StepLists *lists);
extern bool cg_divide_filtered(const GcProgram *p, const GcPPipeline *pl, StepLists *lists);

/*
 * packed.c: filters on packed codes.  Is a step one?  How many words would a member of a fused
 * kernel keep for those of a pipeline (GcPipelineTraits)?  Make what n such steps read available,
 * in the vector phase, and note in *packed which columns that are; test them on all rows of a
 * vector.
 */
typedef struct PackedColumn
{
	u16			column;
	int			k;				/* local number */
	bool		first;			/* the range has a lower end; an upper one */
	bool		end;
} PackedColumn;

typedef struct Packed
{
	int			n;
	PackedColumn columns[GC_MAX_COLUMNS];
} Packed;

extern bool cg_is_packed(const GcProgram *p, const GcPStep *step);
extern int	cg_kept_words(const GcProgram *p, const GcPPipeline *pl);
extern void cg_require_packed(Cg *cg, const GcPStep **steps, int n, Packed *packed);
extern void cg_test_packed(Cg *cg, const Packed *packed);

/* Declaration of the words wK of a column, and the statement that loads them under a condition. */
extern void cg_load_words(Text *t, u8 width, int k, const char *condition);

/* Index of a fresh argument word. */
extern int	cg_word(Cg *cg, u8 type, u16 index, u8 part);

/* Local numbers, declaring what is behind them at first use. */
extern int	cg_column(Cg *cg, u16 column);
extern int	cg_build(Cg *cg, u16 build);

/* Record the first failure. */
extern void cg_fail(Cg *cg, GcCode code, const char *what);

/*
 * Make everything that expression e reads available in the current phase:
 * vectors in the vector phase, scalars in the row phase.
 */
extern void cg_require(Cg *cg, u16 e);

/* The step of this pipeline that probes `build`; and declare xN, the place of the current row's match there. */
extern const GcPStep *cg_probe_of(Cg *cg, u16 build);
extern void cg_require_index(Cg *cg, u16 build);

/*
 * Index of key operand k into a dense build, as an expression; when the key is
 * known to be in range and 32 bits wide, in 32-bit arithmetic.
 */
extern void cg_dense_index(Cg *cg, const GcPStep *step, u16 key, const Operand *k, char *buf, size_t size);

/* Emit statements computing e; what it reads has been required. */
extern Operand cg_expr(Cg *cg, u16 e);

/* C expression for operand o of expression e, in register reg, times 10^rescale. */
extern void cg_as(Cg *cg, char *buf, size_t size, u16 e, const Operand *o, u8 reg, int rescale);

/* cast.c: the same of a cast. */
extern Operand cg_cast(Cg *cg, u16 i);

/*
 * What expr.c and cast.c share.  A fresh temporary with this value; its NULL flag is given a name if long.
 * A boolean, kept 0 where NULL.  Check that `value`, if not NULL, lies in what the kind can hold.  10^n as a C
 * constant, in buf.
 */
extern Operand cg_temp(Cg *cg, const char *type, const char *value, const char *null);
extern Operand cg_temp_bool(Cg *cg, const char *value, const char *null);
extern void cg_check_kind(Cg *cg, u8 kind, const char *value, const char *null);
extern const char *cg_pow10(int n, char *buf, size_t size);

/*
 * Make available what a step reads: of one stage, before any of its steps is tested.
 * And the condition under which a row passes a filter, or finds its key in a dense build.
 */
extern void cg_require_step(Cg *cg, const GcPStep *step);
extern void cg_step_condition(Cg *cg, const GcPStep *step, char *buf, size_t size);

/*
 * probe.c: statements that probe a hash build for the current row: the row is dropped, or
 * xN is declared, by a loop over the matches where there may be several.  Returns the
 * number of loops opened.  And xN alone, for a unique build of which marks say that there
 * is a match (GcVariant.placed).
 */
extern int	cg_hash_probe(Cg *cg, const GcPStep *step);
extern void cg_place_index(Cg *cg, const GcPStep *step);

/* Of a tester: write the place of the current value, which is number `at`. */
extern void cg_place_write(Cg *cg, const GcPStep *step, const char *at);

/* Have the step's keys places?  Then the entry of the current row's key among them, as an expression. */
extern bool cg_is_placed(const Cg *cg, const GcPStep *step);
extern void cg_place_entry(Cg *cg, const GcPStep *step, char *buf, size_t size);

/*
 * early.c: what the n steps that are left, and the sink, want of builds and gathered rows can look up at
 * once: accesses of one row, in the order in which they are made, of more than MOST_EARLY the first; and
 * statements for that.
 */
#define MOST_EARLY			32

typedef struct Early
{
	int			n;
	struct
	{
		const GcPStep *step;
		u16			payload;	/* GC_NONE: the place that the step finds */
	}			what[MOST_EARLY];
} Early;

extern void cg_find_early(Cg *cg, const GcPStep **steps, int n, Early *early);
extern void cg_look_up_early(Cg *cg, const Early *early);

/* Where the code of a payload is: `code`, unless the place of its build has it, too. */
extern void cg_place_payload(Cg *cg, const GcPStep *step, u16 payload, const char *type, char *code, size_t size);

/* Statements of the same for a value of the one column that the keys read: rN alone. */
extern void cg_hash_find(Cg *cg, const GcPStep *step);

/* marks.c: does the step read one column?  Which?  And may what it computes fail? */
extern bool cg_one_column(const GcProgram *p, const GcPStep *step, u16 *column);
extern bool cg_may_fail(const GcProgram *p, const GcPStep *step);

/* Does e, or anything below it, carry a run-time check? */
extern bool cg_checked(const GcProgram *p, u16 e);

/*
 * Before a value of e becomes an index: a value that failed its check lies outside
 * the range that the index is good for.  Drops the row; the result is void anyway.
 */
extern void cg_skip_bad(Cg *cg, u16 e);

/* Does e read only columns of the pipeline's input (and parameters)? */
extern bool cg_columns_only(const GcProgram *p, u16 e);

#endif							/* GC_CG_H */
