/*-------------------------------------------------------------------------
 *
 * occupancy.c
 *	  Does gc_occupancy() say what the driver says?
 *
 *	  occupancy [--out FILE] [FILE.gpu.src | DIRECTORY ...]
 *
 * Compiles every kernel text for the device (those that gpuconc.debug_gpu_kernels writes,
 * *.gpu.src of a directory; none given: the pool's).  It compares the blocks per multiprocessor
 * of the model with those of the driver's occupancy call.  Block sizes and amounts of dynamic
 * shared memory are many.  Exit status 1: they differ somewhere, or a text does not compile; 2:
 * nothing could be compared.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pool.h"

#define TOLD	40				/* differences that are printed */

static int	kernels;
static int	failed;
static int	unread;
static int64_t compared;
static int64_t differ;

static void
compare_one(const BenchKernel *k, int threads, int dynamic)
{
	int64_t		shared = (int64_t) dynamic + k->info.shared_static;
	int			model = gc_occupancy(&bench_profile, k->info.registers, threads, shared);
	int			driver = bench_ops->occupancy(k->kernel, (u32) threads, (u32) dynamic);

	compared++;
	if (model == driver)
		return;
	if (differ++ < TOLD)
		bench_say("| %s | %d | %d | %d + %d | %d | %d |\n", k->name, k->info.registers, threads,
				  k->info.shared_static, dynamic, model, driver);
}

static void
compare(const BenchKernel *k)
{
	static const int odd[] = {1, 33, 48, 100, 500, 1000};
	static const int shared[] = {0, 1, 128, 1000, 1024, 4096, 5000, 8192, 12288, 16384, 24000, 32768, 49152, 50000,
	65536, 75000, 81920, 100000, 115000, 125000, 131072, 163840, 200000};
	int			most = bench_profile.shared_per_block - k->info.shared_static;
	int			threads = k->info.max_threads;

	kernels++;
	for (size_t s = 0; s <= sizeof(shared) / sizeof(shared[0]); s++)
	{
		int			dynamic = s < sizeof(shared) / sizeof(shared[0]) ? shared[s] : most;

		if (dynamic > most || dynamic < 0)
			continue;
		for (int t = 32; t <= threads; t += 32)
			compare_one(k, t, dynamic);
		for (size_t o = 0; o < sizeof(odd) / sizeof(odd[0]); o++)
		{
			if (odd[o] <= threads)
				compare_one(k, odd[o], dynamic);
		}
	}
}

static bool
is_text(const char *name)
{
	size_t		n = strlen(name);

	return n > 8 && strcmp(name + n - 8, ".gpu.src") == 0;
}

static void
check_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	FILE	   *file = fopen(path, "r");
	char	   *text = NULL;
	size_t		max = 0;
	BenchKernel k;

	if (bench_seconds() > bench_options.seconds)
		unread++;
	else if (file == NULL || getdelim(&text, &max, '\0', file) < 0)
	{
		bench_note("%s cannot be read\n", path);
		failed++;
	}
	else if (bench_try_text(slash != NULL ? slash + 1 : path, text, &k))
		compare(&k);
	else
		failed++;
	if (file != NULL)
		fclose(file);
	free(text);
}

static void
check_path(const char *path)
{
	struct dirent **entries;
	struct stat st;
	int			n;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
	{
		check_file(path);
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++)
	{
		char		full[4096];

		snprintf(full, sizeof(full), "%s/%s", path, entries[i]->d_name);
		if (is_text(entries[i]->d_name))
			check_file(full);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void
check_pool(void)
{
	static PoolKernel engine[POOL_KERNELS];
	static PoolKernel synthetic[POOL_SYNTHETIC];

	pool_make(engine, GC_TILE_ROWS);
	pool_make_synthetic(synthetic, 100);
	for (int i = 0; i < POOL_KERNELS; i++)
		compare(&engine[i].k);
	for (int i = 0; i < POOL_SYNTHETIC; i++)
		compare(&synthetic[i].k);
}

int
main(int argc, char **argv)
{
	const BenchOptions defaults = {.device = "cuda",.memory = 512 * MEGABYTE,.seconds = 40};

	argc = bench_open(argc, argv, &defaults, 90);
	if (bench_profile.shares_cpu)
	{
		bench_say("A host has no occupancy to compare.\n");
		bench_close();
		return 0;
	}
	bench_say("Where model and driver differ (at most %d rows):\n\n"
			  "| kernel | registers | threads | shared memory, static + dynamic | model | driver |\n"
			  "| --- | ---: | ---: | ---: | ---: | ---: |\n", TOLD);
	if (argc < 2)
		check_pool();
	for (int i = 1; i < argc; i++)
		check_path(argv[i]);
	bench_say("\n%d kernels, %lld comparisons, %lld differ; %d texts did not compile or could not be read, %d not tried "
			  "for lack of time.\n", kernels, (long long) compared, (long long) differ, failed, unread);
	bench_close();
	return differ > 0 || failed > 0 ? 1 : compared == 0 ? 2 : 0;
}
