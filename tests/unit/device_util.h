/*-------------------------------------------------------------------------
 *
 * device_util.h
 *	  What tests of the Device interface need: a device, kernels, streams, words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_UTIL_H
#define GC_DEVICE_UTIL_H

#include "compile.h"
#include "harness.h"

#include "../../src/device/device.h"
#include "kernels.h"

#define MEGABYTE	((u64) 1 << 20)
#define HOST_THREADS 4
#define SPARE_THREADS 8		/* that take their place */

static const GcDeviceOps *ops;
static GcDevice *dev;
static bool on_host;
static GcAddr pool_base;
static u64	pool_size;

typedef struct Loaded
{
	GcModule   *module;
	GcKernel   *kernel;
	GcKernelInfo info;
} Loaded;

/* Everything below assumes that kernels can be had, so failure ends the test. */
static Loaded
load_with(const char *text, GcCompileEffort effort)
{
	GcError		err = {GC_OK, ""};
	GcImage		image;
	Loaded		loaded;

	if (compile_kernel(dev, text, effort, &image, &err) != GC_OK ||
		ops->module_load(dev, &image, &loaded.module, &err) != GC_OK ||
		ops->kernel_get(loaded.module, "gc_kernel", &loaded.kernel, &loaded.info, &err) != GC_OK)
		tap_bail(err.detail);
	free(image.bytes);
	return loaded;
}

/* The kernel of a malloc'd text, which is freed. */
static Loaded __attribute__((unused))
load_made(char *text)
{
	Loaded		loaded = load_with(text, GC_COMPILE_FULL);

	free(text);
	return loaded;
}

static Loaded __attribute__((unused))
load(const char *body)
{
	return load_made(kernel_text(body));
}

static void
unload(Loaded *loaded)
{
	ops->module_unload(dev, loaded->module);
}

static GcStream *
get_stream(void)
{
	GcError		err = {GC_OK, ""};
	GcStream   *stream = ops->stream_get(dev, &err);

	if (stream == NULL)
		tap_bail(err.detail);
	return stream;
}

/* Launch with up to four argument words. */
static GcCode __attribute__((unused))
launch(GcStream *stream, const Loaded *loaded, u32 blocks, u32 threads, u32 shared_bytes,
	   u64 w0, u64 w1, u64 w2, u64 w3)
{
	GcLaunch	shape = {blocks, threads, shared_bytes, false};
	GcArgs		args;

	memset(&args, 0, sizeof(args));
	args.w[0] = w0;
	args.w[1] = w1;
	args.w[2] = w2;
	args.w[3] = w3;
	return ops->launch(stream, loaded->kernel, &shape, &args, 4, NULL);
}

/* Put a mark, wait for it, put it back. */
static GcCode
finish(GcStream *stream, GcError *err)
{
	GcEvent	   *event = ops->event(stream, err);
	GcCode		code;

	if (event == NULL)
		return GC_DEVICE_FAILED;
	code = ops->event_wait(event, err);
	ops->event_put(dev, event);
	return code;
}

static u32 __attribute__((unused))
read_word(GcStream *stream, GcAddr addr)
{
	u32			word = 0x5a5a5a5a;

	if (ops->copy_out(stream, &word, addr, sizeof(word), NULL) != GC_OK ||
		finish(stream, NULL) != GC_OK)
		return 0x5a5a5a5a;
	return word;
}

static void __attribute__((unused))
open_device(void)
{
	GcDeviceOptions options = {HOST_THREADS, 256 * MEGABYTE, 0, NULL, NULL};
	GcError		err = {GC_OK, ""};

	if (ops->open(&dev, &options, &err) != GC_OK)
		tap_bail(err.detail);
	ops->pool(dev, &pool_base, &pool_size);
}

/* As the test's argument says; false: there is none such here.  It is closed again. */
static bool __attribute__((unused))
choose_device(const char *which)
{
	GcDeviceOptions options = {1, 64 * MEGABYTE, 0, NULL, NULL};
	GcError		err = {GC_OK, ""};

	ops = strcmp(which, "host") == 0 ? &gc_host_ops : &gc_cuda_ops;
	if (ops->open(&dev, &options, &err) != GC_OK)
	{
		tap_note("device %s: %s (%s)", ops->name, err.detail, gc_code_name(err.code));
		if (strcmp(which, "auto") != 0)
			return false;
		ops = &gc_host_ops;
		if (ops->open(&dev, &options, &err) != GC_OK)
			return false;
	}
	ops->close(dev);
	on_host = ops == &gc_host_ops;
	return true;
}

#endif							/* GC_DEVICE_UTIL_H */
