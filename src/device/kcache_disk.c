/*-------------------------------------------------------------------------
 *
 * kcache_disk.c
 *	  The kernel cache's files.
 *
 * Files that are read here are executed in the server.  So a file counts only if no other user than the server's can
 * have written it.  That is asked of the descriptor that is then read, never of a name.  Damage is found by a checksum,
 * which is no protection against malice.
 *
 * A file that is read gets a new time of modification: by it, the files used least
 * recently are found.  Servers may share a directory.  One of them may remove a file of another, which then compiles
 * the kernel again.
 *
 * Process and threads: the worker; its main thread, but for gc_kdisk_store and
 * gc_kdisk_trim, which the compile threads call.  No locks: a reader
 * sees a file either whole or not at all, because files are renamed into
 * place.  Nothing is flushed to disk: a file that a crash left incomplete does
 * not pass its checksum.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "kcache_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hash.h"
#include "write_all.h"

#define BIN_MAGIC		"gpuconc\n"
#define BIN_VERSION		2
#define MAX_FILE		((off_t) 1 << 30)
#define SUFFIX			".bin"
#define TMP_PREFIX		"tmp."
#define NAME_SIZE		64
#define MAX_WRITE_SECONDS	3600

typedef struct BinHeader
{
	char		magic[8];
	u32			version;
	u32			header_size;
	GcKernelKey key;
	u64			source_size;
	u64			image_size;
	u64			checksum[2];
} BinHeader;

/* The header by which a file is known to be whole, and of this key.  Behind it come the text and the image. */
static void
fill_header(BinHeader *header, const GcKernelKey *key, const char *source,
			const void *image, size_t image_size)
{
	memset(header, 0, sizeof(*header));
	memcpy(header->magic, BIN_MAGIC, sizeof(header->magic));
	header->version = BIN_VERSION;
	header->header_size = sizeof(*header);
	header->key = *key;
	header->source_size = strlen(source);
	header->image_size = image_size;
	header->checksum[0] = gc_hash64(image, image_size, 1);
	header->checksum[1] = gc_hash64(image, image_size, 2);
}

/* A file's name: its key in hexadecimal. */
static void
file_name(char *name, const GcKernelKey *key)
{
	snprintf(name, NAME_SIZE, "%016llx%016llx" SUFFIX, key->word[0], key->word[1]);
}

/* ---------- trust ---------- */

/* Why we do not trust the descriptor's file; NULL if we do. */
static const char *
distrust(const struct stat *st)
{
	if (st->st_uid != geteuid())
		return "it is not owned by the server's user";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "its group or others may write to it";
	return NULL;
}

/* Stop using the directory, and say so. */
static void
give_up(GcKernelDisk *disk, const char *what, const char *name, const char *why)
{
	char		message[1024];

	atomic_store(&disk->usable, false);
	if (disk->log == NULL)
		return;
	snprintf(message, sizeof(message),
			 "kernel cache %s \"%s%s%s\" is not used, compiled kernels are kept in memory only: %s",
			 what, disk->path, name[0] != '\0' ? "/" : "", name, why);
	disk->log(message);
}

/* ---------- open and close ---------- */

/* NULL on failure. */
static DIR *
open_listing(int dir)
{
	int			copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR		   *listing = copy >= 0 ? fdopendir(copy) : NULL;

	if (listing == NULL && copy >= 0)
		close(copy);
	return listing;
}

/* Remove files that a server that was killed has left half written: those that nobody can be writing any more. */
static void
remove_leftovers(int dir)
{
	DIR		   *listing = open_listing(dir);
	struct dirent *entry;
	struct stat st;

	while (listing != NULL && (entry = readdir(listing)) != NULL)
	{
		if (strncmp(entry->d_name, TMP_PREFIX, strlen(TMP_PREFIX)) == 0 &&
			fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && time(NULL) - st.st_mtime > MAX_WRITE_SECONDS)
			unlinkat(dir, entry->d_name, 0);
	}
	if (listing != NULL)
		closedir(listing);
}

void
gc_kdisk_open(GcKernelDisk *disk, const char *path, void (*log) (const char *message))
{
	struct stat st;
	const char *why;
	char		error[128];

	memset(disk, 0, sizeof(*disk));
	disk->dir = -1;
	disk->log = log;
	if (path == NULL || path[0] == '\0' || (disk->path = strdup(path)) == NULL)
		return;
	if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
	{
		snprintf(error, sizeof(error), "it could not be created (%m)");
		give_up(disk, "directory", "", error);
		return;
	}
	disk->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (disk->dir < 0 || fstat(disk->dir, &st) != 0)
	{
		snprintf(error, sizeof(error), "it could not be opened (%m)");
		give_up(disk, "directory", "", error);
		return;
	}
	why = distrust(&st);
	if (why != NULL)
	{
		give_up(disk, "directory", "", why);
		return;
	}
	atomic_store(&disk->usable, true);
	remove_leftovers(disk->dir);
}

void
gc_kdisk_close(GcKernelDisk *disk)
{
	if (disk->dir >= 0)
		close(disk->dir);
	free(disk->path);
	memset(disk, 0, sizeof(*disk));
	disk->dir = -1;
}

/* ---------- reading ---------- */

/* The whole of a file that we trust, malloc'd; NULL if there is none. */
static char *
read_trusted(GcKernelDisk *disk, const char *name, size_t *size)
{
	struct stat st;
	const char *why = NULL;
	char	   *bytes = NULL;
	int			fd;

	/* O_NONBLOCK: opening a pipe with this name must not hang. */
	fd = openat(disk->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
	{
		if (errno == ELOOP)
			give_up(disk, "file", name, "it is a symbolic link");
		return NULL;
	}
	if (fstat(fd, &st) == 0)
	{
		why = S_ISREG(st.st_mode) ? distrust(&st) : "it is not a regular file";
		if (why == NULL && st.st_size < MAX_FILE)
			bytes = malloc((size_t) st.st_size + 1);
	}
	if (bytes != NULL)
	{
		*size = (size_t) st.st_size;
		if (!gc_read_all(fd, bytes, *size))
		{
			free(bytes);
			bytes = NULL;
		}
	}
	close(fd);
	if (why != NULL)
		give_up(disk, "file", name, why);
	return bytes;
}

bool
gc_kdisk_load(GcKernelDisk *disk, const GcKernelKey *key, const char *source, GcImage *image)
{
	const size_t head = sizeof(BinHeader) + strlen(source);
	BinHeader	wanted;
	char		name[NAME_SIZE];
	size_t		size;
	char	   *bytes;

	file_name(name, key);
	if (!atomic_load(&disk->usable) || (bytes = read_trusted(disk, name, &size)) == NULL)
		return false;
	if (size > head)
		fill_header(&wanted, key, source, bytes + head, size - head);
	/* Hashes may collide, so the text counts, too. */
	if (size <= head || memcmp(bytes, &wanted, sizeof(wanted)) != 0 ||
		memcmp(bytes + sizeof(wanted), source, head - sizeof(wanted)) != 0)
	{
		free(bytes);
		return false;
	}
	/* It is the kernel used last. */
	(void) utimensat(disk->dir, name, NULL, AT_SYMLINK_NOFOLLOW);
	memmove(bytes, bytes + head, size - head);
	image->bytes = bytes;
	image->size = size - head;
	return true;
}

/* ---------- writing ---------- */

void
gc_kdisk_store(GcKernelDisk *disk, const GcKernelKey *key, const char *source,
			   const GcImage *image)
{
	BinHeader	header;
	char		name[NAME_SIZE];
	char		tmp[NAME_SIZE + 32];
	bool		good;
	int			fd;

	if (!atomic_load(&disk->usable))
		return;
	file_name(name, key);
	snprintf(tmp, sizeof(tmp), TMP_PREFIX "%d.%s", (int) getpid(), name);
	unlinkat(disk->dir, tmp, 0);
	fd = openat(disk->dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				S_IRUSR | S_IWUSR);
	if (fd < 0)
		return;
	fill_header(&header, key, source, image->bytes, image->size);
	good = gc_write_all(fd, &header, sizeof(header)) && gc_write_all(fd, source, strlen(source)) &&
		gc_write_all(fd, image->bytes, image->size);
	good = close(fd) == 0 && good;
	if (good && renameat(disk->dir, tmp, disk->dir, name) == 0)
		atomic_fetch_add(&disk->bytes, sizeof(header) + strlen(source) + image->size);
	else
		unlinkat(disk->dir, tmp, 0);
}

void
gc_kdisk_forget(GcKernelDisk *disk, const GcKernelKey *key)
{
	char		name[NAME_SIZE];

	/* Another server may have removed the file already, which is as good. */
	file_name(name, key);
	if (atomic_load(&disk->usable))
		(void) unlinkat(disk->dir, name, 0);
}

/* ---------- trimming ---------- */

typedef struct File
{
	GcKernelKey key;
	u64			bytes;
	struct timespec used;
} File;

typedef struct Listing
{
	File	   *files;
	size_t		n;
	size_t		room;
	u64			bytes;
} Listing;

/* False: not the name of such a file. */
static bool
parse_name(const char *name, GcKernelKey *key)
{
	char		again[NAME_SIZE];

	if (sscanf(name, "%16llx%16llx", &key->word[0], &key->word[1]) != 2)
		return false;
	file_name(again, key);
	return strcmp(again, name) == 0;
}

/* Add a file to the listing.  False: no memory. */
static bool
add_file(Listing *listing, const File *file)
{
	if (listing->n == listing->room)
	{
		size_t		room = listing->room > 0 ? 2 * listing->room : 1024;
		File	   *files = realloc(listing->files, room * sizeof(File));

		if (files == NULL)
			return false;
		listing->files = files;
		listing->room = room;
	}
	listing->files[listing->n++] = *file;
	listing->bytes += file->bytes;
	return true;
}

/* False: not the whole of it. */
static bool
list_files(const GcKernelDisk *disk, Listing *listing)
{
	DIR		   *dir = open_listing(disk->dir);
	struct dirent *entry;
	bool		good = dir != NULL;

	while (good && (entry = readdir(dir)) != NULL)
	{
		File		file;
		struct stat st;

		if (!parse_name(entry->d_name, &file.key) ||
			fstatat(disk->dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(st.st_mode) || distrust(&st) != NULL)
			continue;
		file.bytes = (u64) st.st_size;
		file.used = st.st_mtim;
		good = add_file(listing, &file);
	}
	if (dir != NULL)
		closedir(dir);
	return good;
}

/* Order for qsort(): the least recently used first. */
static int
by_time(const void *a, const void *b)
{
	const struct timespec *x = &((const File *) a)->used;
	const struct timespec *y = &((const File *) b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

bool
gc_kdisk_over_limit(const GcKernelDisk *disk)
{
	u64			limit = atomic_load(&disk->limit);

	return limit > 0 && atomic_load(&disk->usable) && atomic_load(&disk->bytes) > limit;
}

void
gc_kdisk_trim(GcKernelDisk *disk)
{
	const u64	limit = atomic_load(&disk->limit);
	const u64	before = atomic_load(&disk->bytes);
	bool		whole;
	Listing		listing = {NULL, 0, 0, 0};
	size_t		i;

	if (limit == 0 || !atomic_load(&disk->usable))
		return;
	whole = list_files(disk, &listing);
	if (whole && listing.bytes > limit)
	{
		qsort(listing.files, listing.n, sizeof(File), by_time);
		/* An eighth more, so that not every kernel from now on lists the directory. */
		for (i = 0; i < listing.n && listing.bytes > limit - limit / 8; i++)
		{
			gc_kdisk_forget(disk, &listing.files[i].key);
			listing.bytes -= listing.files[i].bytes;
		}
	}
	/* A file that was written meanwhile may be in the listing, or not: it counts twice rather than not at all. */
	if (whole)
		atomic_fetch_add(&disk->bytes, listing.bytes - before);
	free(listing.files);
}
