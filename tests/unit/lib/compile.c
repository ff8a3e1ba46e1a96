/*-------------------------------------------------------------------------
 *
 * compile.c
 *	  Compiled kernels for tests, each text only once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "compile.h"

#include "../../../src/device/hash.h"
#include "../../../src/device/kcache_disk.h"
#include "harness.h"

#define LIKE_SM_90		80			/* kernels have the same text there */

/* The directory of images, opened at the first call; NULL where there is none. */
static GcKernelDisk *
images(void)
{
	static GcKernelDisk disk;
	static bool opened;

	if (!opened)
		gc_kdisk_open(&disk, getenv("GPUCONC_TEST_KERNELS"), NULL);
	opened = true;
	return &disk;
}

static GcKernelKey
image_key(const char *target, GcCompileEffort effort, const char *text)
{
	GcKernelKey key;

	for (u64 i = 0; i < 2; i++)
		key.word[i] = gc_hash64(text, strlen(text), gc_hash64(target, strlen(target), 2 * (u64) effort + i));
	return key;
}

GcCode
compile_kernel(GcDevice *dev, const char *text, GcCompileEffort effort, GcImage *image, GcError *err)
{
	const GcKernelKey key = image_key(dev->info.target, effort, text);
	GcCode		code;

	if (gc_kdisk_load(images(), &key, text, image))
		return GC_OK;
	code = dev->ops->compile(dev, text, effort, image, err);
	if (code == GC_OK)
		gc_kdisk_store(images(), &key, text, image);
	return code;
}

/* NVRTC's whole work, or that of its front end. */
static GcCode
run_nvrtc(const GcNvrtc *nvrtc, int arch, const char *text, GcCompileEffort effort, char **log, GcError *err)
{
	GcImage		image = {NULL, 0};
	GcKernelKey key;
	char		target[sizeof(((GcDeviceInfo *) NULL)->target)];
	GcCode		code;

	if (arch == LIKE_SM_90 && getenv("GPUCONC_TEST_FULL") == NULL)
		return gc_nvrtc_accepts(nvrtc, arch, text, effort, log, err);
	code = gc_nvrtc_target(nvrtc, arch, target, sizeof(target), err);
	if (code != GC_OK)
		return code;
	key = image_key(target, effort, text);
	if (!gc_kdisk_load(images(), &key, text, &image))
	{
		code = gc_nvrtc_compile(nvrtc, arch, text, effort, &image, log, err);
		if (code == GC_OK)
			gc_kdisk_store(images(), &key, text, &image);
	}
	free(image.bytes);
	return code;
}

void
compiles_for_gpu(const GcNvrtc *nvrtc, int arch, const char *text, GcCompileEffort effort, const char *what)
{
	GcError		err = {GC_OK, ""};
	char	   *log = NULL;

	ok(text != NULL && run_nvrtc(nvrtc, arch, text, effort, &log, &err) == GC_OK, "%s compiles for sm_%d%s", what, arch,
	   effort == GC_COMPILE_FULL ? "" : " in a hurry");
	if (log)
		tap_note("%.2000s", log);
	free(log);
}

void
text_compiles(char *text, const char *what)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	if (nvrtc == NULL)
		tap_skip("%s", err.detail);
	for (int arch = 80; nvrtc != NULL && arch <= 90; arch += 10)
		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, what);
	free(text);
}
