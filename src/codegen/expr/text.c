/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Growing text.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Have room for n characters more, and for the NUL behind them. */
static bool
make_room(Text *t, size_t n)
{
	char	   *s;

	if (t->s && n < t->cap - t->len)
		return true;
	t->cap = (t->cap + n + 1) * 2;
	s = realloc(t->s, t->cap);
	if (s == NULL)
	{
		free(t->s);
		*t = (Text) {.failed = true};
		return false;
	}
	t->s = s;
	return true;
}

void
text_add(Text *t, const char *s, size_t n)
{
	if (!make_room(t, n))
		return;
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
}

/* Append as printf() does.  Where memory ran out, the text is not extended, and t->failed says so. */
void
text_addf(Text *t, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	text_vaddf(t, fmt, args);
	va_end(args);
}

void
text_vaddf(Text *t, const char *fmt, va_list args)
{
	for (;;)
	{
		size_t		room = t->cap - t->len;
		va_list		again;
		int			n;

		va_copy(again, args);
		n = vsnprintf(t->s ? t->s + t->len : NULL, t->s ? room : 0, fmt, again);
		va_end(again);
		if (t->s && (size_t) n < room)
		{
			t->len += n;
			return;
		}
		if (!make_room(t, n))
			return;
	}
}

const char *
text_of(const Text *t)
{
	return t->s ? t->s : "";
}

/* The text may be used again, and is empty then. */
void
text_free(Text *t)
{
	free(t->s);
	*t = (Text) {0};
}
