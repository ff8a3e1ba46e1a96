/*-------------------------------------------------------------------------
 *
 * host_internal.h
 *	  What the files of device host share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOST_INTERNAL_H
#define GC_HOST_INTERNAL_H

#include "device.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Copies and fills are cut into pieces of this size, one unit of work each. */
#define HOST_PIECE			((size_t) 1 << 20)

/* What a block can count on, and the scratch memory above which a launch fails. */
#define HOST_SHARED_BYTES	(256 * 1024)
#define HOST_SHARED_MAX		((u32) 1 << 30)

typedef struct HostDevice HostDevice;

/* ---------- host_compile.c ---------- */

#define HOST_TMPDIRS 4

typedef struct HostCompiler
{
	char		path[PATH_MAX];
	bool		native;			/* it knows -march=native */
	char	  **env;			/* environment for it, less TMPDIR; NULL ends it */
	int			nenv;
	int			ntmpdirs;
	char		tmpdirs[HOST_TMPDIRS][PATH_MAX];	/* where to try, in order */
} HostCompiler;

/*
 * Find a compiler whose output this process can load, and fill in `target`.
 * GC_NO_COMPILER when there is none; then nothing is left to be freed.
 */
extern GcCode gc_host_compiler_find(HostCompiler *compiler, const char *temp_directory,
									char *target, size_t size, GcError *err);
extern void gc_host_compiler_free(HostCompiler *compiler);

/* Thread-safe. */
extern GcCode gc_host_compile(const HostCompiler *compiler, const char *source,
							  GcImage *image, GcError *err);

/* ---------- host_module.c ---------- */

/* Load a shared object from memory; *handle is one of dlopen's.  Main thread. */
extern GcCode gc_host_dlopen(const GcImage *image, void **handle, GcError *err);

/* ---------- host_threads.c ---------- */

typedef enum HostOpKind
{
	HOST_COPY,
	HOST_FILL,
	HOST_LAUNCH,
	HOST_MARK,					/* note the time, tell who waits */
	HOST_WAIT,					/* for another stream's mark */
} HostOpKind;

typedef struct HostOp HostOp;

/* One operation of a stream: `units` pieces of work that may run side by side. */
struct HostOp
{
	HostOp	   *next;			/* in its stream, or in the list of spare ones */
	HostOpKind	kind;
	int			users;			/* threads inside it */
	u64			units;
	atomic_ullong next_unit;	/* the first that nobody has claimed yet */

	/* HOST_COPY, HOST_FILL */
	char	   *dst;
	const char *src;
	size_t		size;
	int			byte;

	/* HOST_MARK, HOST_WAIT */
	GcMark	   *mark;

	/* HOST_LAUNCH */
	GcHostKernel entry;
	u32			blocks;
	u32			shared_bytes;
	GcArgs		args;
};

struct GcStream
{
	HostDevice *dev;
	HostOp	   *head;			/* being worked on; NULL when idle */
	HostOp	   *tail;
	bool		in_ring;		/* head has units that nobody has claimed */
	GcStream   *ring_next;
	GcStream   *ring_before;
	GcStream   *other;			/* in dev->parked, or in settle()'s list */
	GcError		error;			/* the first failure; later work is left out */
	GcStream   *next;			/* in dev->streams */
	GcStream   *next_free;
};

struct GcMark
{
	HostDevice *dev;
	int			refs;			/* its owner, and every queued op that names it */
	bool		owned;			/* not put back yet */
	atomic_bool done;
	struct timespec time;		/* when done */
	GcError		error;			/* the stream's, when done */
	GcMark	   *next;			/* in dev->marks */
	GcMark	   *next_free;
};

typedef struct HostThread
{
	HostDevice *dev;
	pthread_t	thread;
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

	pthread_mutex_t lock;		/* of all that follows, streams' queues and marks */
	pthread_cond_t work;		/* the ring got a member, or stop */
	pthread_cond_t done;		/* a mark is done, or all is idle */
	GcStream   *ring;			/* next stream to be served, round-robin */
	atomic_int	nring;			/* streams in the ring */
	GcStream   *parked;			/* streams whose head waits for a mark */
	int			nbusy;			/* streams with a head */
	HostOp	   *spare_ops;
	GcMark	   *marks;			/* all */
	GcMark	   *free_marks;
	bool		wake_needed;	/* to be called when the lock is released */
	atomic_bool stop;
};

extern GcCode gc_host_threads_start(HostDevice *dev, int nthreads, GcError *err);

/* Join the threads and free what is queued; streams and marks remain. */
extern void gc_host_threads_stop(HostDevice *dev);

/* An empty operation to be filled and submitted; NULL with *err set. */
extern HostOp *gc_host_op_new(HostDevice *dev, HostOpKind kind, GcError *err);
extern void gc_host_submit(GcStream *stream, HostOp *op);

/* True when nothing is queued on it and nothing has failed. */
extern bool gc_host_stream_idle(GcStream *stream);

extern GcMark *gc_host_mark_new(HostDevice *dev, GcError *err);
extern void gc_host_mark_ref(GcMark *mark);
extern void gc_host_mark_put(GcMark *mark);
extern void gc_host_mark_await(GcMark *mark);
extern void gc_host_await_idle(HostDevice *dev);

#endif							/* GC_HOST_INTERNAL_H */
