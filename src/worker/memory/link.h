/*-------------------------------------------------------------------------
 *
 * link.h
 *	  How fast data is copied to the device.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LINK_H
#define GC_LINK_H

/*
 * Bytes per second from page-locked memory; 0: nothing need be copied to this device, or it did not work.
 * Measured by copies of the beginning of the arena, which take some milliseconds.
 */
extern double gc_link_measure(void);

#endif							/* GC_LINK_H */
