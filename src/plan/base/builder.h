/*-------------------------------------------------------------------------
 *
 * builder.h
 *	  Growing a program piece by piece, and packing it with its GcPlan; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BUILDER_H
#define GC_BUILDER_H

#include "translate.h"

/* Refuse: remember the first reason, return GC_NO_EXPR. */
extern int	gc_refuse(GcTranslation *tr, const char *fmt,...) pg_attribute_printf(2, 3);

extern void gc_builder_init(GcTranslation *tr);

/* Have room for one more column; false, and a refusal, if there are too many. */
extern bool gc_column_room(GcTranslation *tr);

extern int	gc_build_expr(GcTranslation *tr, GcOp op, GcKind kind, int a, int b, int c, int ref);
extern int	gc_build_copy(GcTranslation *tr, const GcExpr *e);
extern int	gc_build_cast(GcTranslation *tr, int arg, GcKind kind);
extern int	gc_build_numeric_cast(GcTranslation *tr, int arg, int precision, int scale, uint8 rounding);
extern int	gc_build_param(GcTranslation *tr, Expr *expr, GcKind kind, uint16 space);
extern int	gc_build_int8(GcTranslation *tr, int64 value);	/* a constant of ours, as a parameter */
extern int	gc_build_float8(GcTranslation *tr, double value);
extern int	gc_build_count(GcTranslation *tr, uint16 space, int more);	/* number of a dictionary's values, plus more */
extern int	gc_build_null(GcTranslation *tr, GcKind kind);
extern int	gc_build_column(GcTranslation *tr, GcLeaf *leaf, Node *node);
extern int	gc_build_lut(GcTranslation *tr, int arg, GcKind kind, const GcPlanLut *lut);

/* A text in the place that its collation gives it.  -1, with a reason, where texts of that collation have no ranks. */
extern int	gc_build_rank(GcTranslation *tr, int text, Oid type, Oid collation);
extern int	gc_build_payload(GcTranslation *tr, int build, int expr);
extern int	gc_build_greatest(GcTranslation *tr, int build, int expr);
extern int	gc_build_agg(GcTranslation *tr, GcAggFn fn, int arg);
extern int	gc_build_precise_sum(GcTranslation *tr, int arg, int factor);
extern void gc_build_filter(GcTranslation *tr, int pipeline, int expr, double selectivity);

/* Have an expression, which may raise an error, computed of each row that comes here: its condition is always true. */
extern void gc_build_always(GcTranslation *tr, int pipeline, int e);
extern void gc_build_probe(GcTranslation *tr, int pipeline, GcLeaf *child, List *keys, int condition);
extern int	gc_exec_expr(GcTranslation *tr, Expr *expr);
extern int	gc_scan_attno(GcTranslation *tr, Node *expr);

/* The pipeline whose sink gets the rows of pipeline n: itself, or the one that n is an arm or the rest of. */
extern int	gc_sink_pipeline(const GcTranslation *tr, int n);
extern GcPlan *gc_builder_finish(GcTranslation *tr, List **display_tags);

/* The query level that is being translated. */
typedef struct GcLevel
{
	PlannerInfo *root;
	List	   *leaves;
	GcLeaf	   *streamed;
	GcGroups   *groups;
	bool		in_condition;
} GcLevel;

/* Translate another level from here on; returns the argument of gc_level_leave(). */
extern GcLevel gc_level_enter(GcTranslation *tr, PlannerInfo *root, List *leaves, GcLeaf *streamed, GcGroups *groups);

/* Levels of expressions over groups or kept rows, and over the rows that these are made of. */
extern GcLevel gc_level_over(GcTranslation *tr, GcGroups *groups);
extern GcLevel gc_level_below(GcTranslation *tr, const GcGroups *groups);
extern void gc_level_leave(GcTranslation *tr, const GcLevel *level);

/* Have no more than the first n expressions. */
extern void gc_builder_drop_exprs(GcTranslation *tr, int n);

/* A copy to go on with, or to go back to; entries appended to one do not show in the other. */
extern GcTranslation *gc_builder_save(const GcTranslation *tr);
extern void gc_builder_restore(GcTranslation *tr, const GcTranslation *saved);

#endif							/* GC_BUILDER_H */
