/*-------------------------------------------------------------------------
 *
 * kcache_disk_test.c
 *	  The kernel cache's directory: files that are damaged, left over or another's, no room for them, and the limit,
 *	  over a device that only pretends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "kcache_util.h"

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
	expect_replaced("precious", "a missing file");
	damage(path, 3 + (off_t) strlen(PREFIX "precious"));
	expect_replaced("precious", "another text");

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

	snprintf(path, sizeof(path), "%s/tmp.%d.abc.bin", directory, (int) getppid());
	close(open(path, O_WRONLY | O_CREAT, 0600));
	cache = open_cache(directory, 1);
	is(count_files(), 1, "what another process may be writing stays");
	gc_kcache_close(cache);

	utimensat(AT_FDCWD, path, (const struct timespec[]) {{0, 0}, {time(NULL) - 7200, 0}}, 0);
	cache = open_cache(directory, 1);
	is(count_files(), 0, "what a killed server left half written long ago is removed");
	gc_kcache_close(cache);
	empty_directory();
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
	is(count_files(), 1, "it is used");
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

/* Write a kernel's file, with this time of modification. */
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

/* Kernels of 0 .. 9 that are on disk, as digits. */
static const char *
kernels_on_disk(void)
{
	static char digits[16];
	int			n = 0;

	for (int i = 0; i < 10; i++)
	{
		char		bin[600];

		file_of(i, "bin", bin, sizeof(bin));
		if (access(bin, F_OK) == 0)
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

	/* A file that is not a kernel of ours stays, and does not count. */
	file_of(9, "bin", path, sizeof(path));
	chmod(path, 0620);
	file_of(8, "bin.old", path, sizeof(path));
	close(open(path, O_WRONLY | O_CREAT, 0600));
	file_of(2, "gpu.src", path, sizeof(path));
	close(open(path, O_WRONLY | O_CREAT, 0600));
	file_of(1, "bin", path, sizeof(path));
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
	kept = count_files();
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

/* A kernel that a request waits for overtakes one that none waits for. */
int
main(void)
{
	tap_start();
	make_directory();
	test_damage();
	test_leftovers();
	test_trust();
	test_unwritable();
	test_no_room();
	test_trim();
	test_limit();
	rmdir(directory);

	/* A directory that is not there is made. */
	gc_kcache_close(open_cache(directory, 1));
	is(rmdir(directory), 0, "a missing directory is made");
	return tap_done();
}
