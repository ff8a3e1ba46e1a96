/*-------------------------------------------------------------------------
 *
 * like_test.c [host|cuda]
 *	  The kernel that matches a dictionary with a pattern finds what PostgreSQL's rules say.
 *
 * Values and patterns are drawn at random from few characters, of one to four bytes, so that
 * patterns match, nearly match, and match at several places.  The rules are told once more here, as
 * a recursion over characters.  Values begin at any address, some are empty, and some are long.  The
 * table is filled in parts, as when a dictionary grows.
 *
 * Where there is NVRTC, the text for a GPU is compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "device_util.h"

#include "../../src/codegen/codegen.h"
#include "../../src/device/nvrtc.h"

#define GC_FN	static inline
#include "../../cuda/gc_like.h"

#define NVALUES		3001
#define NPATTERNS	400
#define MOST_ITEMS	64
#define ROOM		(1 << 20)

/* A matcher's view of a pattern: characters, and what stands for several. */
typedef struct Pattern
{
	u16			items[MOST_ITEMS * 4];
	u32			n;
	u32			flags;
} Pattern;

static const char *const characters[] = {"a", "b", "A", "B", "%", "_", "\xC3\xA9", "\xC3\xA8", "\xE6\x9C\xAC", "\xF0\x9F\x98\x80", " ", "z"};
#define NCHARACTERS	((u32) (sizeof(characters) / sizeof(characters[0])))

static u8	bytes[ROOM];
static u64	start[NVALUES + 1];
static u64	random_state = 88172645463325252ull;

static u32
draw(u32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32) ((random_state >> 32) % n);
}

static void
must(GcCode code)
{
	if (code != GC_OK)
		tap_bail("the device failed");
}

static void
make_values(void)
{
	u64			at = 0;

	for (int v = 0; v < NVALUES; v++)
	{
		u32			n = v % 500 == 499 ? 5000 : draw(12);
		u32			kinds = 2 + draw(NCHARACTERS - 1);

		start[v] = at;
		for (u32 i = 0; i < n; i++)
		{
			const char *c = characters[draw(kinds)];

			memcpy(bytes + at, c, strlen(c));
			at += strlen(c);
		}
	}
	start[NVALUES] = at;
	if (at > ROOM)
		tap_bail("values do not fit");
}

static u8
folded(u8 c, u32 flags)
{
	return (flags & GC_LIKE_FOLD) && c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

static void
make_pattern(Pattern *p, int number)
{
	u32			n = draw(8);
	u32			kinds = 2 + draw(NCHARACTERS - 1);

	memset(p, 0, sizeof(*p));
	p->flags = (number & 1 ? GC_LIKE_UTF8 : 0) | (number & 2 ? GC_LIKE_FOLD : 0) | (number & 4 ? GC_LIKE_NOT : 0);
	for (u32 i = 0; i < n; i++)
	{
		const char *c = characters[draw(kinds)];

		if (draw(3) == 0)
			p->items[p->n++] = GC_LIKE_MANY;
		else if (draw(4) == 0)
			p->items[p->n++] = GC_LIKE_ANY;
		else
		{
			for (; *c; c++)
				p->items[p->n++] = folded((u8) *c, p->flags);
		}
	}
}

static u32
character_length(const u8 *s, u32 flags)
{
	if (!(flags & GC_LIKE_UTF8) || *s < 0x80)
		return 1;
	return *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
}

/* The rules once more; the table of what is known keeps the recursion from repeating itself. */
static bool
matches(const u8 *s, u64 len, const Pattern *p)
{
	bool	   *from = calloc(len + 5, 1);	/* do items [i + 1 .. n) match s[k ..]? */
	bool		result;

	from[len] = true;
	for (u32 i = p->n; i-- > 0;)
	{
		bool	   *now = calloc(len + 5, 1);

		for (u64 k = len + 1; k-- > 0;)
		{
			bool		boundary = k == len || !(p->flags & GC_LIKE_UTF8) || (s[k] & 0xC0) != 0x80;

			if (p->items[i] == GC_LIKE_MANY)
			{
				now[k] = boundary && from[k];
				if (boundary && k < len)
					now[k] = now[k] || now[k + character_length(s + k, p->flags)];
			}
			else if (k < len && p->items[i] == GC_LIKE_ANY)
				now[k] = boundary && from[k + character_length(s + k, p->flags)];
			else if (k < len)
				now[k] = folded(s[k], p->flags) == p->items[i] && from[k + 1];
		}
		free(from);
		from = now;
	}
	result = from[0];
	free(from);
	return result != ((p->flags & GC_LIKE_NOT) != 0);
}

static Loaded
load_kernel(void)
{
	char	   *text = gc_generate_like_kernel();
	GcError		err = {GC_OK, ""};
	GcImage		image;
	Loaded		k;

	if (compile_kernel(dev, text, GC_COMPILE_FULL, &image, &err) != GC_OK ||
		ops->module_load(dev, &image, &k.module, &err) != GC_OK ||
		ops->kernel_get(k.module, "gc_kernel", &k.kernel, &k.info, &err) != GC_OK)
		tap_bail(err.detail);
	free(image.bytes);
	free(text);
	return k;
}

static void
fill_part(GcStream *stream, const Loaded *k, GcArgs *args, u64 first, u64 end, u32 blocks)
{
	GcLaunch	shape = {blocks, GC_LIKE_VALUES, 0, false};

	args->w[3] = first;
	args->w[4] = end;
	must(ops->launch(stream, k->kernel, &shape, args, GC_LIKE_WORDS, NULL));
}

/* All values with one pattern, in parts; the number of wrong entries. */
static int
count_wrong(GcStream *stream, const Loaded *k, GcAddr values, GcAddr starts, const Pattern *p)
{
	static u8	table[NVALUES + 2];
	GcAddr		to = starts + sizeof(start) + 1024;
	GcAddr		items = to + sizeof(table) + 1024;
	GcArgs		args;
	u64			cut = draw(NVALUES);
	int			wrong = 0;

	items -= items % 64;
	memset(&args, 0, sizeof(args));
	args.w[0] = values;
	args.w[1] = starts;
	args.w[2] = to;
	args.w[5] = items;
	args.w[6] = p->n;
	args.w[7] = p->flags;
	memset(table, 7, sizeof(table));
	must(ops->copy_in(stream, to, table, sizeof(table), NULL));
	must(ops->copy_in(stream, items, p->items, sizeof(p->items), NULL));
	fill_part(stream, k, &args, 0, cut, 1 + draw(20));
	fill_part(stream, k, &args, cut, NVALUES, 1 + draw(20));
	must(ops->copy_out(stream, table, to, sizeof(table), NULL));
	must(finish(stream, NULL));

	/* entry 0 is not the kernel's, nor is what comes behind the last */
	wrong = (table[0] != 7) + (table[NVALUES + 1] != 7);
	for (int v = 0; v < NVALUES; v++)
		wrong += table[v + 1] != matches(bytes + start[v], start[v + 1] - start[v], p);
	return wrong;
}

static void
test_kernel(void)
{
	GcStream   *stream;
	GcAddr		values;
	GcAddr		starts;
	Loaded		k;
	int			bad = 0;

	open_device();
	stream = get_stream();
	k = load_kernel();
	make_values();
	values = pool_base;
	starts = pool_base + ROOM;
	must(ops->copy_in(stream, values, bytes, start[NVALUES], NULL));
	must(ops->copy_in(stream, starts, start, sizeof(start), NULL));
	for (int i = 0; i < NPATTERNS; i++)
	{
		Pattern		p;

		make_pattern(&p, i);
		bad += count_wrong(stream, &k, values, starts, &p) > 0;
	}
	is(bad, 0, "patterns with a wrong result");
	ops->stream_put(dev, stream);
	unload(&k);
	ops->close(dev);
}

static void
test_nvrtc(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (int arch = 80; arch <= 90; arch += 10)
	{
		char	   *text = gc_generate_like_kernel();

		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "the LIKE kernel");
		free(text);
	}
}

int
main(int argc, char **argv)
{
	tap_start();
	if (!choose_device(argc > 1 ? argv[1] : "host"))
		return tap_skip_all("there is no such device");
	test_kernel();
	test_nvrtc();
	return tap_done();
}
