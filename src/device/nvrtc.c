/*-------------------------------------------------------------------------
 *
 * nvrtc.c
 *	  Compiling kernel text for device cuda with NVRTC.
 *
 * Straight to a cubin for the device's own architecture, so that the driver
 * has nothing left to compile.  To PTX only where the architecture is newer
 * than NVRTC.
 *
 * Process and threads: the worker process, or a compiler's (compilers.h), which has one thread.  gc_nvrtc_open on the
 * main thread; the rest on any thread and by several at once.  The one object is constant after it was opened, and
 * option_count is atomic.  No locks.  The compiler recurses deeply; threads that compile need a stack of some MB.
 *
 *-------------------------------------------------------------------------
 */
#include "nvrtc.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"
#include "dynlib.h"
#include "hash.h"

#define MAX_ARCHS 128
#define OLDEST_MAJOR 12
#define NEWEST_MAJOR 13

struct GcNvrtc
{
	NvrtcApi	api;
	int			major;
	int			minor;
	int			narchs;
	int			archs[MAX_ARCHS];
};

static GcNvrtc nvrtc_instance;
static bool nvrtc_opened;

/* How many of the optional options it understands; any thread may lower it. */
static atomic_int option_count;

static const GcDynSymbol nvrtc_symbols[] = {
#define NVRTC_SYMBOL(field, symbol, type, params) {#symbol, offsetof(NvrtcApi, field)},
	GC_NVRTC_SYMBOLS(NVRTC_SYMBOL)
#undef NVRTC_SYMBOL
};

/*
 * Options without which a kernel would mean something else.  Numeric is computed in int128.  A fused
 * multiply-add would give floats other last bits than PostgreSQL's.
 */
static const char *const needed_options[] = {
	"--std=c++17",
	"--device-int128",
	"--fmad=false",
};

/*
 * Options that an older NVRTC may not know, oldest first; after the first
 * refusal the newest is left out.
 * modify-stack-limit: by default NVRTC raises RLIMIT_STACK of the whole process
 * while it compiles.  minimal: leaves out declarations that kernels do not use.
 * no-cache: NVRTC would keep a disk cache of its own next to kcache.c's.
 */
static const char *const optional_options[] = {
	"--modify-stack-limit=false",
	"--disable-warnings",
	"--minimal",
	"--no-cache",
};

/*
 * Options of a quick compilation: less optimization, and vectors of one row
 * (gc_target.h).  Together they halve the time.
 */
static const char *const quick_options[] = {
	"--Ofast-compile=min",
	"-DGC_QUICK",
};

/* Stop when the front end has read the text. */
static const char *const front_end_options[] = {
	"-fdevice-syntax-only",
};

/* Cleared by an NVRTC that does not know the first of the quick options. */
static atomic_bool quick_known = true;

#define LENGTH(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* The majors worth trying, best first, each one once; 0 ends the list. */
static void
order_majors(int prefer, int *majors, int max)
{
	int			n = 0;

	if (prefer < OLDEST_MAJOR - 1)
		prefer = OLDEST_MAJOR - 1;
	for (int major = prefer; major >= OLDEST_MAJOR && n < max - 1; major--)
		majors[n++] = major;
	for (int major = prefer + 1; major <= NEWEST_MAJOR && n < max - 1; major++)
		majors[n++] = major;
	majors[n] = 0;
}

/* The NVRTC of the driver's major version, or else an older or a newer one that is known.  NULL: there is none. */
static void *
open_library(int prefer_major)
{
	int			majors[16];
	void	   *library = NULL;

	order_majors(prefer_major, majors, LENGTH(majors));
	for (int i = 0; majors[i] != 0 && library == NULL; i++)
	{
		char		soname[32];

		snprintf(soname, sizeof(soname), "libnvrtc.so.%d", majors[i]);
		library = gc_dynlib_open(soname);
	}
	return library;
}

/* NVRTC's of CUDA 10 and 11, the newest first; 11.2 is that of all later ones of CUDA 11. */
static const char *const old_sonames[] = {
	"libnvrtc.so.11.2", "libnvrtc.so.11.1", "libnvrtc.so.11.0", "libnvrtc.so.10.2",
};

/* None that can be used was found: say whether one is too old, and which packages have another. */
static void
fail_missing(int prefer_major, GcError *err)
{
	bool		newest = prefer_major >= NEWEST_MAJOR;
	const char *packages = newest
		? "NVIDIA's package cuda-nvrtc-13-0, PyPI's nvidia-cuda-nvrtc, or libnvrtc12 of Debian 13" :
		"NVIDIA's package cuda-nvrtc-12-9, PyPI's nvidia-cuda-nvrtc-cu12, or libnvrtc12 of Debian 13";
	void	   *old = NULL;
	NvrtcApi	api;
	int			major;
	int			minor;

	for (int i = 0; i < LENGTH(old_sonames) && old == NULL; i++)
		old = gc_dynlib_open(old_sonames[i]);
	if (old != NULL && gc_dynlib_resolve(old, &nvrtc_symbols[1], 1, &api) == NULL &&
		api.version(&major, &minor) == GC_NV_OK)
		gc_fail(err, GC_NO_COMPILER,
				"NVRTC %d.%d is too old: the CUDA run-time compiler (libnvrtc.so) must be that of CUDA %d or later. Install %s.",
				major, minor, OLDEST_MAJOR, packages);
	else
		gc_fail(err, GC_NO_COMPILER,
				"The CUDA run-time compiler (libnvrtc.so) was not found. Install %s.", packages);
}

const GcNvrtc *
gc_nvrtc_open(int prefer_major, GcError *err)
{
	GcNvrtc    *nvrtc = &nvrtc_instance;
	const char *missing;
	void	   *library;

	if (nvrtc_opened)
		return nvrtc;
	library = open_library(prefer_major);
	if (library == NULL)
	{
		fail_missing(prefer_major, err);
		return NULL;
	}
	missing = gc_dynlib_resolve(library, nvrtc_symbols, LENGTH(nvrtc_symbols), &nvrtc->api);
	if (missing != NULL)
	{
		gc_fail(err, GC_NO_COMPILER, "The CUDA run-time compiler has no function %s.", missing);
		return NULL;
	}
	if (nvrtc->api.version(&nvrtc->major, &nvrtc->minor) != GC_NV_OK ||
		nvrtc->api.num_archs(&nvrtc->narchs) != GC_NV_OK ||
		nvrtc->narchs < 1 || nvrtc->narchs > MAX_ARCHS ||
		nvrtc->api.archs(nvrtc->archs) != GC_NV_OK)
	{
		gc_fail(err, GC_NO_COMPILER,
				"The CUDA run-time compiler does not say what it compiles for.");
		return NULL;
	}
	atomic_store(&option_count, LENGTH(optional_options));
	nvrtc_opened = true;
	return nvrtc;
}

/* The newest architecture NVRTC knows that is not newer than this one, or 0. */
static int
best_arch(const GcNvrtc *nvrtc, int arch)
{
	int			best = 0;

	for (int i = 0; i < nvrtc->narchs; i++)
	{
		if (nvrtc->archs[i] <= arch && nvrtc->archs[i] > best)
			best = nvrtc->archs[i];
	}
	return best;
}

/* The error where NVRTC knows only older GPUs. */
static GcCode
too_old(const GcNvrtc *nvrtc, int arch, GcError *err)
{
	return gc_fail(err, GC_NO_COMPILER,
				   "NVRTC %d.%d does not compile for this GPU (compute capability %d.%d).",
				   nvrtc->major, nvrtc->minor, arch / 10, arch % 10);
}

/* The target is part of the kernel cache's key, and other options make other code. */
static unsigned
options_digest(void)
{
	uint64_t	digest = 0;

	for (int i = 0; i < LENGTH(needed_options); i++)
		digest = gc_hash64(needed_options[i], strlen(needed_options[i]), digest);
	for (int i = 0; i < LENGTH(optional_options); i++)
		digest = gc_hash64(optional_options[i], strlen(optional_options[i]), digest);
	return (unsigned) digest;
}

GcCode
gc_nvrtc_target(const GcNvrtc *nvrtc, int arch, char *target, size_t size, GcError *err)
{
	int			best = best_arch(nvrtc, arch);

	if (best == 0)
		return too_old(nvrtc, arch, err);
	if (best == arch)
		snprintf(target, size, "sm_%d nvrtc %d.%d options %08x", arch, nvrtc->major, nvrtc->minor,
				 options_digest());
	else
		snprintf(target, size, "sm_%d as compute_%d nvrtc %d.%d options %08x", arch, best,
				 nvrtc->major, nvrtc->minor, options_digest());
	return GC_OK;
}

/* Append options to the n that are there; returns how many there are now. */
static int
add_options(const char **options, int n, const char *const *more, int nmore)
{
	for (int i = 0; i < nmore; i++)
		options[n++] = more[i];
	return n;
}

/*
 * Run the compiler over the program, leaving out optional options until it
 * knows the rest; which those are is remembered for all later compilations.
 */
static NvResult
run_compiler(const GcNvrtc *nvrtc, NvProgram program, const char *arch_option, bool quick, bool front_end)
{
	const char *options[1 + LENGTH(needed_options) + LENGTH(optional_options) + LENGTH(quick_options) +
						LENGTH(front_end_options)];
	int			optional = atomic_load(&option_count);
	NvResult	result;

	for (;; optional--)
	{
		int			n = add_options(options, 0, &arch_option, 1);

		n = add_options(options, n, needed_options, LENGTH(needed_options));
		n = add_options(options, n, optional_options, optional);
		n = add_options(options, n, quick_options, quick ? LENGTH(quick_options) : 0);
		n = add_options(options, n, front_end_options, front_end ? LENGTH(front_end_options) : 0);
		result = nvrtc->api.compile(program, n, options);
		if (result != GC_NV_INVALID_OPTION || optional == 0)
			break;
	}
	/* A quick compilation, or the front end alone, may be refused for its own options. */
	if (result != GC_NV_INVALID_OPTION && !quick && !front_end)
		atomic_store(&option_count, optional);
	return result;
}

/* The compiler's messages, malloc'd; NULL when nothing or out of memory. */
static char *
program_log(const GcNvrtc *nvrtc, NvProgram program)
{
	size_t		size = 0;
	char	   *log;

	if (nvrtc->api.log_size(program, &size) != GC_NV_OK || size <= 1)
		return NULL;
	log = malloc(size + 1);
	if (log == NULL)
		return NULL;
	if (nvrtc->api.log(program, log) != GC_NV_OK)
	{
		free(log);
		return NULL;
	}
	log[size] = '\0';
	return log;
}

/* The compiled code, as PTX or as machine code, in memory that the caller frees. */
static GcCode
fetch_image(const GcNvrtc *nvrtc, NvProgram program, bool ptx, GcImage *image, GcError *err)
{
	NvResult	result;
	size_t		size = 0;
	char	   *bytes;

	result = ptx ? nvrtc->api.ptx_size(program, &size) : nvrtc->api.cubin_size(program, &size);
	if (result != GC_NV_OK || size == 0)
		return gc_fail(err, GC_COMPILE_FAILED, "NVRTC produced no code: %s.",
					   nvrtc->api.error_string(result));
	bytes = malloc(size);
	if (bytes == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for a compiled kernel.");
	result = ptx ? nvrtc->api.ptx(program, bytes) : nvrtc->api.cubin(program, bytes);
	if (result != GC_NV_OK)
	{
		free(bytes);
		return gc_fail(err, GC_COMPILE_FAILED, "NVRTC gave no code: %s.",
					   nvrtc->api.error_string(result));
	}
	image->bytes = bytes;
	image->size = size;
	return GC_OK;
}

/* image: NULL where the front end is to have a look only. */
static GcCode
compile(const GcNvrtc *nvrtc, int arch, const char *source, GcCompileEffort effort, GcImage *image,
		char **log, GcError *err)
{
	bool		quick = effort == GC_COMPILE_QUICK && atomic_load(&quick_known);
	int			best = best_arch(nvrtc, arch);
	char		arch_option[64];
	char	   *said;
	NvProgram	program;
	NvResult	result;
	GcCode		code;

	if (log != NULL)
		*log = NULL;
	if (best == 0)
		return too_old(nvrtc, arch, err);
	snprintf(arch_option, sizeof(arch_option), "--gpu-architecture=%s_%d",
			 best == arch ? "sm" : "compute", best);

	result = nvrtc->api.create(&program, source, "kernel.cu", 0, NULL, NULL);
	if (result != GC_NV_OK)
		return gc_fail(err, result == GC_NV_OUT_OF_MEMORY ? GC_HOST_MEMORY : GC_COMPILE_FAILED,
					   "nvrtcCreateProgram failed: %s.", nvrtc->api.error_string(result));
	result = run_compiler(nvrtc, program, arch_option, quick, image == NULL);
	if (image == NULL && result == GC_NV_INVALID_OPTION)
		result = run_compiler(nvrtc, program, arch_option, quick, false);
	if (quick && result == GC_NV_INVALID_OPTION)
	{
		atomic_store(&quick_known, false);
		result = run_compiler(nvrtc, program, arch_option, false, false);
	}
	said = program_log(nvrtc, program);
	if (result == GC_NV_OK && image == NULL)
		code = GC_OK;
	else if (result == GC_NV_OK)
		code = fetch_image(nvrtc, program, best != arch, image, err);
	else if (result == GC_NV_OUT_OF_MEMORY)
		code = gc_fail(err, GC_HOST_MEMORY, "NVRTC ran out of memory.");
	else if (said != NULL)
		code = gc_fail(err, GC_COMPILE_FAILED, "%s", said);
	else
		code = gc_fail(err, GC_COMPILE_FAILED, "nvrtcCompileProgram failed: %s.",
					   nvrtc->api.error_string(result));
	nvrtc->api.destroy(&program);
	if (log != NULL)
		*log = said;
	else
		free(said);
	return code;
}

GcCode
gc_nvrtc_compile(const GcNvrtc *nvrtc, int arch, const char *source, GcCompileEffort effort,
				 GcImage *image, char **log, GcError *err)
{
	return compile(nvrtc, arch, source, effort, image, log, err);
}

GcCode
gc_nvrtc_accepts(const GcNvrtc *nvrtc, int arch, const char *source, GcCompileEffort effort,
				 char **log, GcError *err)
{
	return compile(nvrtc, arch, source, effort, NULL, log, err);
}
