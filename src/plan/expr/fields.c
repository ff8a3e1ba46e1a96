/*-------------------------------------------------------------------------
 *
 * fields.c
 *	  Fields of timestamps, by name, and the device's functions for them.
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
	static const struct
	{
		int			field;
		GcFunction	function;
	}			fields[] = {
		{DTK_YEAR, GC_CALL_YEAR}, {DTK_DECADE, GC_CALL_DECADE}, {DTK_CENTURY, GC_CALL_CENTURY},
		{DTK_MILLENNIUM, GC_CALL_MILLENNIUM}, {DTK_QUARTER, GC_CALL_QUARTER}, {DTK_MONTH, GC_CALL_MONTH},
		{DTK_DAY, GC_CALL_DAY}, {DTK_DOW, GC_CALL_DOW}, {DTK_ISODOW, GC_CALL_ISODOW}, {DTK_DOY, GC_CALL_DOY},
		{DTK_ISOYEAR, GC_CALL_ISOYEAR}, {DTK_WEEK, GC_CALL_WEEK}, {DTK_HOUR, GC_CALL_HOUR},
		{DTK_MINUTE, GC_CALL_MINUTE}, {DTK_MICROSEC, GC_CALL_USEC},
	};

	for (int i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].field == field)
			return fields[i].function;
	}
	return -1;
}

int
gc_trunc_call(int field)
{
	static const struct
	{
		int			field;
		GcFunction	function;
	}			fields[] = {
		{DTK_MILLENNIUM, GC_CALL_TRUNC_MILLENNIUM}, {DTK_CENTURY, GC_CALL_TRUNC_CENTURY},
		{DTK_DECADE, GC_CALL_TRUNC_DECADE}, {DTK_YEAR, GC_CALL_TRUNC_YEAR}, {DTK_QUARTER, GC_CALL_TRUNC_QUARTER},
		{DTK_MONTH, GC_CALL_TRUNC_MONTH}, {DTK_WEEK, GC_CALL_TRUNC_WEEK}, {DTK_DAY, GC_CALL_TRUNC_DAY},
		{DTK_HOUR, GC_CALL_TRUNC_HOUR}, {DTK_MINUTE, GC_CALL_TRUNC_MINUTE}, {DTK_SECOND, GC_CALL_TRUNC_SECOND},
		{DTK_MILLISEC, GC_CALL_TRUNC_MILLISECOND},
	};

	for (int i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].field == field)
			return fields[i].function;
	}
	return -1;
}

bool
gc_is_date_field(int field)
{
	switch (field)
	{
		case DTK_YEAR:
		case DTK_DECADE:
		case DTK_CENTURY:
		case DTK_MILLENNIUM:
		case DTK_QUARTER:
		case DTK_MONTH:
		case DTK_DAY:
		case DTK_DOW:
		case DTK_ISODOW:
		case DTK_DOY:
		case DTK_ISOYEAR:
		case DTK_WEEK:
			return true;
		default:
			return false;
	}
}

bool
gc_truncates_to_date(int field)
{
	switch (field)
	{
		case DTK_MILLENNIUM:
		case DTK_CENTURY:
		case DTK_DECADE:
		case DTK_YEAR:
		case DTK_QUARTER:
		case DTK_MONTH:
		case DTK_WEEK:
		case DTK_DAY:
			return true;
		default:
			return false;
	}
}
