/*-------------------------------------------------------------------------
 *
 * fake_cuda_test.c
 *	  cuda.c against a driver that only pretends (fake_cuda.c): that it gives
 *	  back what it takes, whichever call fails, and what it makes of errors.
 *
 * The Makefile's runner puts the fake first on LD_LIBRARY_PATH.  NVRTC is the
 * real one, so without it the test is skipped.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "harness.h"

#include <dlfcn.h>
#include <signal.h>

#include "../../src/device/device.h"
#include "fake_cuda.h"
#include "kernels.h"

#define MEGABYTE ((u64) 1 << 20)

static FakeCuda *fake;
static const GcDeviceOps *ops = &gc_cuda_ops;
static GcImage image;

/* The card's UUID. */
#define CARD			"abababab-abab-abab-abab-abababababab"

static const GcDeviceOptions options = {.memory_limit = 64 * MEGABYTE};

static void
reset(void)
{
	memset(fake, 0, sizeof(*fake));
	fake->free_bytes = 512 * MEGABYTE;
	fake->arch = 90;
	fake->fail_with = 1;
}

static bool
nothing_left(void)
{
	return fake->contexts == 0 && fake->streams == 0 && fake->events == 0 &&
		fake->allocations == 0 && fake->modules == 0 && fake->registered == 0;
}

static bool
same_signals(const sigset_t *a, const sigset_t *b)
{
	for (int i = 1; i < SIGRTMAX; i++)
	{
		if (sigismember(a, i) != sigismember(b, i))
			return false;
	}
	return true;
}

/* ---------- what is asked of the driver ---------- */

static void
test_word(GcDevice *dev, GcStream *stream)
{
	u32			word = 0;
	bool		done = false;
	bool		early = false;
	GcEvent	   *event = ops->event_word(stream, &word, NULL);

	ok(event != NULL && fake->word == &word, "a event may be a word that the stream writes");
	fake->stream_queries = 0;
	fake->not_ready = 1;
	for (int i = 0; i < 1024; i++)
		early = ops->event_done(event, &done, NULL) != GC_OK || done || early;
	ok(!early, "it is not done as long as the word is 0");
	is(fake->stream_queries, 1, "and the driver is hardly asked");
	word = 1;
	ok(ops->event_done(event, &done, NULL) == GC_OK && done, "with the word, it is done");
	is(fake->stream_queries, 1, "whatever the driver says");
	ops->event_put(dev, event);

	word = 0;
	event = ops->event_word(stream, &word, NULL);
	fake->fail_at = fake->calls + 1;
	for (int i = 0; i < 1023; i++)
		(void) ops->event_done(event, &done, NULL);
	ok(ops->event_done(event, &done, NULL) != GC_OK && !done, "an error is heard of, sooner or later");
	ops->event_put(dev, event);

	fake->fail_at = fake->calls + 1;
	event = ops->event_word(stream, &word, NULL);
	is(strcmp(fake->failed, "cuStreamWriteValue32_v2"), 0, "memory that the device cannot write");
	fake->fail_at = 0;
	ok(event != NULL && ops->event_done(event, &done, NULL) == GC_OK && done, "gets an event");
	ops->event_put(dev, event);
}

/* A word that a kernel writes. */
static void
test_written(GcDevice *dev, GcStream *stream)
{
	u32			word = 0;
	bool		done = false;
	bool		failed = false;
	GcEvent	   *event;
	int			before;

	ok(dev->info.host_pointers, "kernels may use the host's addresses");
	fake->word = NULL;
	before = fake->calls;
	event = ops->event_written(stream, &word, NULL);
	ok(event != NULL && fake->word == NULL && fake->calls == before, "a event may be a word that a kernel writes: nothing is queued");
	fake->not_ready = 1;
	ok(ops->event_done(event, &done, NULL) == GC_OK && !done, "it is not done as long as the word is 0");
	word = 1;
	ok(ops->event_done(event, &done, NULL) == GC_OK && done, "and then it is");
	word = 0;
	fake->fail_at = fake->calls + 1;
	for (int i = 0; i < 1024; i++)
		failed = ops->event_done(event, &done, NULL) != GC_OK || failed;
	ok(failed && !done, "errors are heard of here, too");
	fake->fail_at = 0;
	fake->not_ready = 0;
	ops->event_put(dev, event);
}

/* A device that cannot write where the host points. */
static bool
nobody_has_it(const char *card)
{
	return strcmp(card, CARD) == 0;
}

static bool
another_has_it(const char *card)
{
	return strcmp(card, CARD) != 0;
}

static void
test_cards(void)
{
	GcDeviceOptions card = {.memory_limit = 64 * MEGABYTE,.ordinal = 5,.uuid = CARD,.claim = nobody_has_it};
	GcError		err = {GC_OK, ""};
	GcDevice   *dev = NULL;

	reset();
	is(ops->open(&dev, &card, &err), GC_OK, "a GPU is found by its UUID");
	ok(strcmp(dev->info.card, CARD) == 0, "and known by it: %s", dev->info.card);
	ops->close(dev);
	fake->bad_gpus = 2;
	is(ops->open(&dev, &card, &err), GC_OK, "after others that cannot be had, too");
	is(strcmp(err.detail, ""), 0, "of which nothing is said");
	ops->close(dev);
	fake->bad_gpus = 0;
	/* cuInit, cuDriverGetVersion, cuDeviceGetCount, cuDeviceGet, and this one. */
	fake->fail_at = fake->calls + 5;
	is(ops->open(&dev, &options, &err), GC_OK, "by its ordinal, where the driver does not tell its UUID");
	ok(strcmp(fake->failed, "cuDeviceGetUuid_v2") == 0 && strcmp(dev->info.card, "cuda:0") == 0, "known by it: %s", dev->info.card);
	ops->close(dev);
	fake->fail_at = 0;

	card.uuid = "abababab-abab-abab-abab-ababababaaaa";
	ok(ops->open(&dev, &card, &err) == GC_NO_DEVICE, "another UUID: %s", err.detail);
	card = (GcDeviceOptions) {.memory_limit = 64 * MEGABYTE,.claim = another_has_it};
	ok(ops->open(&dev, &card, &err) == GC_NO_DEVICE, "a GPU that has a worker: %s", err.detail);
	is(fake->allocations + fake->contexts, 0, "takes nothing");
	card.ordinal = 1;
	ok(ops->open(&dev, &card, &err) == GC_NO_DEVICE, "one that is not there: %s", err.detail);
	ok(nothing_left(), "nothing is left behind");
}

static void
test_no_word(void)
{
	GcDevice   *dev = NULL;
	GcEvent	   *event;
	u32			word = 0;
	bool		done = false;

	reset();
	fake->no_host_pointers = 1;
	is(ops->open(&dev, &options, NULL), GC_OK, "open");
	ok(!dev->info.host_pointers, "a device that cannot use the host's addresses");
	event = ops->event_word(ops->stream_get(dev, NULL), &word, NULL);
	ok(event != NULL && fake->word == NULL, "is not asked to");
	ok(ops->event_done(event, &done, NULL) == GC_OK && done, "and has an event");
	ops->event_put(dev, event);
	ops->close(dev);
}

static void
test_open(void)
{
	GcDevice   *dev = NULL;
	GcAddr		base;
	u64			size;
	sigset_t	before;
	sigset_t	after;

	reset();
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	is(ops->open(&dev, &options, NULL), GC_OK, "open");
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	ok(same_signals(&before, &after), "the signal mask is as it was");
	ok(strncmp(dev->info.target, "sm_90 nvrtc ", 12) == 0, "the target is %s", dev->info.target);
	is(dev->info.arch, 90, "the architecture");
	is(dev->info.max_warps, 64, "warps are threads by warp size");
	is(dev->info.sms, 132, "multiprocessors");
	is(dev->info.shared_per_block, 232448, "opt-in shared memory");
	ops->pool(dev, &base, &size);
	ok(base != 0 && size == 64 * MEGABYTE, "the pool that was asked for");
	ops->close(dev);
	ok(nothing_left(), "close gives everything back");
}

static void
test_calls(void)
{
	GcDevice   *dev;
	GcStream   *stream;
	GcStream   *again;
	GcModule   *module;
	GcKernel   *kernel;
	GcKernelInfo info;
	GcLaunch	shape = {11, 22, 33, false};
	GcArgs		args;
	const GcGangMember members[3] = {{.args = &args,.blocks = 4}, {.args = &args,.blocks = 0}, {.args = &args,.blocks = 5}};
	u32			end[GC_GANG_MOST];
	GcEvent	   *event;
	GcEvent	   *timed;
	bool		done;

	reset();
	ops->open(&dev, &options, NULL);
	stream = ops->stream_get(dev, NULL);
	is(fake->stream_flags, GC_CU_STREAM_NON_BLOCKING, "streams do not wait for the default one");
	ops->stream_put(dev, stream);
	again = ops->stream_get(dev, NULL);
	ok(again == stream && fake->streams == 1, "streams are reused");

	ops->module_load(dev, &image, &module, NULL);
	is(ops->kernel_get(module, "gc_kernel", &kernel, &info, NULL), GC_OK, "kernel_get");
	is(fake->max_dynamic, 232448 - 1000, "it may use all dynamic shared memory there is");
	is(info.shared_static, 1000, "its static shared memory");
	is(info.registers, GC_CU_FUNC_REGISTERS + 10, "its registers");
	is(info.local_bytes, GC_CU_FUNC_LOCAL_BYTES + 10, "its local memory");
	is(info.max_threads, GC_CU_FUNC_MAX_THREADS + 10, "its largest block");
	memset(&args, 3, sizeof(args));
	is(ops->launch(stream, kernel, &shape, &args, 2, NULL), GC_OK, "launch");
	ok(fake->grid == 11 && fake->block == 22 && fake->shared == 33, "with its shape");
	ok(memcmp(&fake->args, &args, sizeof(args)) == 0, "and its arguments");
	is(fake->carveouts, 0, "how much of a multiprocessor is shared memory is left to the driver");
	shape.whole_shared = true;
	ops->launch(stream, kernel, &shape, &args, 2, NULL);
	ops->launch(stream, kernel, &shape, &args, 2, NULL);
	is(fake->carveout, 100, "or all is asked for");
	is(fake->carveouts, 1, "and not again as long as that is so");
	shape.whole_shared = false;
	ops->launch(stream, kernel, &shape, &args, 2, NULL);
	is(fake->carveout, -1, "until it is left to the driver again");
	shape.whole_shared = true;
	fake->grid = 0;
	fake->fail_at = fake->calls + 1;
	is(ops->launch(stream, kernel, &shape, &args, 2, NULL), GC_OK, "refused, the kernel is launched");
	ok(strcmp(fake->failed, "cuFuncSetAttribute") == 0 && fake->grid == 11, "all the same");
	fake->fail_at = 0;
	shape.whole_shared = false;
	ops->launch(stream, kernel, &shape, &args, 2, NULL);

	fake->grid = 0;
	shape.blocks = 0;
	is(ops->launch_gang(stream, kernel, &shape, members, 3, 2, NULL), GC_OK, "a gang launch");
	ok(fake->grid == 9 && fake->block == 22 && fake->shared == 33, "is one launch of all members' blocks");
	memcpy(end, &fake->args, sizeof(end));
	ok(end[0] == 4 && end[1] == 4 && end[2] == 9 && end[3] == ~0u && end[GC_GANG_MOST - 1] == ~0u, "which says where each member's end");
	ok(memcmp((char *) &fake->args + sizeof(end) + 2 * (sizeof(GcScan) + 16), &args, sizeof(GcScan) + 16) == 0, "and has its arguments");

	fake->not_ready = 2;
	event = ops->event(stream, NULL);
	done = true;
	ok(ops->event_done(event, &done, NULL) == GC_OK && !done, "a event is not done");
	ok(ops->event_done(event, &done, NULL) == GC_OK && !done, "and not yet");
	ok(ops->event_done(event, &done, NULL) == GC_OK && done, "and then is");
	ops->event_put(dev, event);
	ok(ops->event(stream, NULL) == event && fake->events == 1, "events are reused");
	timed = ops->event_timed(stream, NULL);
	ok(timed != event && ops->event_ms(timed, timed) == 1.5f, "time between events that have one");
	ops->event_put(dev, event);
	ops->event_put(dev, timed);
	ok(ops->event(stream, NULL) == event && ops->event_timed(stream, NULL) == timed, "both kinds are kept apart");
	ops->event_put(dev, event);
	ops->event_put(dev, timed);
	test_written(dev, stream);
	test_word(dev, stream);
	ops->module_load(dev, &image, &module, NULL);
	ops->module_load(dev, &image, &module, NULL);
	ops->module_unload(dev, module);
	ops->close(dev);
	is(fake->unblocked, 0, "where the driver may start threads, signals are blocked");
	ok(nothing_left(), "close gives everything back");
}

/* ---------- the pool ---------- */

static void
test_pool(u64 limit, u64 free_bytes, u64 wanted, const char *what)
{
	GcDeviceOptions pool_options = {.memory_limit = limit};
	GcDevice   *dev;
	GcError		err = {GC_OK, ""};
	GcCode		code;

	reset();
	fake->free_bytes = free_bytes;
	code = ops->open(&dev, &pool_options, &err);
	if (wanted == 0)
		ok(code == GC_DEVICE_MEMORY && strstr(err.detail, "cuMemAlloc") != NULL, "%s: %s", what,
		   err.detail);
	else if (ok(code == GC_OK, "%s: open", what))
	{
		is(fake->alloc_size, wanted, what);
		is(dev->info.memory_bytes, wanted, "which the info says");
		ops->close(dev);
	}
	ok(nothing_left(), "nothing is left behind");
}

/* Open a device with this limit, as the worker of one more cluster on the same GPU does. */
static GcDevice *
one_more(u64 limit, u64 wanted, const char *what)
{
	GcDeviceOptions more = {.memory_limit = limit};
	GcDevice   *dev = NULL;
	GcError		err = {GC_OK, ""};

	if (ops->open(&dev, &more, &err) != GC_OK)
		tap_bail(err.detail);
	is(dev->info.memory_bytes, wanted, what);
	return dev;
}

static void
test_two_clusters(void)
{
	GcDevice   *a;
	GcDevice   *b;
	GcDevice   *c;
	GcDeviceOptions any = {.ordinal = 0};
	GcError		err = {GC_OK, ""};

	reset();
	a = one_more(0, 434 * MEGABYTE, "the first of two");
	b = one_more(0, 66 * MEGABYTE, "the second takes of what the first has left");
	ops->close(a);
	is(b->info.memory_bytes, 66 * MEGABYTE, "and keeps it when the first ends");
	a = one_more(0, 378 * MEGABYTE, "the first, started again");
	ops->close(a);
	ops->close(b);
	ok(nothing_left() && fake->free_bytes == 512 * MEGABYTE, "nothing is left behind");

	a = one_more(256 * MEGABYTE, 256 * MEGABYTE, "the first with a limit");
	b = one_more(256 * MEGABYTE, 256 * MEGABYTE, "the second with the same");
	is(ops->open(&c, &any, &err), GC_DEVICE_MEMORY, "for a third there is no memory");
	ok(strstr(err.detail, " 0 MB are free") != NULL, "which is said: %s", err.detail);
	is(fake->allocations, 2, "the others keep theirs");
	ops->close(a);
	ops->close(b);
	ok(nothing_left(), "and nothing is left behind");
}

/* ---------- every call fails once ---------- */

/* Use everything; the first failure, if any, in *code. */
static void
use_everything(GcDevice *dev, GcCode *code)
{
	GcStream   *a = ops->stream_get(dev, NULL);
	GcStream   *b = ops->stream_get(dev, NULL);
	GcModule   *module = NULL;
	GcKernel   *kernel = NULL;
	GcKernelInfo info;
	GcLaunch	shape = {1, 32, 0, 0};
	GcArgs		args;
	GcEvent	   *event = a != NULL ? ops->event_timed(a, NULL) : NULL;
	GcEvent	   *wordy;
	GcAddr		base;
	u64			size;
	bool		done;
	u32			word = 1;
	char		memory[64];

#define TRY(call) do { GcCode c = (call); if (*code == GC_OK) *code = c; } while (0)
	ops->pool(dev, &base, &size);
	memset(memory, 0, sizeof(memory));
	memset(&args, 0, sizeof(args));
	if (a == NULL || b == NULL || event == NULL)
		*code = GC_DEVICE_FAILED;
	if (ops->pin(dev, memory, sizeof(memory), NULL) == GC_OK)
		ops->unpin(dev, memory);
	TRY(ops->module_load(dev, &image, &module, NULL));
	if (module != NULL)
		TRY(ops->kernel_get(module, "gc_kernel", &kernel, &info, NULL));
	if (a != NULL)
	{
		TRY(ops->copy_in(a, base, memory, sizeof(memory), NULL));
		TRY(ops->copy_out(a, memory, base, sizeof(memory), NULL));
		TRY(ops->copy(a, base, base + 4096, 100, NULL));
		TRY(ops->fill(a, base, 1, 100, NULL));
	}
	if (a != NULL && kernel != NULL)
		TRY(ops->launch(a, kernel, &shape, &args, 1, NULL));
	if (kernel != NULL)
		(void) ops->occupancy(kernel, 32, 0);
	if (event != NULL)
	{
		TRY(ops->event_done(event, &done, NULL));
		TRY(ops->event_wait(event, NULL));
		(void) ops->event_ms(event, event);
		ops->event_put(dev, event);
	}
	wordy = b != NULL ? ops->event_word(b, &word, NULL) : NULL;
	if (wordy != NULL)
	{
		TRY(ops->event_done(wordy, &done, NULL));
		ops->event_put(dev, wordy);
	}
	else
		*code = *code == GC_OK ? GC_DEVICE_FAILED : *code;
	if (b != NULL && event != NULL)
		TRY(ops->stream_wait(b, event, NULL));
	TRY(ops->drain(dev, NULL));
	if (module != NULL)
		ops->module_unload(dev, module);
#undef TRY
}

/*
 * Let call after call fail, until a run is so long that none did.  Failing calls
 * must leave nothing behind; those that give things back do so even when they
 * report a failure, as the real ones do.
 */
static void
test_failures(CuResult result, const char *what)
{
	int			leaks = 0;
	int			open_failures = 0;
	int			use_failures = 0;
	long		at = 0;

	do
	{
		GcDevice   *dev = NULL;
		GcError		err = {GC_OK, ""};
		GcCode		code;

		reset();
		fake->fail_at = ++at;
		fake->fail_with = result;
		code = ops->open(&dev, &options, &err);
		if (code != GC_OK)
		{
			open_failures++;
			if (dev != NULL || err.detail[0] == '\0' || err.code != code)
				leaks++;
		}
		else
		{
			use_everything(dev, &code);
			if (code != GC_OK)
				use_failures++;
			ops->close(dev);
		}

		/* A lost device cannot be told to unload or release; the process ends. */
		fake->modules = 0;
		fake->registered = 0;
		if (strcmp(fake->failed, "cuDevicePrimaryCtxRelease_v2") == 0)
			fake->contexts = 0;
		if (!nothing_left())
		{
			tap_note("left behind when %s failed", fake->failed);
			leaks++;
		}
	} while (fake->failed[0] != '\0');
	is(leaks, 0, what);
	ok(open_failures >= 8, "open fails cleanly (%d ways)", open_failures);
	ok(use_failures >= 12, "so does the rest (%d ways)", use_failures);
}

static void
test_lost(void)
{
	GcDevice   *dev;
	GcStream   *stream;
	GcEvent	   *event;
	GcError		err = {GC_OK, ""};
	GcAddr		base;
	u64			size;
	bool		done;
	long		calls;

	reset();
	ops->open(&dev, &options, NULL);
	ops->pool(dev, &base, &size);
	stream = ops->stream_get(dev, NULL);
	event = ops->event(stream, NULL);
	fake->fail_with = 1;
	fake->fail_at = fake->calls + 1;
	is(ops->fill(stream, base, 0, 10, &err), GC_DEVICE_FAILED, "an invalid value");
	is(ops->fill(stream, base, 0, 10, &err), GC_OK, "does not lose the device");
	fake->fail_with = GC_CU_OUT_OF_MEMORY;
	fake->fail_at = fake->calls + 1;
	is(ops->fill(stream, base, 0, 10, &err), GC_DEVICE_MEMORY, "nor does want of memory");
	fake->fail_with = GC_CU_ILLEGAL_ADDRESS;
	fake->fail_at = fake->calls + 1;
	is(ops->event_done(event, &done, &err), GC_DEVICE_FAILED, "an illegal address does");
	ok(strcmp(err.detail, "cuEventQuery failed: an illegal memory access was encountered.") == 0,
	   "it is described: %s", err.detail);
	calls = fake->calls;
	is(ops->event_wait(event, &err), GC_DEVICE_FAILED, "every later call fails");
	ok(strstr(err.detail, "cuEventQuery failed: an illegal memory access") != NULL,
	   "and says why: %s", err.detail);
	is(ops->fill(stream, base, 0, 10, NULL), GC_DEVICE_FAILED, "fill");
	ok(ops->stream_get(dev, NULL) == NULL, "stream_get");
	is(fake->calls, calls, "without asking the driver");
	is(ops->drain(dev, NULL), GC_DEVICE_FAILED, "drain");
	is(fake->calls, calls + 1, "asks the driver to wait for what may still run");
	ops->close(dev);
	ok(nothing_left(), "close gives everything back");
}

static void
test_images(void)
{
	GcDevice   *dev;
	GcModule   *module;
	GcImage		garbage = {"garbage, not code", 17};
	GcImage		ptx = {NULL, 0};
	GcError		err = {GC_OK, ""};
	char	   *text = kernel_text(kernel_count);

	reset();
	ops->open(&dev, &options, NULL);
	is(ops->module_load(dev, &garbage, &module, &err), GC_COMPILE_FAILED, "garbage is refused");
	ok(strstr(err.detail, "what is this") != NULL, "with the driver's log: %s", err.detail);
	ops->close(dev);

	/* A GPU that NVRTC does not know yet. */
	fake->arch = 995;
	is(ops->open(&dev, &options, &err), GC_OK, "a GPU newer than NVRTC");
	ok(strstr(dev->info.target, "sm_995 as compute_") != NULL, "its target is %s", dev->info.target);
	is(ops->compile(dev, text, GC_COMPILE_FULL, &ptx, &err), GC_OK, "compiling for it");
	ok(ptx.size > 2 && memcmp(ptx.bytes, "//", 2) == 0 && ((char *) ptx.bytes)[ptx.size - 1] == '\0',
	   "gives PTX");
	is(ops->module_load(dev, &ptx, &module, &err), GC_OK, "which the driver takes");
	ops->module_unload(dev, module);
	ops->close(dev);

	fake->arch = 20;
	is(ops->open(&dev, &options, &err), GC_NO_COMPILER, "a GPU too old for NVRTC");
	ok(strstr(err.detail, "2.0") != NULL, "is named: %s", err.detail);
	ok(nothing_left(), "and nothing left behind");
	free(ptx.bytes);
	free(text);
}

int
main(void)
{
	void	   *library = dlopen("libcuda.so.1", RTLD_NOW);
	char	   *text = kernel_text(kernel_count);
	GcDevice   *dev;
	GcError		err = {GC_OK, ""};
	GcCode		code;

	tap_start();
	fake = library != NULL ? dlsym(library, "fake_cuda") : NULL;
	if (fake == NULL)
		return tap_skip_all("the fake driver is not on LD_LIBRARY_PATH");
	reset();
	code = ops->open(&dev, &options, &err);
	if (code == GC_NO_COMPILER)
		return tap_skip_all("no NVRTC");
	if (code != GC_OK || ops->compile(dev, text, GC_COMPILE_FULL, &image, &err) != GC_OK)
		tap_bail(err.detail);
	ops->close(dev);

	test_open();
	test_calls();
	test_cards();
	test_no_word();
	test_pool(0, 512 * MEGABYTE, 434 * MEGABYTE, "by default, 85 % of what is free");
	test_pool(100 * MEGABYTE + 5, 512 * MEGABYTE, 100 * MEGABYTE, "the limit, in whole pages");
	test_pool(500 * MEGABYTE, 512 * MEGABYTE, 500 * MEGABYTE, "a limit above 85 %");
	test_pool(800 * MEGABYTE, 512 * MEGABYTE, 434 * MEGABYTE, "a limit above what is free");
	test_pool(16 * MEGABYTE, 512 * MEGABYTE, 16 * MEGABYTE, "a small limit");
	test_pool(80 * MEGABYTE, 40 * MEGABYTE, 0, "no memory");
	test_pool(0, 0, 0, "none at all");
	test_two_clusters();
	test_failures(1, "nothing is left behind, whichever call fails");
	test_failures(GC_CU_ILLEGAL_ADDRESS, "nor when the device is lost with it");
	test_lost();
	test_images();
	free(image.bytes);
	free(text);
	return tap_done();
}
