/*-------------------------------------------------------------------------
 *
 * gc_packed_row.h
 *	  Packed rows: a row's codes of several columns, side by side in GC_PACKED_ROW_BYTES.
 *
 * A kernel that visits few rows waits for a sector of memory per row and column.  Where a chunk
 * has packed rows, one sector has all of a row's columns.  A column's codes stay as they are, at
 * the same bytes of each packed row (codegen/kernel/packed_rows.c).
 *
 *	  gc_use_packed_row(d, width, packed_rows, ..)	the column, in packed rows where that is better
 *	  GC_PITCHED(W, SUFFIX, d, pitch, row)			one row of a column, in packed rows or not
 *	  gc_write_packed_row(to, from, row)			write one code
 *
 *-------------------------------------------------------------------------
 */

/*
 * Have d read from packed rows, where few rows are visited and the chunk has some.  packed_rows:
 * GcCols of which data is used, or 0.  width: of the codes, 0: known only at run time.  Returns the
 * bytes from one row's code to the next.
 */
GC_FN u32
gc_use_packed_row(GcCol *d, u32 width, u64 packed_rows, u32 chunk, u32 few)
{
	const u64	at = few && packed_rows ? ((const GcCol *) packed_rows)[chunk].data : 0;

	if (at)
		d->data = at;
	return at ? GC_PACKED_ROW_BYTES : width ? width : d->width;
}

#define GC_PITCHED(W, SUFFIX, d, pitch, row) \
	gc_at_##W##_##SUFFIX((d).data + (u64) (row) * (pitch), 0, (d).base, (d).width)

/* to: address of this column in the chunk's first packed row. */
GC_FN void
gc_write_packed_row(u64 to, GcCol from, u32 row)
{
	to += (u64) row * GC_PACKED_ROW_BYTES;
	switch (from.width)
	{
		case 1: *(u8 *) to = ((const u8 *) from.data)[row]; break;
		case 2: *(u16 *) to = ((const u16 *) from.data)[row]; break;
		case 4: *(u32 *) to = ((const u32 *) from.data)[row]; break;
		default: *(u64 *) to = ((const u64 *) from.data)[row]; break;
	}
}
