/*-------------------------------------------------------------------------
 *
 * kinds.c
 *	  PostgreSQL types as kinds of values.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "translate.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"

GcKind
gc_type_kind(Oid typid)
{
	switch (getBaseType(typid))
	{
		case BOOLOID:
			return GC_BOOL;
		case INT2OID:
			return GC_INT2;
		case INT4OID:
			return GC_INT4;
		case INT8OID:
			return GC_INT8;
		case FLOAT4OID:
			return GC_FLOAT4;
		case FLOAT8OID:
			return GC_FLOAT8;
		case NUMERICOID:
			return GC_NUMERIC;
		case DATEOID:
			return GC_DATE;
		case TIMESTAMPOID:
			return GC_TIMESTAMP;
		case TIMESTAMPTZOID:
			return GC_TIMESTAMPTZ;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return GC_TEXT;
		default:
			return GC_KIND_NONE;
	}
}

/*
 * Under a deterministic collation, equal means equal bytes: codes may be compared
 * instead of values.
 */
bool
gc_collation_deterministic(Oid collation)
{
	if (!OidIsValid(collation) || collation == C_COLLATION_OID ||
		collation == DEFAULT_COLLATION_OID || lc_collate_is_c(collation))
		return true;
	return get_collation_isdeterministic(collation);
}
