/*-------------------------------------------------------------------------
 *
 * output.c
 *	  Writing to standard output, in PostgreSQL's binary COPY format or as
 *	  tab-separated text.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "output.h"

void
out_flush(Output *out)
{
	size_t		done = 0;

	while (done < out->used)
	{
		ssize_t		n = write(STDOUT_FILENO, out->buf + done,
							  out->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
		{
			fprintf(stderr, "gen: could not write: %s\n", strerror(errno));
			exit(1);
		}
		done += (size_t) n;
	}
	out->used = 0;
}

void
out_begin(Output *out, bool text)
{
	out->text = text;
	out->used = 0;
	if (!text)
	{
		out_bytes(out, "PGCOPY\n\377\r\n\0", 11);
		out_binary(out, 0, 4);	/* flags */
		out_binary(out, 0, 4);	/* length of header extension */
	}
}

void
out_end(Output *out)
{
	if (!out->text)
		out_binary(out, UINT16_MAX, 2);
	out_flush(out);
}

/* No number in SSB is negative. */
void
put_decimal(Output *out, uint64_t v)
{
	char		digits[20];
	int			start = (int) sizeof(digits);

	put_tab(out);
	do
	{
		digits[--start] = (char) ('0' + v % 10);
		v /= 10;
	} while (v > 0);
	out_bytes(out, digits + start, sizeof(digits) - (size_t) start);
}
