/*-------------------------------------------------------------------------
 *
 * physical_memory_test.c
 *	  That the limits of control groups, of both versions, bound the memory that the machine is said to have.
 *
 * The groups are files below a directory of the test.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "harness.h"

#include "../../src/device/physical_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[] = "/tmp/gpuconc_memory_test.XXXXXX";

/* Write a file, and the directories that it lies in. */
static void
put(const char *name, const char *text)
{
	char		path[4096];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *c = path + sizeof(root); *c; c++)
	{
		if (*c == '/')
		{
			*c = '\0';
			mkdir(path, 0700);
			*c = '/';
		}
	}
	file = fopen(path, "w");
	if (file == NULL)
		abort();
	fputs(text, file);
	fclose(file);
}

int
main(void)
{
	const u64	all = gc_physical_memory("/nowhere");
	char		command[200];

	tap_start();
	ok(mkdtemp(root) != NULL, "a directory");
	ok(all > 0, "the machine has memory");
	is(gc_physical_memory(root), all, "no control groups");

	put("proc/self/cgroup", "0::/system.slice/server.service\n");
	is(gc_physical_memory(root), all, "a group that is not shown");
	put("sys/fs/cgroup/system.slice/server.service/memory.max", "max\n");
	is(gc_physical_memory(root), all, "one without a limit");
	put("sys/fs/cgroup/memory.max", "9000000\n");
	is(gc_physical_memory(root), 9000000, "the root of a container");
	put("sys/fs/cgroup/system.slice/memory.max", "8000000\n");
	is(gc_physical_memory(root), 8000000, "a group between");
	put("sys/fs/cgroup/system.slice/server.service/memory.max", "7000000\n");
	is(gc_physical_memory(root), 7000000, "the group itself");
	put("sys/fs/cgroup/system.slice/server.service/memory.max", "999999999999999999\n");
	is(gc_physical_memory(root), 8000000, "a limit above the machine's memory, or another's, is none");

	put("proc/self/cgroup", "12:cpu,cpuacct:/a\n4:memory:/docker/b\n0::/\n");
	put("sys/fs/cgroup/memory.max", "max\n");
	put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000000\n");
	is(gc_physical_memory(root), all, "version 1: the group of another controller");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "6000000\n");
	is(gc_physical_memory(root), 6000000, "version 1: the root of a container");
	put("sys/fs/cgroup/memory/docker/b/memory.limit_in_bytes", "5000000\n");
	is(gc_physical_memory(root), 5000000, "version 1: the group itself");

	snprintf(command, sizeof(command), "rm -r %s", root);
	ok(system(command) == 0, "removed");
	return tap_done();
}
