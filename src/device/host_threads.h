/*-------------------------------------------------------------------------
 *
 * host_threads.h
 *	  The threads of device host, which execute the operations of its streams.
 *
 * Called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOST_THREADS_H
#define GC_HOST_THREADS_H

#include "host_internal.h"

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

#endif							/* GC_HOST_THREADS_H */
