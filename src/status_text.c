/*-------------------------------------------------------------------------
 *
 * status_text.c
 *	  Filling a GcError, and the names of the codes.
 *
 * The half of the status world that needs no PostgreSQL, so that device/,
 * sched/, codegen/ and the unit tests can be linked without it.  The other
 * half, which turns a GcError into an ereport, is report.c.
 *
 * Process and threads: any, concurrently.  Owns nothing; allocates nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "status.h"

#include <stdio.h>

/* In the order of GcCode. */
static const char *const gc_code_table[] = {
	[GC_OK] = "ok",
	[GC_DEVICE_MEMORY] = "out of device memory",
	[GC_HOST_MEMORY] = "out of host memory",
	[GC_RESULT_TOO_LARGE] = "result too large",
	[GC_NO_DEVICE] = "no device",
	[GC_NO_COMPILER] = "no compiler",
	[GC_COMPILE_FAILED] = "compilation failed",
	[GC_COMPILE_INTERRUPTED] = "compilation interrupted",
	[GC_DEVICE_FAILED] = "device failed",
	[GC_WORKER_GONE] = "worker gone",
	[GC_CANCELLED] = "cancelled",
	[GC_BAD_PROGRAM] = "bad program",
	[GC_NO_SLOT] = "queue full",
	[GC_DATA] = "data condition",
	[GC_UNSUPPORTED] = "unsupported value",
	[GC_NOT_CACHEABLE] = "column not cacheable",
	[GC_CACHE_FULL] = "cache full",
	[GC_LOADING] = "not ready yet",
	[GC_TOO_SLOW] = "too slow",
	[GC_RETRY_LOAD] = "columns not loaded",
	[GC_RETRY_DUPLICATE] = "duplicate build keys",
	[GC_RETRY_BUILD_FULL] = "hash build full",
	[GC_RETRY_GROUPS] = "group table full",
	[GC_RETRY_ROWS] = "row result full",
};

_Static_assert(sizeof(gc_code_table) / sizeof(gc_code_table[0]) == GC_NCODES,
			   "gc_code_table does not match GcCode");

static GcCode __attribute__((format(printf, 4, 0)))
fill(GcError *err, GcCode code, uint64_t number, const char *fmt, va_list ap)
{
	if (err == NULL)
		return code;
	err->code = code;
	err->number = number;
	vsnprintf(err->detail, sizeof(err->detail), fmt, ap);
	return code;
}

GcCode
gc_fail(GcError *err, GcCode code, const char *fmt,...)
{
	va_list		ap;

	va_start(ap, fmt);
	code = fill(err, code, 0, fmt, ap);
	va_end(ap);
	return code;
}

GcCode
gc_fail_number(GcError *err, GcCode code, uint64_t number, const char *fmt,...)
{
	va_list		ap;

	va_start(ap, fmt);
	code = fill(err, code, number, fmt, ap);
	va_end(ap);
	return code;
}

bool
gc_code_transient(GcCode code)
{
	return code == GC_DEVICE_MEMORY || code == GC_HOST_MEMORY || code == GC_COMPILE_INTERRUPTED;
}

const char *
gc_code_name(GcCode code)
{
	if ((int) code < 0 || code >= GC_NCODES || gc_code_table[code] == NULL)
		return "unknown";
	return gc_code_table[code];
}
