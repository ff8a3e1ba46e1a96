/*-------------------------------------------------------------------------
 *
 * gen.h
 *	  What all files of the generator share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GEN_H
#define GEN_H

#include <stdint.h>

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* These numbers seed the tables' random sequences: others make other data. */
typedef enum TableId
{
	LINEORDER,
	CUSTOMER,
	SUPPLIER,
	PART,
	DATE
} TableId;

#define NTABLES				5

/* how many rows of each table (of lineorder: orders) there are at a scale */
typedef struct Sizes
{
	int64_t		n[NTABLES];
} Sizes;

#endif							/* GEN_H */
