/*-------------------------------------------------------------------------
 *
 * fields.c
 *	  Fields of timestamps, by name, and the device's functions for them: one table.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "fields.h"

#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"

#include "../../program/functions.h"

typedef struct Field
{
	int			field;
	int			call;			/* GcFunction; -1: none */
	int			truncate;		/* that of date_trunc() */
	bool		of_date;
} Field;

static const Field *
known(int field)
{
	static const Field fields[] = {
		{DTK_MILLENNIUM, GC_CALL_MILLENNIUM, GC_CALL_TRUNC_MILLENNIUM, true},
		{DTK_CENTURY, GC_CALL_CENTURY, GC_CALL_TRUNC_CENTURY, true},
		{DTK_DECADE, GC_CALL_DECADE, GC_CALL_TRUNC_DECADE, true},
		{DTK_YEAR, GC_CALL_YEAR, GC_CALL_TRUNC_YEAR, true},
		{DTK_ISOYEAR, GC_CALL_ISOYEAR, -1, true},
		{DTK_QUARTER, GC_CALL_QUARTER, GC_CALL_TRUNC_QUARTER, true},
		{DTK_MONTH, GC_CALL_MONTH, GC_CALL_TRUNC_MONTH, true},
		{DTK_WEEK, GC_CALL_WEEK, GC_CALL_TRUNC_WEEK, true},
		{DTK_DAY, GC_CALL_DAY, GC_CALL_TRUNC_DAY, true},
		{DTK_DOW, GC_CALL_DOW, -1, true},
		{DTK_ISODOW, GC_CALL_ISODOW, -1, true},
		{DTK_DOY, GC_CALL_DOY, -1, true},
		{DTK_HOUR, GC_CALL_HOUR, GC_CALL_TRUNC_HOUR},
		{DTK_MINUTE, GC_CALL_MINUTE, GC_CALL_TRUNC_MINUTE},
		{DTK_SECOND, -1, GC_CALL_TRUNC_SECOND},
		{DTK_MILLISEC, -1, GC_CALL_TRUNC_MILLISECOND},
		{DTK_MICROSEC, GC_CALL_USEC, -1},
	};
	static const Field none = {.call = -1,.truncate = -1};

	for (int i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].field == field)
			return &fields[i];
	}
	return &none;
}

int
gc_field_named(const Const *name)
{
	char	   *spelled = TextDatumGetCString(name->constvalue);
	char	   *lower = downcase_truncate_identifier(spelled, strlen(spelled), false);
	int			value;
	int			type = DecodeUnits(0, lower, &value);

	if (type == UNKNOWN_FIELD)
		type = DecodeSpecial(0, lower, &value);
	return type == UNITS || (type == RESERV && value == DTK_EPOCH) ? value : -1;
}

int
gc_field_call(int field)
{
	return known(field)->call;
}

int
gc_trunc_call(int field)
{
	return known(field)->truncate;
}

bool
gc_is_date_field(int field)
{
	return known(field)->of_date;
}

bool
gc_truncates_to_date(int field)
{
	return known(field)->of_date && known(field)->truncate >= 0;
}
