/*-------------------------------------------------------------------------
 *
 * gc_like.h
 *	  LIKE, by PostgreSQL's rules, for encodings of single bytes and UTF-8.
 *
 * A pattern is a list of items: a byte that must come, GC_LIKE_ANY (one character), or GC_LIKE_MANY
 * (any characters, or none).  Its bytes are whole characters.  So text between two GC_LIKE_MANY is
 * matched as early as possible, and never has to be tried again once the next such text has begun.
 *
 * The server includes this file as well.  It defines GC_FN before that.
 *
 *-------------------------------------------------------------------------
 */
#define GC_LIKE_ANY		0x100
#define GC_LIKE_MANY	0x200

#define GC_LIKE_UTF8	1			/* a character has continuation bytes */
#define GC_LIKE_FOLD	2			/* ASCII letters match regardless of case; the pattern is folded */
#define GC_LIKE_NOT		4			/* for callers of gc_like(): NOT LIKE */
#define GC_LIKE_UPPER	8			/* ASCII letters of the text, alone, become upper case */

GC_FN u32
gc_like_byte(u32 c, u32 flags)
{
	if ((flags & GC_LIKE_UPPER) && c - 'a' < 26)
		return c - 32;
	return (flags & GC_LIKE_FOLD) && c - 'A' < 26 ? c + 32 : c;
}

/* Behind the character that begins at i. */
GC_FN u64
gc_like_next(const u8 *s, u64 len, u64 i, u32 flags)
{
	i++;
	while ((flags & GC_LIKE_UTF8) && i < len && (s[i] & 0xC0) == 0x80)
		i++;
	return i;
}

/* textlike(): do these bytes match the n items? */
GC_FN int
gc_like(const u8 *s, u64 len, const u16 *pattern, u32 n, u32 flags)
{
	u64			i = 0;
	u64			mark = 0;		/* where the text behind the last GC_LIKE_MANY was tried */
	u32			p = 0;
	u32			many = 0;		/* behind the last GC_LIKE_MANY; 0: there was none */

	for (;;)
	{
		if (p == n && i == len)
			return 1;
		if (p < n && pattern[p] == GC_LIKE_MANY)
		{
			many = ++p;
			mark = i;
			if (p == n)
				return 1;
			continue;
		}
		/* Characters are missing, and from a later start even more would be. */
		if (i == len)
			return 0;
		if (p < n && pattern[p] == GC_LIKE_ANY)
		{
			i = gc_like_next(s, len, i, flags);
			p++;
			continue;
		}
		if (p < n && pattern[p] == gc_like_byte(s[i], flags))
		{
			i++;
			p++;
			continue;
		}
		if (many == 0)
			return 0;
		mark = gc_like_next(s, len, mark, flags);
		p = many;
		/* A byte that must come is the first of its character. */
		if (pattern[p] < GC_LIKE_ANY && (flags & (GC_LIKE_FOLD | GC_LIKE_UPPER)))
		{
			while (mark < len && gc_like_byte(s[mark], flags) != pattern[p])
				mark++;
		}
		else if (pattern[p] < GC_LIKE_ANY)
		{
			const u32	first = pattern[p];

			while (mark < len && s[mark] != first)
				mark++;
		}
		i = mark;
	}
}
