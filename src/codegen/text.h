/*-------------------------------------------------------------------------
 *
 * text.h
 *	  Growing text.
 *
 * Private to codegen/, whose only user is the worker's main thread.  Its owner is whoever
 * holds the struct: it begins as zeros and ends with text_free, unless s is handed on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TEXT_H
#define GC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers running out of memory: then some of it is missing. */
typedef struct Text
{
	char	   *s;				/* malloc'd; NULL: nothing was added */
	size_t		len;
	size_t		cap;
	bool		failed;
} Text;

extern void text_addf(Text *t, const char *fmt,...) __attribute__((format(printf, 2, 3)));

/* What was added so far, if only "". */
extern const char *text_of(const Text *t);

extern void text_free(Text *t);

#endif							/* GC_TEXT_H */
