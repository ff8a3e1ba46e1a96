/*-------------------------------------------------------------------------
 *
 * kcache_util.h
 *	  For kcache_test.c and kcache_disk_test.c: a device that only pretends, whose compiler can be counted, held up
 *	  and made to fail, and a directory for kernels.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KCACHE_UTIL_H
#define GC_KCACHE_UTIL_H

#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/device/kcache.h"
#include "../../src/device/kcache_disk.h"

/* ---------- the device that pretends ---------- */

/*
 * "Compiling" gives the text behind a prefix; a module is that image.  A text
 * that begins with "bad" does not compile, one with "unloadable" does not load,
 * one with "no kernel" has none; one with "gate" waits for the gate.  Quickly
 * compiled, the prefix is another; "gate 2" waits only with full effort, and "quick
 * only" compiles in no other way.  While kill_next is above 0, the compiler is killed.
 */
#define PREFIX "image of "
#define QUICK_PREFIX "quick of "

static atomic_int compilations;
static atomic_int compiling;	/* now */
static atomic_int most_compiling;
static atomic_int loads;
static atomic_int unloads;
static atomic_int kill_next;
static bool refuse_next_load;
static sem_t gate;
static pthread_barrier_t *volatile meet; /* compilations meet here, if given; their threads read it */

static GcCode
fake_compile(GcDevice *dev, const char *source, GcCompileEffort effort, GcImage *image,
			 GcError *err)
{
	int			now = atomic_fetch_add(&compiling, 1) + 1;
	int			most = atomic_load(&most_compiling);
	char	   *bytes;

	(void) dev;
	atomic_fetch_add(&compilations, 1);
	while (now > most && !atomic_compare_exchange_weak(&most_compiling, &most, now))
		;
	if (strncmp(source, "gate", 4) == 0 &&
		!(effort == GC_COMPILE_QUICK && strncmp(source, "gate 2", 6) == 0))
		sem_wait(&gate);
	if (strncmp(source, "meet", 4) == 0)
		pthread_barrier_wait(meet);
	atomic_fetch_sub(&compiling, 1);
	if (atomic_load(&kill_next) > 0)
	{
		atomic_fetch_sub(&kill_next, 1);
		return gc_fail(err, GC_COMPILE_INTERRUPTED, "it was killed");
	}
	if (strncmp(source, "bad", 3) == 0 ||
		(strncmp(source, "quick only", 10) == 0 && effort != GC_COMPILE_QUICK))
		return gc_fail(err, GC_COMPILE_FAILED, "line 1: it is bad");
	if (asprintf(&bytes, "%s%s", effort == GC_COMPILE_QUICK ? QUICK_PREFIX : PREFIX, source) < 0)
		return gc_fail(err, GC_HOST_MEMORY, "no memory");
	image->bytes = bytes;
	image->size = strlen(bytes) + 1;
	return GC_OK;
}

static GcCode
fake_load(GcDevice *dev, const GcImage *image, GcModule **module, GcError *err)
{
	const char *text = (const char *) image->bytes + strlen(PREFIX);

	(void) dev;
	if (refuse_next_load || strncmp(text, "unloadable", 10) == 0)
	{
		refuse_next_load = false;
		return gc_fail(err, GC_DEVICE_FAILED, "it does not load");
	}
	atomic_fetch_add(&loads, 1);
	*module = malloc(image->size);
	memcpy(*module, image->bytes, image->size);
	return GC_OK;
}

static void
fake_unload(GcDevice *dev, GcModule *module)
{
	(void) dev;
	atomic_fetch_add(&unloads, 1);
	free(module);
}

static GcCode
fake_kernel(GcModule *module, const char *name, GcKernel **kernel, GcKernelInfo *info,
			GcError *err)
{
	const char *text = (const char *) module + strlen(PREFIX);

	if (strncmp(text, "no kernel", 9) == 0)
		return gc_fail(err, GC_DEVICE_FAILED, "no %s", name);
	memset(info, 0, sizeof(*info));
	info->registers = (int) strlen(text);
	*kernel = (GcKernel *) module;
	return GC_OK;
}

static const GcDeviceOps fake_ops = {
	.name = "fake",
	.compile = fake_compile,
	.module_load = fake_load,
	.module_unload = fake_unload,
	.kernel_get = fake_kernel,
};

static GcDevice fake_device = {.ops = &fake_ops, .info = {.target = "fake 1"}};

/* ---------- helpers ---------- */

static char directory[256];
static sem_t woken;
static char last_log[2048];
static int	logged;

static void
wake(void *arg)
{
	sem_post(arg);
}

static void
keep_log(const char *message)
{
	snprintf(last_log, sizeof(last_log), "%s", message);
	logged++;
}

static GcKernelCache *
open_limited(const char *where, int threads, u64 limit)
{
	GcKernelCacheOptions options = {where, threads, wake, &woken, keep_log, limit};
	GcKernelCache *cache;

	logged = 0;
	last_log[0] = '\0';
	if (gc_kcache_open(&cache, &fake_device, &options, NULL) != GC_OK)
		tap_bail("no cache");
	return cache;
}

static GcKernelCache *
open_cache(const char *where, int threads)
{
	return open_limited(where, threads, 0);
}

/* Wait until the entry has left COMPILING. */
static GcKernelState
await(GcKernelCache *cache, GcCachedKernel *entry, GcError *err)
{
	GcKernel   *kernel;
	GcKernelInfo info;
	GcKernelState state;

	while ((state = gc_kcache_poll(cache, entry, &kernel, &info, err)) == GC_KERNEL_COMPILING)
		sem_wait(&woken);
	return state;
}

/* Ask for a text and wait for it: READY, with this origin and its own kernel? */
static bool
get(GcKernelCache *cache, const char *source, GcKernelOrigin origin)
{
	GcCachedKernel *entry = gc_kcache_get(cache, source);
	GcKernel   *kernel = NULL;
	GcKernelInfo info = {0};

	if (await(cache, entry, NULL) != GC_KERNEL_READY)
		return false;
	gc_kcache_poll(cache, entry, &kernel, &info, NULL);
	return gc_kcache_origin(entry) == origin && info.registers == (int) strlen(source) &&
		strcmp((const char *) kernel + strlen(PREFIX), source) == 0;
}

/* The cache's one file with this suffix. */
static void __attribute__((unused))
find_file(const char *suffix, char *path, size_t size)
{
	DIR		   *dir = opendir(directory);
	struct dirent *entry;

	path[0] = '\0';
	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		size_t		length = strlen(entry->d_name);

		if (length > 4 && strcmp(entry->d_name + length - 4, suffix) == 0)
			snprintf(path, size, "%s/%s", directory, entry->d_name);
	}
	if (dir != NULL)
		closedir(dir);
}

static int __attribute__((unused))
count_files(void)
{
	DIR		   *dir = opendir(directory);
	struct dirent *entry;
	int			count = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		count += entry->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return count;
}

static void
empty_directory(void)
{
	DIR		   *dir = opendir(directory);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir != NULL)
		closedir(dir);
}

/* Overwrite one byte at this distance from the end. */
static void __attribute__((unused))
damage(const char *path, off_t from_end)
{
	int			fd = open(path, O_RDWR);
	off_t		at = lseek(fd, -from_end, SEEK_END);
	char		byte = 0;

	ok(pread(fd, &byte, 1, at) == 1 && (byte ^= 0x40, pwrite(fd, &byte, 1, at)) == 1,
	   "(a byte of the file is changed)");
	close(fd);
}

/* A directory for the tests of a program. */
static void
make_directory(void)
{
	const char *tmp = getenv("TMPDIR");

	sem_init(&woken, 0, 0);
	sem_init(&gate, 0, 0);
	snprintf(directory, sizeof(directory), "%.200s/kcache_test-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(directory) == NULL)
		tap_bail("no temporary directory");
}

#endif							/* GC_KCACHE_UTIL_H */
