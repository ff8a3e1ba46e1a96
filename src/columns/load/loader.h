/*-------------------------------------------------------------------------
 *
 * loader.h
 *	  Loader workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LOADER_H
#define GC_LOADER_H

/* Entry point of loader workers (bgw_function_name). */
extern PGDLLEXPORT void gc_loader_main(Datum main_arg);

#endif							/* GC_LOADER_H */
