/*-------------------------------------------------------------------------
 *
 * calendar.h
 *	  The days that table date has, and lineorder's dates are of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CALENDAR_H
#define CALENDAR_H

#include <stdbool.h>

#define FIRST_YEAR			1992
#define LAST_YEAR			1998
#define NDAYS				(7 * 365 + 2)	/* 1992 and 1996 are leap years */

typedef struct Day
{
	int			key;			/* yyyymmdd */
	int			year;
	int			month;			/* 1..12 */
	int			mday;			/* 1..31 */
	int			yday;			/* 1..366 */
	int			wday;			/* 0 is Sunday */
	bool		last_in_month;
} Day;

extern Day	days[NDAYS];

extern void fill_calendar(void);
extern bool is_holiday(const Day *d);

#endif							/* CALENDAR_H */
