/*-------------------------------------------------------------------------
 *
 * cpus.h
 *	  The CPUs that this process may run on: a container may have fewer than the machine.
 *
 * Any process and thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CPUS_H
#define GC_CPUS_H

#include <sched.h>
#include <unistd.h>

/* 1 at least. */
static inline int
gc_count_cpus(void)
{
	cpu_set_t	set;
	long		online = sysconf(_SC_NPROCESSORS_ONLN);

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return CPU_COUNT(&set);
	return online > 0 ? (int) online : 1;
}

#endif							/* GC_CPUS_H */
