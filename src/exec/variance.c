/*-------------------------------------------------------------------------
 *
 * variance.c
 *	  Variances and standard deviations, from count, sum and sum of squares.
 *
 * PostgreSQL's final functions compute them, so that scale and rounding are its own.  They take a
 * transition state whose layout is numeric.c's own.  But it can be made of its serialized form,
 * which parallel aggregation sends between processes (numeric_serialize(), the same in PostgreSQL
 * 15 to 18).  Only an aggregate may call numeric_deserialize(), so it is shown an AggState.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "variance.h"

#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "../compat.h"

/* Words of numeric_send()'s header: digits, weight, sign, display scale. */
#define HEADER_WORDS	4

/* As numericvar_serialize(): the words of numeric_send(), with a header of 32-bit integers. */
static void
put_numeric(StringInfo buf, Datum value)
{
	bytea	   *sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send, value));
	const char *words = VARDATA_ANY(sent);
	int			header = HEADER_WORDS * sizeof(int16);

	for (int i = 0; i < HEADER_WORDS; i++)
	{
		int16		word;

		memcpy(&word, words + i * sizeof(int16), sizeof(int16));
		pq_sendint32(buf, (int32) (int16) pg_ntoh16(word));
	}
	appendBinaryStringInfo(buf, words + header, VARSIZE_ANY_EXHDR(sent) - header);
}

/* As numeric_serialize(); the final functions look at nothing behind the sums but the counts of NaN. */
static bytea *
serialized_state(int64 count, Datum sum, Datum squares)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, count);
	put_numeric(&buf, sum);
	put_numeric(&buf, squares);
	pq_sendint32(&buf, 0);		/* largest display scale */
	pq_sendint64(&buf, count);	/* how many have it */
	pq_sendint64(&buf, 0);		/* NaN */
	pq_sendint64(&buf, 0);		/* Infinity */
	pq_sendint64(&buf, 0);		/* -Infinity */
	return pq_endtypsend(&buf);
}

static void
begin(GcVariances *v)
{
	v->scratch = AllocSetContextCreate(CurrentMemoryContext, "gpuconc variance", ALLOCSET_DEFAULT_SIZES);
	v->caller = makeNode(AggState);
	fmgr_info(F_NUMERIC_DESERIALIZE, &v->deserialize);
}

Datum
gc_variance(GcVariances *v, Oid finalfn, int64 count, Datum sum, Datum squares, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 2);
	MemoryContext old;
	Datum		state;
	Datum		result;

	if (v->scratch == NULL)
		begin(v);
	if (v->finish.fn_oid != finalfn)
		fmgr_info(finalfn, &v->finish);
	old = MemoryContextSwitchTo(v->scratch);
	InitFunctionCallInfoData(*fcinfo, &v->deserialize, 2, InvalidOid, (Node *) v->caller, NULL);
	fcinfo->args[0].value = PointerGetDatum(serialized_state(count, sum, squares));
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = (Datum) 0;
	fcinfo->args[1].isnull = false;
	state = FunctionCallInvoke(fcinfo);
	InitFunctionCallInfoData(*fcinfo, &v->finish, 1, InvalidOid, (Node *) v->caller, NULL);
	fcinfo->args[0].value = state;
	fcinfo->args[0].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	MemoryContextSwitchTo(old);
	if (!*isnull)
		result = datumCopy(result, false, -1);
	MemoryContextReset(v->scratch);
	return result;
}

void
gc_variances_end(GcVariances *v)
{
	if (v->scratch)
		MemoryContextDelete(v->scratch);
}
