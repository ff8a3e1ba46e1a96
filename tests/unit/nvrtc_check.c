/*-------------------------------------------------------------------------
 *
 * nvrtc_check.c [--front-end] FILE|DIRECTORY ...
 *	  Do these kernel texts compile for GPUs?  No GPU is needed.
 *
 * Each file, and each *.src of a directory, is compiled for sm_80 with full effort and for sm_90 quickly,
 * with the worker's options; or read by NVRTC's front end alone, as for one of the two, by the file's
 * name.  Failures are printed with NVRTC's whole log.  The last line is "N compiled, M failed"; exit
 * status 1 if M > 0, 77 (and "nvrtc not found") where there is no NVRTC, 2 for wrong usage.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../src/device/nvrtc.h"

static const GcNvrtc *nvrtc;
static bool front_end;
static int	compiled;
static int	failed;

static char *
read_text(const char *path)
{
	FILE	   *file = fopen(path, "r");
	char	   *text = NULL;
	size_t		max = 0;

	if (file == NULL || getdelim(&text, &max, '\0', file) < 0)
	{
		free(text);
		text = NULL;
	}
	if (file != NULL)
		fclose(file);
	return text;
}

/* Which of two ways the front end reads a file: texts are named by their hashes. */
static size_t
way_of(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	return name[0] != '\0' && name[1] != '\0' ? (size_t) name[1] & 1 : 0;
}

static void
check_file(const char *path)
{
	static const struct
	{
		int			arch;
		GcCompileEffort effort;
	}			ways[] = {{80, GC_COMPILE_FULL}, {90, GC_COMPILE_QUICK}};
	char	   *text = read_text(path);

	if (text == NULL)
	{
		printf("%s: cannot be read\n", path);
		failed++;
		return;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
	{
		GcImage		image = {NULL, 0};
		GcError		err = {GC_OK, ""};
		char	   *log = NULL;

		if (front_end && i != way_of(path))
			continue;
		if ((front_end ? gc_nvrtc_accepts(nvrtc, ways[i].arch, text, ways[i].effort, &log, &err)
			 : gc_nvrtc_compile(nvrtc, ways[i].arch, text, ways[i].effort, &image, &log, &err)) == GC_OK)
			compiled++;
		else
		{
			failed++;
			printf("%s: sm_%d: %s\n%s\n", path, ways[i].arch, gc_code_name(err.code),
				   log != NULL ? log : err.detail);
		}
		free(image.bytes);
		free(log);
	}
	free(text);
}

static int
is_source(const struct dirent *entry)
{
	size_t		length = strlen(entry->d_name);

	return length > 4 && strcmp(entry->d_name + length - 4, ".src") == 0;
}

static void
check_directory(const char *path)
{
	struct dirent **entries;
	int			n = scandir(path, &entries, is_source, alphasort);

	for (int i = 0; i < n; i++)
	{
		char	   *name;

		if (asprintf(&name, "%s/%s", path, entries[i]->d_name) > 0)
		{
			check_file(name);
			free(name);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int
main(int argc, char **argv)
{
	struct stat st;

	front_end = argc > 1 && strcmp(argv[1], "--front-end") == 0;
	if (argc < 2 + front_end)
	{
		fprintf(stderr, "usage: %s [--front-end] FILE|DIRECTORY ...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	nvrtc = gc_nvrtc_open(13, NULL);
	if (nvrtc == NULL)
	{
		printf("nvrtc not found\n");
		return 77;
	}
	for (int i = 1 + front_end; i < argc; i++)
	{
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			check_directory(argv[i]);
		else
			check_file(argv[i]);
	}
	printf("%d compiled, %d failed\n", compiled, failed);
	return failed > 0 ? 1 : 0;
}
