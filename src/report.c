/*-------------------------------------------------------------------------
 *
 * report.c
 *	  The one place that turns a status into an ereport.
 *
 * Backends and main threads of workers only.
 *
 *-------------------------------------------------------------------------
 */
#include "report.h"

static int
code_sqlstate(GcCode code)
{
	switch (code)
	{
		case GC_DEVICE_MEMORY:
		case GC_HOST_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		case GC_CACHE_FULL:
		case GC_RESULT_TOO_LARGE:
		case GC_NO_SLOT:
			return ERRCODE_CONFIGURATION_LIMIT_EXCEEDED;
		case GC_UNSUPPORTED:
		case GC_NOT_CACHEABLE:
			return ERRCODE_FEATURE_NOT_SUPPORTED;
		case GC_BAD_PROGRAM:
			return ERRCODE_INTERNAL_ERROR;
		case GC_CANCELLED:
			return ERRCODE_QUERY_CANCELED;
		default:
			return ERRCODE_SYSTEM_ERROR;
	}
}

/* A sentence of advice for a code, or NULL. */
static const char *
code_hint(GcCode code)
{
	switch (code)
	{
		case GC_DEVICE_MEMORY:
			return "Increase gpuconc.device_memory_limit.";
		case GC_CACHE_FULL:
		case GC_RESULT_TOO_LARGE:
			return "Increase gpuconc.host_cache_size.";
		case GC_NO_COMPILER:
			return "Install a C compiler, or NVRTC for device cuda.";
		case GC_WORKER_GONE:
			return "The worker is restarted by the server; see the server log.";
		default:
			return NULL;
	}
}

/* The error under gpuconc.debug_offload = require. */
void
gc_report_required(GcCode code, const GcError *err)
{
	const char *hint = code_hint(code);

	ereport(ERROR,
			(errcode(code_sqlstate(code)),
			 errmsg("query is not offloaded although \"%s\" is \"%s\": %s",
					"gpuconc.debug_offload", "require", gc_code_name(code)),
			 err->detail[0] ? errdetail("%s", err->detail) : 0,
			 hint ? errhint("%s", hint) : 0));
}

void
gc_check_columns(TupleDesc declared, int columns)
{
	if (declared->natts == columns)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("extension gpuconc of this database is not of the library's version, which is %s", GC_VERSION),
			 errdetail("The function is declared with %d columns, and the library returns %d.",
					   declared->natts, columns),
			 errhint("Run ALTER EXTENSION gpuconc UPDATE. If the extension is newer than the library, install the library that belongs to it, and restart the server.")));
}
