/*-------------------------------------------------------------------------
 *
 * sinks.h
 *	  The sinks, each a file behind sink.h; packets, as they are written before an edge, and read behind it.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SINKS_H
#define GC_SINKS_H

#include "../expr/state.h"

/* A sink's steps at each point (sink.h has more); NULL: it does nothing. */
typedef struct Sink
{
	void		(*prepare) (Cg *cg);
	void		(*require) (Cg *cg);
	void		(*row) (Cg *cg);
	bool		(*takes_all) (const Cg *cg);	/* NULL: no */
	void		(*begin_parts) (Cg *cg);
	void		(*add_parts) (Cg *cg);
	void		(*state) (Cg *cg, Text *t);
	bool		(*uses_shared) (const Cg *cg);	/* NULL: no */
	void		(*table) (Cg *cg, Text *t);
	void		(*clear) (Cg *cg, Text *t);
	void		(*end) (Cg *cg, Text *t);
} Sink;

/* The place of a row or group in an order, as gc_image: larger for one that comes earlier. */
extern void cg_emit_image(Cg *cg);

extern const Sink sink_build;
extern const Sink sink_rows;
extern const Sink sink_one_group;
extern const Sink sink_dense_groups;
extern const Sink sink_hash_groups;
extern const Sink sink_select;
extern const Sink sink_packets;

/* Add the argument words of the edge. */
extern void cg_edge_words(Cg *cg);

/* Constants of the edge, at kernel scope. */
extern void cg_edge_constants(const Cg *cg, Text *t);

/* Behind an edge, for the current row: declare xN of each build whose match its packet has. */
extern void cg_declare_matches(Cg *cg);

#endif							/* GC_SINKS_H */
