/*-------------------------------------------------------------------------
 *
 * gc_key_group.h
 *	  Key groups of a column's values (codegen/kernel/key_groups.c): how they are found, written in the
 *	  place of the values, and checked.
 *
 *	  gc_read_attribute(key, attribute, row, ..)	what a table says of one value
 *	  gc_key_group_slot(slots, ids, count, key)		slot of a pair of key group and attribute
 *	  gc_write_key_groups(to, from, row, ..)		key groups of eight rows
 *	  gc_mask_of(bits, i)							query bitmap of value i
 *
 *-------------------------------------------------------------------------
 */

/*
 * Write a row's attribute to its key's entry in `to`: 1 where it is NULL, and where there is no
 * attribute column.  Entries of keys without a row stay 0.
 */
GC_FN void
gc_read_attribute(GcCol key, GcCol attribute, u32 row, u32 *to, i64 base, u64 range, i64 least)
{
	u64			at;

	if (GC_NULL_AT(key, row))
		return;
	at = (u64) (GC_AT(0, i64, key, row) - base);
	if (at < range)
		to[at] = !attribute.data || GC_NULL_AT(attribute, row) ? 1
			: (u32) (GC_AT(0, i64, attribute, row) - least) + 2;
}

#define GC_EMPTY_SLOT	0xffffffffffffffffull

/*
 * Slot of a key, entered if it is new; ids[slot] is then the next number of count[0].  count[1] is
 * raised where there are too many.
 */
GC_FN u32
gc_key_group_slot(u64 *slots, u32 *ids, u64 *count, u64 key)
{
	u32			s = (u32) gc_hash_end(gc_hash_step(0, (i64) key)) & (GC_KEY_GROUP_SLOTS - 1);

	while (GC_LOAD_FRESH64(&count[0]) <= GC_MAX_KEY_GROUPS)
	{
		u64			e = GC_LOAD_FRESH64(&slots[s]);

		if (e == GC_EMPTY_SLOT)
		{
			e = GC_ATOMIC_CAS64(&slots[s], GC_EMPTY_SLOT, key);
			if (e == GC_EMPTY_SLOT)
			{
				ids[s] = (u32) GC_ATOMIC_ADD64(&count[0], 1);
				if (ids[s] >= GC_MAX_KEY_GROUPS)
					count[1] = 1;
				return s;
			}
		}
		if (e == key)
			return s;
		s = (s + 1) & (GC_KEY_GROUP_SLOTS - 1);
	}
	return 0;
}

/*
 * Write eight rows of `from` as key groups to `to`, whose width is 1 or 2.  NULL has the entry
 * behind the range.  So has every value out of the range: the padding of a chunk without a value.
 */
GC_FN void
gc_write_key_groups(GcCol to, GcCol from, u32 row, const u16 *key_groups, i64 base, u32 range)
{
	u32			at[GC_SELECT_ROWS];
	u32			packed[GC_SELECT_ROWS / 2];
	const u32	delta = (u32) from.base - (u32) base;
	const u32	nulls = from.nulls ? ((const u8 *) from.nulls)[row / 8] : 0;

	gc_codes_0(at, from, row);
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
	{
		at[j] += delta;
		at[j] = key_groups[nulls >> j & 1 || at[j] > range ? range : at[j]];
	}
	if (to.width == 1)
	{
		GC_UNROLL for (int i = 0; i < 2; i++)
			packed[i] = at[4 * i] | at[4 * i + 1] << 8 | at[4 * i + 2] << 16 | at[4 * i + 3] << 24;
		((u64 *) (to.data + row))[0] = packed[0] | (u64) packed[1] << 32;
		return;
	}
	GC_UNROLL for (int i = 0; i < 4; i++)
		packed[i] = at[2 * i] | at[2 * i + 1] << 16;
	((u64 *) (to.data + 2 * (u64) row))[0] = packed[0] | (u64) packed[1] << 32;
	((u64 *) (to.data + 2 * (u64) row))[1] = packed[2] | (u64) packed[3] << 32;
}

/* Query bitmap of value i.  bits: for each request its predicate bitmap, or 0. */
GC_FN u32
gc_mask_of(const u64 *bits, u64 i)
{
	u32			mask = 0;

	GC_UNROLL for (int m = 0; m < GC_MAX_SELECTED; m++)
		if (bits[m])
			mask |= (((const u32 *) bits[m])[i >> 5] >> (i & 31) & 1) << m;
	return mask;
}
