/*-------------------------------------------------------------------------
 *
 * kcache_test.c
 *	  The kernel cache: what is compiled when, and how often, over a device that only pretends; and once over
 *	  device host.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "kcache_util.h"
#include "kernels.h"

static void
test_memory_only(void)
{
	GcKernelCache *cache = open_cache("", 2);
	GcCachedKernel *entry;
	int			before = compilations;

	ok(get(cache, "text a", GC_ORIGIN_COMPILED), "a new text is compiled");
	entry = gc_kcache_get(cache, "text a");
	is(gc_kcache_origin(entry), GC_ORIGIN_MEMORY, "asked for again, it is in memory");
	ok(get(cache, "text b", GC_ORIGIN_COMPILED), "another text is another kernel");
	is(compilations - before, 2, "two compilations");
	is(logged, 0, "nothing to complain about");
	gc_kcache_close(cache);
	is(unloads, loads, "close unloads what was loaded");

	cache = open_cache(NULL, 0);
	ok(get(cache, "text a", GC_ORIGIN_COMPILED), "without a directory, nothing is kept");
	gc_kcache_close(cache);
}

static void
test_disk(void)
{
	GcKernelCache *cache = open_cache(directory, 1);
	int			before = compilations;
	struct stat st;
	char		path[600];

	ok(get(cache, "text on disk", GC_ORIGIN_COMPILED), "compiled");
	gc_kcache_close(cache);
	is(count_files(), 1, "leaves a file");
	find_file(".bin", path, sizeof(path));
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "a private one");

	cache = open_cache(directory, 1);
	ok(get(cache, "text on disk", GC_ORIGIN_DISK), "a second cache finds it on disk");
	is(compilations - before, 1, "without compiling");
	ok(get(cache, "text on disk", GC_ORIGIN_MEMORY), "and then in memory");
	gc_kcache_close(cache);

	strcpy(fake_device.info.target, "fake 2");
	cache = open_cache(directory, 1);
	ok(get(cache, "text on disk", GC_ORIGIN_COMPILED), "not for another target");
	gc_kcache_close(cache);
	strcpy(fake_device.info.target, "fake 1");
	empty_directory();
}

/* Entries without a keeper are unloaded; kept ones, and those that are being compiled, stay. */
static void
test_forget(void)
{
	GcKernelCache *cache = open_cache(directory, 1);
	int			unloaded;
	pthread_barrier_t barrier;
	GcCachedKernel *ahead;
	GcCachedKernel *busy;

	for (int i = 0; i < 5; i++)
	{
		char		source[32];

		snprintf(source, sizeof(source), "forgotten %d", i);
		ok(get(cache, source, GC_ORIGIN_COMPILED), "kernel %d is compiled", i);
	}
	ahead = gc_kcache_get_ahead(cache, "ahead");
	ok(await(cache, ahead, NULL) == GC_KERNEL_READY, "one that was asked for ahead, too");
	gc_kcache_keep(gc_kcache_get(cache, "forgotten 3"));
	ok(gc_kcache_exceeds(cache, 3) && !gc_kcache_exceeds(cache, 4), "four of these may be forgotten");

	pthread_barrier_init(&barrier, NULL, 2);
	meet = &barrier;
	busy = gc_kcache_get(cache, "meet here");
	unloaded = unloads;
	gc_kcache_forget(cache);
	is(unloads - unloaded, 0, "they stay in the round in which they were asked for");
	gc_kcache_next_round(cache);
	(void) gc_kcache_get(cache, "forgotten 2");
	gc_kcache_forget(cache);
	is(unloads - unloaded, 3, "they are unloaded in the next one, but for that which is asked for again");
	gc_kcache_next_round(cache);
	gc_kcache_forget(cache);
	is(unloads - unloaded, 4, "it is, in the one behind that");
	ok(!gc_kcache_exceeds(cache, 0), "one that is being compiled does not count");
	pthread_barrier_wait(&barrier);
	ok(await(cache, busy, NULL) == GC_KERNEL_READY, "and is ready in the end");
	pthread_barrier_destroy(&barrier);

	ok(get(cache, "forgotten 0", GC_ORIGIN_DISK), "a forgotten kernel comes from disk");
	ok(get(cache, "forgotten 3", GC_ORIGIN_MEMORY), "a kept one is in memory");
	ok(get(cache, "ahead", GC_ORIGIN_MEMORY), "so is the one asked for ahead");

	gc_kcache_next_round(cache);
	gc_kcache_forget(cache);
	ok(gc_kcache_get_ahead(cache, "ahead") == ahead, "two keep the one that was asked for ahead");
	gc_kcache_let_go(ahead);
	gc_kcache_next_round(cache);
	unloaded = unloads;
	gc_kcache_forget(cache);
	is(unloads - unloaded, 0, "one of them still does");
	gc_kcache_let_go(ahead);
	ok(gc_kcache_exceeds(cache, 0), "nobody");
	gc_kcache_forget(cache);
	is(unloads - unloaded, 1, "it is unloaded");
	gc_kcache_close(cache);
	empty_directory();
}

static void
test_ahead(void)
{
	GcKernelCache *cache = open_cache("", 1);
	pthread_barrier_t barrier;
	GcCachedKernel *wanted;
	GcCachedKernel *ahead[3];
	u32			asked;
	u32			ended;

	pthread_barrier_init(&barrier, NULL, 2);
	meet = &barrier;
	/* The only thread compiles this until we are there. */
	gc_kcache_get(cache, "meet here");
	for (int i = 0; i < 3; i++)
	{
		char		source[32];

		snprintf(source, sizeof(source), "meet ahead %d", i);
		ahead[i] = gc_kcache_get_ahead(cache, source);
	}
	wanted = gc_kcache_get(cache, "wanted");
	gc_kcache_compilations(cache, &asked, &ended);
	ok(asked == 2 && ended == 0, "two compilations that requests wait for");
	gc_kcache_get(cache, "meet ahead 2");
	gc_kcache_compilations(cache, &asked, &ended);
	ok(asked == 3 && ended == 0, "three, once a request wants one that was asked for ahead");
	pthread_barrier_wait(&barrier);
	/* Those ahead would wait for us, too. */
	ok(await(cache, wanted, NULL) == GC_KERNEL_READY, "a request's kernel is compiled before those that were asked for ahead");
	for (int i = 0; i < 3; i++)
	{
		int			next = (i + 2) % 3;

		pthread_barrier_wait(&barrier);
		ok(await(cache, ahead[next], NULL) == GC_KERNEL_READY, "then comes kernel %d of these", next);
	}
	gc_kcache_compilations(cache, &asked, &ended);
	ok(asked == 3 && ended == 3, "these have ended, and the others do not count");
	pthread_barrier_destroy(&barrier);
	gc_kcache_close(cache);
}

/* Two texts are compiled at the same time; the same text only once. */
static void
test_concurrent(void)
{
	GcKernelCache *cache = open_cache("", 2);
	pthread_barrier_t barrier;
	GcCachedKernel *a;
	GcCachedKernel *b;
	int			before = compilations;

	/* Neither compilation ends before both have begun. */
	pthread_barrier_init(&barrier, NULL, 2);
	meet = &barrier;
	a = gc_kcache_get(cache, "meet 1");
	b = gc_kcache_get(cache, "meet 2");
	ok(gc_kcache_get(cache, "meet 1") == a && gc_kcache_get(cache, "meet 2") == b,
	   "a text that is being compiled is not compiled twice");
	ok(await(cache, a, NULL) == GC_KERNEL_READY && await(cache, b, NULL) == GC_KERNEL_READY,
	   "two threads compile at the same time");
	is(compilations - before, 2, "two compilations");
	pthread_barrier_destroy(&barrier);

	most_compiling = 0;
	for (int i = 0; i < 100; i++)
	{
		char		source[32];

		snprintf(source, sizeof(source), "one of many %d", i);
		gc_kcache_get(cache, source);
	}
	for (int i = 0; i < 100; i++)
	{
		char		source[32];

		snprintf(source, sizeof(source), "one of many %d", i);
		if (await(cache, gc_kcache_get(cache, source), NULL) != GC_KERNEL_READY)
			ok(false, "text %d", i);
	}
	is(compilations - before, 102, "a hundred more");
	ok(most_compiling <= 2, "never more at once than there are threads");
	gc_kcache_close(cache);
}

static void
test_failures(void)
{
	GcKernelCache *cache = open_cache(directory, 1);
	GcCachedKernel *entry = gc_kcache_get(cache, "bad text");
	GcError		err = {GC_OK, ""};
	int			before;

	is(await(cache, entry, &err), GC_KERNEL_FAILED, "a text that does not compile");
	is(err.code, GC_COMPILE_FAILED, "has the compiler's code");
	ok(strcmp(err.detail, "line 1: it is bad") == 0, "and message");
	before = compilations;
	ok(gc_kcache_get(cache, "bad text") == entry && await(cache, entry, &err) == GC_KERNEL_FAILED,
	   "asked for again, it is remembered");
	is(compilations, before, "and not tried");
	ok(!gc_kcache_retry(entry), "nor ever again");
	is(count_files(), 0, "failures leave no files");

	is(await(cache, gc_kcache_get(cache, "unloadable"), &err), GC_KERNEL_FAILED,
	   "an image that does not load");
	is(err.code, GC_DEVICE_FAILED, "has the device's code");
	is(await(cache, gc_kcache_get(cache, "no kernel"), &err), GC_KERNEL_FAILED,
	   "nor one without a kernel");
	gc_kcache_close(cache);
	is(unloads, loads, "every module is unloaded");
	empty_directory();
}

/* A compiler that is killed says nothing about the text: it is tried again, ever more seldom. */
static void
test_interrupted(void)
{
	GcKernelCache *cache = open_cache(directory, 1);
	GcCachedKernel *entry;
	GcError		err = {GC_OK, ""};
	int			before;

	kill_next = 4;
	entry = gc_kcache_get(cache, "killed");
	is(await(cache, entry, &err), GC_KERNEL_FAILED, "a compiler that is killed");
	is(err.code, GC_COMPILE_INTERRUPTED, "has a code of its own");
	before = compilations;
	is(await(cache, entry, &err), GC_KERNEL_FAILED, "looking at it");
	is(compilations, before, "is not trying");
	for (int requests = 1; requests <= 8; requests *= 2)
	{
		for (int i = 1; i < requests; i++)
			ok(!gc_kcache_retry(entry), "(request %d of %d)", i, requests);
		ok(gc_kcache_retry(entry), "it is tried again after %d requests", requests);
		if (await(cache, entry, &err) == GC_KERNEL_READY)
			is(requests, 8, "and compiles when it is let");
	}
	is(compilations, before + 4, "four times in all");
	ok(get(cache, "killed", GC_ORIGIN_MEMORY), "and it is the kernel of the text");
	ok(!gc_kcache_retry(entry), "one that is ready is not compiled again");

	kill_next = 1;
	entry = gc_kcache_get(cache, "killed once");
	await(cache, entry, &err);
	ok(get(cache, "killed once", GC_ORIGIN_COMPILED), "who asks by text makes it try again, too");
	gc_kcache_close(cache);
	empty_directory();
}

/* The kernel that a poll gives, which must be ready. */
static const char *
loaded_text(GcKernelCache *cache, GcCachedKernel *entry)
{
	GcKernel   *kernel = NULL;
	GcKernelInfo info;

	if (gc_kcache_poll(cache, entry, &kernel, &info, NULL) != GC_KERNEL_READY)
		return "";
	return (const char *) kernel;
}

/* The quick kernel may come back; only_full: an entry of which that is not asked. */
static void
test_prefer(GcKernelCache *cache, GcCachedKernel *entry, GcCachedKernel *only_full)
{
	GcKernel   *kernel = NULL;
	GcKernelInfo info = {0};
	const int	files = count_files();

	ok(gc_kcache_quick(entry, &kernel, &info) && strcmp((const char *) kernel, QUICK_PREFIX "gate 2 d") == 0,
	   "the quick kernel before the full one can be had");
	is(info.registers, (int) strlen("gate 2 d"), "with what is known of it");
	gc_kcache_prefer_quick(entry);
	ok(strcmp(loaded_text(cache, entry), QUICK_PREFIX "gate 2 d") == 0, "it is the entry's kernel once it is preferred");
	is(count_files(), files - 1, "and the disk forgets the full one");
	ok(!gc_kcache_quick(entry, &kernel, &info), "then there is no other");
	gc_kcache_prefer_quick(entry);
	ok(strcmp(loaded_text(cache, entry), QUICK_PREFIX "gate 2 d") == 0, "which can be said twice");
	ok(strcmp(loaded_text(cache, only_full), PREFIX "gate 2 e") == 0, "another text keeps its full kernel");
}

/* Compiled quickly first, then well. */
static void
test_quick(void)
{
	GcKernelCache *cache;
	GcCachedKernel *entry;
	GcCachedKernel *other;
	const char *quick;
	int			unloaded = unloads;

	fake_device.info.quick_compile = true;
	cache = open_cache(directory, 1);
	entry = gc_kcache_get(cache, "gate 2 a");
	is(await(cache, entry, NULL), GC_KERNEL_READY, "ready before the full compilation");
	quick = loaded_text(cache, entry);
	ok(strcmp(quick, QUICK_PREFIX "gate 2 a") == 0, "with the quick code");
	ok(!gc_kcache_final(entry), "which is not the last");
	is(count_files(), 0, "and does not go to disk");

	/* The only compile thread is busy improving: the next text waits for it. */
	while (compiling == 0)
		sched_yield();
	other = gc_kcache_get(cache, "quick only b");
	sem_post(&gate);
	is(await(cache, other, NULL), GC_KERNEL_READY, "another text");
	ok(strcmp(loaded_text(cache, entry), PREFIX "gate 2 a") == 0, "the better code takes over");
	ok(gc_kcache_final(entry), "and is the last");
	ok(strcmp(quick, QUICK_PREFIX "gate 2 a") == 0, "the quick code is still loaded");
	is(gc_kcache_origin(entry), GC_ORIGIN_COMPILED, "it was compiled");
	is(count_files(), 1, "now it is on disk");
	while (!gc_kcache_final(other))
		sched_yield();
	ok(strcmp(loaded_text(cache, other), QUICK_PREFIX "quick only b") == 0,
	   "a text that only compiles quickly keeps that code");

	/* A kernel that waits for its first compilation goes before improvements. */
	entry = gc_kcache_get(cache, "gate 2 c");
	await(cache, entry, NULL);
	while (compiling == 0)
		sched_yield();
	entry = gc_kcache_get(cache, "gate 2 d");
	other = gc_kcache_get(cache, "gate 2 e");
	sem_post(&gate);
	is(await(cache, entry, NULL), GC_KERNEL_READY, "a text");
	is(await(cache, other, NULL), GC_KERNEL_READY, "and another, before the first is improved");
	sem_post(&gate);
	sem_post(&gate);
	while (!gc_kcache_final(entry) || !gc_kcache_final(other))
	{
		loaded_text(cache, entry);
		loaded_text(cache, other);
		sched_yield();
	}
	test_prefer(cache, entry, other);
	gc_kcache_close(cache);
	is(unloads - unloaded, 8, "all modules are unloaded");

	fake_device.info.quick_compile = false;
	cache = open_cache(directory, 1);
	ok(get(cache, "gate 2 a", GC_ORIGIN_DISK), "the disk has the better code");
	gc_kcache_close(cache);
	empty_directory();
}

/* Closing with jobs waiting: the running one is awaited, the others dropped. */
static void
test_close_busy(void)
{
	GcKernelCache *cache = open_cache("", 1);
	int			before = compilations;

	gc_kcache_get(cache, "gate 1");
	gc_kcache_get(cache, "gate 2");
	gc_kcache_get(cache, "gate 3");
	while (atomic_load(&compiling) == 0)
		sched_yield();
	for (int i = 0; i < 3; i++)
		sem_post(&gate);
	gc_kcache_close(cache);
	ok(compilations - before >= 1, "a busy cache can be closed");
	while (sem_trywait(&gate) == 0)
		;
}

/* The whole way with a real compiler: compiled, then from disk, and it runs. */
static void
test_host(void)
{
	GcDeviceOptions device_options = {.host_threads = 1,.memory_limit = 64 << 20};
	GcKernelCacheOptions options = {directory, 1, wake, &woken, NULL};
	char	   *text = kernel_text(kernel_affine);
	GcDevice   *dev;
	GcError		err = {GC_OK, ""};

	if (gc_host_ops.open(&dev, &device_options, &err) != GC_OK)
	{
		tap_skip("no device host: %s", err.detail);
		free(text);
		return;
	}
	for (int round = 0; round < 2; round++)
	{
		GcKernelCache *cache;
		GcCachedKernel *entry;
		GcKernel   *kernel = NULL;
		GcKernelInfo info;
		GcStream   *stream;
		u32			value = 4;
		GcArgs		args;

		gc_kcache_open(&cache, dev, &options, &err);
		entry = gc_kcache_get(cache, text);
		is(await(cache, entry, &err), GC_KERNEL_READY, "a real kernel");
		is(gc_kcache_origin(entry), round == 0 ? GC_ORIGIN_COMPILED : GC_ORIGIN_DISK, "its origin");
		gc_kcache_poll(cache, entry, &kernel, &info, &err);
		memset(&args, 0, sizeof(args));
		args.w[0] = (u64) (uintptr_t) &value;
		args.w[1] = 10;
		args.w[2] = 2;
		stream = gc_host_ops.stream_get(dev, &err);
		gc_host_ops.launch(stream, kernel, &(GcLaunch) {.blocks = 1,.threads = 1}, &args, 3, &err);
		gc_host_ops.drain(dev, &err);
		gc_host_ops.stream_put(dev, stream);
		is(value, 42, "it runs");
		gc_kcache_close(cache);
	}
	gc_host_ops.close(dev);
	free(text);
	empty_directory();
}

int
main(void)
{
	tap_start();
	make_directory();
	test_memory_only();
	test_disk();
	test_forget();
	test_ahead();
	test_concurrent();
	test_failures();
	test_interrupted();
	test_quick();
	test_close_busy();
	test_host();
	rmdir(directory);
	return tap_done();
}
