/*-------------------------------------------------------------------------
 *
 * ordinal.c
 *	  Values of small types as 64-bit integers in the order of their type.  See ordinal.h.
 *
 *-------------------------------------------------------------------------
 */
#include "ordinal.h"

#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/pg_lsn.h"

/* Puts unsigned integers of 64 bits in the order of signed ones. */
#define SIGN_BIT		UINT64CONST(0x8000000000000000)

/* A zone's seconds, made positive, lie in the low bits. */
#define ZONE_BITS		17
#define ZONE_BIAS		(1 << (ZONE_BITS - 1))
#define ZONE_MASK		((1 << ZONE_BITS) - 1)

#define BYTE_BITS		8

static bool
timetz_ordinal(const TimeTzADT *t, int64 *ordinal)
{
	if (t->zone < -ZONE_BIAS || t->zone >= ZONE_BIAS)
		return false;
	/* timetz_cmp_internal() */
	*ordinal = (t->time + t->zone * USECS_PER_SEC) * (1 << ZONE_BITS) + (t->zone + ZONE_BIAS);
	return true;
}

static TimeTzADT *
ordinal_timetz(int64 ordinal)
{
	TimeTzADT  *t = palloc(sizeof(TimeTzADT));

	t->zone = (int32) (ordinal & ZONE_MASK) - ZONE_BIAS;
	t->time = (ordinal >> ZONE_BITS) - t->zone * USECS_PER_SEC;
	return t;
}

/* Bytes of an address as a number, the first one highest: their order is that of macaddr_cmp_internal(). */
static uint64
bytes_number(const unsigned char *bytes, int n)
{
	uint64		number = 0;

	for (int i = 0; i < n; i++)
		number = number << BYTE_BITS | bytes[i];
	return number;
}

static Datum
number_bytes(uint64 number, int n)
{
	unsigned char *bytes = palloc(n);

	for (int i = n - 1; i >= 0; i--, number >>= BYTE_BITS)
		bytes[i] = number & 0xff;
	return PointerGetDatum(bytes);
}

bool
gc_datum_to_ordinal(GcKind kind, Datum value, int64 *ordinal)
{
	switch (kind)
	{
		case GC_TIMETZ:
			return timetz_ordinal(DatumGetTimeTzADTP(value), ordinal);
		case GC_MACADDR:
			*ordinal = bytes_number((const unsigned char *) DatumGetMacaddrP(value), sizeof(macaddr));
			return true;
		case GC_MACADDR8:
			*ordinal = bytes_number((const unsigned char *) DatumGetMacaddr8P(value), sizeof(macaddr8)) ^ SIGN_BIT;
			return true;
		case GC_LSN:
			*ordinal = DatumGetLSN(value) ^ SIGN_BIT;
			return true;
		default:
			return false;
	}
}

Datum
gc_ordinal_to_datum(GcKind kind, int64 ordinal)
{
	switch (kind)
	{
		case GC_TIMETZ:
			return TimeTzADTPGetDatum(ordinal_timetz(ordinal));
		case GC_MACADDR:
			return number_bytes(ordinal, sizeof(macaddr));
		case GC_MACADDR8:
			return number_bytes(ordinal ^ SIGN_BIT, sizeof(macaddr8));
		default:
			Assert(kind == GC_LSN);
			return LSNGetDatum(ordinal ^ SIGN_BIT);
	}
}
