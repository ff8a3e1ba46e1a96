/*-------------------------------------------------------------------------
 *
 * link_kernel_test.c [host|cuda]
 *	  The kernel that is timed when it reads the host's memory reads all the words that it is told to, and no others.
 *
 * It writes a word where a thread finds certain bits, which one word has at a time.
 *
 * Where there is NVRTC, the text for a GPU is compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "device_util.h"

#include "../../src/codegen/codegen.h"
#include "../../src/device/nvrtc.h"

#define WORDS	40000
#define BITS	0x5eed5eedu

static void
must(GcCode code)
{
	if (code != GC_OK)
		tap_bail("the device failed");
}

/* Does the kernel read this one of n words, each `step` words behind the one before? */
static bool
reads(GcStream *stream, const Loaded *k, u64 n, u64 step, u64 word)
{
	static u32	words[WORDS];
	GcLaunch	shape = {.blocks = 7,.threads = (u32) (k->info.max_threads < 256 ? k->info.max_threads : 256)};
	GcArgs		args;
	u32			found = 0;

	memset(words, 0, sizeof(words));
	words[word] = BITS;
	must(ops->copy_in(stream, pool_base + 4096, words, sizeof(words), NULL));
	must(ops->fill(stream, pool_base, 0, 4096, NULL));
	memset(&args, 0, sizeof(args));
	args.w[0] = pool_base + 4096;
	args.w[1] = n;
	args.w[2] = step * sizeof(u32);
	args.w[3] = pool_base;
	must(ops->launch(stream, k->kernel, &shape, &args, GC_LINK_WORDS, NULL));
	must(ops->copy_out(stream, &found, pool_base, sizeof(found), NULL));
	must(finish(stream, NULL));
	return found == BITS;
}

static void
test_kernel(void)
{
	static const u64 steps[] = {1, 8, 64};
	GcStream   *stream;
	Loaded		k;

	open_device();
	stream = get_stream();
	k = load_made(gc_generate_link_kernel());
	for (int s = 0; s < 3; s++)
	{
		const u64	step = steps[s];
		const u64	n = WORDS / step - 3;
		const u64	last = (n - 1) * step;

		tap_note("each %llu-th word", (unsigned long long) step);
		ok(reads(stream, &k, n, step, 0), "the first is read");
		ok(reads(stream, &k, n, step, last), "the last is");
		ok(reads(stream, &k, n, step, n / 3 * step), "one between them is");
		ok(!reads(stream, &k, n, step, last + step), "none behind them is");
		ok(step == 1 || !reads(stream, &k, n, step, step - 1), "none that is left out is");
	}
	ops->stream_put(dev, stream);
	unload(&k);
	ops->close(dev);
}

static void
test_nvrtc(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (int arch = 80; arch <= 90; arch += 10)
	{
		char	   *text = gc_generate_link_kernel();

		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "the kernel that reads the host's memory");
		free(text);
	}
}

/* Does a kernel's text have this file of the device library?  text: freed. */
static bool
has_file(char *text, const char *head)
{
	bool		has = text != NULL && strstr(text, head) != NULL;

	free(text);
	return has;
}

/* What a compiler need not read is not there. */
static void
test_library(void)
{
	ok(has_file(gc_generate_link_kernel(), " * gc_target.h\n"), "what all kernels have is there");
	ok(!has_file(gc_generate_link_kernel(), " * gc_tile.h\n"), "what a kernel names nothing of is not");
	ok(has_file(gc_generate_text_kernel(), " * gc_text.h\n"), "what a kernel names something of is there");
	ok(has_file(gc_generate_text_kernel(), " * gc_md5.h\n"), "and what that needs");
	ok(!has_file(gc_generate_text_kernel(), " * gc_packet.h\n"), "but nothing else");
}

int
main(int argc, char **argv)
{
	tap_start();
	if (!choose_device(argc > 1 ? argv[1] : "host"))
		return tap_skip_all("there is no such device");
	test_kernel();
	test_nvrtc();
	test_library();
	return tap_done();
}
