/*-------------------------------------------------------------------------
 *
 * calendar.c
 *	  The calendar of the benchmark's seven years.
 *
 *-------------------------------------------------------------------------
 */
#include "calendar.h"

Day			days[NDAYS];

static int
days_in_month(int year, int month)
{
	static const int ndays[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};

	/* good enough for 1992 to 1998 */
	return ndays[month - 1] + (month == 2 && year % 4 == 0);
}

void
fill_calendar(void)
{
	Day		   *day = days;
	int			wday = 3;		/* 1992-01-01 was a Wednesday */

	for (int year = FIRST_YEAR; year <= LAST_YEAR; year++)
	{
		int			yday = 0;

		for (int month = 1; month <= 12; month++)
		{
			int			last = days_in_month(year, month);

			for (int mday = 1; mday <= last; mday++, day++)
			{
				day->key = (year * 100 + month) * 100 + mday;
				day->year = year;
				day->month = month;
				day->mday = mday;
				day->yday = ++yday;
				day->wday = wday;
				day->last_in_month = mday == last;
				wday = (wday + 1) % 7;
			}
		}
	}
}

/* The specification names no holidays; these are six of the United States. */
bool
is_holiday(const Day *d)
{
	bool		monday = d->wday == 1;
	bool		thursday = d->wday == 4;

	return (d->month == 1 && d->mday == 1) ||	/* New Year */
		(d->month == 5 && monday && d->mday > 31 - 7) ||	/* Memorial Day */
		(d->month == 7 && d->mday == 4) ||	/* Independence Day */
		(d->month == 9 && monday && d->mday <= 7) ||	/* Labor Day */
		(d->month == 11 && thursday &&
		 d->mday > 21 && d->mday <= 28) ||	/* Thanksgiving */
		(d->month == 12 && d->mday == 25);	/* Christmas */
}
