/*-------------------------------------------------------------------------
 *
 * spec.h
 *	  The stages between gc_rel_plannable() and gc_rel_cacheable(), for the
 *	  other files of this room.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SPEC_H
#define GC_SPEC_H

#include "columns.h"

/* Plannable, and its file is one that chunks can stand for in this transaction. */
extern bool gc_rel_servable(Relation rel, const char **reason);

/* Servable, and what this transaction reads may be published to all others. */
extern bool gc_rel_loadable(Relation rel, const char **reason);

#endif							/* GC_SPEC_H */
