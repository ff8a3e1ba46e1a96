/*-------------------------------------------------------------------------
 *
 * warm.h
 *	  gpuconc.warm_tables: tables that are loaded when the server starts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WARM_H
#define GC_WARM_H

#include "postgres.h"

/* Register a worker for each of the databases.  In the postmaster, as the library is loaded. */
extern void gc_warm_register(void);

/* Entry point of these workers (bgw_function_name). */
extern PGDLLEXPORT void gc_warm_main(Datum main_arg);

#endif							/* GC_WARM_H */
