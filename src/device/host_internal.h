/*-------------------------------------------------------------------------
 *
 * host_internal.h
 *	  The objects of device host, which host.c and host_threads.c share.
 *
 * host_threads.c says which threads use them and what the lock protects.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOST_INTERNAL_H
#define GC_HOST_INTERNAL_H

#include "device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "host_compile.h"

/* Copies and fills are cut into pieces of this size, one unit of work each. */
#define HOST_PIECE			((size_t) 1 << 20)

/* Shared memory that a block can count on, and the most that a launch may ask for. */
#define HOST_SHARED_BYTES	(256 * 1024)
#define HOST_SHARED_MAX		((u32) 1 << 30)

typedef struct HostDevice HostDevice;

typedef enum HostOpKind
{
	HOST_COPY,
	HOST_FILL,
	HOST_LAUNCH,
	HOST_EVENT,					/* note the time, release waiting streams */
	HOST_WAIT,					/* for another stream's event */
} HostOpKind;

typedef struct HostOp HostOp;
typedef struct HostGang HostGang;

/* One operation of a stream: `units` pieces of work that may run side by side. */
struct HostOp
{
	HostOp	   *next;			/* in its stream, or in the list of free operations */
	HostOpKind	kind;
	int			users;			/* threads inside it */
	bool		short_units;	/* a spare thread has done one of its units */
	u64			units;
	atomic_ullong next_unit;	/* the first unit that no thread has claimed yet */

	/* HOST_COPY, HOST_FILL */
	char	   *dst;
	const char *src;
	size_t		size;
	int			byte;

	double		link_bytes;		/* that cross a pretended link; 0: none do */

	/* HOST_EVENT, HOST_WAIT */
	GcEvent	   *event;

	/* HOST_LAUNCH */
	GcHostKernel entry;
	u32			blocks;
	u32			shared_bytes;
	HostGang   *gang;			/* malloc'd; NULL: `args` and `blocks` are the launch's */
	GcArgs		args;
};

/* A gang launch: as GcGang in a kernel's text, but the arguments come one after another in `bytes`. */
struct HostGang
{
	u32			end[GC_GANG_MOST];
	size_t		stride;
	_Alignas(GcArgs) char bytes[];
};

struct GcStream
{
	HostDevice *dev;
	HostOp	   *head;			/* being worked on; NULL when idle */
	HostOp	   *tail;
	bool		in_ring;		/* head has units that no thread has claimed */
	GcStream   *ring_next;
	GcStream   *ring_before;
	GcStream   *other;			/* in dev->parked, or in settle()'s list */
	GcError		error;			/* the first failure; later work is left out */
	GcStream   *next;			/* in dev->streams */
	GcStream   *next_free;
};

struct GcEvent
{
	HostDevice *dev;
	int			refs;			/* its owner, and every queued op that names it */
	bool		owned;			/* not put back yet */
	atomic_bool done;
	struct timespec time;		/* when done */
	GcError		error;			/* the stream's, when done */
	GcEvent	   *next;			/* in dev->events */
	GcEvent	   *next_free;
};

typedef struct HostThread
{
	HostDevice *dev;
	pthread_t	thread;
	const HostOp *op;			/* that it works on; NULL: none */
	atomic_ullong began;		/* with the unit that it does; nanoseconds of CLOCK_MONOTONIC */
	void	   *scratch;
	size_t		scratch_size;
} HostThread;

struct HostDevice
{
	GcDevice	base;
	HostCompiler compiler;
	void	   *pool;
	u64			pool_size;
	GcStream   *streams;		/* all; main thread only, like the next two */
	GcStream   *free_streams;
	GcModule   *modules;		/* all */
	HostThread *threads;
	int			nthreads;		/* running */
	HostThread *spares;
	int			nspares;		/* running */

	pthread_mutex_t lock;		/* of all fields below, streams' queues and events */
	pthread_cond_t work;		/* the ring got a member, or stop */
	pthread_cond_t spare;		/* as `work`, for spare threads */
	int			nidle;			/* threads that wait for work */
	bool		watched;		/* a spare thread looks at the ring once in a while */
	bool		lacks;			/* threads, as one saw when it looked last */
	pthread_cond_t done;		/* an event is done, or all is idle */
	GcStream   *ring;			/* next stream to be served, round-robin */
	atomic_int	nring;			/* streams in the ring */
	GcStream   *parked;			/* streams whose head waits for an event */
	int			nbusy;			/* streams with a head */
	HostOp	   *spare_ops;
	GcEvent	   *events;			/* all */
	GcEvent	   *free_events;
	bool		wake_needed;	/* to be called when the lock is released */
	double		link;			/* bytes per second of the pretended link; 0: none.  Constant */
	double		link_free;		/* when all that was given to it has crossed: seconds of CLOCK_MONOTONIC */
	atomic_bool stop;
};

extern GcCode gc_host_threads_start(HostDevice *dev, int nthreads, GcError *err);

/* Join the threads and free the queued tasks; streams and events remain. */
extern void gc_host_threads_stop(HostDevice *dev);

/* An empty operation to be filled and submitted; NULL with *err set. */
extern HostOp *gc_host_op_new(HostDevice *dev, HostOpKind kind, GcError *err);
extern void gc_host_submit(GcStream *stream, HostOp *op);

/* Give back an operation that is not to be submitted. */
extern void gc_host_op_drop(HostDevice *dev, HostOp *op);

/* A copy of the members of a gang launch; NULL: out of memory. */
extern HostGang *gc_host_gang_new(const GcGangMember *members, int n, int args_words);

/* True when nothing is queued on it and nothing has failed. */
extern bool gc_host_stream_idle(GcStream *stream);

extern GcEvent *gc_host_event_new(HostDevice *dev, GcError *err);
extern void gc_host_event_ref(GcEvent *event);
extern void gc_host_event_put(GcEvent *event);
extern void gc_host_event_await(GcEvent *event);
extern void gc_host_await_idle(HostDevice *dev);

#endif							/* GC_HOST_INTERNAL_H */
