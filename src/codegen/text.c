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

void
text_addf(Text *t, const char *fmt,...)
{
	va_list		ap;
	char	   *s;
	int			n;

	for (;;)
	{
		size_t		room = t->cap - t->len;

		va_start(ap, fmt);
		n = vsnprintf(t->s ? t->s + t->len : NULL, t->s ? room : 0, fmt, ap);
		va_end(ap);
		if (t->s && (size_t) n < room)
		{
			t->len += n;
			return;
		}
		t->cap = (t->cap + n + 1) * 2;
		s = realloc(t->s, t->cap);

		if (s == NULL)
		{
			t->failed = true;
			free(t->s);
			*t = (Text) {.failed = true};
			return;
		}
		t->s = s;
	}
}

const char *
text_of(const Text *t)
{
	return t->s ? t->s : "";
}

void
text_free(Text *t)
{
	free(t->s);
	*t = (Text) {0};
}
