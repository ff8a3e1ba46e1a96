/*-------------------------------------------------------------------------
 *
 * physical_memory.c
 *	  The memory that this machine, or the container, has.
 *
 * A limit of a control group holds for all groups below it, so the process's group and all above are asked.  A
 * container may show only its own part of the tree, whose root then has the limit.
 *
 * Any process and thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "physical_memory.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where nobody says how much there is. */
#define MEMORY_UNKNOWN	((u64) 1 << 30)

/* The lesser of `memory` and the number in a file, which may not be there, or say "max". */
static u64
limited_by(u64 memory, const char *path)
{
	FILE	   *file = fopen(path, "re");
	unsigned long long limit;

	if (file == NULL)
		return memory;
	if (fscanf(file, "%llu", &limit) == 1 && limit > 0 && limit < memory)
		memory = limit;
	fclose(file);
	return memory;
}

/* By a group and all above it.  `group` is a path that begins with "/", and is shortened. */
static u64
limited_by_groups(u64 memory, const char *root, const char *tree, char *group, const char *file)
{
	char		path[PATH_MAX];
	char	   *end = group + strlen(group);

	while (end != NULL)
	{
		*end = '\0';
		if (snprintf(path, sizeof(path), "%s%s%s/%s", root, tree, group, file) < (int) sizeof(path))
			memory = limited_by(memory, path);
		end = strrchr(group, '/');
	}
	return memory;
}

u64
gc_physical_memory(const char *root)
{
	const long	pages = sysconf(_SC_PHYS_PAGES);
	const long	page = sysconf(_SC_PAGESIZE);
	u64			memory = pages > 0 && page > 0 ? (u64) pages * (u64) page : MEMORY_UNKNOWN;
	char		line[PATH_MAX];
	FILE	   *file;

	snprintf(line, sizeof(line), "%s/proc/self/cgroup", root);
	file = fopen(line, "re");
	/* "0::/path" of version 2, "4:memory:/path" of version 1. */
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
	{
		char	   *controllers = strchr(line, ':');
		char	   *group = controllers ? strchr(controllers + 1, ':') : NULL;

		line[strcspn(line, "\n")] = '\0';
		if (group == NULL || group[1] != '/')
			continue;
		*group++ = '\0';
		if (controllers[1] == '\0')
			memory = limited_by_groups(memory, root, "/sys/fs/cgroup", group, "memory.max");
		else if (strcmp(controllers + 1, "memory") == 0)
			memory = limited_by_groups(memory, root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
	}
	if (file != NULL)
		fclose(file);
	return memory;
}
