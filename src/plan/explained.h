/*-------------------------------------------------------------------------
 *
 * explained.h
 *	  Why a statement that is explained was not offloaded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXPLAINED_H
#define GC_EXPLAINED_H

/* Why the statement of this text was not offloaded, once it is planned; empty if it was. */
extern void gc_explained_refusal(const char *refusal, const char *text);

extern void gc_explained_install(void);

#endif							/* GC_EXPLAINED_H */
