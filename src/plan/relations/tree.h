/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  From the set of joined relations to a tree of leaves; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TREE_H
#define GC_TREE_H

#include "../base/planning.h"
#include "../base/translate.h"

/* How the reason begins if nothing can be streamed. */
#define GC_NONE_CACHED	"no relation can be read through the column cache: "

/* The tree of a described join; false, with tr->reason, if there is none. */
extern bool gc_translate_tree(GcTranslation *tr, GcRelDesc *desc);

#endif							/* GC_TREE_H */
