/*-------------------------------------------------------------------------
 *
 * request.h
 *	  Writing a request; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REQUEST_H
#define GC_REQUEST_H

#include "exec.h"

extern GcCode gc_make_request(GcBinding *b);

#endif							/* GC_REQUEST_H */
