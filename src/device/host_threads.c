/*-------------------------------------------------------------------------
 *
 * host_threads.c
 *	  Device "host": the threads that do a GPU's work, and the streams that they serve.
 *
 * A stream is a queue of operations; its head alone is being worked on.  An
 * operation is some number of units (blocks of a launch, pieces of a copy),
 * which any thread claims by an atomic counter.  Streams whose head has units left are in
 * a ring.  A thread takes the next stream of the ring, and claims a unit.  While no other
 * stream is in the ring, it goes on claiming units of the same operation without the lock.
 * Else it goes back for the next stream.  So streams share the threads evenly, and a launch
 * of many blocks does not starve the others.
 *
 * A block is never interrupted, and how long it takes is decided by the data.  So there are spare
 * threads.  While a thread does one unit for longer than UNIT_NS, a spare one takes its place, for
 * streams that no such thread works for.  The system then shares the processors between both.  Where
 * an operation's units are not known to be short, spare threads do one unit at a time.  So they do
 * not all end up in long ones.
 *
 * The last thread to leave an operation (HostOp.users), once all its units are claimed,
 * takes it off its stream and settles the stream.  That means to complete events and look
 * at waits until the stream has work again or is empty.
 *
 * Process and threads: the worker process.  Functions that begin with gc_ are
 * called on the main thread, all others on any.  Pool threads have all signals
 * blocked, so that the server's handlers run on the main thread only.
 *
 * Locks: one, HostDevice.lock; it is held for some instructions at a time,
 * never while a unit runs and never while wake() is called.
 *
 * Ownership: operations belong to the device and are recycled.  An event is recycled when
 * its owner has put it back and no queued operation names it.  So a wait keeps meaning the
 * event that it was queued for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "host_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_STACK	((size_t) 8 << 20)	/* kernels may have large locals */
#define SCRATCH_ALIGN	64

/* A unit is long if it takes more nanoseconds.  While there is work, somebody looks for long ones that often. */
#define UNIT_NS			10000000
#define LOOK_NS			5000000

/* As many spare threads as others, but so many at least. */
#define SPARES_LEAST	8

/* ---------- the ring of streams that have work ---------- */

/* The stream has work: threads come to it in turn.  Under the lock. */
static void
ring_insert(HostDevice *dev, GcStream *stream)
{
	if (dev->ring == NULL)
	{
		stream->ring_next = stream->ring_before = stream;
		dev->ring = stream;
	}
	else
	{
		/* Last in the round. */
		stream->ring_next = dev->ring;
		stream->ring_before = dev->ring->ring_before;
		stream->ring_before->ring_next = stream;
		dev->ring->ring_before = stream;
	}
	stream->in_ring = true;
	atomic_fetch_add(&dev->nring, 1);
	if (stream->head->units > 1)
		pthread_cond_broadcast(&dev->work);
	else
		pthread_cond_signal(&dev->work);
	if (dev->nidle == 0 && (dev->lacks || !dev->watched))
		pthread_cond_signal(&dev->spare);
}

/* No thread can take more of the stream's work for now.  Under the lock. */
static void
ring_remove(HostDevice *dev, GcStream *stream)
{
	stream->ring_next->ring_before = stream->ring_before;
	stream->ring_before->ring_next = stream->ring_next;
	if (dev->ring == stream)
		dev->ring = stream->ring_next != stream ? stream->ring_next : NULL;
	stream->in_ring = false;
	atomic_fetch_sub(&dev->nring, 1);
}

/* ---------- events ---------- */

/* Under the lock. */
static void
event_unref(GcEvent *event)
{
	if (--event->refs == 0)
	{
		event->next_free = event->dev->free_events;
		event->dev->free_events = event;
	}
}

/* Take all streams that wait for this event off the parked list, onto `list`. */
static void
unpark(HostDevice *dev, const GcEvent *event, GcStream **list)
{
	GcStream  **link = &dev->parked;

	while (*link != NULL)
	{
		GcStream   *stream = *link;

		if (stream->head->event == event)
		{
			*link = stream->other;
			stream->other = *list;
			*list = stream;
		}
		else
			link = &stream->other;
	}
}

/* All before the event is done: note its time, and wake who waits for it.  Under the lock. */
static void
complete_event(HostDevice *dev, GcStream *stream, GcEvent *event, GcStream **list)
{
	clock_gettime(CLOCK_MONOTONIC, &event->time);
	event->error = stream->error;
	atomic_store(&event->done, true);
	unpark(dev, event, list);
	if (event->owned)
	{
		dev->wake_needed = true;
		pthread_cond_broadcast(&dev->done);
	}
	event_unref(event);
}

/* ---------- streams ---------- */

/* Keep the operation for the next one.  Under the lock. */
static void
spare_op(HostDevice *dev, HostOp *op)
{
	free(op->gang);
	op->gang = NULL;
	op->next = dev->spare_ops;
	dev->spare_ops = op;
}

/* The stream's first operation is done.  Under the lock. */
static void
drop_head(HostDevice *dev, GcStream *stream)
{
	HostOp	   *op = stream->head;

	stream->head = op->next;
	spare_op(dev, op);
	if (stream->head == NULL && --dev->nbusy == 0)
		pthread_cond_broadcast(&dev->done);
}

/*
 * Deal with the head of the stream if that needs no work: true when done, false
 * when the stream has to stay as it is.
 */
static bool
settle_head(HostDevice *dev, GcStream *stream, GcStream **list)
{
	HostOp	   *op = stream->head;

	switch (op->kind)
	{
		case HOST_EVENT:
			complete_event(dev, stream, op->event, list);
			break;
		case HOST_WAIT:
			if (!atomic_load(&op->event->done))
			{
				stream->other = dev->parked;
				dev->parked = stream;
				return false;
			}
			/* If the other stream failed, this stream's work has no input. */
			if (stream->error.code == GC_OK)
				stream->error = op->event->error;
			event_unref(op->event);
			break;
		case HOST_COPY:
		case HOST_FILL:
		case HOST_LAUNCH:
			if (stream->error.code == GC_OK)
			{
				ring_insert(dev, stream);
				return false;
			}
			break;
	}
	drop_head(dev, stream);
	return true;
}

/* Settle a stream whose head is new, and streams that waited for it. */
static void
settle(HostDevice *dev, GcStream *stream)
{
	GcStream   *list = stream;

	stream->other = NULL;
	while (list != NULL)
	{
		stream = list;
		list = stream->other;
		while (stream->head != NULL && settle_head(dev, stream, &list))
			;
	}
}

/* Release the lock, then call wake() if that was asked for meanwhile. */
static void
unlock_and_wake(HostDevice *dev)
{
	void		(*wake) (void *arg) = dev->wake_needed ? dev->base.wake : NULL;
	void	   *arg = dev->base.wake_arg;

	dev->wake_needed = false;
	pthread_mutex_unlock(&dev->lock);
	if (wake != NULL)
		wake(arg);
}

/* ---------- work ---------- */

/* Scratch memory for one block, zeroed; NULL when there is not that much. */
static void *
get_scratch(HostThread *thread, u32 size)
{
	if (size > HOST_SHARED_MAX)
		return NULL;
	if (size > thread->scratch_size || thread->scratch == NULL)
	{
		size_t		wanted = size > HOST_SHARED_BYTES ? size : HOST_SHARED_BYTES;

		free(thread->scratch);
		thread->scratch_size = 0;
		if (posix_memalign(&thread->scratch, SCRATCH_ALIGN, wanted) != 0)
		{
			thread->scratch = NULL;
			return NULL;
		}
		thread->scratch_size = wanted;
	}
	return memset(thread->scratch, 0, size);
}

/* Run a block of a gang launch, with the arguments of its member. */
static void
run_member(const HostOp *op, u32 unit, void *scratch)
{
	const HostGang *gang = op->gang;
	u32			first = 0;
	int			m = 0;

	while (unit >= gang->end[m])
		first = gang->end[m++];
	op->entry((const GcArgs *) (gang->bytes + m * gang->stride), unit - first, gang->end[m] - first, scratch);
}

/*
 * Sleep until these bytes have crossed the pretended link, behind all that was given to it before.  The thread does
 * nothing else meanwhile: a device with such a link has more threads.
 */
static void
cross_link(HostDevice *dev, double bytes)
{
	struct timespec until;
	double		now;

	clock_gettime(CLOCK_MONOTONIC, &until);
	now = (double) until.tv_sec + until.tv_nsec * 1e-9;
	pthread_mutex_lock(&dev->lock);
	if (dev->link_free < now)
		dev->link_free = now;
	dev->link_free += bytes / dev->link;
	until.tv_sec = (time_t) dev->link_free;
	until.tv_nsec = (long) ((dev->link_free - (double) until.tv_sec) * 1e9);
	pthread_mutex_unlock(&dev->lock);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
		;
}

/* Run one block of a launch, or copy one piece.  Without the lock. */
static GcCode
run_unit(HostThread *thread, HostOp *op, u64 unit)
{
	size_t		offset = (size_t) unit * HOST_PIECE;
	size_t		size = op->size - offset < HOST_PIECE ? op->size - offset : HOST_PIECE;
	void	   *scratch;

	if (op->link_bytes > 0)
		cross_link(thread->dev, op->link_bytes / (double) op->units);
	switch (op->kind)
	{
		case HOST_COPY:
			memcpy(op->dst + offset, op->src + offset, size);
			break;
		case HOST_FILL:
			memset(op->dst + offset, op->byte, size);
			break;
		case HOST_LAUNCH:
			scratch = get_scratch(thread, op->shared_bytes);
			if (scratch == NULL)
				return GC_HOST_MEMORY;
			if (op->gang)
				run_member(op, (u32) unit, scratch);
			else
				op->entry(&op->args, (u32) unit, op->blocks, scratch);
			break;
		case HOST_EVENT:
		case HOST_WAIT:
			break;
	}
	return GC_OK;
}

/* Nanoseconds by a clock that never goes back. */
static u64
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64) t.tv_sec * 1000000000 + (u64) t.tv_nsec;
}

/* Work on an operation while it has units and no other stream wants a thread. */
static GcCode
run_units(HostThread *thread, HostOp *op)
{
	HostDevice *dev = thread->dev;
	GcCode		code = GC_OK;

	do
	{
		u64			unit = atomic_fetch_add(&op->next_unit, 1);

		if (unit >= op->units)
			break;
		atomic_store_explicit(&thread->began, now_ns(), memory_order_relaxed);
		code = run_unit(thread, op, unit);
	} while (code == GC_OK && atomic_load(&dev->nring) <= 1 && !atomic_load(&dev->stop));

	/* The units left of a failed operation are not worth doing. */
	if (code != GC_OK)
		atomic_store(&op->next_unit, op->units);
	return code;
}

static bool
in_long_unit(const HostThread *thread, u64 now)
{
	return thread->op != NULL && now > atomic_load_explicit(&thread->began, memory_order_relaxed) + UNIT_NS;
}

/* With the lock held on entry and on return: serve a stream of the ring; the one behind it comes next. */
static void
serve(HostThread *thread, GcStream *stream, bool spare)
{
	HostDevice *dev = thread->dev;
	HostOp	   *op = stream->head;
	GcCode		code;

	dev->ring = stream->ring_next;
	op->users++;
	thread->op = op;
	atomic_store_explicit(&thread->began, now_ns(), memory_order_relaxed);
	pthread_mutex_unlock(&dev->lock);

	code = run_units(thread, op);

	pthread_mutex_lock(&dev->lock);
	op->users--;
	op->short_units |= spare && !in_long_unit(thread, now_ns());
	thread->op = NULL;
	if (code != GC_OK && stream->error.code == GC_OK)
		gc_fail(&stream->error, code, "Out of memory for a kernel's %u bytes of scratch memory.",
				op->shared_bytes);
	if (atomic_load(&op->next_unit) < op->units)
		return;
	if (stream->in_ring)
		ring_remove(dev, stream);
	if (op->users == 0)
	{
		drop_head(dev, stream);
		settle(dev, stream);
		if (dev->wake_needed)
		{
			unlock_and_wake(dev);
			pthread_mutex_lock(&dev->lock);
		}
	}
}

/* A thread: take units of streams in turn, until the device is closed. */
static void *
thread_main(void *arg)
{
	HostThread *thread = arg;
	HostDevice *dev = thread->dev;

	pthread_mutex_lock(&dev->lock);
	while (!atomic_load(&dev->stop))
	{
		if (dev->ring == NULL)
		{
			dev->nidle++;
			pthread_cond_wait(&dev->work, &dev->lock);
			dev->nidle--;
		}
		else
			serve(thread, dev->ring, false);
	}
	pthread_mutex_unlock(&dev->lock);
	return NULL;
}

/* ---------- spare threads ---------- */

/* Threads and spares, counted together. */
static const HostThread *
any_thread(const HostDevice *dev, int i)
{
	return i < dev->nthreads ? &dev->threads[i] : &dev->spares[i - dev->nthreads];
}

/*
 * A stream of the ring that a spare thread is to serve.  NULL: the device has all its threads, or all streams are
 * served, if only by threads with a long unit.
 */
static GcStream *
neglected(HostDevice *dev)
{
	const u64	now = now_ns();
	const int	n = dev->nthreads + dev->nspares;
	GcStream   *stream = dev->ring;
	int			serving = dev->nthreads;

	/* Waiting threads are awake soon. */
	for (int i = 0; i < n; i++)
	{
		const HostThread *t = any_thread(dev, i);

		if (i < dev->nthreads)
			serving -= in_long_unit(t, now);
		else
			serving += t->op != NULL && !in_long_unit(t, now);
	}
	dev->lacks = serving < dev->nthreads;
	if (stream == NULL || !dev->lacks)
		return NULL;
	do
	{
		const HostOp *op = stream->head;
		bool		is_long = op->users > 0 && !op->short_units;

		for (int i = 0; i < n && !is_long; i++)
			is_long = any_thread(dev, i)->op == op && in_long_unit(any_thread(dev, i), now);
		if (!is_long)
			return stream;
		stream = stream->ring_next;
	} while (stream != dev->ring);
	return NULL;
}

/* A spare thread: it serves streams that threads neglect while they are in long units. */
static void *
spare_main(void *arg)
{
	HostThread *thread = arg;
	HostDevice *dev = thread->dev;

	pthread_mutex_lock(&dev->lock);
	while (!atomic_load(&dev->stop))
	{
		GcStream   *stream = neglected(dev);

		if (stream != NULL)
		{
			/* Somebody else looks meanwhile. */
			pthread_cond_signal(&dev->spare);
			serve(thread, stream, true);
		}
		else if (dev->ring == NULL || dev->watched)
			pthread_cond_wait(&dev->spare, &dev->lock);
		else
		{
			const u64	until = now_ns() + LOOK_NS;
			const struct timespec t = {.tv_sec = (time_t) (until / 1000000000),.tv_nsec = (long) (until % 1000000000)};

			dev->watched = true;
			pthread_cond_timedwait(&dev->spare, &dev->lock, &t);
			dev->watched = false;
		}
	}
	pthread_mutex_unlock(&dev->lock);
	return NULL;
}

/* ---------- start and stop ---------- */

/* Start a thread under a name.  False: there can be none. */
static bool
start_thread(HostDevice *dev, HostThread *thread, void *(*main) (void *), const char *name, const pthread_attr_t *attr)
{
	thread->dev = dev;
	if (pthread_create(&thread->thread, attr, main, thread) != 0)
		return false;
	pthread_setname_np(thread->thread, name);
	return true;
}

/* Start up to n threads; the system may not allow more than *running. */
static void
start_threads(HostDevice *dev, HostThread *threads, int n, void *(*main) (void *), const char *kind, int *running)
{
	pthread_attr_t attr;
	char		name[16];

	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	for (int i = 0; i < n; i++)
	{
		bool		started;

		snprintf(name, sizeof(name), "%s %d", kind, i % 10000);
		/* Threads that run read the number. */
		pthread_mutex_lock(&dev->lock);
		started = start_thread(dev, &threads[i], main, name, &attr);
		*running += started;
		pthread_mutex_unlock(&dev->lock);
		if (!started)
			break;
	}
	pthread_attr_destroy(&attr);
}

/* Start threads, which take no signals.  Some of those that are wanted are enough; GC_HOST_MEMORY: there is none. */
GcCode
gc_host_threads_start(HostDevice *dev, int nthreads, GcError *err)
{
	const int	nspares = nthreads > SPARES_LEAST ? nthreads : SPARES_LEAST;
	sigset_t	all;
	sigset_t	saved;

	dev->threads = calloc((size_t) nthreads, sizeof(HostThread));
	dev->spares = calloc((size_t) nspares, sizeof(HostThread));
	if (dev->threads == NULL || dev->spares == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for the threads of device host.");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	start_threads(dev, dev->threads, nthreads, thread_main, "gpuconc", &dev->nthreads);
	start_threads(dev, dev->spares, nspares, spare_main, "gpuconc spare", &dev->nspares);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);

	/* Some threads are enough; the system may not allow more. */
	if (dev->nthreads == 0)
		return gc_fail(err, GC_HOST_MEMORY, "Could not start a thread for device host.");
	return GC_OK;
}

/* Wait for threads that have been told to end, and free their shared memory. */
static void
join_threads(HostThread *threads, int n)
{
	for (int i = 0; i < n; i++)
	{
		pthread_join(threads[i].thread, NULL);
		free(threads[i].scratch);
	}
}

void
gc_host_threads_stop(HostDevice *dev)
{
	HostOp	   *op;

	pthread_mutex_lock(&dev->lock);
	atomic_store(&dev->stop, true);
	pthread_cond_broadcast(&dev->work);
	pthread_cond_broadcast(&dev->spare);
	pthread_mutex_unlock(&dev->lock);
	join_threads(dev->threads, dev->nthreads);
	join_threads(dev->spares, dev->nspares);
	dev->nthreads = dev->nspares = 0;
	free(dev->threads);
	free(dev->spares);
	dev->threads = dev->spares = NULL;

	for (GcStream *stream = dev->streams; stream != NULL; stream = stream->next)
	{
		while (stream->head != NULL)
			drop_head(dev, stream);
	}
	while ((op = dev->spare_ops) != NULL)
	{
		dev->spare_ops = op->next;
		free(op);
	}
}

/* ---------- for the main thread ---------- */

HostOp *
gc_host_op_new(HostDevice *dev, HostOpKind kind, GcError *err)
{
	HostOp	   *op;

	pthread_mutex_lock(&dev->lock);
	op = dev->spare_ops;
	if (op != NULL)
		dev->spare_ops = op->next;
	pthread_mutex_unlock(&dev->lock);
	if (op == NULL)
		op = malloc(sizeof(HostOp));
	if (op == NULL)
	{
		gc_fail(err, GC_HOST_MEMORY, "Out of memory for an operation of device host.");
		return NULL;
	}
	/* All but the arguments of a launch, which are large. */
	memset(op, 0, offsetof(HostOp, args));
	op->kind = kind;
	return op;
}

void
gc_host_op_drop(HostDevice *dev, HostOp *op)
{
	pthread_mutex_lock(&dev->lock);
	spare_op(dev, op);
	pthread_mutex_unlock(&dev->lock);
}

HostGang *
gc_host_gang_new(const GcGangMember *members, int n, int args_words)
{
	const size_t size = offsetof(GcArgs, w) + (size_t) args_words * sizeof(u64);
	HostGang   *gang = malloc(sizeof(HostGang) + (size_t) n * size);
	u32			blocks = 0;

	if (gang == NULL)
		return NULL;
	gang->stride = size;
	for (int m = 0; m < GC_GANG_MOST; m++)
		gang->end[m] = m < n ? (blocks += members[m].blocks) : ~0u;
	for (int m = 0; m < n; m++)
		memcpy(gang->bytes + m * size, members[m].args, size);
	return gang;
}

void
gc_host_submit(GcStream *stream, HostOp *op)
{
	HostDevice *dev = stream->dev;

	pthread_mutex_lock(&dev->lock);
	if (stream->head == NULL)
	{
		stream->head = stream->tail = op;
		dev->nbusy++;
		settle(dev, stream);
	}
	else
	{
		stream->tail->next = op;
		stream->tail = op;
	}
	unlock_and_wake(dev);
}

bool
gc_host_stream_idle(GcStream *stream)
{
	bool		idle;

	pthread_mutex_lock(&stream->dev->lock);
	idle = stream->head == NULL && stream->error.code == GC_OK;
	pthread_mutex_unlock(&stream->dev->lock);
	return idle;
}

/* An event that is not done, of the caller and of the operation that will mark it.  NULL: err set. */
GcEvent *
gc_host_event_new(HostDevice *dev, GcError *err)
{
	GcEvent	   *event;

	pthread_mutex_lock(&dev->lock);
	event = dev->free_events;
	if (event != NULL)
		dev->free_events = event->next_free;
	else if ((event = calloc(1, sizeof(GcEvent))) != NULL)
	{
		event->dev = dev;
		event->next = dev->events;
		dev->events = event;
	}
	if (event != NULL)
	{
		event->refs = 1;
		event->owned = true;
		atomic_store(&event->done, false);
	}
	pthread_mutex_unlock(&dev->lock);
	if (event == NULL)
		gc_fail(err, GC_HOST_MEMORY, "Out of memory for a event.");
	return event;
}

/* One holder more. */
void
gc_host_event_ref(GcEvent *event)
{
	pthread_mutex_lock(&event->dev->lock);
	event->refs++;
	pthread_mutex_unlock(&event->dev->lock);
}

/* The caller is done with the event, which may not have come to pass yet. */
void
gc_host_event_put(GcEvent *event)
{
	HostDevice *dev = event->dev;

	pthread_mutex_lock(&dev->lock);
	event->owned = false;
	event_unref(event);
	pthread_mutex_unlock(&dev->lock);
}

/* Wait, with the thread blocked, until the event is done. */
void
gc_host_event_await(GcEvent *event)
{
	HostDevice *dev = event->dev;

	pthread_mutex_lock(&dev->lock);
	while (!atomic_load(&event->done))
		pthread_cond_wait(&dev->done, &dev->lock);
	pthread_mutex_unlock(&dev->lock);
}

/* Wait until no stream has work. */
void
gc_host_await_idle(HostDevice *dev)
{
	pthread_mutex_lock(&dev->lock);
	while (dev->nbusy > 0)
		pthread_cond_wait(&dev->done, &dev->lock);
	pthread_mutex_unlock(&dev->lock);
}
