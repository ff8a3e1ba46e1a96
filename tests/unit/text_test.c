/*-------------------------------------------------------------------------
 *
 * text_test.c [host|cuda]
 *	  The kernel that executes a text program for each value of a dictionary makes what PostgreSQL's
 *	  rules say.
 *
 * Values, patterns and constants are drawn at random from few characters, of one to four bytes.  So
 * patterns match, nearly match, and match at several places.  The rules are told once more here: of
 * LIKE as a recursion over characters, of other functions as changes to an array of characters.
 * Values begin at any address, some are empty, and some are long.  The table is filled in parts, as
 * when a dictionary grows.
 *
 * Where there is NVRTC, the text for a GPU is compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "device_util.h"
#include "draw.h"

#include "../../src/codegen/codegen.h"
#include "../../src/device/nvrtc.h"

#define GC_FN	static inline
#include "../../cuda/gc_like.h"
#include "../../cuda/gc_md5.h"
#include "../../cuda/gc_text.h"

#define NVALUES		3001
#define NPATTERNS	400
#define NPROGRAMS	600
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

static void
fill_part(GcStream *stream, const Loaded *k, GcArgs *args, u64 first, u64 end, u32 blocks)
{
	GcLaunch	shape = {blocks, GC_TEXT_VALUES, 0, false};

	args->w[4] = first;
	args->w[5] = end;
	must(ops->launch(stream, k->kernel, &shape, args, GC_TEXT_WORDS, NULL));
}

/* A text program, and room for its constants. */
typedef struct Program
{
	GcTextOp	op[8];
	u8			constants[2048];
	u32			nops;
	u32			nbytes;			/* of the constants */
	u32			utf8;
} Program;

static GcTextOp *
add_op(Program *p, u32 op, u32 a, u32 b)
{
	p->op[p->nops] = (GcTextOp) {op, 0, a, b};
	return &p->op[p->nops++];
}

static void
add_constant(Program *p, GcTextOp *op, const void *from, u32 n)
{
	op->at = (u32) offsetof(Program, constants) + p->nbytes;
	memcpy(p->constants + p->nbytes, from, n);
	p->nbytes += (n + 7) / 8 * 8;
}

/* The kernel's results for all values by a program, in parts, as entries of 1 or 4 bytes. */
static const i32 *
results(GcStream *stream, const Loaded *k, const Program *p, u32 width)
{
	static u8	table[4 * (NVALUES + 2)];
	static i32	result[NVALUES + 2];
	GcAddr		starts = pool_base + ROOM;
	GcAddr		to = starts + sizeof(start) + 1024;
	GcAddr		program = to + sizeof(table) + 1024;
	GcArgs		args;
	u64			cut = draw(NVALUES);

	to -= to % 64;
	program -= program % 64;
	memset(&args, 0, sizeof(args));
	args.w[0] = pool_base;
	args.w[1] = starts;
	args.w[2] = to;
	args.w[3] = width;
	args.w[6] = program;
	args.w[7] = p->nops;
	args.w[8] = p->utf8;
	memset(table, 7, sizeof(table));
	must(ops->copy_in(stream, to, table, sizeof(table), NULL));
	must(ops->copy_in(stream, program, p, sizeof(*p), NULL));
	fill_part(stream, k, &args, 0, cut, 1 + draw(20));
	fill_part(stream, k, &args, cut, NVALUES, 1 + draw(20));
	must(ops->copy_out(stream, table, to, sizeof(table), NULL));
	must(finish(stream, NULL));
	for (int v = 0; v < NVALUES + 2; v++)
		result[v] = width == 1 ? table[v] : ((i32 *) table)[v];
	return result;
}

/* The kernel writes neither entry 0 nor anything behind the last. */
static int
wrong_ends(const i32 *result, u32 width)
{
	i32			untouched = width == 1 ? 7 : 0x07070707;

	return (result[0] != untouched) + (result[NVALUES + 1] != untouched);
}

/* All values with one pattern; the number of wrong entries. */
static int
count_wrong(GcStream *stream, const Loaded *k, const Pattern *pattern)
{
	Program		p = {.utf8 = pattern->flags & GC_LIKE_UTF8};
	const i32  *result;
	int			wrong;

	add_constant(&p, add_op(&p, GC_TEXT_LIKE, pattern->n, pattern->flags), pattern->items, pattern->n * sizeof(u16));
	result = results(stream, k, &p, 1);
	wrong = wrong_ends(result, 1);
	for (int v = 0; v < NVALUES; v++)
		wrong += result[v + 1] != matches(bytes + start[v], start[v + 1] - start[v], pattern);
	return wrong;
}

/*-------------------------------------------------------------------------
 * Other functions: a text is an array of characters, each an index of characters[]
 *-------------------------------------------------------------------------
 */
#define MOST_CHARACTERS	(5000 * 4 + 64)

typedef struct Characters
{
	u32			c[MOST_CHARACTERS];
	u32			n;
} Characters;

/* In an encoding of single bytes, each byte is a character. */
static void
split(Characters *x, const u8 *s, u64 n, u32 utf8)
{
	x->n = 0;
	for (u64 i = 0; i < n;)
	{
		u32			len = character_length(s + i, utf8 ? GC_LIKE_UTF8 : 0);
		u32			c = 0;

		for (u32 b = 0; b < len; b++)
			c = c << 8 | s[i + b];
		x->c[x->n++] = c;
		i += len;
	}
}

static u32
join(const Characters *x, u8 *to)
{
	u32			n = 0;

	for (u32 i = 0; i < x->n; i++)
	{
		for (int b = 24; b >= 0; b -= 8)
		{
			if (x->c[i] >> b || b == 0)
				to[n++] = (u8) (x->c[i] >> b);
		}
	}
	return n;
}

static void
remove_characters(Characters *x, u32 from, u32 n)
{
	memmove(x->c + from, x->c + from + n, (x->n - from - n) * sizeof(u32));
	x->n -= n;
}

static void
insert_characters(Characters *x, u32 at, const Characters *y)
{
	memmove(x->c + at + y->n, x->c + at, (x->n - at) * sizeof(u32));
	memcpy(x->c + at, y->c, y->n * sizeof(u32));
	x->n += y->n;
}

static void
apply(Characters *x, const GcTextOp *op, const Characters *constant)
{
	u32			k = op->a < x->n ? op->a : x->n;

	switch (op->op)
	{
		case GC_TEXT_DROP:
			remove_characters(x, 0, k);
			break;
		case GC_TEXT_KEEP:
			x->n = k;
			break;
		case GC_TEXT_DROP_LAST:
			x->n -= k;
			break;
		case GC_TEXT_KEEP_LAST:
			remove_characters(x, 0, x->n - k);
			break;
		case GC_TEXT_TRIM:
			while (op->a & 1 && x->n > 0 && x->c[0] == ' ')
				remove_characters(x, 0, 1);
			while (op->a & 2 && x->n > 0 && x->c[x->n - 1] == ' ')
				x->n--;
			break;
		case GC_TEXT_FOLD:
			for (u32 i = 0; i < x->n; i++)
			{
				if (op->a == GC_TEXT_TO_UPPER && x->c[i] >= 'a' && x->c[i] <= 'z')
					x->c[i] -= 32;
				if (op->a == GC_TEXT_TO_LOWER && x->c[i] >= 'A' && x->c[i] <= 'Z')
					x->c[i] += 32;
			}
			break;
		default:
			insert_characters(x, op->op == GC_TEXT_PREPEND ? 0 : x->n, constant);
			break;
	}
}

static i32
end_of(const Characters *x, const GcTextOp *op, const u8 *c, u32 utf8)
{
	static u8	whole[MOST_CHARACTERS * 4];
	u32			n = join(x, whole);
	u32			both = n < op->a ? n : op->a;
	int			cmp = memcmp(whole, c, both);
	Characters *needle;
	i32			at = 0;

	cmp = cmp ? cmp : (int) n - (int) op->a;
	switch (op->op)
	{
		case GC_TEXT_LENGTH:
			return (i32) x->n;
		case GC_TEXT_BYTES:
			return (i32) n;
		case GC_TEXT_STARTS:
			return n >= op->a && memcmp(whole, c, op->a) == 0;
		case GC_TEXT_COMPARE:
			return (op->b & (cmp < 0 ? GC_TEXT_LESS : cmp > 0 ? GC_TEXT_GREATER : GC_TEXT_EQUAL)) != 0;
		case GC_TEXT_IN:
			for (u32 i = 0; i < op->a; i++)
			{
				const u32  *end = (const u32 *) c;
				u32			from = i > 0 ? end[i - 1] : 0;

				at = at || (n == end[i] - from && memcmp(whole, (const u8 *) (end + op->a) + from, n) == 0);
			}
			return at != (i32) op->b;
		default:
			needle = malloc(sizeof(Characters));
			split(needle, c, op->a, utf8);
			for (u32 i = 0; at == 0 && i + needle->n <= x->n; i++)
				at = memcmp(x->c + i, needle->c, needle->n * sizeof(u32)) == 0 ? (i32) i + 1 : 0;
			free(needle);
			return at;
	}
}

/* Up to `most` characters as bytes; how many bytes. */
static u32
draw_constant(u8 *to, u32 least, u32 most)
{
	u32			n = 0;

	for (u32 i = least + draw(most - least + 1); i > 0; i--)
	{
		const char *c = characters[draw(NCHARACTERS)];

		memcpy(to + n, c, strlen(c));
		n += (u32) strlen(c);
	}
	return n;
}

static int
by_bytes(const u8 *x, u32 nx, const u8 *y, u32 ny)
{
	int			cmp = memcmp(x, y, nx < ny ? nx : ny);

	return cmp ? cmp : (int) nx - (int) ny;
}

/* A list of constants, in ascending order and each once. */
static void
add_list(Program *p)
{
	u8			c[5][16],
				list[5 * sizeof(u32) + 5 * 16];
	u32			len[5],
				n = 0,
				end = 0;

	while (n < 5)
	{
		u32			at = 0;

		len[4] = draw_constant(c[4], 0, 3);
		while (at < n && by_bytes(c[at], len[at], c[4], len[4]) < 0)
			at++;
		if (n == 4 || (at < n && by_bytes(c[at], len[at], c[4], len[4]) == 0))
			break;
		for (u32 i = n++; i > at; i--)
		{
			memcpy(c[i], c[i - 1], 16);
			len[i] = len[i - 1];
		}
		if (at < 4)
		{
			memcpy(c[at], c[4], 16);
			len[at] = len[4];
		}
	}
	for (u32 i = 0; i < n; i++)
	{
		memcpy(list + n * sizeof(u32) + end, c[i], len[i]);
		end += len[i];
		memcpy(list + i * sizeof(u32), &end, sizeof(u32));
	}
	add_constant(p, add_op(p, GC_TEXT_IN, n, draw(2)), list, n * (u32) sizeof(u32) + end);
}

/* Up to three changes, of which constants come before cuts, and an end. */
static void
make_program(Program *p, u32 utf8)
{
	static const u32 ends[] = {GC_TEXT_LENGTH, GC_TEXT_BYTES, GC_TEXT_POSITION, GC_TEXT_STARTS, GC_TEXT_COMPARE, GC_TEXT_IN};
	u8			constant[32];
	u32			n;
	u32			end = ends[draw(6)];

	memset(p, 0, sizeof(*p));
	p->utf8 = utf8;
	if (draw(3) == 0)
		add_op(p, GC_TEXT_FOLD, 1 + draw(2), 0);
	if (draw(3) == 0)
		add_op(p, GC_TEXT_DROP + draw(4), draw(6), 0);
	for (u32 op = GC_TEXT_PREPEND; op <= GC_TEXT_APPEND; op++)
	{
		if (draw(3) == 0)
		{
			n = draw_constant(constant, 0, 3);
			add_constant(p, add_op(p, op, n, 0), constant, n);
		}
	}
	if (draw(3) == 0)
		add_op(p, GC_TEXT_TRIM, draw(4), 0);
	if (draw(2) == 0)
		add_op(p, GC_TEXT_DROP + draw(4), draw(8), 0);
	if (end == GC_TEXT_IN)
	{
		add_list(p);
		return;
	}
	n = draw_constant(constant, end == GC_TEXT_POSITION, 3);
	add_constant(p, add_op(p, end, n, draw(8)), constant, n);
}

/* All values by one program; the number of wrong entries. */
static int
count_wrong_of(GcStream *stream, const Loaded *k, const Program *p)
{
	static Characters x,
				constants[8];
	const GcTextOp *end = &p->op[p->nops - 1];
	u32			width = end->op >= GC_TEXT_STARTS && draw(2) ? 1 : 4;
	const i32  *result = results(stream, k, p, width);
	int			wrong = wrong_ends(result, width);

	for (u32 i = 0; i + 1 < p->nops; i++)
		split(&constants[i], (const u8 *) p + p->op[i].at, p->op[i].op >= GC_TEXT_PREPEND ? p->op[i].a : 0, p->utf8);
	for (int v = 0; v < NVALUES; v++)
	{
		split(&x, bytes + start[v], start[v + 1] - start[v], p->utf8);
		for (u32 i = 0; i + 1 < p->nops; i++)
			apply(&x, &p->op[i], &constants[i]);
		wrong += result[v + 1] != end_of(&x, end, (const u8 *) p + end->at, p->utf8);
	}
	return wrong;
}

/* The digests that RFC 1321 gives. */
static void
test_known_digests(void)
{
	static const char *const known[][2] = {
		{"", "d41d8cd98f00b204e9800998ecf8427e"},
		{"a", "0cc175b9c0f1b6a831c399e269772661"},
		{"abc", "900150983cd24fb0d6963f7d28e17f72"},
		{"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
		{"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
		{"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
		"57edf4a22be3c955ac49da2e2107b67a"},
	};

	for (u32 i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		GcTextOp	op = {.op = GC_TEXT_MD5};
		GcText		t = {.s = (const u8 *) known[i][0],.n = strlen(known[i][0])};

		(void) gc_text_execute(&t, (const u8 *) &op, 1, 1);
		is(t.n == GC_MD5_DIGITS && memcmp(t.s, known[i][1], GC_MD5_DIGITS) == 0, 1, known[i][1]);
	}
}

/* Digests of changed texts, of which the first digits are compared: the kernel's against the host's. */
static int
count_wrong_digests(GcStream *stream, const Loaded *k)
{
	u8			constant[32];
	u32			n = draw_constant(constant, 0, 3);
	Program		p = {.utf8 = draw(2)};
	const i32  *result;
	int			wrong;

	add_op(&p, GC_TEXT_FOLD, 1 + draw(2), 0);
	add_constant(&p, add_op(&p, draw(2) ? GC_TEXT_PREPEND : GC_TEXT_APPEND, n, 0), constant, n);
	if (draw(2))
		add_op(&p, GC_TEXT_DROP, draw(4), 0);
	for (u32 i = 1 + draw(2); i > 0; i--)
		add_op(&p, GC_TEXT_MD5, 0, 0);
	add_op(&p, draw(2) ? GC_TEXT_KEEP : GC_TEXT_KEEP_LAST, 1 + draw(4), 0);
	add_constant(&p, add_op(&p, GC_TEXT_COMPARE, 1, GC_TEXT_LESS), "7", 1);
	result = results(stream, k, &p, 4);
	wrong = wrong_ends(result, 4);
	for (int v = 0; v < NVALUES; v++)
	{
		GcText		t = {.s = bytes + start[v],.n = start[v + 1] - start[v]};

		wrong += result[v + 1] != gc_text_execute(&t, (const u8 *) &p, p.nops, p.utf8);
	}
	return wrong;
}

static void
test_kernel(void)
{
	GcStream   *stream;
	Loaded		k;
	int			bad = 0;

	open_device();
	stream = get_stream();
	k = load_made(gc_generate_text_kernel());
	make_values();
	must(ops->copy_in(stream, pool_base, bytes, start[NVALUES], NULL));
	must(ops->copy_in(stream, pool_base + ROOM, start, sizeof(start), NULL));
	for (int i = 0; i < NPATTERNS; i++)
	{
		Pattern		p;

		make_pattern(&p, i);
		bad += count_wrong(stream, &k, &p) > 0;
	}
	is(bad, 0, "patterns with a wrong result");
	test_known_digests();
	bad = 0;
	for (int i = 0; i < 40; i++)
		bad += count_wrong_digests(stream, &k) > 0;
	is(bad, 0, "programs of digests with a wrong result");
	bad = 0;
	for (int i = 0; i < NPROGRAMS; i++)
	{
		Program		p;

		make_program(&p, i & 1);
		bad += count_wrong_of(stream, &k, &p) > 0;
	}
	is(bad, 0, "programs with a wrong result");
	ops->stream_put(dev, stream);
	unload(&k);
	ops->close(dev);
}

int
main(int argc, char **argv)
{
	tap_start();
	if (!choose_device(argc > 1 ? argv[1] : "host"))
		return tap_skip_all("there is no such device");
	test_kernel();
	text_compiles(gc_generate_text_kernel(), "the kernel of text programs");
	return tap_done();
}
