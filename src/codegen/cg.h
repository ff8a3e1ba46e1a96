/*-------------------------------------------------------------------------
 *
 * cg.h
 *	  What the parts of the code generator ask of each other; private to codegen/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CG_H
#define GC_CG_H

#include "emit.h"
#include "fusion.h"
#include "prologue.h"

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
