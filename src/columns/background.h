/*-------------------------------------------------------------------------
 *
 * background.h
 *	  Starting loader workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BACKGROUND_H
#define GC_BACKGROUND_H

#include "postgres.h"

#include "utils/relcache.h"

#include "columns.h"

/* What a loader is told, in bgw_extra. */
typedef struct GcLoaderArgs
{
	GcRelKey	key;
	bool		refresh;
} GcLoaderArgs;

/* Have up to n workers help with the job of this relation. */
extern void gc_loader_start_workers(const GcRelKey *key, int n);

/*
 * Have what is cached of rel brought up to date, without waiting: a background
 * worker loads every chunk anew that more than a few pages would profit from.
 */
extern void gc_load_in_background(Relation rel);

#endif							/* GC_BACKGROUND_H */
