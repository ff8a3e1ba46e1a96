/*-------------------------------------------------------------------------
 *
 * emit.h
 *	  The beginning and the end of generating, argument words, local numbers.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EMIT_H
#define GC_EMIT_H

#include "state.h"
#include "../codegen.h"

/* By GcReg: type of a value, and the suffix of the device library's names for it. */
extern const char *const cg_ctype[];
extern const char *const cg_suffix[];

/* By width in bytes: type of a code. */
extern const char *const cg_code_type[];

/* Begin with a pipeline, whose words go to cg->src or cg->fusion. */
extern GcCode cg_begin(Cg *cg, const GcProgram *p, u16 pipeline, const GcVariant *variant,
					   GcError *err);

/* End the generation of a kernel: its text becomes that of cg->src, unless something failed. */
extern GcCode cg_finish(Cg *cg, Text *text);

/* End a generation without a kernel. */
extern void cg_free(Cg *cg);

/* Record the first failure.  cg_check_memory: record a lack of memory, if there was one. */
extern void cg_fail(Cg *cg, GcCode code, const char *what);
extern void cg_check_memory(Cg *cg);

/* Index of a fresh argument word. */
extern int	cg_word(Cg *cg, u8 type, u16 index, u8 part);

/* Local numbers; the first use declares the thing that is numbered. */
extern int	cg_column(Cg *cg, u16 column);
extern int	cg_build(Cg *cg, u16 build);

/* Statements from now on are for rows that have passed this step, too. */
extern void cg_note_tested(Cg *cg, const GcPStep *step);

/* Statements that declare `h`, the hash of the first nkeys words of the array `keys`. */
extern void cg_hash(Cg *cg, const char *h, const char *keys, int nkeys);

/* The number of the pipeline whose sink is generated. */
static inline u16
cg_pipeline_number(const Cg *cg)
{
	return gc_sink_owner(cg->p, (u16) (cg->pl - gc_pipelines(cg->p)));
}

/*
 * A copy of the program in which each GC_OP_ARM has this pipeline's expression for both arguments.  NULL if the program
 * has none.  The caller frees it.
 */
extern GcCode cg_settle_arms(const GcProgram *p, u16 pipeline, GcProgram **copy, GcError *err);

#endif							/* GC_EMIT_H */
