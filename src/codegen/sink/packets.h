/*-------------------------------------------------------------------------
 *
 * packets.h
 *	  Packets, as they are written before an edge, and read behind it.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_PACKETS_H
#define GC_CODEGEN_PACKETS_H

#include "../expr/state.h"

/* Add the argument words of the edge. */
extern void cg_edge_words(Cg *cg);

/* Constants of the edge, at kernel scope. */
extern void cg_edge_constants(const Cg *cg, Text *t);

/* Behind an edge, for the current row: declare xN of each build whose match its packet has. */
extern void cg_declare_matches(Cg *cg);

#endif							/* GC_CODEGEN_PACKETS_H */
