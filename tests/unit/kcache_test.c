/*-------------------------------------------------------------------------
 *
 * kcache_test.c
 *	  The kernel cache, over a device that only pretends and whose compiler can
 *	  be counted, held up and made to fail; and once over device host.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

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
#include "kernels.h"

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
static pthread_barrier_t *meet;	/* compilations meet here, if given */

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
static void
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

static int
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
static void
damage(const char *path, off_t from_end)
{
	int			fd = open(path, O_RDWR);
	off_t		at = lseek(fd, -from_end, SEEK_END);
	char		byte = 0;

	ok(pread(fd, &byte, 1, at) == 1 && (byte ^= 0x40, pwrite(fd, &byte, 1, at)) == 1,
	   "(a byte of the file is changed)");
	close(fd);
}

/* ---------- tests ---------- */

static void
test_memory_only(void)
{
	GcKernelCache *cache = open_cache("", 2);
	GcCachedKernel *entry;
	int			before = compilations;

	ok(get(cache, "text a", GC_ORIGIN_COMPILED), "a new text is compiled");
	entry = gc_kcache_get(cache, "text a");
	is(gc_kcache_origin(entry), GC_ORIGIN_MEMORY, "asked for again, it is in memory");
	ok(gc_kcache_compile_ms(entry) == 0, "and took no time");
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
	GcCachedKernel *entry;
	int			before = compilations;
	struct stat st;
	char		path[600];

	ok(get(cache, "text on disk", GC_ORIGIN_COMPILED), "compiled");
	gc_kcache_close(cache);
	is(count_files(), 2, "leaves two files");
	find_file(".src", path, sizeof(path));
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == 12,
	   "one is the text, private");
	find_file(".bin", path, sizeof(path));
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "the other private too");

	cache = open_cache(directory, 1);
	entry = gc_kcache_get(cache, "text on disk");
	ok(get(cache, "text on disk", GC_ORIGIN_DISK), "a second cache finds it on disk");
	is(compilations - before, 1, "without compiling");
	ok(gc_kcache_compile_ms(entry) == 0, "in no time");
	ok(get(cache, "text on disk", GC_ORIGIN_MEMORY), "and then in memory");
	gc_kcache_close(cache);

	strcpy(fake_device.info.target, "fake 2");
	cache = open_cache(directory, 1);
	ok(get(cache, "text on disk", GC_ORIGIN_COMPILED), "not for another target");
	gc_kcache_close(cache);
	strcpy(fake_device.info.target, "fake 1");
	empty_directory();
}

/* Whatever is wrong with a file: the text is compiled, and the file replaced. */
static void
expect_replaced(const char *source, const char *what)
{
	GcKernelCache *cache = open_cache(directory, 1);

	ok(get(cache, source, GC_ORIGIN_COMPILED), "%s: compiled", what);
	is(logged, 0, "without a word");
	gc_kcache_close(cache);
	cache = open_cache(directory, 1);
	ok(get(cache, source, GC_ORIGIN_DISK), "%s: replaced", what);
	gc_kcache_close(cache);
}

static void
test_damage(void)
{
	GcKernelCache *cache = open_cache(directory, 1);
	char		path[600];

	get(cache, "precious", GC_ORIGIN_COMPILED);
	gc_kcache_close(cache);
	find_file(".bin", path, sizeof(path));
	damage(path, 3);
	expect_replaced("precious", "a damaged image");
	damage(path, 3 + (off_t) strlen(PREFIX "precious") + 20);
	expect_replaced("precious", "a damaged header");
	ok(truncate(path, 30) == 0, "(truncated)");
	expect_replaced("precious", "a truncated file");
	ok(truncate(path, 0) == 0, "(emptied)");
	expect_replaced("precious", "an empty file");
	unlink(path);
	expect_replaced("precious", "a missing image");
	find_file(".src", path, sizeof(path));
	damage(path, 2);
	expect_replaced("precious", "another text");
	unlink(path);
	expect_replaced("precious", "a missing text");

	/* An intact image that the device does not take. */
	cache = open_cache(directory, 1);
	refuse_next_load = true;
	ok(get(cache, "precious", GC_ORIGIN_COMPILED), "an image that does not load is compiled anew");
	gc_kcache_close(cache);
	empty_directory();
}

static void
test_leftovers(void)
{
	GcKernelCache *cache;
	char		path[600];

	snprintf(path, sizeof(path), "%s/tmp.123.abc.bin", directory);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	cache = open_cache(directory, 1);
	is(count_files(), 0, "what a killed server left half written is removed");
	gc_kcache_close(cache);
}

/* A file or directory that we must not trust: said once, and no file used. */
static void
expect_distrust(const char *where, const char *source, const char *why)
{
	GcKernelCache *cache = open_cache(where, 1);
	int			files = count_files();

	ok(get(cache, source, GC_ORIGIN_COMPILED), "%s: compiled", why);
	ok(get(cache, "something else", GC_ORIGIN_COMPILED), "and so is the next");
	is(logged, 1, "said once");
	ok(strstr(last_log, why) != NULL, "namely: %s", last_log);
	is(count_files(), files, "and nothing is written");
	gc_kcache_close(cache);
}

static void
test_trust(void)
{
	GcKernelCache *cache = open_cache(directory, 1);
	char		path[600];
	char		other[600];
	char		link_name[600];

	get(cache, "trusted", GC_ORIGIN_COMPILED);
	gc_kcache_close(cache);
	find_file(".bin", path, sizeof(path));

	chmod(path, 0620);
	expect_distrust(directory, "trusted", "its group or others may write to it");
	chmod(path, 0602);
	expect_distrust(directory, "trusted", "its group or others may write to it");
	chmod(path, 0600);
	if (geteuid() == 0)
	{
		ok(chown(path, 1, 1) == 0, "(given to another user)");
		expect_distrust(directory, "trusted", "it is not owned by the server's user");
		ok(chown(path, 0, 0) == 0, "(taken back)");
	}
	else
		tap_skip("only root can give a file away");

	snprintf(other, sizeof(other), "%s/other", directory);
	ok(rename(path, other) == 0 && symlink(other, path) == 0, "(made a link)");
	expect_distrust(directory, "trusted", "it is a symbolic link");
	ok(unlink(path) == 0 && mkfifo(path, 0600) == 0, "(made a pipe)");
	expect_distrust(directory, "trusted", "it is not a regular file");
	ok(unlink(path) == 0 && rename(other, path) == 0, "(as it was)");
	cache = open_cache(directory, 1);
	ok(get(cache, "trusted", GC_ORIGIN_DISK), "the file itself is good");
	gc_kcache_close(cache);

	chmod(directory, 0777);
	expect_distrust(directory, "trusted", "its group or others may write to it");
	chmod(directory, 0700);
	snprintf(link_name, sizeof(link_name), "%s.link", directory);
	ok(symlink(directory, link_name) == 0, "(a link to the directory)");
	expect_distrust(link_name, "trusted", "it could not be opened");
	unlink(link_name);
	expect_distrust("/nonexistent/cache", "trusted", "it could not be created");
	empty_directory();
}

/* As a user who may not write there; root may write anywhere, so not as root. */
static void
test_unwritable(void)
{
	GcKernelCache *cache;
	pid_t		pid;
	int			status;

	if (geteuid() == 0 && chown(directory, 65534, 65534) != 0)
	{
		tap_skip("cannot give the directory away");
		return;
	}
	chmod(directory, 0500);
	pid = fork();
	if (pid == 0)
	{
		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(2);
		cache = open_cache(directory, 1);
		if (!get(cache, "unwritten", GC_ORIGIN_COMPILED) || logged != 0)
			_exit(1);
		gc_kcache_close(cache);
		_exit(count_files() == 0 ? 0 : 3);
	}
	waitpid(pid, &status, 0);
	is(status, 0, "a directory that cannot be written to is no error");
	chmod(directory, 0700);
	if (geteuid() == 0 && chown(directory, 0, 0) != 0)
		tap_bail("cannot take the directory back");
}

/* Writes that fail half way: by a limit on file sizes, and on a disk that is full. */
static void
test_no_room(void)
{
	GcKernelCache *cache = open_cache(directory, 1);
	struct rlimit saved;
	struct rlimit tiny;
	char		big[4096];
	char		filler[300];
	char		block[65536] = "";
	int			fd;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &saved);
	tiny = saved;
	tiny.rlim_cur = 1000;
	setrlimit(RLIMIT_FSIZE, &tiny);
	ok(get(cache, big, GC_ORIGIN_COMPILED), "a file that cannot be written whole is no error");
	setrlimit(RLIMIT_FSIZE, &saved);
	is(count_files(), 0, "and is not left behind");
	gc_kcache_close(cache);

	if (geteuid() != 0 || mount("none", directory, "tmpfs", 0, "size=64k,mode=0700") != 0)
	{
		tap_skip("no tmpfs can be mounted to be filled (%s)", strerror(errno));
		return;
	}
	snprintf(filler, sizeof(filler), "%s/filler", directory);
	fd = open(filler, O_WRONLY | O_CREAT, 0600);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	cache = open_cache(directory, 1);
	ok(get(cache, big, GC_ORIGIN_COMPILED), "a full disk is no error");
	is(count_files(), 1, "and nothing is left on it");
	unlink(filler);
	ok(get(cache, "later", GC_ORIGIN_COMPILED), "when there is room again");
	is(count_files(), 2, "it is used");
	gc_kcache_close(cache);
	umount(directory);
}

/* ---------- the limit on the directory ---------- */

static GcKernelKey
key_of(int which)
{
	return (GcKernelKey) {{1, (u64) which}};
}

static void
file_of(int which, const char *suffix, char *path, size_t size)
{
	snprintf(path, size, "%s/%016x%016x.%s", directory, 1, which, suffix);
}

/* Write a kernel's two files, with this time of modification. */
static void
put_kernel(GcKernelDisk *disk, int which, time_t written)
{
	GcKernelKey key = key_of(which);
	char		text[501];
	GcImage		image = {text, 500};
	struct timespec times[2] = {{written, 0}, {written, 0}};
	char		path[600];

	memset(text, 'x', 500);
	text[500] = '\0';
	gc_kdisk_store(disk, &key, text, &image);
	file_of(which, "src", path, sizeof(path));
	utimensat(AT_FDCWD, path, times, 0);
	file_of(which, "bin", path, sizeof(path));
	utimensat(AT_FDCWD, path, times, 0);
}

static bool
load_kernel(GcKernelDisk *disk, int which)
{
	GcKernelKey key = key_of(which);
	char		text[501];
	GcImage		image;
	bool		found;

	memset(text, 'x', 500);
	text[500] = '\0';
	found = gc_kdisk_load(disk, &key, text, &image);
	if (found)
		free(image.bytes);
	return found;
}

/* Kernels of 0 .. 9 that are on disk, as digits; one with a file too few as "?". */
static const char *
kernels_on_disk(void)
{
	static char digits[16];
	int			n = 0;

	for (int i = 0; i < 10; i++)
	{
		char		src[600];
		char		bin[600];

		file_of(i, "src", src, sizeof(src));
		file_of(i, "bin", bin, sizeof(bin));
		if ((access(src, F_OK) == 0) != (access(bin, F_OK) == 0))
			digits[n++] = '?';
		else if (access(src, F_OK) == 0)
			digits[n++] = (char) ('0' + i);
	}
	digits[n] = '\0';
	return digits;
}

static void
expect_kernels(const char *wanted, const char *what)
{
	if (!ok(strcmp(kernels_on_disk(), wanted) == 0, "%s", what))
		printf("# there are %s\n", kernels_on_disk());
}

static u64
bytes_on_disk(void)
{
	DIR		   *dir = opendir(directory);
	struct dirent *entry;
	u64			bytes = 0;
	struct stat st;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		if (entry->d_name[0] != '.' && fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += (u64) st.st_size;
	}
	if (dir != NULL)
		closedir(dir);
	return bytes;
}

static void
test_trim(void)
{
	GcKernelDisk disk;
	GcKernelDisk other;
	char		path[600];
	u64			each;

	gc_kdisk_open(&disk, directory, NULL);
	gc_kdisk_open(&other, directory, NULL);
	for (int i = 1; i <= 8; i++)
		put_kernel(&disk, i, 1000 + i);
	each = bytes_on_disk() / 8;
	is((long long) disk.bytes, (long long) (8 * each), "what is written is counted");
	ok(!gc_kdisk_over_limit(&disk), "0 is no limit");
	gc_kdisk_trim(&disk);
	expect_kernels("12345678", "and removes nothing");
	disk.limit = 8 * each;
	ok(!gc_kdisk_over_limit(&disk), "just the limit");
	gc_kdisk_trim(&disk);
	expect_kernels("12345678", "is allowed");
	disk.limit = 8 * each - 10;
	ok(gc_kdisk_over_limit(&disk), "more is not");
	gc_kdisk_trim(&disk);
	expect_kernels("345678", "the oldest go, and an eighth of the limit more");
	is((long long) disk.bytes, (long long) (6 * each), "which is known then");
	ok(load_kernel(&disk, 3), "the oldest is used");
	disk.limit = 5 * each;
	gc_kdisk_trim(&disk);
	expect_kernels("3678", "and not the oldest any more");

	/* Another server, with a limit of its own, uses the same directory. */
	put_kernel(&other, 9, 2000);
	other.limit = 4 * each;
	ok(!gc_kdisk_over_limit(&other), "it knows of its own files only");
	gc_kdisk_trim(&other);
	expect_kernels("389", "but removes whatever is old");
	ok(!load_kernel(&disk, 7) && load_kernel(&disk, 9), "as the first one sees");
	ok(disk.usable, "without a complaint");
	put_kernel(&disk, 7, 3000);
	expect_kernels("3789", "and writes again");

	/* What is not a kernel of ours stays, and does not count. */
	file_of(9, "bin", path, sizeof(path));
	chmod(path, 0620);
	file_of(8, "src.old", path, sizeof(path));
	close(open(path, O_WRONLY | O_CREAT, 0600));
	file_of(2, "gpu.src", path, sizeof(path));
	close(open(path, O_WRONLY | O_CREAT, 0600));
	file_of(1, "src", path, sizeof(path));
	ok(symlink("nowhere", path) == 0, "(a link)");
	disk.limit = 1;
	gc_kdisk_trim(&disk);
	is((long long) disk.bytes, 0, "of kernels, nothing is left");
	is(count_files(), 4, "of other things, everything");
	gc_kdisk_close(&disk);
	gc_kdisk_close(&other);
	empty_directory();
}

/* The cache trims its directory when a kernel was written, and when it gets a limit. */
static void
test_limit(void)
{
	const u64	limit = 20000;
	GcKernelCache *cache = open_limited(directory, 2, limit);
	GcCachedKernel *entry;
	char		text[1001];
	int			kept;
	int			found = 0;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 40; i++)
	{
		text[0] = (char) ('A' + i);
		ok(get(cache, text, GC_ORIGIN_COMPILED), "(text %d)", i);
	}
	while (bytes_on_disk() > limit)
		sched_yield();
	gc_kcache_close(cache);
	kept = count_files() / 2;
	ok(bytes_on_disk() <= limit && kept >= 5, "as many stay as the limit allows");
	cache = open_cache(directory, 2);
	for (int i = 0; i < 40; i++)
	{
		text[0] = (char) ('A' + i);
		entry = gc_kcache_get(cache, text);
		await(cache, entry, NULL);
		found += gc_kcache_origin(entry) == GC_ORIGIN_DISK;
	}
	is(found, kept, "and are found there");
	gc_kcache_limit(cache, 1);
	while (count_files() > 0)
		sched_yield();
	ok(get(cache, text, GC_ORIGIN_MEMORY), "kernels that are loaded are not harmed");
	gc_kcache_close(cache);
}

/* What a request waits for overtakes what none does. */
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
	pthread_barrier_wait(&barrier);
	/* Those ahead would wait for us, too. */
	ok(await(cache, wanted, NULL) == GC_KERNEL_READY, "a request's kernel is compiled before those that were asked for ahead");
	for (int i = 0; i < 3; i++)
	{
		pthread_barrier_wait(&barrier);
		ok(await(cache, ahead[i], NULL) == GC_KERNEL_READY, "then comes kernel %d of these", i);
	}
	gc_kcache_compilations(cache, &asked, &ended);
	ok(asked == 2 && ended == 2, "both have ended, and the others do not count");
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
	is(count_files(), files - 2, "and the disk forgets the full one");
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
	is(count_files(), 2, "now it is on disk");
	while (!gc_kcache_final(other))
		sched_yield();
	ok(strcmp(loaded_text(cache, other), QUICK_PREFIX "quick only b") == 0,
	   "a text that only compiles quickly keeps that code");

	/* What waits for its first compilation goes before improvements. */
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
	GcDeviceOptions device_options = {1, 64 << 20, 0, NULL, NULL};
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
		ok((gc_kcache_compile_ms(entry) > 0) == (round == 0), "it took time to compile");
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
	const char *tmp = getenv("TMPDIR");

	tap_start();
	sem_init(&woken, 0, 0);
	sem_init(&gate, 0, 0);
	snprintf(directory, sizeof(directory), "%.200s/kcache_test-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(directory) == NULL)
		tap_bail("no temporary directory");
	test_memory_only();
	test_disk();
	test_damage();
	test_leftovers();
	test_trust();
	test_unwritable();
	test_no_room();
	test_trim();
	test_limit();
	test_ahead();
	test_concurrent();
	test_failures();
	test_interrupted();
	test_quick();
	test_close_busy();
	test_host();
	rmdir(directory);

	/* A directory that is not there is made. */
	gc_kcache_close(open_cache(directory, 1));
	is(rmdir(directory), 0, "a missing directory is made");
	return tap_done();
}
