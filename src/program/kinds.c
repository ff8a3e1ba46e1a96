/*-------------------------------------------------------------------------
 *
 * kinds.c
 *	  The table of kinds.
 *
 * Pure C; runs everywhere.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

#define RANGE(from, to)	.has_range = true,.lo = (from),.hi = (to)

const GcKindTraits gc_kinds[GC_NKINDS] = {
	[GC_KIND_NONE] = {.name = "unknown",.bytes = 8,.usual_bytes = 4},
	[GC_BOOL] = {.name = "boolean",.form = GC_FORM_BOOL,.enumerable = true,
	RANGE(0, 1),.bytes = 4,.usual_bytes = 1},
	[GC_INT2] = {.name = "integer",.form = GC_FORM_INT16,.is_int = true,.enumerable = true,
	RANGE(INT16_MIN, INT16_MAX),.bytes = 4,.usual_bytes = 2},
	[GC_INT4] = {.name = "integer",.form = GC_FORM_INT32,.is_int = true,.enumerable = true,
	RANGE(INT32_MIN, INT32_MAX),.bytes = 4,.usual_bytes = 4},
	[GC_INT8] = {.name = "integer",.form = GC_FORM_INT64,.is_int = true,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 4},
	[GC_FLOAT4] = {.name = "real",.form = GC_FORM_BITS32,.is_float = true,.bytes = 4,.usual_bytes = 4},
	[GC_FLOAT8] = {.name = "double precision",.form = GC_FORM_INT64,.is_float = true,.bytes = 8,.usual_bytes = 8},
	[GC_NUMERIC] = {.name = "numeric",.form = GC_FORM_NUMERIC,.bytes = 8,.usual_bytes = 4},
	[GC_DATE] = {.name = "date",.form = GC_FORM_INT32,.enumerable = true,
	RANGE(INT32_MIN, INT32_MAX),.bytes = 4,.usual_bytes = 4},
	[GC_TIMESTAMP] = {.name = "timestamp",.form = GC_FORM_INT64,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
	[GC_TIMESTAMPTZ] = {.name = "timestamp",.form = GC_FORM_INT64,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
	[GC_TEXT] = {.name = "dictionary",.form = GC_FORM_CODE,.enumerable = true,.bytes = 4,.usual_bytes = 2},
	[GC_OID] = {.name = "integer",.form = GC_FORM_UINT32,
	RANGE(0, UINT32_MAX),.bytes = 8,.usual_bytes = 4},
	[GC_CHAR] = {.name = "integer",.form = GC_FORM_UINT8,.enumerable = true,
	RANGE(0, UINT8_MAX),.bytes = 4,.usual_bytes = 1},
	[GC_TIME] = {.name = "time",.form = GC_FORM_INT64,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
	[GC_UUID] = {.name = "dictionary",.form = GC_FORM_CODE,.enumerable = true,.bytes = 4,.usual_bytes = 4},
	[GC_ENUM] = {.name = "dictionary",.form = GC_FORM_CODE,.enumerable = true,.bytes = 4,.usual_bytes = 1},
	[GC_DOCUMENT] = {.name = "dictionary",.form = GC_FORM_CODE,.enumerable = true,.opaque = true,.bytes = 4,
	.usual_bytes = 4},
	[GC_INTERVAL] = {.name = "interval",.form = GC_FORM_INTERVAL,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
	[GC_BYTES] = {.name = "dictionary",.form = GC_FORM_CODE,.enumerable = true,.bytes = 4,.usual_bytes = 4},
	[GC_NAME] = {.name = "dictionary",.form = GC_FORM_CODE,.enumerable = true,.bytes = 4,.usual_bytes = 2},
	[GC_MONEY] = {.name = "money",.form = GC_FORM_INT64,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 4},
	[GC_TIMETZ] = {.name = "time with time zone",.form = GC_FORM_ORDINAL,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
	[GC_MACADDR] = {.name = "macaddr",.form = GC_FORM_ORDINAL,
	RANGE(0, (INT64_C(1) << 48) - 1),.bytes = 8,.usual_bytes = 8},
	[GC_MACADDR8] = {.name = "macaddr8",.form = GC_FORM_ORDINAL,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
	[GC_LSN] = {.name = "pg_lsn",.form = GC_FORM_ORDINAL,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
	[GC_AGE] = {.name = "age",.form = GC_FORM_AGE,.opaque = true,
	RANGE(INT64_MIN, INT64_MAX),.bytes = 8,.usual_bytes = 8},
};
