/*-------------------------------------------------------------------------
 *
 * dynlib_test.c
 *	  Where NVIDIA's libraries are looked for, and what is said if NVRTC is missing or too old.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "harness.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/device/dynlib.h"
#include "../../src/device/nvrtc.h"

#define LIBRARY "libgpuconc_test.so.1"

static char home[] = "/tmp/dynlib_test-XXXXXX";

/*
 * dlopen() as gc_dynlib_open calls it, in place of libc's.  Absolute names are below the test's own directory, as if
 * that were "/", so an NVRTC that this machine has is not there.
 */
void *
dlopen(const char *file, int mode)
{
	void	   *(*open_library) (const char *, int);
	char		path[PATH_MAX];

	*(void **) &open_library = dlsym(RTLD_NEXT, "dlopen");
	if (file != NULL && file[0] == '/' && strncmp(file, home, strlen(home)) != 0)
	{
		snprintf(path, sizeof(path), "%s%s", home, file);
		return open_library(path, mode);
	}
	if (file != NULL && file[0] != '/' && strstr(file, "libnvrtc") != NULL)
		return NULL;
	return open_library(file, mode);
}

/* The names that match there, after those that match as they are: "~" is the test's own directory, too. */
int
glob(const char *pattern, int flags, int (*error) (const char *, int), glob_t *found)
{
	int			(*find) (const char *, int, int (*) (const char *, int), glob_t *);
	char		below[PATH_MAX];
	int			status;

	*(void **) &find = dlsym(RTLD_NEXT, "glob");
	status = find(pattern, flags, error, found);
	if (status != 0 && status != GLOB_NOMATCH)
		return status;
	snprintf(below, sizeof(below), "%s%s", home, pattern);
	return find(below, flags | GLOB_APPEND, error, found) == 0 ? 0 : status;
}

static void __attribute__((format(printf, 1, 2)))
shell(const char *format,...)
{
	char		command[1000];
	va_list		ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	if (system(command) != 0)
		tap_bail(command);
}

/* A library in a directory below the test's own. */
static void
make_library(const char *directory, const char *soname, const char *text)
{
	shell("mkdir -p %s/%s && echo '%s' | cc -x c -shared -fPIC -o %s/%s/%s -",
		  home, directory, text, home, directory, soname);
}

/* A library stays open, so each place has a library of its own. */
static void
test_place(const char *directory)
{
	static int	number = 0;
	char		soname[64];

	snprintf(soname, sizeof(soname), "%s.%d", LIBRARY, number++);
	ok(gc_dynlib_open(soname) == NULL, "%s is nowhere", soname);
	make_library(directory, soname, "int gpuconc_test;");
	ok(gc_dynlib_open(soname) != NULL, "now it is in %s", directory);
}

static void
test_nvrtc(void)
{
	GcError		err = {GC_OK, ""};

	ok(gc_nvrtc_open(12, &err) == NULL, "nothing is opened");
	is(err.code, GC_NO_COMPILER, "no NVRTC");
	ok(strstr(err.detail, "(libnvrtc.so) was not found") != NULL && strstr(err.detail, "nvidia-cuda-nvrtc-cu12,") != NULL,
	   "packages for a driver of CUDA 12: %s", err.detail);
	(void) gc_nvrtc_open(13, &err);
	ok(strstr(err.detail, "nvidia-cuda-nvrtc,") != NULL, "packages for a driver of CUDA 13: %s", err.detail);

	make_library("toolkit/lib64", "libnvrtc.so.11.2", "int nvrtcVersion(int *a, int *b) {*a = 11; *b = 8; return 0;}");
	(void) gc_nvrtc_open(12, &err);
	is(err.code, GC_NO_COMPILER, "an old NVRTC");
	ok(strncmp(err.detail, "NVRTC 11.8 is too old", 21) == 0 && strstr(err.detail, "cuda-nvrtc-12") != NULL,
	   "which is said: %s", err.detail);

	make_library("toolkit/lib64", "libnvrtc.so.12", "int nvrtcVersion(int *a, int *b) {*a = 12; *b = 9; return 0;}");
	(void) gc_nvrtc_open(12, &err);
	ok(strstr(err.detail, "has no function nvrtcGetErrorString") != NULL, "another library of that name: %s", err.detail);
}

int
main(void)
{
	char		toolkit[100];

	tap_start();
	if (mkdtemp(home) == NULL)
		tap_bail("mkdtemp failed");
	snprintf(toolkit, sizeof(toolkit), "%s/toolkit", home);
	setenv("HOME", home, 1);
	setenv("CUDA_HOME", toolkit, 1);
	unsetenv("CUDA_PATH");
	test_place("toolkit/lib64");
	test_place(".local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
	test_place(".local/lib/python3.13/site-packages/nvidia/cu13/lib");
	/* Toolkits of NVIDIA's and Debian's packages, their libraries for other processors, WSL, and the HPC SDK. */
	test_place("usr/local/cuda/lib64");
	test_place("usr/local/cuda/lib");
	test_place("opt/cuda/lib64");
	test_place("usr/lib/wsl/lib");
	test_place("usr/local/cuda-12.9/lib64");
	test_place("usr/local/cuda-13.0/targets/x86_64-linux/lib");
	test_place("usr/local/cuda/targets/sbsa-linux/lib");
	test_place("opt/nvidia/hpc_sdk/Linux_x86_64/25.9/cuda/13.0/lib64");
	/* pip as root, of a system's Python, and in an environment; Conda. */
	test_place("usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib");
	test_place("usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib");
	test_place("usr/local/lib64/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
	test_place("opt/venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
	test_place("opt/miniconda3/lib");
	setenv("CUDA_HOME", "relative", 1);
	setenv("CUDA_PATH", toolkit, 1);
	test_place("toolkit/lib64");
	test_nvrtc();
	shell("rm -rf %s", home);
	return tap_done();
}
