/*-------------------------------------------------------------------------
 *
 * device_open_test.c [host|cuda|auto]
 *	  Opening and closing devices: options, what is left behind, pretending, and a device that
 *	  is lost.
 *
 * As device_test.c, which tests the rest of the Device interface, on both devices.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "device_util.h"

/*
 * Threads of this process.  Joined threads may take a moment to go.  So look again and again
 * until there are no more than expected, if that is given.
 */
static int
count_threads(int expected)
{
	int			count = 0;

	for (int turn = 0; turn < 1000000; turn++)
	{
		DIR		   *dir = opendir("/proc/self/task");

		count = 0;
		while (dir != NULL && readdir(dir) != NULL)
			count++;
		closedir(dir);
		if (count <= expected || expected < 0)
			break;
		sched_yield();
	}
	return count;
}

static void
test_open_close(void)
{
	int			before;
	bool		same = true;

	/* The first opening may start threads of libraries, which stay. */
	open_device();
	ops->close(dev);
	before = count_threads(-1);
	for (int i = 0; i < 2; i++)
	{
		open_device();
		ops->close(dev);
		same = same && count_threads(before) <= before;
	}
	ok(same, "opening and closing again leaves no thread behind");
}

static void
test_bad_options(void)
{
	GcDeviceOptions options = {.host_threads = 1,.memory_limit = 64 * MEGABYTE,.ordinal = 999};
	GcError		err = {GC_OK, ""};
	GcDevice   *none = NULL;
	char	   *path;

	is(ops->open(&none, &options, &err), GC_NO_DEVICE, "there is no device 999");
	ok(none == NULL && err.detail[0] != '\0', "and that is said: %s", err.detail);
	if (!on_host)
		return;
	options.ordinal = 0;
	path = strdup(getenv("PATH"));
	setenv("PATH", "/nonexistent", 1);
	is(ops->open(&none, &options, &err), GC_NO_COMPILER, "no compiler on the PATH, no device host");
	ok(none == NULL && err.detail[0] != '\0', "and that is said: %s", err.detail);
	setenv("PATH", path, 1);
	free(path);
}

/* Names in a directory, . and .. included. */
static int
count_names(const char *path)
{
	DIR		   *dir = opendir(path);
	int			count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count;
}

/* The compiler leaves no files, and is interrupted where they have no room. */
static void
test_temporary_files(void)
{
	char		path[] = "/tmp/device_test-XXXXXX";
	GcDeviceOptions options = {.host_threads = 1,.memory_limit = 64 * MEGABYTE,.temp_directory = "/nonexistent"};
	GcImage		image = {NULL, 0};
	GcError		err;
	char	   *text = kernel_text(kernel_count);

	is(ops->open(&dev, &options, &err), GC_NO_COMPILER, "without a folder for temporary files, no device host");
	options.temp_directory = mkdtemp(path);
	is(ops->open(&dev, &options, &err), GC_OK, "with one");
	is(count_names(path), 2, "compiling leaves nothing in it");
	if (geteuid() == 0 && mount("none", path, "tmpfs", 0, "size=8k,mode=0700") == 0)
	{
		is(ops->compile(dev, text, GC_COMPILE_FULL, &image, &err), GC_COMPILE_INTERRUPTED, "no room in it");
		is(count_names(path), 2, "leaves nothing, either");
		umount(path);
	}
	else
		tap_skip("no tmpfs can be mounted to be filled");
	is(ops->compile(dev, text, GC_COMPILE_FULL, &image, &err), GC_OK, "there is room again");
	free(image.bytes);
	free(text);
	ops->close(dev);
	rmdir(path);
}

/* Closing while work is queued neither waits for it nor leaves it behind. */
static void
test_close_busy(void)
{
	GcStream   *a;
	GcStream   *b;
	Loaded		slow;
	GcEvent	   *event;

	open_device();
	a = get_stream();
	b = get_stream();
	slow = load(kernel_slow_store);
	for (int i = 0; i < 2000; i++)
		launch(a, &slow, 100, 1, 0, pool_base, 1, pool_base + 64, 10000);
	event = ops->event(a, NULL);
	ops->stream_wait(b, event, NULL);
	ops->fill(b, pool_base, 0, 4 * MEGABYTE, NULL);
	ops->close(dev);
	ok(true, "a busy device can be closed");
}

/* Device host says that it is a GPU; memory, launches and results stay its own. */
static void
test_pretending(void)
{
	const GcDeviceInfo gpu = {.name = "none",.sms = 132,.warp_size = 32,.max_warps = 64,.max_blocks = 32,
		.registers = 65536,.shared_per_sm = 233472,.shared_per_block = 232448,.shared_reserved = 1024,
	.l2_bytes = 50 * MEGABYTE,.arch = 90};
	GcDeviceOptions options = {.host_threads = 2,.memory_limit = 64 * MEGABYTE,.pretend = &gpu};
	const GcDeviceInfo *info;
	GcError		err = {GC_OK, ""};
	GcStream   *stream;
	Loaded		count;

	is(ops->open(&dev, &options, &err), GC_OK, "a GPU is pretended");
	info = &dev->info;
	ops->pool(dev, &pool_base, &pool_size);
	ok(info->sms == 132 && info->warp_size == 32 && info->max_warps == 64 && info->max_blocks == 32 && info->arch == 90,
	   "with its multiprocessors");
	ok(info->registers == 65536 && info->shared_per_sm == 233472 && info->shared_per_block == 232448 &&
	   info->shared_reserved == 1024 && info->l2_bytes == 50 * MEGABYTE, "and what they have");
	ok(!info->host_memory && pool_size == 64 * MEGABYTE, "it has memory of its own");
	ok(strcmp(info->name, "none") != 0, "the rest is the host's");
	stream = get_stream();
	count = load(kernel_count);
	ok(count.info.registers > 0 && count.info.max_threads >= 1024 && count.info.shared_static == 0,
	   "kernels have registers, and blocks of threads");
	ok(ops->occupancy(count.kernel, 256, 0) > 1 && ops->occupancy(count.kernel, 256, 100 * 1024) == 2,
	   "of which as many fit as fit that GPU");
	ops->fill(stream, pool_base, 0, 8192, NULL);
	is(launch(stream, &count, 264, 256, 0, pool_base, pool_base + 4096, 0, 0), GC_OK, "they are launched");
	is(finish(stream, &err), GC_OK, "and run");
	ok(read_word(stream, pool_base) == 1 && read_word(stream, pool_base + 4096) == 263 * 264 / 2, "each block once");
	unload(&count);
	ops->stream_put(dev, stream);
	ops->close(dev);

	options.pretend = NULL;
	is(ops->open(&dev, &options, &err), GC_OK, "without");
	ok(dev->info.sms == 2 && dev->info.warp_size == 1 && dev->info.arch == 0, "it is the host");
	ops->pool(dev, &pool_base, &pool_size);
	count = load(kernel_count);
	ok(count.info.registers == 0 && count.info.max_threads == 1, "and so are its kernels");
	unload(&count);
	ops->close(dev);
}

/* Last, because the process has then lost its GPU. */
static void
test_lost_device(void)
{
	GcStream   *stream;
	Loaded		poke;
	GcError		err = {GC_OK, ""};
	bool		done;
	GcEvent	   *event;

	open_device();
	stream = get_stream();
	poke = load(kernel_poke);
	event = ops->event(stream, NULL);
	launch(stream, &poke, 1, 1, 0, 0x10, pool_base, 0, 0);
	is(finish(stream, &err), GC_DEVICE_FAILED, "an illegal address fails the event");
	ok(strstr(err.detail, "illegal") != NULL || strstr(err.detail, "address") != NULL,
	   "which says why: %s", err.detail);
	is(ops->fill(stream, pool_base, 0, 4096, &err), GC_DEVICE_FAILED, "and every later call");
	ok(strstr(err.detail, "earlier") != NULL, "which says so: %s", err.detail);
	is(ops->event_done(event, &done, NULL), GC_DEVICE_FAILED, "event_done");
	is(ops->event_wait(event, NULL), GC_DEVICE_FAILED, "event_wait");
	is(ops->drain(dev, NULL), GC_DEVICE_FAILED, "drain");
	ok(ops->stream_get(dev, NULL) == NULL, "stream_get");
	ok(ops->event(stream, NULL) == NULL, "event");
	is(ops->occupancy(poke.kernel, 32, 0), 0, "occupancy");
	unload(&poke);
	ops->close(dev);
	ok(true, "a lost device can be closed");
}

int
main(int argc, char **argv)
{
	tap_start();
	if (!choose_device(argc > 1 ? argv[1] : "auto"))
		return tap_skip_all("no such device here");
	test_open_close();
	test_bad_options();
	if (on_host)
	{
		test_temporary_files();
		test_close_busy();
		test_pretending();
	}
	else
		test_lost_device();
	return tap_done();
}
