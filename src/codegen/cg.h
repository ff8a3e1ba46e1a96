/*-------------------------------------------------------------------------
 *
 * cg.h
 *	  State shared by the parts of the code generator; private to codegen/.
 *
 * Names in generated text: columns are dN (description), cN (vector), nN (NULLs
 * of the vector), vN and vnN (one row's value and NULL flag); parameters pN;
 * lookup tables LN; lists IN; builds bN_*, with xN the matching row or dense
 * index; payloads yN and ynN; temporaries tN and, for their NULL flags, tnN.
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

typedef struct Cg
{
	const GcProgram *p;
	const GcPPipeline *pl;
	const GcVariant *variant;
	GcKernelSource *src;

	Text		decls;			/* kernel scope: constants */
	Text		descs;			/* tile scope: column descriptions */
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
	bool		late;			/* vector phase: only live rows are loaded */
	bool		array[GC_MAX_COLUMNS];	/* column is loaded as a vector */
	bool		scalar[GC_MAX_COLUMNS]; /* column's row value is declared */
	bool		index[GC_MAX_BUILDS];	/* xN is declared */
	bool		at[GC_MAX_BUILDS];	/* bN_at is declared */
	i16		   *payload;		/* npayloads of the program: local number of the
								 * declared row value, or -1 */
	GcCode		code;
	GcError    *err;
} Cg;

extern const char *const cg_ctype[];
extern const char *const cg_suffix[];

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

/* Emit statements computing e; what it reads has been required. */
extern Operand cg_expr(Cg *cg, u16 e);

/* C expression for operand o of expression e, in register reg, times 10^rescale. */
extern void cg_as(Cg *cg, char *buf, size_t size, u16 e, const Operand *o, u8 reg, int rescale);

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
