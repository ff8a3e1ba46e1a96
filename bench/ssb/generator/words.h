/*-------------------------------------------------------------------------
 *
 * words.h
 *	  The word lists that text columns draw from.
 *
 *-------------------------------------------------------------------------
 */
#ifndef WORDS_H
#define WORDS_H

typedef struct Nation
{
	const char *name;
	const char *region;
	int			phone_code;
} Nation;

extern const Nation nations[25];
extern const char *const segments[5];
extern const char *const priorities[5];
extern const char *const ship_modes[7];
extern const char *const colors[92];
extern const char *const type_sizes[6];
extern const char *const type_finishes[5];
extern const char *const type_metals[5];
extern const char *const container_sizes[5];
extern const char *const container_kinds[8];
extern const char *const month_names[12];
extern const char *const weekday_names[7];
/* by month */
extern const char *const seasons[12];

#endif							/* WORDS_H */
