/*-------------------------------------------------------------------------
 *
 * status.h
 *	  The status world: how code that may not call ereport says what happened.
 *
 * Functions in device/, sched/, codegen/ and program/, and all functions that run on a
 * thread, return a GcCode.  Where there is more to say, they fill a GcError.  Only report.c
 * turns a GcError into an error of the query.
 *
 * No PostgreSQL header is included here, nor may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_STATUS_H
#define GC_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Keep in step with gc_code_table in status_text.c, which gives each code the name
 * under which gpuconc_stat.fallback_reasons counts it.
 */
typedef enum GcCode
{
	GC_OK = 0,
	GC_DEVICE_MEMORY,			/* device memory exhausted; may succeed later */
	GC_HOST_MEMORY,				/* shared or local memory exhausted */
	GC_RESULT_TOO_LARGE,		/* result does not fit the shared memory */
	GC_NO_DEVICE,				/* no such device, driver or library */
	GC_NO_COMPILER,				/* nothing that can compile kernels */
	GC_COMPILE_FAILED,			/* a kernel did not compile */
	GC_COMPILE_INTERRUPTED,		/* its compiler was killed, or had no room; may
								 * succeed later */
	GC_DEVICE_FAILED,			/* a device call failed; device may be lost */
	GC_WORKER_GONE,				/* the worker exited or is not there */
	GC_CANCELLED,				/* the request was abandoned */
	GC_BAD_PROGRAM,				/* malformed program: a bug, never user's fault */
	GC_NO_SLOT,					/* request queue full */
	GC_DATA,					/* PostgreSQL might raise an error: run its plan */
	GC_UNSUPPORTED,				/* value or state the device path cannot take */
	GC_NOT_CACHEABLE,			/* a column cannot be kept in the cache */
	GC_CACHE_FULL,				/* cache too small for the columns needed */
	GC_LOADING,					/* columns are loaded in the background meanwhile */
	GC_TOO_SLOW,				/* PostgreSQL's own plan was expected to be sooner by far */
	/* The request is to be bound anew and sent again: */
	GC_RETRY_LOAD,				/* columns must be loaded first */
	GC_RETRY_DUPLICATE,			/* build side has duplicate keys */
	GC_RETRY_BUILD_FULL,		/* hash build estimated too small */
	GC_RETRY_GROUPS,			/* group table estimated too small */
	GC_RETRY_ROWS,				/* row result estimated too small */
	GC_NCODES
} GcCode;

typedef struct GcError
{
	GcCode		code;
	char		detail[512];	/* a sentence for errdetail, or "" */
	uint64_t	number;			/* what the next try needs to know; DUPLICATE and
								 * BUILD_FULL: the build, GROUPS: the pipeline,
								 * ROWS: the pipeline << 32 | their number */
} GcError;

/*
 * Record code and a formatted detail in *err (which may be NULL) and return
 * code, so that callers write `return gc_fail(err, GC_..., "...")`.
 */
extern GcCode gc_fail(GcError *err, GcCode code, const char *fmt,...)
			__attribute__((format(printf, 3, 4)));

/* gc_fail() with a number for GcError.number. */
extern GcCode gc_fail_number(GcError *err, GcCode code, uint64_t number, const char *fmt,...)
			__attribute__((format(printf, 4, 5)));

/* May the same succeed later, with nothing changed about it? */
extern bool gc_code_transient(GcCode code);

/* Name of a code for views and messages: lower-case words, static storage. */
extern const char *gc_code_name(GcCode code);

#endif							/* GC_STATUS_H */
