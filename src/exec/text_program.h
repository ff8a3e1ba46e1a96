/*-------------------------------------------------------------------------
 *
 * text_program.h
 *	  Expressions of one text as text programs, without PostgreSQL's evaluation of expressions;
 *	  private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_TEXT_PROGRAM_H
#define GC_EXEC_TEXT_PROGRAM_H

#include "compute.h"

/* A text program; see cuda/gc_text.h. */
typedef struct GcTextProgram
{
	uint32		nops;
	bool		utf8;
	uint32		bytes;			/* operations and constants */
	uint8	   *data;			/* palloc'd, aligned for either */
	int64		most;			/* no result that is a number is larger */
	uint32		pattern;		/* length of what each value is searched for; 0: nothing */
} GcTextProgram;

/*
 * Is table w an expression whose rules in this encoding and collation are known here, and which
 * cannot raise an error?
 */
extern bool gc_text_compile(const GcLookupWork *w, GcTextProgram *program);

/* Set entries from l->first on.  False: a result is too long, or there are too many. */
extern bool gc_text_fill(const GcLookupWork *w, const GcTextProgram *program, GcLookup *l);

#endif							/* GC_EXEC_TEXT_PROGRAM_H */
