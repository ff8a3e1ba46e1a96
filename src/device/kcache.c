/*-------------------------------------------------------------------------
 *
 * kcache.c
 *	  Compiled kernels: asked for by source text, found in memory, on disk, or
 *	  compiled on a thread of their own.
 *
 * Process and threads: the worker.  gc_kcache_* on the main thread; compile
 * threads (all signals blocked) run compile_main.  Reading the disk cache is
 * the main thread's, writing and trimming it the compile threads'.
 *
 * Locks: one, GcKernelCache.lock.  It protects the queue of jobs and, of every
 * entry, the fields that say so.  It is never held while compiling, loading,
 * reading or writing a file, or calling out.
 *
 * Ownership: an entry lives until gc_kcache_close or gc_kcache_forget.  Its image belongs to the
 * compile thread while the state is COMPILING, then to the main thread, which
 * frees it when the module is loaded.  While the entry is BETTER_COMMISSIONED, a
 * compile thread may read its source and set better and improvement, no more.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "kcache.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hash.h"
#include "kcache_disk.h"

#define NBUCKETS		4096
#define COMPILE_STACK	((size_t) 16 << 20) /* NVRTC recurses deeply */
#define ENTRY_POINT		"gc_kernel"
#define MAX_PATIENCE	1023

/* The second compilation's outcome, of a text that was compiled quickly. */
typedef enum Improvement
{
	BETTER_NOT_WANTED,			/* or: has been loaded, or was impossible */
	BETTER_COMMISSIONED,
	BETTER_READY,				/* in better */
} Improvement;

struct GcCachedKernel
{
	GcKernelCache *cache;
	GcCachedKernel *next;		/* in its bucket */
	GcKernelKey key;
	char	   *source;
	bool		ahead;			/* no request waits for it */
	u32			keepers;		/* with one, it is not forgotten */
	u32			round;			/* of the cache, when it was asked for last */
	int			requests;		/* that wanted it since it failed */
	int			patience;		/* requests before it is tried again, less one */
	GcModule   *module;			/* NULL until loaded */
	GcModule   *quick_module;	/* the one before it */
	GcKernel   *kernel;
	GcKernelInfo info;
	GcKernel   *quick_kernel;	/* of quick_module; NULL: none, or preferred */
	GcKernelInfo quick_info;
	double		asked;			/* now_ms() */

	/* Protected by the cache's lock: */
	GcKernelTimes times;
	GcKernelState state;
	GcKernelOrigin origin;
	GcImage		image;
	GcError		error;
	Improvement improvement;
	GcImage		better;
	GcCachedKernel *next_job;
};

typedef struct Jobs
{
	GcCachedKernel *first;
	GcCachedKernel *last;
} Jobs;

struct GcKernelCache
{
	GcDevice   *dev;
	GcKernelDisk disk;
	void		(*wake) (void *arg);
	void	   *wake_arg;
	GcCachedKernel *buckets[NBUCKETS];
	u32			forgettable;	/* entries, those that are being compiled included */
	u32			round;			/* see gc_kcache_next_round */
	pthread_t  *threads;
	int			nthreads;

	pthread_mutex_t lock;
	pthread_cond_t work;		/* a job was queued, or stop */
	Jobs		jobs;			/* first compilations, which requests wait for */
	Jobs		ahead;			/* and others */
	Jobs		improvements;
	u32			asked;			/* of the first kind, ever */
	u32			ended;			/* of these */
	int			improving;		/* threads that compile with full effort */
	bool		trim;			/* the directory is to be looked at */
	bool		trimming;		/* a thread does */
	bool		stop;
};

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

/* ---------- compile threads ---------- */

/* The lock is held. */
static void
append_job(GcKernelCache *cache, Jobs *jobs, GcCachedKernel *entry)
{
	entry->next_job = NULL;
	if (jobs->first == NULL)
		jobs->first = entry;
	else
		jobs->last->next_job = entry;
	jobs->last = entry;
	pthread_cond_signal(&cache->work);
}

typedef enum Work
{
	WORK_END,
	WORK_COMPILE,
	WORK_AHEAD,
	WORK_TRIM,
	WORK_IMPROVE,
	WORK_NONE,
} Work;

/* The next job.  The lock is held. */
static Work
next_work(const GcKernelCache *cache)
{
	if (cache->stop)
		return WORK_END;
	if (cache->jobs.first != NULL)
		return WORK_COMPILE;
	if (cache->ahead.first != NULL)
		return WORK_AHEAD;
	if (cache->trim && !cache->trimming)
		return WORK_TRIM;
	/*
	 * Three of four threads are left to first compilations: a request has five in the median,
	 * and waits for the longest.
	 */
	return cache->improvements.first != NULL && cache->improving < (cache->nthreads + 3) / 4 ? WORK_IMPROVE : WORK_NONE;
}

/* Wait for work; for kernels, *entry is which. */
static Work
take_work(GcKernelCache *cache, GcCachedKernel **entry)
{
	Work		work;
	Jobs	   *jobs;

	pthread_mutex_lock(&cache->lock);
	while ((work = next_work(cache)) == WORK_NONE)
		pthread_cond_wait(&cache->work, &cache->lock);
	jobs = work == WORK_COMPILE ? &cache->jobs : work == WORK_AHEAD ? &cache->ahead : &cache->improvements;
	if (work != WORK_END && work != WORK_TRIM)
	{
		*entry = jobs->first;
		jobs->first = (*entry)->next_job;
		(*entry)->next_job = NULL;
	}
	cache->improving += work == WORK_IMPROVE;
	if (work == WORK_TRIM)
	{
		cache->trim = false;
		cache->trimming = true;
	}
	pthread_mutex_unlock(&cache->lock);
	return work;
}

/* Have the directory looked at. */
static void
ask_trim(GcKernelCache *cache)
{
	pthread_mutex_lock(&cache->lock);
	cache->trim = true;
	pthread_cond_signal(&cache->work);
	pthread_mutex_unlock(&cache->lock);
}

/* A compile thread's: delete files over the limit, outside of the lock. */
static void
trim(GcKernelCache *cache)
{
	gc_kdisk_trim(&cache->disk);
	pthread_mutex_lock(&cache->lock);
	cache->trimming = false;
	pthread_mutex_unlock(&cache->lock);
}

/* Keep the code on disk, and have files deleted if that is too much. */
static void
store(GcKernelCache *cache, const GcCachedKernel *entry, const GcImage *image)
{
	gc_kdisk_store(&cache->disk, &entry->key, entry->source, image);
	if (gc_kdisk_over_limit(&cache->disk))
		ask_trim(cache);
}

/* A compile thread's: compile outside of the lock, then tell.  A quick kernel's full one is commissioned. */
static void
compile_entry(GcKernelCache *cache, GcCachedKernel *entry)
{
	bool		quick = cache->dev->info.quick_compile;
	const double begun = now_ms();
	GcImage		image = {NULL, 0};
	GcError		error = {GC_OK, ""};
	GcCode		code;

	code = cache->dev->ops->compile(cache->dev, entry->source,
									quick ? GC_COMPILE_QUICK : GC_COMPILE_FULL, &image, &error);
	if (code == GC_OK && !quick)
		store(cache, entry, &image);
	error.code = code;

	pthread_mutex_lock(&cache->lock);
	entry->error = error;
	entry->image = image;
	entry->times = (GcKernelTimes) {.waited = begun - entry->asked,.compiled = now_ms() - begun};
	entry->state = code == GC_OK ? GC_KERNEL_READY : GC_KERNEL_FAILED;
	cache->ended += !entry->ahead;
	if (code == GC_OK && quick)
	{
		entry->improvement = BETTER_COMMISSIONED;
		append_job(cache, &cache->improvements, entry);
	}
	pthread_mutex_unlock(&cache->lock);
	if (cache->wake != NULL)
		cache->wake(cache->wake_arg);
}

/* Compile a quick kernel's text with full effort; if this fails, the quick kernel stays. */
static void
improve_entry(GcKernelCache *cache, GcCachedKernel *entry)
{
	GcImage		image = {NULL, 0};
	GcError		error = {GC_OK, ""};
	GcCode		code;

	code = cache->dev->ops->compile(cache->dev, entry->source, GC_COMPILE_FULL, &image, &error);
	if (code == GC_OK)
		store(cache, entry, &image);
	pthread_mutex_lock(&cache->lock);
	entry->better = image;
	entry->improvement = code == GC_OK ? BETTER_READY : BETTER_NOT_WANTED;
	cache->improving--;
	pthread_cond_signal(&cache->work);
	pthread_mutex_unlock(&cache->lock);
	if (cache->wake != NULL)
		cache->wake(cache->wake_arg);
}

/* A compile thread: work by urgency, until the cache is closed. */
static void *
compile_main(void *arg)
{
	GcKernelCache *cache = arg;
	GcCachedKernel *entry = NULL;

	for (;;)
	{
		switch (take_work(cache, &entry))
		{
			case WORK_COMPILE:
			case WORK_AHEAD:
				compile_entry(cache, entry);
				break;
			case WORK_TRIM:
				trim(cache);
				break;
			case WORK_IMPROVE:
				improve_entry(cache, entry);
				break;
			case WORK_NONE:
				break;
			case WORK_END:
				return NULL;
		}
	}
}

/* Have threads compile the entry.  Kernels that are compiled ahead come behind those that requests wait for. */
static void
queue_job(GcCachedKernel *entry)
{
	GcKernelCache *cache = entry->cache;

	entry->asked = now_ms();
	pthread_mutex_lock(&cache->lock);
	entry->state = GC_KERNEL_COMPILING;
	entry->origin = GC_ORIGIN_COMPILED;
	append_job(cache, entry->ahead ? &cache->ahead : &cache->jobs, entry);
	cache->asked += !entry->ahead;
	pthread_mutex_unlock(&cache->lock);
}

/* ---------- open and close ---------- */

/* Start compile threads, which take no signals of PostgreSQL's.  Fewer than wanted are enough. */
static GcCode
start_threads(GcKernelCache *cache, int wanted, GcError *err)
{
	pthread_attr_t attr;
	sigset_t	all;
	sigset_t	saved;

	if (wanted < 1)
		wanted = 1;
	cache->threads = calloc((size_t) wanted, sizeof(pthread_t));
	if (cache->threads == NULL || pthread_attr_init(&attr) != 0)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for compile threads.");
	pthread_attr_setstacksize(&attr, COMPILE_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	while (cache->nthreads < wanted &&
		   pthread_create(&cache->threads[cache->nthreads], &attr, compile_main, cache) == 0)
		pthread_setname_np(cache->threads[cache->nthreads++], "gpuconc compile");
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	if (cache->nthreads == 0)
		return gc_fail(err, GC_HOST_MEMORY, "Could not start a compile thread.");
	return GC_OK;
}

/* The directory is used if it can be; without it, kernels are in memory only. */
GcCode
gc_kcache_open(GcKernelCache **out, GcDevice *dev, const GcKernelCacheOptions *options,
			   GcError *err)
{
	GcKernelCache *cache = calloc(1, sizeof(GcKernelCache));
	GcCode		code;

	*out = NULL;
	if (cache == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for the kernel cache.");
	cache->dev = dev;
	cache->wake = options->wake;
	cache->wake_arg = options->wake_arg;
	pthread_mutex_init(&cache->lock, NULL);
	pthread_cond_init(&cache->work, NULL);
	gc_kdisk_open(&cache->disk, options->directory, options->log);
	code = start_threads(cache, options->threads, err);
	if (code != GC_OK)
	{
		gc_kcache_close(cache);
		return code;
	}
	gc_kcache_limit(cache, options->limit);
	*out = cache;
	return GC_OK;
}

void
gc_kcache_limit(GcKernelCache *cache, u64 bytes)
{
	if (bytes == atomic_load(&cache->disk.limit))
		return;
	atomic_store(&cache->disk.limit, bytes);
	ask_trim(cache);
}

/* Nobody uses the kernel, and no thread compiles it. */
static void
free_entry(GcCachedKernel *entry)
{
	GcDevice   *dev = entry->cache->dev;

	if (entry->module != NULL)
		dev->ops->module_unload(dev, entry->module);
	if (entry->quick_module != NULL)
		dev->ops->module_unload(dev, entry->quick_module);
	free(entry->image.bytes);
	free(entry->better.bytes);
	free(entry->source);
	free(entry);
}

void
gc_kcache_close(GcKernelCache *cache)
{
	pthread_mutex_lock(&cache->lock);
	cache->stop = true;
	pthread_cond_broadcast(&cache->work);
	pthread_mutex_unlock(&cache->lock);
	for (int i = 0; i < cache->nthreads; i++)
		pthread_join(cache->threads[i], NULL);
	free(cache->threads);

	for (int i = 0; i < NBUCKETS; i++)
	{
		GcCachedKernel *entry;

		while ((entry = cache->buckets[i]) != NULL)
		{
			cache->buckets[i] = entry->next;
			free_entry(entry);
		}
	}
	gc_kdisk_close(&cache->disk);
	pthread_cond_destroy(&cache->work);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* ---------- asking ---------- */

/* A text for another target is another kernel. */
static GcKernelKey
make_key(const GcDevice *dev, const char *source)
{
	size_t		target_size = strlen(dev->info.target);
	size_t		source_size = strlen(source);
	GcKernelKey key;

	for (int i = 0; i < 2; i++)
		key.word[i] = gc_hash64(source, source_size,
								gc_hash64(dev->info.target, target_size, 0x67706375 + (u64) i));
	return key;
}

/* The entry of a text, compared in full.  NULL: it has none. */
static GcCachedKernel *
find_entry(const GcKernelCache *cache, const GcKernelKey *key, const char *source)
{
	GcCachedKernel *entry = cache->buckets[key->word[0] % NBUCKETS];

	while (entry != NULL &&
		   (memcmp(&entry->key, key, sizeof(*key)) != 0 || strcmp(entry->source, source) != 0))
		entry = entry->next;
	return entry;
}

/* An entry in its bucket, without code.  NULL: no memory. */
static GcCachedKernel *
new_entry(GcKernelCache *cache, const GcKernelKey *key, const char *source)
{
	GcCachedKernel *entry = calloc(1, sizeof(GcCachedKernel));
	GcCachedKernel **bucket = &cache->buckets[key->word[0] % NBUCKETS];

	if (entry == NULL)
		return NULL;
	entry->cache = cache;
	entry->round = cache->round;
	entry->key = *key;
	entry->source = strdup(source);
	if (entry->source == NULL)
	{
		free(entry);
		return NULL;
	}
	entry->next = *bucket;
	*bucket = entry;
	cache->forgettable++;
	return entry;
}

bool
gc_kcache_retry(GcCachedKernel *entry)
{
	GcKernelCache *cache = entry->cache;
	bool		failed;

	pthread_mutex_lock(&cache->lock);
	failed = entry->state == GC_KERNEL_FAILED && entry->improvement == BETTER_NOT_WANTED &&
		gc_code_transient(entry->error.code);
	pthread_mutex_unlock(&cache->lock);
	if (!failed || entry->requests++ < entry->patience)
		return false;
	entry->requests = 0;
	entry->patience = entry->patience < MAX_PATIENCE ? 2 * entry->patience + 1 : MAX_PATIENCE;
	queue_job(entry);
	return true;
}

/* Take an entry out of a queue.  False: it is not there.  The lock is held. */
static bool
take_out(Jobs *jobs, GcCachedKernel *entry)
{
	GcCachedKernel *before = NULL;

	for (GcCachedKernel *e = jobs->first; e; before = e, e = e->next_job)
	{
		if (e != entry)
			continue;
		if (before)
			before->next_job = e->next_job;
		else
			jobs->first = e->next_job;
		if (jobs->last == e)
			jobs->last = before;
		return true;
	}
	return false;
}

/* A request wants the kernel, which may have been asked for ahead: then it comes before those that nobody waits for. */
static void
want_now(GcCachedKernel *entry)
{
	GcKernelCache *cache = entry->cache;

	pthread_mutex_lock(&cache->lock);
	if (entry->ahead && entry->state == GC_KERNEL_COMPILING)
	{
		cache->asked++;
		if (take_out(&cache->ahead, entry))
			append_job(cache, &cache->jobs, entry);
	}
	entry->ahead = false;
	pthread_mutex_unlock(&cache->lock);
}

/* The entry of a text, found or made and commissioned. ahead: no request waits for it yet.  NULL: no memory. */
static GcCachedKernel *
get_entry(GcKernelCache *cache, const char *source, bool ahead)
{
	GcKernelKey key = make_key(cache->dev, source);
	GcCachedKernel *entry = find_entry(cache, &key, source);

	if (entry != NULL)
	{
		if (ahead)
			gc_kcache_keep(entry);
		else
			want_now(entry);
		entry->round = cache->round;
		if (!gc_kcache_retry(entry) && entry->module != NULL)
			entry->origin = GC_ORIGIN_MEMORY;	/* loaded, so no compile thread sets it any more */
		return entry;
	}
	entry = new_entry(cache, &key, source);
	if (entry == NULL)
		return NULL;
	entry->ahead = ahead;
	if (ahead)
		gc_kcache_keep(entry);
	if (gc_kdisk_load(&cache->disk, &key, source, &entry->image))
	{
		entry->origin = GC_ORIGIN_DISK;
		entry->state = GC_KERNEL_READY;
	}
	else
		queue_job(entry);
	return entry;
}

void
gc_kcache_keep(GcCachedKernel *entry)
{
	entry->cache->forgettable -= entry->keepers++ == 0;
}

void
gc_kcache_let_go(GcCachedKernel *entry)
{
	entry->cache->forgettable += --entry->keepers == 0;
}

static bool
is_being_compiled(const GcCachedKernel *entry)
{
	bool		compiling;

	pthread_mutex_lock(&entry->cache->lock);
	compiling = entry->state == GC_KERNEL_COMPILING || entry->improvement == BETTER_COMMISSIONED;
	pthread_mutex_unlock(&entry->cache->lock);
	return compiling;
}

bool
gc_kcache_exceeds(GcKernelCache *cache, u32 most)
{
	u32			n = 0;

	if (cache->forgettable <= most)
		return false;
	for (int i = 0; i < NBUCKETS; i++)
	{
		for (const GcCachedKernel *entry = cache->buckets[i]; entry != NULL; entry = entry->next)
			n += entry->keepers == 0 && !is_being_compiled(entry);
	}
	return n > most;
}

void
gc_kcache_next_round(GcKernelCache *cache)
{
	cache->round++;
}

void
gc_kcache_forget(GcKernelCache *cache)
{
	for (int i = 0; i < NBUCKETS; i++)
	{
		GcCachedKernel **link = &cache->buckets[i];

		while (*link != NULL)
		{
			GcCachedKernel *entry = *link;

			if (entry->keepers > 0 || entry->round == cache->round || is_being_compiled(entry))
			{
				link = &entry->next;
				continue;
			}
			*link = entry->next;
			free_entry(entry);
			cache->forgettable--;
		}
	}
}

void
gc_kcache_compilations(GcKernelCache *cache, u32 *asked, u32 *ended)
{
	pthread_mutex_lock(&cache->lock);
	*asked = cache->asked;
	*ended = cache->ended;
	pthread_mutex_unlock(&cache->lock);
}

GcCachedKernel *
gc_kcache_get(GcKernelCache *cache, const char *source)
{
	return get_entry(cache, source, false);
}

GcCachedKernel *
gc_kcache_get_ahead(GcKernelCache *cache, const char *source)
{
	return get_entry(cache, source, true);
}

/* Load an image, which is then no longer needed. */
static GcCode
load_image(GcCachedKernel *entry, GcImage *image)
{
	GcDevice   *dev = entry->cache->dev;
	const double begun = now_ms();
	GcModule   *module = NULL;
	GcKernel   *kernel;
	GcKernelInfo info;
	GcCode		code;

	code = dev->ops->module_load(dev, image, &module, &entry->error);
	free(image->bytes);
	image->bytes = NULL;
	if (code != GC_OK)
		return code;
	code = dev->ops->kernel_get(module, ENTRY_POINT, &kernel, &info, &entry->error);
	if (code != GC_OK)
	{
		dev->ops->module_unload(dev, module);
		return code;
	}
	if (entry->module == NULL)
		entry->times.loaded = now_ms() - begun;
	entry->quick_module = entry->module;
	entry->quick_kernel = entry->kernel;
	entry->quick_info = entry->info;
	entry->module = module;
	entry->kernel = kernel;
	entry->info = info;
	return GC_OK;
}

GcKernelState
gc_kcache_poll(GcKernelCache *cache, GcCachedKernel *entry, GcKernel **kernel,
			   GcKernelInfo *info, GcError *err)
{
	GcKernelState state;
	Improvement improvement;

	pthread_mutex_lock(&cache->lock);
	state = entry->state;
	improvement = entry->improvement;
	pthread_mutex_unlock(&cache->lock);

	/*
	 * From here on, an entry that is not COMPILING is the main thread's alone, except for the fields
	 * that an improvement sets.
	 */
	if (state == GC_KERNEL_READY && improvement == BETTER_READY)
	{
		if (entry->module == NULL)
		{
			free(entry->image.bytes);
			entry->image = entry->better;
			entry->better.bytes = NULL;
		}
		else
			(void) load_image(entry, &entry->better);
		entry->improvement = BETTER_NOT_WANTED;
	}
	if (state == GC_KERNEL_READY && entry->module == NULL &&
		load_image(entry, &entry->image) != GC_OK)
	{
		if (entry->origin == GC_ORIGIN_DISK)
		{
			/* An intact file of no use, after a driver was replaced perhaps. */
			queue_job(entry);
			return GC_KERNEL_COMPILING;
		}
		state = entry->state = GC_KERNEL_FAILED;
	}
	if (state == GC_KERNEL_READY)
	{
		*kernel = entry->kernel;
		*info = entry->info;
	}
	else if (state == GC_KERNEL_FAILED && err != NULL)
		*err = entry->error;
	return state;
}

bool
gc_kcache_final(const GcCachedKernel *entry)
{
	Improvement improvement;

	pthread_mutex_lock(&entry->cache->lock);
	improvement = entry->improvement;
	pthread_mutex_unlock(&entry->cache->lock);
	return improvement == BETTER_NOT_WANTED;
}

bool
gc_kcache_quick(const GcCachedKernel *entry, GcKernel **kernel, GcKernelInfo *info)
{
	if (!gc_kcache_final(entry) || entry->quick_kernel == NULL)
		return false;
	*kernel = entry->quick_kernel;
	*info = entry->quick_info;
	return true;
}

void
gc_kcache_prefer_quick(GcCachedKernel *entry)
{
	if (!gc_kcache_final(entry) || entry->quick_kernel == NULL)
		return;
	entry->kernel = entry->quick_kernel;
	entry->info = entry->quick_info;
	entry->quick_kernel = NULL;
	gc_kdisk_forget(&entry->cache->disk, &entry->key);
}

GcKernelTimes
gc_kcache_times(const GcCachedKernel *entry)
{
	return entry->times;
}

GcKernelOrigin
gc_kcache_origin(const GcCachedKernel *entry)
{
	GcKernelOrigin origin;

	pthread_mutex_lock(&entry->cache->lock);
	origin = entry->origin;
	pthread_mutex_unlock(&entry->cache->lock);
	return origin;
}
