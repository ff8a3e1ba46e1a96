/*-------------------------------------------------------------------------
 *
 * shmem.c
 *	  Main shared memory: asked for, and attached to, by the same calls.  See shmem.h.
 *
 * Runs in the postmaster, and in processes that do not inherit its memory, under AddinShmemInitLock.
 *
 *-------------------------------------------------------------------------
 */
#include "shmem.h"

#include "miscadmin.h"
#include "storage/shmem.h"

void *
gc_shmem_unset(const char *name, Size size, bool *made)
{
	void	   *memory = NULL;
	bool		found = true;

	if (process_shmem_requests_in_progress)
		RequestAddinShmemSpace(MAXALIGN(size));
	else
		memory = ShmemInitStruct(name, size, &found);
	*made = !found;
	return memory;
}

void *
gc_shmem(const char *name, Size size, bool *made)
{
	void	   *memory = gc_shmem_unset(name, size, made);

	if (*made)
		memset(memory, 0, size);
	return memory;
}

HTAB *
gc_shmem_hash(const char *name, long entries, Size key, Size entry)
{
	HASHCTL		ctl = {.keysize = key,.entrysize = entry};

	if (!process_shmem_requests_in_progress)
		return ShmemInitHash(name, entries, entries, &ctl, HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
	RequestAddinShmemSpace(hash_estimate_size(entries, entry));
	return NULL;
}

LWLock *
gc_shmem_lock(const char *tranche, int i)
{
	return process_shmem_requests_in_progress ? NULL : &GetNamedLWLockTranche(tranche)[i].lock;
}
