/*-------------------------------------------------------------------------
 *
 * edge.h
 *	  How rows go from one step of a pipeline to the next (Paul, He, He 2016).
 *
 * An edge lies before a step, or before the sink.  It does not change a program's results.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EDGE_H
#define GC_EDGE_H

typedef enum GcEdge
{
	GC_EDGE_FUSE = 0,			/* in registers */
	GC_EDGE_REFILL,				/* survivors are gathered in the same kernel until every lane has one */
	GC_EDGE_CHANNEL,			/* producers and consumers run at the same time, and pass packets through
								 * the L2 cache */
	GC_EDGE_MATERIALIZE			/* the producer's kernel writes packets to memory, and the consumer's
								 * comes behind it */
} GcEdge;

/* Edges that the cost model chooses, where an edge is asked for. */
#define GC_EDGE_AUTO	(-1)

#endif							/* GC_EDGE_H */
