/*-------------------------------------------------------------------------
 *
 * gpuconc_columns_test.h
 *	  What the functions of the test module share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPUCONC_COLUMNS_TEST_H
#define GPUCONC_COLUMNS_TEST_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/rel.h"

#include "columns/store/directory.h"

extern void columns_test_require_superuser(void);

/* A row of values of the function's result, of which none is NULL. */
extern Datum columns_test_a_row(FunctionCallInfo fcinfo, Datum *values);

/* The directory that a new request would use, or NULL.  Under a guard. */
extern GcDirectory *columns_test_usable_directory(Relation rel);

#endif							/* GPUCONC_COLUMNS_TEST_H */
