/*-------------------------------------------------------------------------
 *
 * hints.h
 *	  What executions of a program have taught, here and in other sessions.
 *
 * Runs in backends.  Private to exec/, apart from the making of shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HINTS_H
#define GC_HINTS_H

#include "postgres.h"

#include "utils/timestamp.h"

#include "../program/hash.h"
#include "../program/program.h"

/* Facts that one program has taught about its data. */
typedef struct GcHints
{
	GcHash		key;			/* logical program, and database */
	bool		asked;			/* this session has asked for its kernels */
	uint32		no_dense;		/* builds with duplicate keys */
	uint32		rows_needed[GC_MAX_PIPELINES];	/* of a pipeline's build, groups or rows; of `select`, chosen groups.
												 * 0: there was room */
	GcHash		refused;		/* the last request that the device gave back, for its rows (GcBinding.identity) */
	TimestampTz refused_at;		/* 0: none */
	TimestampTz stopped_at;		/* a request that took too long (limit.c); 0: none */
	double		stopped_after_ms;
	double		own_plan_ms;	/* what PostgreSQL's own plan took then; -1: it has not ended */
} GcHints;

/* This backend's; one that is new here begins with what other sessions have learnt lately. */
extern GcHints *gc_hints(const GcProgram *logical);

/* Lets sessions know to which the program is new. */
extern void gc_hints_share(const GcHints *hints);

/* A request that the device gave back.  It is known for ten minutes: the order in which floats are added may decide. */
extern void gc_hints_note_refusal(GcHints *hints, const GcHash *request);
extern bool gc_hints_know_refusal(const GcHints *hints, const GcHash *request);

extern void gc_hints_shmem(void);

#endif							/* GC_HINTS_H */
