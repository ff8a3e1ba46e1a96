/*-------------------------------------------------------------------------
 *
 * faults.c
 *	  Device calls that are made to fail: for tests, of a device that pretends.
 *
 * Another implementation's operations, with a count in front.  A call that fails queues nothing.  Work that was queued
 * before goes on, as on a GPU that has no memory for one call more.  Once the device is lost, no call tells how far
 * work is.  Queued work is over by then, since kernels run on this machine's processors and write to its memory.
 *
 * The worker's main thread; compile() is not counted, since other threads call it.
 *
 *-------------------------------------------------------------------------
 */
#include "faults.h"

static GcDevice *device;
static const GcDeviceOps *inner;
static GcDeviceOps outer;

static long left = 0;			/* calls until one fails; 0: none does */
static bool loses = false;		/* the device is lost then */
static bool lost = false;

void
gc_faults_set(int n)
{
	loses = n < 0;
	left = loses ? -(long) n : n;
}

/* The error of all calls after the one that has lost the device. */
static GcCode
lost_device(GcError *err)
{
	return gc_fail(err, GC_DEVICE_FAILED, "The pretended device is lost.");
}

/* A call that asks: it finds out that the device is lost. */
static GcCode
asks(GcError *err)
{
	if (loses && left > 0 && --left == 0)
	{
		lost = true;
		/* A GPU that is lost writes nothing any more, whatever was queued. */
		(void) inner->drain(device, NULL);
	}
	return lost ? lost_device(err) : GC_OK;
}

/* A call that queues or loads something. */
static GcCode
queues(GcError *err)
{
	if (loses || lost)
		return asks(err);
	if (left > 0 && --left == 0)
		return gc_fail(err, GC_DEVICE_MEMORY, "The pretended device has no memory for this call.");
	return GC_OK;
}

/*
 * A call of this name: count it, and fail if its turn has come; else have the device do it.  counted: asks or queues;
 * then the parameters, and what is passed on.
 */
#define CALL(call, counted, parameters, ...) \
	static GcCode \
	faulty_##call parameters \
	{ \
		const GcCode code = counted(err); \
		\
		return code == GC_OK ? inner->call(__VA_ARGS__) : code; \
	}

/* A call of this name that gives something, or NULL: stream_get, for example.  All of them queue. */
#define CALL_FOR(type, call, parameters, ...) \
	static type * \
	faulty_##call parameters \
	{ \
		return queues(err) == GC_OK ? inner->call(__VA_ARGS__) : NULL; \
	}

CALL_FOR(GcStream, stream_get, (GcDevice *dev, GcError *err), dev, err)
CALL_FOR(GcEvent, event, (GcStream *stream, GcError *err), stream, err)
CALL_FOR(GcEvent, event_timed, (GcStream *stream, GcError *err), stream, err)
CALL_FOR(GcEvent, event_word, (GcStream *stream, u32 *word, GcError *err), stream, word, err)
CALL_FOR(GcEvent, event_written, (GcStream *stream, const u32 *word, GcError *err), stream, word, err)
CALL(copy_in, queues, (GcStream *stream, GcAddr dst, const void *src, size_t size, GcError *err),
	 stream, dst, src, size, err)
CALL(copy_out, queues, (GcStream *stream, void *dst, GcAddr src, size_t size, GcError *err),
	 stream, dst, src, size, err)
CALL(copy, queues, (GcStream *stream, GcAddr dst, GcAddr src, size_t size, GcError *err), stream, dst, src, size, err)
CALL(fill, queues, (GcStream *stream, GcAddr dst, int byte, size_t size, GcError *err), stream, dst, byte, size, err)
CALL(launch, queues, (GcStream *stream, GcKernel *kernel, const GcLaunch *launch, const GcArgs *args, int args_words,
	 GcError *err), stream, kernel, launch, args, args_words, err)
CALL(launch_gang, queues, (GcStream *stream, GcKernel *kernel, const GcLaunch *launch, const GcGangMember *members,
	 int n, int args_words, GcError *err), stream, kernel, launch, members, n, args_words, err)
CALL(stream_wait, queues, (GcStream *stream, GcEvent *event, GcError *err), stream, event, err)
CALL(module_load, queues, (GcDevice *dev, const GcImage *image, GcModule **module, GcError *err),
	 dev, image, module, err)
CALL(event_done, asks, (GcEvent *event, bool *done, GcError *err), event, done, err)
CALL(event_wait, asks, (GcEvent *event, GcError *err), event, err)

/* Draining never fails by count, and is done even where the device counts as lost. */
static GcCode
faulty_drain(GcDevice *dev, GcError *err)
{
	const GcCode code = inner->drain(dev, err);

	return lost ? lost_device(err) : code;
}

const GcDeviceOps *
gc_faults_wrap(GcDevice *dev, const GcDeviceOps *ops)
{
	device = dev;
	inner = ops;
	outer = *ops;
	outer.stream_get = faulty_stream_get;
	outer.copy_in = faulty_copy_in;
	outer.copy_out = faulty_copy_out;
	outer.copy = faulty_copy;
	outer.fill = faulty_fill;
	outer.launch = faulty_launch;
	outer.launch_gang = faulty_launch_gang;
	outer.event = faulty_event;
	outer.event_timed = faulty_event_timed;
	outer.event_word = faulty_event_word;
	outer.event_written = faulty_event_written;
	outer.event_done = faulty_event_done;
	outer.event_wait = faulty_event_wait;
	outer.stream_wait = faulty_stream_wait;
	outer.module_load = faulty_module_load;
	outer.drain = faulty_drain;
	dev->ops = &outer;
	return &outer;
}
