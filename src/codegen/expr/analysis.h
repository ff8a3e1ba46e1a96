/*-------------------------------------------------------------------------
 *
 * analysis.h
 *	  Facts of a program that hold before anything of it is generated.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ANALYSIS_H
#define GC_ANALYSIS_H

#include "../../program/program.h"

/* Does expression e, or anything below it, carry a run-time check? */
extern bool cg_checked(const GcProgram *p, u16 e);

/* Does e read only columns of the pipeline's input (and parameters)? */
extern bool cg_columns_only(const GcProgram *p, u16 e);

/* Does a step's result for a row depend on one column?  On which? */
extern bool cg_one_column(const GcProgram *p, const GcPStep *step, u16 *column);

/* May that fail? */
extern bool cg_may_fail(const GcProgram *p, const GcPStep *step);

extern bool cg_is_hash_probe(const GcProgram *p, const GcPStep *step);

/* Does the step try all rows of a build without keys? */
extern bool cg_is_list_probe(const GcProgram *p, const GcPStep *step);

/* Does the pipeline have such a step, and scan chunks?  Its scan is one of pairs then (cuda/gc_pair.h). */
extern bool cg_scans_pairs(const GcProgram *p, const GcPPipeline *pl);

/* Is it a condition on the row, without loops and declarations: a filter, or a test of a bitmap? */
extern bool cg_is_test(const GcProgram *p, const GcPStep *step);

/* May a row come out of the step several times? */
extern bool cg_may_multiply(const GcProgram *p, const GcPStep *step);

/* Can a step be tested on whole vectors? */
extern bool cg_is_vector_step(const GcProgram *p, const GcPStep *step);

/* The step of a pipeline that probes `build`, or NULL. */
extern const GcPStep *cg_find_probe(const GcProgram *p, const GcPPipeline *pl, u16 build);

/* Do rows of other tables come with the scanned rows? */
extern bool cg_has_probes(const GcProgram *p, const GcPPipeline *pl);

/*
 * Do so few rows reach the sink that reading them again is better than keeping all in registers?
 */
extern bool cg_few_reach_sink(const GcPPipeline *pl);

/* Are all rows aggregated into one group? */
extern bool cg_is_ungrouped(const GcPPipeline *pl);

/* May a key of the pipeline's groups be NULL? */
extern bool cg_has_nullable_key(const GcProgram *p, const GcPPipeline *pl);

/* Words of a hashed group's key: one per key, one for their NULL flags. */
extern int	cg_group_key_words(const GcProgram *p, const GcPPipeline *pl);

/* The pipeline whose groups this one scans; NULL if it scans a relation or a row source. */
extern const GcPPipeline *cg_groups_of(const GcProgram *p, const GcPPipeline *pl);

/* The build whose rows without a match a pipeline scans; GC_NONE: it scans something else. */
extern u16	cg_unmatched_of(const GcProgram *p, const GcPPipeline *pl);

#endif							/* GC_ANALYSIS_H */
