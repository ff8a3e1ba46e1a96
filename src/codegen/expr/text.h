/*-------------------------------------------------------------------------
 *
 * text.h
 *	  Growing text.
 *
 * Private to codegen/, used by the worker's main thread only.  The holder of the struct owns it:
 * it begins as zeros and ends with text_free, unless s is handed on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TEXT_H
#define GC_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Text that remembers whether it ran out of memory; then some of it is missing. */
typedef struct Text
{
	char	   *s;				/* malloc'd; NULL: nothing was added */
	size_t		len;
	size_t		cap;
	bool		failed;
} Text;

/* Add n characters: for long text, which printf's functions copy one by one. */
extern void text_add(Text *t, const char *s, size_t n);

extern void text_addf(Text *t, const char *fmt,...) __attribute__((format(printf, 2, 3)));
extern void text_vaddf(Text *t, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* The text so far, at least "". */
extern const char *text_of(const Text *t);

extern void text_free(Text *t);

#endif							/* GC_TEXT_H */
