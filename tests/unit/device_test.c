/*-------------------------------------------------------------------------
 *
 * device_test.c [host|cuda|auto]
 *	  What every implementation of the Device interface must do.
 *
 * The same tests run on both devices; what only one can be asked is marked by
 * on_host.  "auto" takes cuda where there is one, else host.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "device_util.h"

/* ---------- tests ---------- */

static void
test_info(void)
{
	const GcDeviceInfo *info = &dev->info;

	tap_note("%s: %s, target \"%s\", %d SMs, pool %llu MB of %llu MB", ops->name, info->name,
			 info->target, info->sms, info->memory_bytes >> 20, info->total_bytes >> 20);
	ok(info->name[0] != '\0' && info->target[0] != '\0', "the device has a name and a target");
	is(info->host_memory, on_host, "only the host reads host memory in place");
	ok(info->sms > 0 && info->warp_size > 0 && info->max_warps > 0 && info->max_blocks > 0,
	   "the device has multiprocessors, warps and blocks");
	ok(info->shared_per_block > 0 && info->shared_per_block <= info->shared_per_sm,
	   "and shared memory");
	ok(on_host || (info->registers >= 65536 && info->arch >= 70 && info->l2_bytes > 0 &&
				   info->max_warps * info->warp_size >= 1024),
	   "on cuda it has registers, an architecture and an L2 cache");
	ok(pool_base != 0 && pool_base % 256 == 0, "the pool has an aligned address");
	is(pool_size, 256 * MEGABYTE, "and the size that was asked for");
	is(info->memory_bytes, pool_size, "which the info repeats");
	if (on_host)
		is(info->sms, HOST_THREADS, "the host has the threads that were asked for");
}

static void
test_memory(void)
{
	GcStream   *stream = get_stream();
	size_t		size = 5 * MEGABYTE + 123;
	unsigned char *in = malloc(size);
	unsigned char *out = calloc(1, size);
	GcAddr		a = pool_base;
	GcAddr		b = pool_base + 16 * MEGABYTE;

	for (size_t i = 0; i < size; i++)
		in[i] = (unsigned char) (i * 31 + (i >> 8));
	is(ops->copy_in(stream, a, in, size, NULL), GC_OK, "copy_in");
	is(ops->copy(stream, b, a, size, NULL), GC_OK, "copy");
	is(ops->fill(stream, a, 0xab, size, NULL), GC_OK, "fill");
	is(ops->copy_out(stream, out, b, size, NULL), GC_OK, "copy_out");
	is(finish(stream, NULL), GC_OK, "all done");
	ok(memcmp(in, out, size) == 0, "what went in came out");
	memset(in, 0xab, size);
	is(ops->copy_out(stream, out, a, size, NULL), GC_OK, "copy_out of the filled bytes");
	is(finish(stream, NULL), GC_OK, "done");
	ok(memcmp(in, out, size) == 0, "they are filled");
	is(ops->copy_out(stream, out, a, 0, NULL), GC_OK, "a copy of nothing");
	if (on_host)
		is(ops->copy_in(stream, a, (void *) (uintptr_t) a, size, NULL), GC_OK,
		   "a copy onto itself");
	is(ops->drain(dev, NULL), GC_OK, "drain");
	ops->stream_put(dev, stream);
	free(in);
	free(out);
}

static void
test_pin(void)
{
	GcStream   *stream = get_stream();
	size_t		size = 8 * MEGABYTE;
	unsigned char *memory = aligned_alloc(4096, size);

	memset(memory, 7, size);
	is(ops->pin(dev, memory, size, NULL), GC_OK, "memory can be pinned");
	is(ops->copy_in(stream, pool_base, memory, size, NULL), GC_OK, "and copied from");
	is(ops->fill(stream, pool_base, 9, 1, NULL), GC_OK, "(changed)");
	is(ops->copy_out(stream, memory, pool_base, size, NULL), GC_OK, "and to");
	is(finish(stream, NULL), GC_OK, "done");
	ok(memory[0] == 9 && memory[1] == 7 && memory[size - 1] == 7, "rightly");
	ops->unpin(dev, memory);
	ops->stream_put(dev, stream);
	free(memory);
}

/* Every block of a launch runs exactly once, for counts around the thread count. */
static void
test_blocks(void)
{
	static const u32 counts[] = {1, 2, 3, 4, 5, 31, 32, 33, 1000, 20000};
	GcStream   *stream = get_stream();
	Loaded		count = load(kernel_count);
	u32		   *out = malloc(20000 * sizeof(u32));
	GcAddr		sum = pool_base + MEGABYTE;

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
	{
		u32			n = counts[c];
		bool		once = true;

		ops->fill(stream, pool_base, 0, 2 * MEGABYTE, NULL);
		launch(stream, &count, n, 64, 0, pool_base, sum, 0, 0);
		ops->copy_out(stream, out, pool_base, n * sizeof(u32), NULL);
		if (finish(stream, NULL) != GC_OK)
			once = false;
		for (u32 i = 0; i < n; i++)
			once = once && out[i] == 1;
		ok(once, "each of %u blocks ran exactly once", n);
		is(read_word(stream, sum), (u32) ((u64) n * (n - 1) / 2), "with its own number");
	}
	ops->fill(stream, pool_base, 0, MEGABYTE, NULL);
	is(launch(stream, &count, 0, 64, 0, pool_base, sum, 0, 0), GC_OK, "a launch of no blocks");
	is(read_word(stream, pool_base), 0, "does nothing");
	ops->stream_put(dev, stream);
	unload(&count);
	free(out);
}

/* Launches of one stream run in order, each after the one before has ended. */
static void
test_order(void)
{
	GcStream   *stream = get_stream();
	Loaded		affine = load(kernel_affine);
	Loaded		slow = load(kernel_slow_store);
	u32			expected = 1;
	u32			one = 1;

	ops->copy_in(stream, pool_base, &one, sizeof(one), NULL);
	for (u32 i = 0; i < 500; i++)
	{
		u32			factor = 3 + 2 * (i % 7);

		launch(stream, &affine, 1 + i % 9, 32, 0, pool_base, factor, i, 0);
		expected = expected * factor + i;
	}
	is(read_word(stream, pool_base), expected, "500 launches of a stream run in order");

	/* A slow one, then a copy of its result, then a fill over it. */
	ops->fill(stream, pool_base, 0, 4096, NULL);
	launch(stream, &slow, 1, 32, 0, pool_base, 77, pool_base + 64, 200000);
	ops->copy(stream, pool_base + 128, pool_base, 4, NULL);
	ops->fill(stream, pool_base, 0, 4, NULL);
	is(read_word(stream, pool_base + 128), 77, "a copy waits for the launch before it");
	is(read_word(stream, pool_base), 0, "and a fill for the copy");
	ops->stream_put(dev, stream);
	unload(&affine);
	unload(&slow);
}

static void
test_marks(void)
{
	GcStream   *stream = get_stream();
	Loaded		slow = load(kernel_slow_store);
	GcError		err = {GC_OK, ""};
	GcEvent	   *first;
	GcEvent	   *second;
	static u32	word = 0;
	bool		pinned = ops->pin(dev, &word, sizeof(word), &err) == GC_OK;
	bool		done = false;
	GcCode		code;

	first = ops->event_timed(stream, &err);
	is(ops->event_wait(first, &err), GC_OK, "a event on an idle stream is soon done");
	is(ops->event_done(first, &done, &err), GC_OK, "event_done of it");
	is(done, true, "says so");
	launch(stream, &slow, 1, 32, 0, pool_base, 1, pool_base + 64, 100000);
	second = ops->event_timed(stream, &err);
	do
		code = ops->event_done(second, &done, &err);
	while (code == GC_OK && !done);
	is(code, GC_OK, "a event can be polled");
	ok(ops->event_ms(first, second) > 0, "time passes between two events");
	is(read_word(stream, pool_base), 1, "the work before the event is done");
	ops->event_put(dev, first);
	ops->event_put(dev, second);

	ops->fill(stream, pool_base, 2, 8, &err);
	first = ops->event_word(stream, &word, &err);
	do
		code = ops->event_done(first, &done, &err);
	while (code == GC_OK && !done);
	is(code, GC_OK, "so can one whose word the device writes");
	is((u32) read_word(stream, pool_base), 0x02020202, "and the work before it is done");
	ops->event_put(dev, first);
	if (pinned)
		ops->unpin(dev, &word);

	/* Many marks put back at once, also before they are done. */
	for (int i = 0; i < 1000; i++)
	{
		launch(stream, &slow, 1, 32, 0, pool_base, (u64) i, pool_base + 64, 10);
		first = ops->event(stream, &err);
		ops->event_put(dev, first);
	}
	is(read_word(stream, pool_base), 999, "events may be put back before they are done");
	ops->stream_put(dev, stream);
	unload(&slow);
}

/*
 * a waits for a flag that only b sets, so the two must run side by side; then c
 * waits, by stream_wait, for a mark of a.
 */
static void
test_streams(void)
{
	GcStream   *a = get_stream();
	GcStream   *b = get_stream();
	GcStream   *c = get_stream();
	Loaded		await = load(kernel_await);
	Loaded		affine = load(kernel_affine);
	GcAddr		flag = pool_base;
	GcAddr		result = pool_base + 4096;
	GcAddr		value = pool_base + 8192;
	GcEvent	   *event;

	ops->fill(a, pool_base, 0, MEGABYTE, NULL);
	finish(a, NULL);
	launch(a, &await, 1, 32, 0, flag, result, value, 0);
	event = ops->event(a, NULL);
	is(ops->stream_wait(c, event, NULL), GC_OK, "stream_wait");
	ops->event_put(dev, event);

	/* Marks that are recycled meanwhile must not let c go. */
	for (int i = 0; i < 10; i++)
		finish(b, NULL);
	ops->copy(c, value, result, 4, NULL);
	launch(c, &affine, 1, 32, 0, value, 10, 5, 0);
	launch(b, &affine, 1, 32, 0, flag, 1, 1, 0);
	is(read_word(c, value), 15, "a stream that waits sees what it waited for");
	is(read_word(a, result), 1, "streams run side by side");

	/* Waiting for a mark that is done already costs nothing. */
	event = ops->event(a, NULL);
	ops->event_wait(event, NULL);
	ops->stream_wait(b, event, NULL);
	ops->event_put(dev, event);
	is(finish(b, NULL), GC_OK, "waiting for a event that is done");
	ops->stream_put(dev, a);
	ops->stream_put(dev, b);
	ops->stream_put(dev, c);
	unload(&await);
	unload(&affine);
}

/* Many streams, many launches, each adding to its own words. */
static void
test_many(void)
{
	enum {STREAMS = 24, ROUNDS = 40, BLOCKS = 50};
	GcStream   *streams[STREAMS];
	GcEvent	   *sel_bitmap[STREAMS];
	Loaded		count = load(kernel_count);
	u32		   *out = malloc(STREAMS * 4096);
	bool		good = true;

	for (int s = 0; s < STREAMS; s++)
	{
		streams[s] = get_stream();
		ops->fill(streams[s], pool_base + (GcAddr) s * 4096, 0, 4096, NULL);
	}
	for (int r = 0; r < ROUNDS; r++)
	{
		for (int s = 0; s < STREAMS; s++)
		{
			GcAddr		at = pool_base + (GcAddr) s * 4096;

			launch(streams[s], &count, BLOCKS, 64, 0, at, at + 4092, 0, 0);
		}
	}
	for (int s = 0; s < STREAMS; s++)
	{
		ops->copy_out(streams[s], out + s * 1024, pool_base + (GcAddr) s * 4096, 4096, NULL);
		sel_bitmap[s] = ops->event(streams[s], NULL);
	}
	for (int s = 0; s < STREAMS; s++)
	{
		good = good && ops->event_wait(sel_bitmap[s], NULL) == GC_OK;
		ops->event_put(dev, sel_bitmap[s]);
		ops->stream_put(dev, streams[s]);
		for (int i = 0; i < BLOCKS; i++)
			good = good && out[s * 1024 + i] == ROUNDS;
		good = good && out[s * 1024 + 1023] == ROUNDS * (BLOCKS * (BLOCKS - 1) / 2);
	}
	ok(good, "%d launches on %d streams, every block once", STREAMS * ROUNDS, STREAMS);
	unload(&count);
	free(out);
}

/*
 * A launch of one block gets a thread while another one has many left.  The later
 * blocks of the long launch wait for the short one.  If that did not get any, the
 * long one would give up.
 */
static void
test_fairness(void)
{
	enum {BLOCKS = 1000, FREE_BLOCKS = 4 * HOST_THREADS};
	GcStream   *a = get_stream();
	GcStream   *b = get_stream();
	Loaded		progress = load(kernel_progress);
	Loaded		store = load(kernel_slow_store);
	u32		   *start = (u32 *) (uintptr_t) pool_base;
	u32		   *arrived = (u32 *) (uintptr_t) (pool_base + 68);

	ops->fill(a, pool_base, 0, 4096, NULL);
	finish(a, NULL);
	launch(a, &progress, BLOCKS, 1, 0, pool_base, pool_base + 64, pool_base + 128, FREE_BLOCKS);

	/* Only when every thread is busy with the long one comes the short one. */
	while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < HOST_THREADS)
		sched_yield();
	launch(b, &store, 1, 1, 0, pool_base + 128, 1, pool_base + 192, 0);
	__atomic_store_n(start, 1, __ATOMIC_SEQ_CST);
	is(read_word(a, pool_base + 64), BLOCKS, "a short launch is not starved by a long one");
	ops->stream_put(dev, a);
	ops->stream_put(dev, b);
	unload(&progress);
	unload(&store);
}

/*
 * A launch gets a thread while each thread has a block that does not end before that launch.  If it did not get any,
 * these blocks would give up.
 */
static void
test_long_blocks(void)
{
	GcStream   *a = get_stream();
	GcStream   *b = get_stream();
	Loaded		progress = load(kernel_progress);
	Loaded		store = load(kernel_slow_store);
	u32		   *start = (u32 *) (uintptr_t) pool_base;
	u32		   *arrived = (u32 *) (uintptr_t) (pool_base + 68);

	ops->fill(a, pool_base, 0, 4096, NULL);
	finish(a, NULL);
	launch(a, &progress, HOST_THREADS, 1, 0, pool_base, pool_base + 64, pool_base + 128, 0);
	__atomic_store_n(start, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < HOST_THREADS)
		sched_yield();
	launch(b, &store, 1, 1, 0, pool_base + 128, 1, pool_base + 192, 0);
	is(read_word(a, pool_base + 64), HOST_THREADS, "a short launch is not held up by blocks that take long");
	ops->stream_put(dev, a);
	ops->stream_put(dev, b);
	unload(&progress);
	unload(&store);
}

/* Shared memory: zeroed for every block on the host; more than 48 KB on cuda. */
static void
test_shared(void)
{
	static const u32 sizes[] = {4, 1024, 49152, 49156, 100000};
	GcStream   *stream = get_stream();
	Loaded		shared = load(kernel_shared);
	u32			out[100];

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		u32			bytes = sizes[s] / 4 * 4;
		bool		zeroed = true;
		GcCode		code;

		ops->fill(stream, pool_base, 0, sizeof(out), NULL);
		code = launch(stream, &shared, 100, 64, bytes, pool_base, bytes / 4, 0, 0);
		ops->copy_out(stream, out, pool_base, sizeof(out), NULL);
		if (code != GC_OK || finish(stream, NULL) != GC_OK)
			zeroed = false;
		for (int i = 0; i < 100; i++)
			zeroed = zeroed && out[i] == 1;
		ok(zeroed, "each block has %u bytes of shared memory, zeroed", bytes);
	}
	ops->stream_put(dev, stream);
	unload(&shared);
}

/* More than can be had: the host says so at the mark, cuda at the launch. */
static void
test_too_much_shared(void)
{
	GcStream   *stream = get_stream();
	GcStream   *other = get_stream();
	Loaded		count = load(kernel_count);
	GcError		err = {GC_OK, ""};
	GcEvent	   *event;
	GcCode		code;
	bool		done;

	ops->fill(stream, pool_base, 0, 4096, NULL);
	code = launch(stream, &count, 10, 32, 0x7fffffff, pool_base, pool_base + 1024, 0, 0);
	launch(stream, &count, 10, 32, 0, pool_base, pool_base + 1024, 0, 0);
	if (on_host)
	{
		is(code, GC_OK, "a launch with too much scratch memory is accepted");
		event = ops->event(stream, NULL);
		is(ops->event_wait(event, &err), GC_HOST_MEMORY, "and fails at the event");
		ok(strstr(err.detail, "scratch") != NULL, "which says why");
		is(ops->event_done(event, &done, NULL), GC_HOST_MEMORY, "event_done says so too");
		ok(!done, "and not that it is done");
		ops->stream_wait(other, event, NULL);
		is(finish(other, NULL), GC_HOST_MEMORY, "a stream that waits for that event fails too");
		ops->event_put(dev, event);
		ops->stream_put(dev, other);
		ops->stream_put(dev, stream);
		stream = get_stream();
		other = get_stream();
		is(read_word(stream, pool_base), 0, "later work of the stream was left out");
	}
	else
		is(code, GC_DEVICE_FAILED, "a launch with too much shared memory is refused");
	ops->fill(stream, pool_base, 0, 4096, NULL);
	launch(stream, &count, 10, 32, 0, pool_base, pool_base + 1024, 0, 0);
	is(read_word(stream, pool_base), 1, "after which the device works as before");
	is(finish(other, NULL), GC_OK, "on every stream");
	ops->stream_put(dev, stream);
	ops->stream_put(dev, other);
	unload(&count);
}

static void
test_occupancy(void)
{
	Loaded		shared = load(kernel_shared);
	int			small = ops->occupancy(shared.kernel, 32, 0);
	int			large = ops->occupancy(shared.kernel, 1024, 0);
	int			greedy = ops->occupancy(shared.kernel, 32, (u32) dev->info.shared_per_block - 1024);

	tap_note("registers %d, static shared %d, local %d, max threads %d; occupancy %d %d %d",
			 shared.info.registers, shared.info.shared_static, shared.info.local_bytes,
			 shared.info.max_threads, small, large, greedy);
	ok(shared.info.max_threads >= 1, "a kernel has a largest block");
	if (on_host)
		ok(small == 1 && large == 1 && greedy == 1, "a thread of the host runs one block");
	else
	{
		ok(shared.info.registers > 0, "a kernel needs registers");
		ok(small >= 8 && small <= dev->info.max_blocks, "many small blocks fit");
		ok(large >= 1 && large <= 2, "one or two large ones");
		is(greedy, 1, "and one that takes all shared memory");
	}
	unload(&shared);
}

static void
test_arithmetic(void)
{
	GcStream   *stream = get_stream();
	Loaded		wide = load(kernel_int128);
	Loaded		real = load(kernel_double);
	Loaded		last = load(kernel_last_word);
	GcLaunch	shape = {1, 1, 0, 0};
	GcArgs		args;
	u64			out[2];
	u128		wanted = (u128) ~0ull * ~0ull / 3;
	double		in[3] = {1.0 + 0x1p-30, 1.0 - 0x1p-30, -1.0};
	double		result;
	volatile double product = in[0] * in[1];

	launch(stream, &wide, 1, 1, 0, pool_base, ~0ull, ~0ull, 3);
	ops->copy_out(stream, out, pool_base, sizeof(out), NULL);
	finish(stream, NULL);
	ok(out[0] == (u64) wanted && out[1] == (u64) (wanted >> 64),
	   "128-bit arithmetic is exact (%llx %llx)", out[1], out[0]);

	memset(&args, 0, sizeof(args));
	args.w[0] = pool_base;
	memcpy(&args.w[1], in, sizeof(in));
	ops->launch(stream, real.kernel, &shape, &args, 4, NULL);
	ops->copy_out(stream, &result, pool_base, sizeof(result), NULL);
	finish(stream, NULL);
	ok(result == product + in[2], "multiplication and addition are not fused (%a)", result);

	args.w[GC_MAX_ARG_WORDS - 1] = 0x123456789abcdef0ull;
	ops->launch(stream, last.kernel, &shape, &args, GC_MAX_ARG_WORDS, NULL);
	memset(&args, 0xff, sizeof(args));
	ops->copy_out(stream, out, pool_base, sizeof(u64), NULL);
	finish(stream, NULL);
	ok(out[0] == 0x123456789abcdef0ull, "all argument words arrive, copied by the launch");
	is(ops->launch(stream, last.kernel, &shape, &args, GC_MAX_ARG_WORDS + 1, NULL),
	   GC_BAD_PROGRAM, "more are refused");
	ops->stream_put(dev, stream);
	unload(&wide);
	unload(&real);
	unload(&last);
}

static void
test_compile_errors(void)
{
	char	   *text = kernel_text(kernel_bad);
	GcError		err = {GC_OK, ""};
	GcImage		image = {NULL, 0};
	GcImage		garbage = {"this is no code", 16};
	GcModule   *module;
	GcKernel   *kernel;
	GcKernelInfo info;
	Loaded		good = load(kernel_count);

	is(ops->compile(dev, text, GC_COMPILE_FULL, &image, &err), GC_COMPILE_FAILED, "a text with an error");
	ok(strstr(err.detail, "this_is_not_declared") != NULL, "is reported: %.*s",
	   (int) strcspn(err.detail, "\n"), err.detail);
	is(err.code, GC_COMPILE_FAILED, "with its code");
	free(text);

	err.detail[0] = '\0';
	ok(ops->module_load(dev, &garbage, &module, &err) != GC_OK, "garbage is not loaded");
	ok(err.detail[0] != '\0' && err.detail[strlen(err.detail) - 1] == '.', "and why is said: %s",
	   err.detail);
	ok(ops->kernel_get(good.module, "no_such_kernel", &kernel, &info, &err) != GC_OK,
	   "nor a kernel found that is not there");
	unload(&good);
}

/* ---------- compiling on several threads ---------- */

static void *
compile_some(void *arg)
{
	bool	   *good = arg;

	for (int i = 0; i < 3; i++)
	{
		char		body[256];
		char	   *text;
		GcImage		image;

		snprintf(body, sizeof(body), "BEGIN P(0)[0] = %du; END\n", (int) (uintptr_t) arg + i);
		text = kernel_text(body);
		*good = *good && ops->compile(dev, text, GC_COMPILE_FULL, &image, NULL) == GC_OK;
		if (*good)
			free(image.bytes);
		free(text);
	}
	return NULL;
}

static void
test_compile_threads(void)
{
	enum {THREADS = 4};
	pthread_t	threads[THREADS];
	bool		good[THREADS];

	for (int i = 0; i < THREADS; i++)
	{
		good[i] = true;
		pthread_create(&threads[i], NULL, compile_some, &good[i]);
	}
	for (int i = 0; i < THREADS; i++)
	{
		pthread_join(threads[i], NULL);
		ok(good[i], "compile() on thread %d of %d at once", i, THREADS);
	}
}

/* Many modules at once and after one another; each keeps its own code. */
static void
test_modules(void)
{
	enum {MODULES = 12};
	GcStream   *stream = get_stream();
	Loaded		loaded[MODULES];
	bool		good = true;

	for (int round = 0; round < 2; round++)
	{
		for (int i = 0; i < MODULES; i++)
		{
			char		body[64];

			snprintf(body, sizeof(body), "BEGIN P(0)[0] = %du; END\n", 100 * round + i);
			loaded[i] = load(body);
		}
		for (int i = 0; i < MODULES; i++)
		{
			launch(stream, &loaded[i], 1, 1, 0, pool_base, 0, 0, 0);
			good = good && read_word(stream, pool_base) == (u32) (100 * round + i);
		}
		for (int i = 0; i < MODULES; i++)
			unload(&loaded[i]);
	}
	ok(good, "each of several modules keeps its own code");
	ops->stream_put(dev, stream);
}

/* ---------- the host's own duties ---------- */

static sem_t woken;

static void
wake(void *arg)
{
	sem_post(arg);
}

static void
test_wake(void)
{
	GcStream   *stream;
	Loaded		slow;
	GcEvent	   *event;
	bool		done = false;

	open_device();
	sem_init(&woken, 0, 0);
	dev->wake = wake;
	dev->wake_arg = &woken;
	stream = get_stream();
	slow = load(kernel_slow_store);
	for (int i = 0; i < 50; i++)
	{
		launch(stream, &slow, 1, 1, 0, pool_base, 1, pool_base + 64, (u64) i * 100);
		event = ops->event(stream, NULL);
		while (ops->event_done(event, &done, NULL) == GC_OK && !done)
			sem_wait(&woken);
		ops->event_put(dev, event);
	}
	ok(done, "whoever sleeps until wake() is called finds the event done");
	ops->drain(dev, NULL);
	ops->close(dev);
}

/* Does every thread with our name block every signal that can be blocked? */
static void
test_signals(void)
{
	DIR		   *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int			ours = 0;
	int			blocked = 0;

	while ((entry = readdir(dir)) != NULL)
	{
		char		path[300];
		char		line[256];
		char		name[64] = "";
		unsigned long long mask = 0;
		FILE	   *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "r");
		while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		{
			sscanf(line, "Name: %63s", name);
			sscanf(line, "SigBlk: %llx", &mask);
		}
		if (file != NULL)
			fclose(file);
		if (strcmp(name, "gpuconc") != 0)
			continue;
		ours++;

		/* HUP to SYS less KILL and STOP; above are the real-time signals. */
		blocked += (mask | 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | ~0ull << 31) == ~0ull;
	}
	closedir(dir);
	is(ours, HOST_THREADS + SPARE_THREADS, "the host's threads bear its name");
	is(blocked, ours, "and have all signals blocked");
}

/* ---------- main ---------- */

int
main(int argc, char **argv)
{
	tap_start();
	if (!choose_device(argc > 1 ? argv[1] : "auto"))
		return tap_skip_all("no such device here");
	open_device();
	test_info();
	test_memory();
	test_pin();
	test_blocks();
	test_order();
	test_marks();
	test_streams();
	test_many();
	test_shared();
	test_too_much_shared();
	test_occupancy();
	test_arithmetic();
	test_compile_errors();
	test_compile_threads();
	test_modules();
	if (on_host)
	{
		test_fairness();
		test_long_blocks();
		test_signals();
	}
	ops->close(dev);
	if (on_host)
		test_wake();
	return tap_done();
}
