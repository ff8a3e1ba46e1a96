/*-------------------------------------------------------------------------
 *
 * device_names.h
 *	  The devices that gpuconc.devices names; each has a worker.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_NAMES_H
#define GC_DEVICE_NAMES_H

/* Devices at a time. */
#define GC_MAX_DEVICES	8

typedef enum GcDeviceChoice
{
	GC_DEVICE_AUTO,				/* the first GPU, or else the host */
	GC_DEVICE_CUDA,
	GC_DEVICE_HOST
} GcDeviceChoice;

typedef struct GcDeviceName
{
	GcDeviceChoice choice;
	int			ordinal;
	char		uuid[48];		/* of a GPU; empty: by its ordinal */
} GcDeviceName;

/* Up to GC_MAX_DEVICES names, their number returned; 0, with a sentence about it, if the text is none. */
extern int	gc_device_names_parse(const char *text, GcDeviceName *names, const char **problem);

/* The number of devices that the server has, from when its settings are defined. */
extern int	gc_ndevices;

/* The name of device `number` in the settings. */
extern GcDeviceName gc_device_name(int number);

/* Postmaster, once: these are the devices. */
extern void gc_device_names_fix(const char *text);

#endif							/* GC_DEVICE_NAMES_H */
