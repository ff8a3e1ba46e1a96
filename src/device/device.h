/*-------------------------------------------------------------------------
 *
 * device.h
 *	  The Device interface: all calls of the worker to an accelerator.
 *
 * Two implementations: cuda.c (driver API and NVRTC, both opened at run time)
 * and host.c (threads of the worker process and the system's C compiler).  The
 * worker, the scheduler and the tests know only this header.
 *
 * Process and threads: the worker process only.  All functions but compile()
 * are called on the worker's main thread.  compile() may be called on any thread
 * and by several at once.  Nothing here calls a function of PostgreSQL.
 *
 * Cost: nothing that is called per request allocates device memory from the
 * driver, creates a stream or event, or queries a device property.  These are
 * pooled at open() or on first use and reused.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_H
#define GC_DEVICE_H

#include "../status.h"
#include "../../cuda/gc_abi.h"

typedef u64 GcAddr;				/* address on the device; 0 is none */

typedef struct GcDevice GcDevice;
typedef struct GcStream GcStream;	/* in-order queue of copies and launches */
typedef struct GcEvent GcEvent;		/* a point in a stream, with or without its time */
typedef struct GcModule GcModule;	/* a loaded kernel image */
typedef struct GcKernel GcKernel;	/* one entry point of a module */

typedef struct GcDeviceInfo GcDeviceInfo;

typedef struct GcDeviceOptions
{
	int			host_threads;	/* device host: threads; 0 = all cores */
	u64			memory_limit;	/* bytes of device memory to take; 0 = automatic */
	int			ordinal;		/* which GPU; device host: which of several that it pretends to be */
	const char *uuid;			/* device cuda: which GPU, whatever its ordinal; NULL or "": by that */
	bool		(*claim) (const char *card);	/* asked before anything is taken; false: another worker has
												 * the card.  NULL: there is no other */
	const char *temp_directory; /* device host: where compilers work; NULL: in /tmp */
	const GcDeviceInfo *pretend;	/* device host: report this GPU's multiprocessors, cache,
									 * architecture and kernel needs, so that decisions for it
									 * are tested; launches stay the host's.  NULL: do not */
	double		link;			/* device host that pretends: bytes per second that its link moves; 0: as
								 * fast as the host copies */
} GcDeviceOptions;

/* Filled at open(), constant afterwards.  0 where the device does not tell. */
struct GcDeviceInfo
{
	char		name[128];		/* "NVIDIA H200", or the CPU's model name */
	char		card[48];		/* a GPU's UUID in hexadecimal, or "host:0", "cuda:0": no two have the same */
	bool		host_memory;	/* reads host memory in place: nothing need be copied */
	bool		host_pointers;	/* kernels may use the host's addresses of page-locked memory */
	bool		own_processors; /* has processors of its own: does not compute on the CPU */
	bool		wakes;			/* calls GcDevice.wake when an event is done; else events have
								 * to be polled */
	bool		serial_blocks;	/* as in GcProfile (sched/model/profile.h); a host that */
	bool		scalar;			/* pretends to be a GPU has that GPU's */
	bool		shares_cpu;
	u64			memory_bytes;	/* memory taken for the pool */
	u64			total_bytes;	/* memory of the device */
	int			sms;			/* multiprocessors; host: threads */
	int			warp_size;		/* 32; host: 1 */
	int			max_warps;		/* per multiprocessor; host: 1 */
	int			max_blocks;		/* per multiprocessor; host: 1 */
	int			registers;		/* per multiprocessor, 32-bit; host: 0 */
	int			shared_per_sm;	/* bytes; host: of a core's own cache */
	int			shared_per_block;	/* bytes a block may have with opt-in; host: more
									 * is possible, but slow */
	int			shared_reserved;	/* bytes per block that the system takes */
	u64			l2_bytes;		/* host: of the last level */
	int			arch;			/* 90 for sm_90; host: 0, unless it pretends */
	bool		quick_compile;	/* GC_COMPILE_QUICK is worth asking for */
	char		target[64];		/* of the kernel cache's key: NVRTC and architecture, or compiler, CPU and options */
};

typedef struct GcKernelInfo
{
	int			registers;		/* per thread; host: 0 */
	int			shared_static;	/* bytes per block */
	int			local_bytes;	/* per thread, spills included */
	int			max_threads;	/* largest block it can be launched with */
} GcKernelInfo;

typedef struct GcLaunch
{
	u32			blocks;
	u32			threads;		/* per block; host: ignored */
	u32			shared_bytes;	/* dynamic shared memory, per block */
	bool		whole_shared;	/* give multiprocessors the most shared memory and the least
								 * cache, instead of the driver's choice for this kernel
								 * (sched/policy/launch_order.h).  Host: ignored */
	double		link_bytes;		/* what it reads in the host's memory, in bytes of copies that take as
								 * long: an estimate, for a pretended link.  cuda: ignored */
} GcLaunch;

/* A member of a gang launch (cuda/gc_abi.h): a whole GcArgs, and its blocks. */
typedef struct GcGangMember
{
	const GcArgs *args;
	u32			blocks;
} GcGangMember;

/* Compiled code; bytes is malloc'd, the receiver frees it. */
typedef struct GcImage
{
	void	   *bytes;
	size_t		size;
} GcImage;

typedef enum GcCompileEffort
{
	GC_COMPILE_FULL,			/* the fastest kernel */
	GC_COMPILE_QUICK,			/* a kernel soon, which runs a few times slower */
} GcCompileEffort;

typedef struct GcDeviceOps
{
	const char *name;			/* "cuda" or "host" */

	/*
	 * Probe for the device and take it.  GC_NO_DEVICE when there is none (no library, no driver, no GPU).
	 * GC_NO_COMPILER when it could run but nothing can compile for it.  Another code where it may be there later.  Must
	 * not leave threads or memory behind on failure.
	 */
	GcCode		(*open) (GcDevice **dev, const GcDeviceOptions *options, GcError *err);

	/* Abandon all queued work and give everything back, modules included. */
	void		(*close) (GcDevice *dev);

	/*
	 * The pool of device memory taken at open(): options.memory_limit bytes.  The default is 85 % of the free memory of
	 * a GPU, and half of a host's memory.  It is less where that could not be had.  Host: a range of address space of
	 * this process, zeroed, that gets memory when it is touched.
	 */
	void		(*pool) (GcDevice *dev, GcAddr *base, u64 *size);

	/*
	 * Make a range of host memory fit for fast asynchronous copies (page-lock
	 * it), or undo that.  Failure is not an error: copies are then slower.
	 */
	GcCode		(*pin) (GcDevice *dev, void *ptr, size_t size, GcError *err);
	void		(*unpin) (GcDevice *dev, void *ptr);

	/*
	 * Streams are pooled.  stream_get: NULL with *err set.  stream_put wants an idle stream, and
	 * forgets the stream's failure.
	 */
	GcStream   *(*stream_get) (GcDevice *dev, GcError *err);
	void		(*stream_put) (GcDevice *dev, GcStream *stream);

	/*
	 * Asynchronous, in stream order.  Host memory stays valid until done.  A
	 * host's copy onto itself (dst == src) does nothing; other overlaps are not
	 * allowed.
	 */
	GcCode		(*copy_in) (GcStream *stream, GcAddr dst, const void *src, size_t size, GcError *err);
	GcCode		(*copy_out) (GcStream *stream, void *dst, GcAddr src, size_t size, GcError *err);
	GcCode		(*copy) (GcStream *stream, GcAddr dst, GcAddr src, size_t size, GcError *err);
	GcCode		(*fill) (GcStream *stream, GcAddr dst, int byte, size_t size, GcError *err);

	/*
	 * args is a whole GcArgs and is copied before the call returns.  args_words:
	 * words of args->w used.  A kernel's parameter may declare fewer or more,
	 * and finds anything in the further words.  No blocks: nothing happens.
	 *
	 * Host: a block is never interrupted.  So other streams get the threads as soon as some block ends, or a spare
	 * thread where it takes long.  So let a launch have several blocks per thread.
	 */
	GcCode		(*launch) (GcStream *stream, GcKernel *kernel, const GcLaunch *launch,
						   const GcArgs *args, int args_words, GcError *err);

	/*
	 * One launch for n members, of a kernel whose text is a gang's.  launch: blocks is not used.
	 * args_words: as that text declares them.  At most GC_GANG_MEMBERS(args_words) members, and
	 * GC_GANG_MOST.  All is copied before the call returns.
	 */
	GcCode		(*launch_gang) (GcStream *stream, GcKernel *kernel, const GcLaunch *launch,
								const GcGangMember *members, int n, int args_words, GcError *err);

	/*
	 * Put an event behind all work queued so far.  Events are pooled; the caller puts back each
	 * event that it got, done or not.  event_done: GC_OK with *done set, or the error with which
	 * work before the event failed.  event_ms: time between two done events of event_timed.
	 * stream_wait: work queued to `stream` from now on waits for the event, and fails if work
	 * before the event failed.  The event may be put back at once.
	 *
	 * event_word: an event for event_done alone, which then costs next to nothing.  `word` is in page-locked memory of
	 * the host.  It is 0, and the device changes it unless it has another way to tell.  (An H200's driver takes 0.2 us
	 * to record an event, 1.3 to 1.9 to record one with its time, and 1.3 to write a word.  To ask for an event that is
	 * done takes 3.2.) event_written: as event_word, but a kernel on `stream` writes the word itself, after all
	 * results.  Needs host_pointers.
	 *
	 * On the host, a failure concerns the stream on which it happened, until stream_put.  On cuda
	 * it concerns the whole device: every later call returns GC_DEVICE_FAILED.
	 */
	GcEvent	   *(*event) (GcStream *stream, GcError *err);
	GcEvent	   *(*event_timed) (GcStream *stream, GcError *err);
	GcEvent	   *(*event_word) (GcStream *stream, u32 *word, GcError *err);
	GcEvent	   *(*event_written) (GcStream *stream, const u32 *word, GcError *err);
	GcCode		(*event_done) (GcEvent *event, bool *done, GcError *err);
	GcCode		(*event_wait) (GcEvent *event, GcError *err);
	float		(*event_ms) (GcEvent *from, GcEvent *to);
	void		(*event_put) (GcDevice *dev, GcEvent *event);
	GcCode		(*stream_wait) (GcStream *stream, GcEvent *event, GcError *err);

	/*
	 * Compile kernel source text into an image.  Thread-safe.  source is NUL-
	 * terminated.  On GC_COMPILE_FAILED, err->detail begins with the compiler's
	 * first message; GC_COMPILE_INTERRUPTED says nothing about the text.  A device whose
	 * info does not say quick_compile ignores effort.
	 */
	GcCode		(*compile) (GcDevice *dev, const char *source, GcCompileEffort effort,
							GcImage *image, GcError *err);

	/* module_load and kernel_get return GC_COMPILE_FAILED where the image cannot be used. */
	GcCode		(*module_load) (GcDevice *dev, const GcImage *image, GcModule **module, GcError *err);

	/* Unload a module with its kernels; none of them may be queued or running. */
	void		(*module_unload) (GcDevice *dev, GcModule *module);
	GcCode		(*kernel_get) (GcModule *module, const char *name, GcKernel **kernel,
							   GcKernelInfo *info, GcError *err);

	/*
	 * Blocks of this kernel that one multiprocessor can hold at once.  Each has `threads` threads and `shared_bytes` of
	 * dynamic shared memory.  The caller caches it.  0 when not even one, or the device is lost.  host: 1.
	 */
	int			(*occupancy) (GcKernel *kernel, u32 threads, u32 shared_bytes);

	/* Block until everything queued on the device is done. */
	GcCode		(*drain) (GcDevice *dev, GcError *err);
} GcDeviceOps;

/* First member of every implementation's GcDevice. */
struct GcDevice
{
	const GcDeviceOps *ops;
	GcDeviceInfo info;

	/*
	 * Called, on any thread, after an event that was not put back is done, so that the worker need
	 * not poll; may be NULL.  The worker sets it right after open().  Device cuda never calls it.
	 */
	void		(*wake) (void *arg);
	void	   *wake_arg;
};

extern const GcDeviceOps gc_cuda_ops;
extern const GcDeviceOps gc_host_ops;

#endif							/* GC_DEVICE_H */
