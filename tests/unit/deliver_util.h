/*-------------------------------------------------------------------------
 *
 * deliver_util.h
 *	  For fused_util.h: results that kernels bring to the host by themselves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DELIVER_UTIL_H
#define GC_DELIVER_UTIL_H

#define DELIVERY_WORDS	(1 << 16)
#define NOT_DELIVERED	0xEE

/* Page-locked, once there is one; room for several at a time. */
#define DELIVERIES		8
static u64	(*delivery)[DELIVERY_WORDS] = NULL;
static int	delivered,
			badly_delivered;

/* Have the kernel deliver so many bytes, from its flags on, to place i. */
static void
ask_delivery(GcScan *scan, u64 bytes, int i)
{
	if (!dev->info.host_pointers)
		return;
	if (delivery == NULL)
	{
		delivery = aligned_alloc(4096, DELIVERIES * sizeof(*delivery));
		must(ops->pin(dev, delivery, DELIVERIES * sizeof(*delivery), NULL));
	}
	memset(delivery[i], NOT_DELIVERED, sizeof(*delivery));
	((u32 *) delivery[i])[GC_DONE_AT / sizeof(u32)] = 0;
	scan->deliver_to = (GcAddr) delivery[i];
	scan->delivered = bytes / 8 < DELIVERY_WORDS ? bytes / 8 : DELIVERY_WORDS;
}

/* The kernel has ended: is there what it left on the device, the word, and nothing behind it? */
static void
check_delivery(const GcScan *scan, int i)
{
	const u64	size = scan->delivered * 8;
	u64		   *device = malloc(size + 8);
	bool		same;

	if (scan->deliver_to == 0)
	{
		free(device);
		return;
	}
	must(ops->copy_out(stream, device, scan->flags, size, NULL));
	must(finish(stream, NULL));
	((u32 *) device)[GC_DONE_AT / sizeof(u32)] = 1;
	same = memcmp(device, delivery[i], size) == 0;
	for (u64 b = size; b < sizeof(*delivery) && same; b++)
		same = ((const u8 *) delivery[i])[b] == NOT_DELIVERED;
	delivered++;
	badly_delivered += !same;
	free(device);
}

#endif							/* GC_DELIVER_UTIL_H */
