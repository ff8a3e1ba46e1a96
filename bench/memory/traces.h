/*-------------------------------------------------------------------------
 *
 * traces.h
 *	  Traces of requests: of queries' column sets, in an order that is made, or as recorded.
 *
 * One thread; state is global, since this is part of a program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BENCH_TRACES_H
#define GC_BENCH_TRACES_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_UNITS		65536
#define MOST_QUERIES	4096
#define MOST_SESSIONS	32

/* One part of one column. */
typedef struct Unit
{
	unsigned	db;
	unsigned	rel;
	int			att;
	unsigned	place;
	uint64_t	bytes;
} Unit;

typedef struct Query
{
	char		name[64];
	int		   *unit;
	int			n;
	uint64_t	bytes;
} Query;

/* A request reads a unit. */
typedef struct Access
{
	uint32_t	request;
	uint32_t	unit;
} Access;

typedef enum Kind
{
	ZIPF,
	UNIFORM,
	CYCLE,
	PHASE,
	HUNGRY,
	RECORDED,
	NKINDS
} Kind;

/* How queries are chosen. */
typedef struct Choice
{
	Kind		kind;
	int			order[MOST_QUERIES];	/* the most frequent first */
	int			n;
	int			asked;			/* queries so far */
	int			requests;
	int			largest;
} Choice;

extern Unit units[MOST_UNITS];
extern int	nunits;
extern Query queries[MOST_QUERIES];
extern int	nqueries;

/* The trace: what is read, in this order, and the query of each request, from 1. */
extern Access *sequence;
extern uint32_t naccesses;
extern int *query_of;

/* End the program with a message. */
extern void die(const char *what);

/* Have the orders that are made be those of this seed. */
extern void seed_traces(uint64_t seed);

/* Read column sets.  labelled: a query has all requests behind its name; else each request is one. */
extern void read_queries(const char *path, bool labelled);

/* Bytes of all units of n queries, each counted once. */
extern uint64_t union_bytes(const int *order, int n);

/* memory: bytes; a cycle is of queries that have somewhat more. */
extern void begin_choice(Choice *c, Kind kind, uint64_t memory, int requests);

/* Make the trace.  Sessions read the parts of their tables in turn, all columns of a part at once. */
extern void make_sequence(Choice *c, int sessions, int requests);

#endif							/* GC_BENCH_TRACES_H */
