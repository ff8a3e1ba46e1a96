/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  The custom scan node.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCAN_H
#define GC_SCAN_H

/* How nodes that plan/ makes are executed. */
extern void gc_register_scan_methods(void);

#endif							/* GC_SCAN_H */
