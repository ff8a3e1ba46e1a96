/*-------------------------------------------------------------------------
 *
 * prologue.c
 *	  The beginning of every kernel's text: the device library, and the kernel's head.
 *
 * The library is that of cuda/, one C string for each file (embed.sh).  A kernel gets the files that it names
 * something of, and those that these need: a compiler takes half as long again to read all.  A name belongs to the
 * file that has it first, as no file needs a later one.
 *
 * Pure C, called on the worker's main thread.  Names of the library are read from it once.
 *
 *-------------------------------------------------------------------------
 */
#include "prologue.h"

#include <string.h>

#include "../codegen.h"
#include "../devlib_text.h"

#define NFILES	((int) (sizeof(devlib_text) / sizeof(devlib_text[0])))

/*
 * gc_abi.h to gc_deliver.h: heads and ends of kernels are made of these, with macros that name things of later files.
 */
#define FILES_OF_ALL	0x3fu

/* More than twice the names of the library, so that a search ends soon. */
#define NAME_SLOTS		4096

typedef struct Name
{
	const char *s;				/* NULL: the slot is free */
	size_t		len;
	int			file;
} Name;

_Static_assert(sizeof(devlib_text) / sizeof(devlib_text[0]) <= 32, "a set of files is a u32");

static Name names[NAME_SLOTS];

/* The files that each file needs, itself too; 0 before the library was read. */
static u32	needs[NFILES];

static bool
in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The next name of ours (gc_x, GC_X or GcX) outside comments, and its length; NULL: none. */
static const char *
next_name(const char *s, size_t *len)
{
	while (*s != '\0')
	{
		const char *begin = s;

		if (s[0] == '/' && s[1] == '*')
		{
			s = strstr(s + 2, "*/");
			if (s == NULL)
				return NULL;
			s += 2;
			continue;
		}
		while (in_name(*s))
			s++;
		*len = s - begin;
		if (*len > 2 && (begin[0] == 'g' || begin[0] == 'G') && (begin[1] == 'c' || begin[1] == 'C'))
			return begin;
		if (*len == 0)
			s++;
	}
	return NULL;
}

/* The slot that has this name, or that would. */
static Name *
find(const char *s, size_t len)
{
	u32			at = 2166136261u;

	for (size_t i = 0; i < len; i++)
		at = (at ^ (u8) s[i]) * 16777619u;
	for (;; at++)
	{
		Name	   *name = &names[at % NAME_SLOTS];

		if (name->s == NULL || (name->len == len && memcmp(name->s, s, len) == 0))
			return name;
	}
}

/* The files that a text needs, which is that of file `own`, or of a kernel (-1). */
static u32
files_of(const char *text, int own)
{
	u32			files = own < 0 ? FILES_OF_ALL : 1u << own;
	size_t		len;

	for (const char *s = text; (s = next_name(s, &len)) != NULL; s += len)
	{
		Name	   *name = find(s, len);

		if (name->s == NULL && own >= 0)
			*name = (Name) {s, len, own};
		if (name->s != NULL)
			files |= needs[name->file];
	}
	return files;
}

void
cg_prologue(Text *t, int nwords, int vec, int threads)
{
	text_addf(t, "#define GC_MAX_ARG_WORDS %d\n#define GC_CUDA_VEC %d\n", nwords > 0 ? nwords : 1, vec);
	text_addf(t, "\nGC_KERNEL(%d)\n{\nGC_PROLOGUE\nGC_COUNT_TURNS\n", threads);
}

void
cg_add_library(Text *t)
{
	const char *kernel = strstr(text_of(t), "\nGC_KERNEL(");
	Text		whole = {.failed = t->failed};
	u32			files;

	for (int i = 0; i < NFILES && needs[NFILES - 1] == 0; i++)
		needs[i] = files_of(devlib_text[i], i);
	if (kernel != NULL)
	{
		files = files_of(t->s, -1);
		text_add(&whole, t->s, kernel - t->s);
		for (int i = 0; i < NFILES; i++)
		{
			if (files >> i & 1)
				text_add(&whole, devlib_text[i], strlen(devlib_text[i]));
		}
		text_add(&whole, kernel, strlen(kernel));
	}
	text_free(t);
	*t = whole;
}

char *
cg_fixed_kernel(int nwords, const char *body,...)
{
	Text		t = {0};
	va_list		args;

	cg_prologue(&t, nwords, 8, 256);
	va_start(args, body);
	text_vaddf(&t, body, args);
	va_end(args);
	cg_add_library(&t);
	return t.s;
}
