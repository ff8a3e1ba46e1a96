/*-------------------------------------------------------------------------
 *
 * output.h
 *	  A buffered writer that knows both formats, so that the code making the
 *	  rows need not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BUFFER_SIZE			(256 * 1024)
#define MAX_ROW_SIZE		1024	/* above the longest row */

typedef struct Output
{
	bool		text;
	bool		first_column;
	size_t		used;
	char		buf[BUFFER_SIZE];
} Output;

extern void out_begin(Output *out, bool text);
extern void out_end(Output *out);
extern void out_flush(Output *out);
extern void put_decimal(Output *out, uint64_t v);

static inline void
out_bytes(Output *out, const void *bytes, size_t len)
{
	memcpy(out->buf + out->used, bytes, len);
	out->used += len;
}

/* n bytes of v, most significant first, as COPY wants them */
static inline void
out_binary(Output *out, uint64_t v, int n)
{
	unsigned char *p = (unsigned char *) out->buf + out->used;

	for (int i = 0; i < n; i++)
		p[i] = (unsigned char) (v >> (8 * (n - 1 - i)));
	out->used += (size_t) n;
}

static inline void
row_begin(Output *out, int ncolumns)
{
	/* The one place that makes room: what follows need not look. */
	if (out->used > BUFFER_SIZE - MAX_ROW_SIZE)
		out_flush(out);
	out->first_column = true;
	if (!out->text)
		out_binary(out, (uint64_t) ncolumns, 2);
}

static inline void
row_end(Output *out)
{
	if (out->text)
		out_bytes(out, "\n", 1);
}

static inline void
put_tab(Output *out)
{
	if (!out->first_column)
		out_bytes(out, "\t", 1);
	out->first_column = false;
}

static inline void
put_int4(Output *out, int v)
{
	/* in binary, the length (4) and the value, as one number of 8 bytes */
	if (out->text)
		put_decimal(out, (uint64_t) v);
	else
		out_binary(out, (UINT64_C(4) << 32) | (uint32_t) v, 8);
}

static inline void
put_int8(Output *out, int64_t v)
{
	if (out->text)
		put_decimal(out, (uint64_t) v);
	else
	{
		out_binary(out, 8, 4);
		out_binary(out, (uint64_t) v, 8);
	}
}

/*
 * No text in SSB has a character that the text format would have to escape.
 * Fixed-size columns are not padded here: the server does that.
 */
static inline void
put_text(Output *out, const char *s)
{
	size_t		len = strlen(s);

	if (out->text)
		put_tab(out);
	else
		out_binary(out, len, 4);
	out_bytes(out, s, len);
}

#endif							/* OUTPUT_H */
