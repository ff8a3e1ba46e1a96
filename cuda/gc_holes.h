/*-------------------------------------------------------------------------
 *
 * gc_holes.h
 *	  The bitmap of the rows of a chunk that a request sees, from its holes.
 *
 * A request says which rows it does not see as ranges, its holes.  They are few, and a bitmap of
 * all rows is large: it is made where it is read.
 *
 * GC_HOLES_WORDS words of 64 rows of a chunk are one block's work at a time.  A thread takes a
 * run of them, and walks through the holes beside it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOLES_H
#define GC_HOLES_H

/* The first hole that ends behind this row. */
GC_FN u32
gc_first_hole(const GcHole *holes, u32 n, u64 row)
{
	u32			lo = 0;

	while (lo < n)
	{
		const u32	mid = (lo + n) / 2;

		if (holes[mid].to <= row)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/* Bits from .. to - 1 of a word, 0 <= from < to <= 64. */
GC_FN u64
gc_bits_between(u32 from, u32 to)
{
	return (~0ull >> (64 - (to - from))) << from;
}

/* Write words first .. end - 1 of a chunk's bitmap. */
GC_FN void
gc_fill_visible(const GcVisible *v, u32 first, u32 end)
{
	const GcHole *holes = (const GcHole *) v->holes;
	u64		   *bitmap = (u64 *) v->bitmap;
	u32			h = gc_first_hole(holes, v->nholes, (u64) first * 64);

	for (u32 w = first; w < end; w++)
	{
		const u64	row = (u64) w * 64;
		u64			bits = row >= v->nrows ? 0 : v->nrows - row >= 64 ? ~0ull :
			gc_bits_between(0, (u32) (v->nrows - row));

		while (h < v->nholes && holes[h].from < row + 64)
		{
			const u32	from = holes[h].from > row ? (u32) (holes[h].from - row) : 0;
			const u32	to = holes[h].to < row + 64 ? (u32) (holes[h].to - row) : 64;

			bits &= ~gc_bits_between(from, to);
			if (holes[h].to > row + 64)
				break;
			h++;
		}
		bitmap[w] = bits;
	}
}

#endif							/* GC_HOLES_H */
