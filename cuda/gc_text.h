/*-------------------------------------------------------------------------
 *
 * gc_text.h
 *	  Functions of texts, by PostgreSQL's rules, for encodings of single bytes and UTF-8.
 *
 * A text program is a list of operations, and behind it their constants.  Operations on texts come
 * first; the last may be one that makes a number or a truth value of the text.  The text at hand is a
 * part of the value that the program began with, between two constants that were concatenated.  All
 * parts are whole characters.  Nothing is written but a digest, so a program needs no other memory.
 *
 * The server includes this file as well, behind gc_like.h and gc_md5.h.  It defines GC_FN before that.
 *
 *-------------------------------------------------------------------------
 */
/* Operations on texts. */
#define GC_TEXT_DROP		1		/* without the first a characters */
#define GC_TEXT_KEEP		2		/* the first a characters */
#define GC_TEXT_DROP_LAST	3		/* without the last a characters */
#define GC_TEXT_KEEP_LAST	4		/* the last a characters */
#define GC_TEXT_TRIM		5		/* without blanks: a & 1: leading, a & 2: trailing ones */
#define GC_TEXT_FOLD		6		/* ASCII letters: a is GC_TEXT_TO_UPPER or GC_TEXT_TO_LOWER */
#define GC_TEXT_PREPEND		7		/* constant || text; a bytes at `at` */
#define GC_TEXT_APPEND		8		/* text || constant */
#define GC_TEXT_MD5			9		/* its digest, in place of the text */

/* Operations that end a program. */
#define GC_TEXT_LENGTH		16		/* in characters */
#define GC_TEXT_BYTES		17		/* in bytes */
#define GC_TEXT_POSITION	18		/* of the constant of a bytes, which is not empty; 0: nowhere */
#define GC_TEXT_STARTS		19		/* does it start with the constant of a bytes? */
#define GC_TEXT_COMPARE		20		/* with the constant of a bytes; b: GC_TEXT_LESS ... */
#define GC_TEXT_IN			21		/* is it one of a constants?  u32 end[a] and bytes, ascending; b: negated */
#define GC_TEXT_LIKE		22		/* pattern of a items; b: flags of gc_like.h */

#define GC_TEXT_LESS		1
#define GC_TEXT_EQUAL		2
#define GC_TEXT_GREATER		4

#define GC_TEXT_TO_UPPER	1
#define GC_TEXT_TO_LOWER	2

typedef struct GcTextOp
{
	u32			op;
	u32			at;				/* its constant, in bytes from the program's begin */
	u32			a;
	u32			b;
} GcTextOp;

/* A text: `before`, n bytes at s, `after`.  Only the part between the constants is folded here. */
typedef struct GcText
{
	const u8   *before;
	const u8   *s;
	const u8   *after;
	u64			nbefore;
	u64			n;
	u64			nafter;
	u32			fold;
	u8			digest[GC_MD5_DIGITS];	/* what s is behind GC_TEXT_MD5 */
} GcText;

GC_FN u32
gc_text_fold(u32 c, u32 fold)
{
	if (fold == GC_TEXT_TO_UPPER && c - 'a' < 26)
		return c - 32;
	return fold == GC_TEXT_TO_LOWER && c - 'A' < 26 ? c + 32 : c;
}

GC_FN u64
gc_text_bytes(const GcText *t)
{
	return t->nbefore + t->n + t->nafter;
}

GC_FN u32
gc_text_byte(const GcText *t, u64 i)
{
	if (i < t->nbefore)
		return t->before[i];
	i -= t->nbefore;
	return i < t->n ? gc_text_fold(t->s[i], t->fold) : t->after[i - t->n];
}

/*-------------------------------------------------------------------------
 * Characters
 *-------------------------------------------------------------------------
 */
GC_FN u64
gc_text_count(const u8 *s, u64 n, u32 utf8)
{
	u64			count = 0;

	if (!utf8)
		return n;
	for (u64 i = 0; i < n; i++)
		count += (s[i] & 0xC0) != 0x80;
	return count;
}

/* pg_mbstrlen_with_len() */
GC_FN u64
gc_text_length(const GcText *t, u32 utf8)
{
	return gc_text_count(t->before, t->nbefore, utf8) + gc_text_count(t->s, t->n, utf8) +
		gc_text_count(t->after, t->nafter, utf8);
}

/* Bytes of the first *k characters; *k becomes the number of characters that the text lacks. */
GC_FN u64
gc_text_skip(const u8 *s, u64 n, u64 *k, u32 utf8)
{
	u64			i = 0;

	if (!utf8)
	{
		i = *k < n ? *k : n;
		*k -= i;
		return i;
	}
	while (i < n && *k > 0)
	{
		i = gc_like_next(s, n, i, GC_LIKE_UTF8);
		(*k)--;
	}
	return i;
}

GC_FN void
gc_text_drop(GcText *t, u64 k, u32 utf8)
{
	u64			i = gc_text_skip(t->before, t->nbefore, &k, utf8);

	t->before += i;
	t->nbefore -= i;
	i = gc_text_skip(t->s, t->n, &k, utf8);
	t->s += i;
	t->n -= i;
	i = gc_text_skip(t->after, t->nafter, &k, utf8);
	t->after += i;
	t->nafter -= i;
}

GC_FN void
gc_text_keep(GcText *t, u64 k, u32 utf8)
{
	t->nbefore = gc_text_skip(t->before, t->nbefore, &k, utf8);
	t->n = gc_text_skip(t->s, t->n, &k, utf8);
	t->nafter = gc_text_skip(t->after, t->nafter, &k, utf8);
}

/* Bytes of the blanks at a part's begin, and at its end. */
GC_FN u64
gc_text_blanks(const u8 *s, u64 n)
{
	u64			i = 0;

	while (i < n && s[i] == ' ')
		i++;
	return i;
}

GC_FN u64
gc_text_blanks_last(const u8 *s, u64 n)
{
	u64			i = n;

	while (i > 0 && s[i - 1] == ' ')
		i--;
	return n - i;
}

GC_FN void
gc_text_trim(GcText *t, u32 sides, u32 utf8)
{
	if (sides & 1)
	{
		u64			k = gc_text_blanks(t->before, t->nbefore);

		if (k == t->nbefore)
			k += gc_text_blanks(t->s, t->n);
		if (k == t->nbefore + t->n)
			k += gc_text_blanks(t->after, t->nafter);
		gc_text_drop(t, k, utf8);
	}
	if (sides & 2)
	{
		t->nafter -= gc_text_blanks_last(t->after, t->nafter);
		if (t->nafter == 0)
			t->n -= gc_text_blanks_last(t->s, t->n);
		if (t->nafter + t->n == 0)
			t->nbefore -= gc_text_blanks_last(t->before, t->nbefore);
	}
}

/*-------------------------------------------------------------------------
 * Digest
 *-------------------------------------------------------------------------
 */

/* Word i of the padded message: the text, a one bit, zeros, and behind them its length in bits. */
GC_FN u32
gc_text_md5_word(const GcText *t, u64 n, u64 i, u64 last)
{
	u32			word = 0;

	if (i * 4 + 8 >= last)
		return (u32) (n * 8 >> (i * 4 + 8 == last ? 0 : 32));
	if (i * 4 > n)
		return 0;
	for (u32 b = 0; b < 4; b++)
	{
		u64			at = i * 4 + b;

		word |= (at < n ? gc_text_byte(t, at) : at == n ? 0x80u : 0u) << 8 * b;
	}
	return word;
}

GC_FN void
gc_text_md5(GcText *t)
{
	const u64	n = gc_text_bytes(t);
	const u64	last = (n + 8) / GC_MD5_BLOCK * GC_MD5_BLOCK + GC_MD5_BLOCK;
	u32			state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

	for (u64 block = 0; block < last; block += GC_MD5_BLOCK)
	{
		u32			w[16];

		for (u32 i = 0; i < 16; i++)
			w[i] = gc_text_md5_word(t, n, block / 4 + i, last);
		gc_md5_block(state, w);
	}
	for (u32 i = 0; i < GC_MD5_DIGITS; i++)
	{
		u32			digit = state[i / 8] >> (i % 8 / 2 * 8 + (i % 2 ? 0 : 4)) & 15;

		t->digest[i] = (u8) (digit < 10 ? '0' + digit : 'a' + digit - 10);
	}
	t->s = t->digest;
	t->n = GC_MD5_DIGITS;
	t->nbefore = t->nafter = 0;
	t->fold = 0;
}

/*-------------------------------------------------------------------------
 * Ends
 *-------------------------------------------------------------------------
 */

/* varstr_cmp() under collation C: negative, zero or positive. */
GC_FN i32
gc_text_compare(const GcText *t, const u8 *c, u64 n)
{
	u64			len = gc_text_bytes(t);
	u64			both = len < n ? len : n;

	for (u64 i = 0; i < both; i++)
	{
		u32			x = gc_text_byte(t, i);

		if (x != c[i])
			return x < c[i] ? -1 : 1;
	}
	return len == n ? 0 : len < n ? -1 : 1;
}

/* Do n bytes stand at i? */
GC_FN int
gc_text_stands_at(const GcText *t, u64 i, const u8 *c, u64 n)
{
	u64			k = 0;

	while (k < n && gc_text_byte(t, i + k) == c[k])
		k++;
	return k == n;
}

GC_FN int
gc_text_starts(const GcText *t, const u8 *c, u64 n)
{
	return gc_text_bytes(t) >= n && gc_text_stands_at(t, 0, c, n);
}

/* text_position(): the number of the character at which n > 0 bytes stand first; 0: nowhere. */
GC_FN u64
gc_text_position(const GcText *t, const u8 *c, u64 n, u32 utf8)
{
	u64			len = gc_text_bytes(t);
	u64			number = 0;

	for (u64 i = 0; i + n <= len; i++)
	{
		u32			x = gc_text_byte(t, i);

		number += !utf8 || (x & 0xC0) != 0x80;
		if (x == c[0] && gc_text_stands_at(t, i, c, n))
			return number;
	}
	return 0;
}

/* Is it one of so many constants, which are in ascending order? */
GC_FN int
gc_text_in(const GcText *t, const u32 *end, u32 count)
{
	const u8   *bytes = (const u8 *) (end + count);
	u32			lo = 0;
	u32			hi = count;

	while (lo < hi)
	{
		u32			mid = (lo + hi) / 2;
		u32			begin = mid > 0 ? end[mid - 1] : 0;
		i32			cmp = gc_text_compare(t, bytes + begin, end[mid] - begin);

		if (cmp == 0)
			return 1;
		if (cmp < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return 0;
}

GC_FN i64
gc_text_end(const GcText *t, const GcTextOp *op, const u8 *c, u32 utf8)
{
	i32			cmp;

	switch (op->op)
	{
		case GC_TEXT_LENGTH:
			return (i64) gc_text_length(t, utf8);
		case GC_TEXT_BYTES:
			return (i64) gc_text_bytes(t);
		case GC_TEXT_POSITION:
			return (i64) gc_text_position(t, c, op->a, utf8);
		case GC_TEXT_STARTS:
			return gc_text_starts(t, c, op->a);
		case GC_TEXT_COMPARE:
			cmp = gc_text_compare(t, c, op->a);
			return (op->b & (cmp < 0 ? GC_TEXT_LESS : cmp == 0 ? GC_TEXT_EQUAL : GC_TEXT_GREATER)) != 0;
		case GC_TEXT_IN:
			return gc_text_in(t, (const u32 *) c, op->a) != (op->b != 0);
		default:
			return gc_like(t->s, t->n, (const u16 *) c, op->a, op->b) != ((op->b & GC_LIKE_NOT) != 0);
	}
}

/*
 * Execute n operations on t, which is the value that the program begins with.  Returns the last one's result for the
 * text, if it has one; else t is the result.
 */
GC_FN i64
gc_text_execute(GcText *t, const u8 *program, u32 n, u32 utf8)
{
	const GcTextOp *op = (const GcTextOp *) program;
	u64			length;

	for (u32 i = 0; i < n; i++, op++)
	{
		switch (op->op)
		{
			case GC_TEXT_DROP:
				gc_text_drop(t, op->a, utf8);
				break;
			case GC_TEXT_KEEP:
				gc_text_keep(t, op->a, utf8);
				break;
			case GC_TEXT_DROP_LAST:
				length = gc_text_length(t, utf8);
				gc_text_keep(t, length > op->a ? length - op->a : 0, utf8);
				break;
			case GC_TEXT_KEEP_LAST:
				length = gc_text_length(t, utf8);
				gc_text_drop(t, length > op->a ? length - op->a : 0, utf8);
				break;
			case GC_TEXT_TRIM:
				gc_text_trim(t, op->a, utf8);
				break;
			case GC_TEXT_FOLD:
				t->fold = op->a;
				break;
			case GC_TEXT_PREPEND:
				t->before = program + op->at;
				t->nbefore = op->a;
				break;
			case GC_TEXT_APPEND:
				t->after = program + op->at;
				t->nafter = op->a;
				break;
			case GC_TEXT_MD5:
				gc_text_md5(t);
				break;
			default:
				return gc_text_end(t, op, program + op->at, utf8);
		}
	}
	return 0;
}
