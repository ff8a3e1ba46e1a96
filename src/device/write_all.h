/*-------------------------------------------------------------------------
 *
 * write_all.h
 *	  Writing and reading all of some bytes, however often that takes.
 *
 * Any thread of the worker.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WRITE_ALL_H
#define GC_WRITE_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

/* False: not all of them were written, and errno says why. */
static inline bool
gc_write_all(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;

	while (size > 0)
	{
		ssize_t		n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t) n;
	}
	return true;
}

/* False: there were not as many, or errno says why. */
static inline bool
gc_read_all(int fd, void *bytes, size_t size)
{
	char	   *p = bytes;

	while (size > 0)
	{
		ssize_t		n = read(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t) n;
	}
	return true;
}

#endif							/* GC_WRITE_ALL_H */
