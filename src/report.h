/*-------------------------------------------------------------------------
 *
 * report.h
 *	  Where the status world ends: a GcError becomes an ereport.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REPORT_H
#define GC_REPORT_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "compat.h"
#include "status.h"

/*
 * Under gpuconc.debug_offload = require: the query could not be answered by the
 * device for this reason.
 */
pg_noreturn extern void gc_report_required(GcCode code, const GcError *err);

/*
 * An error if an SQL function that returns this many columns was declared with another
 * number: the extension's objects are of another version than the library.
 */
extern void gc_check_columns(TupleDesc declared, int columns);

#endif							/* GC_REPORT_H */
