/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background workers; each owns a device.
 *
 * One static worker for each device of gpuconc.devices.  Start: open the device while signals are still blocked (a
 * driver's threads inherit the mask), then connect to the server, and serve.  It connects to no database; it connects
 * only to be seen in pg_stat_activity.  The loop takes queued requests, moves every request on as far as it goes
 * without waiting, and sleeps on the latch when nothing moves.  Backends, compile threads and device host set the
 * latch.  Device cuda cannot, so its events are polled while work is on it.
 *
 * Exit: the device is closed first, so that nothing writes to shared memory any more.  Then requests that are left in
 * the queue are finished with GC_WORKER_GONE.  Exit code 1 makes the postmaster start the worker again.
 *
 * The worker's main thread, apart from wake_worker.  It takes no lock, but the store's as it starts.  `runs` lists all
 * requests that it has taken and not finished.
 *
 *-------------------------------------------------------------------------
 */
#include "worker.h"

#include <unistd.h>

#include "common/file_utils.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/sinval.h"
#include "storage/spin.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "../compat.h"
#include "../device_names.h"
#include "../device/compilers.h"
#include "../device/faults.h"
#include "../force.h"
#include "../queue/compiling.h"
#include "../settings.h"
#include "kernels/kernels.h"
#include "memory/builds.h"
#include "memory/device_cache.h"
#include "memory/device_lookups.h"
#include "memory/device_memory.h"
#include "memory/eviction.h"
#include "memory/link_reads.h"
#include "memory/state.h"
#include "meter.h"
#include "run/run.h"
#include "run/stop.h"
#include "share/share.h"
#include "waves/waves.h"

#define TAKE_AT_ONCE	64

/* Largest calibration file, in bytes. */
#define CALIBRATION_SIZE	8192

/*
 * On a device that does not wake the worker, the loop does not sleep for this long after the last
 * progress.  The next request of a busy client comes after some hundred microseconds, and waking up
 * would take as long.
 */
#define SPIN_US			2000

/* A device that another process had may be free after so long. */
#define LOOK_AGAIN_MS	(5 * 60 * 1000)

static List *runs = NIL;
static bool device_lost = false;
static GcError lost_by;			/* the error by which it was found */

/* "gpuconc worker", with the device's number if there are several. */
static void
worker_name(char *name, Size size, int device)
{
	if (gc_ndevices > 1)
		snprintf(name, size, "gpuconc worker %d", device);
	else
		strlcpy(name, "gpuconc worker", size);
}

/* The postmaster's: a worker for each device that is named. */
void
gc_worker_register(void)
{
	for (int d = 0; d < gc_ndevices; d++)
	{
		BackgroundWorker w;

		memset(&w, 0, sizeof(w));
		w.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
		w.bgw_start_time = BgWorkerStart_ConsistentState;
		w.bgw_restart_time = 1;
		w.bgw_main_arg = Int32GetDatum(d);
		strlcpy(w.bgw_library_name, "gpuconc", BGW_MAXLEN);
		strlcpy(w.bgw_function_name, "gc_worker_main", BGW_MAXLEN);
		worker_name(w.bgw_name, BGW_MAXLEN, d);
		strlcpy(w.bgw_type, "gpuconc worker", BGW_MAXLEN);
		RegisterBackgroundWorker(&w);
	}
}

/*-------------------------------------------------------------------------
 * Device
 *-------------------------------------------------------------------------
 */

/* Called on threads, which may use nothing else of PostgreSQL. */
static void
wake_worker(void *arg)
{
	SetLatch((Latch *) arg);
}

/* Messages of the kernel cache go to the server's log. */
static void
log_message(const char *message)
{
	ereport(LOG, (errmsg("gpuconc: %s", message)));
}

/* The directory, absolute, that PostgreSQL empties at every start. */
static const char *
temp_directory(void)
{
	static char path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/base/%s", DataDir, PG_TEMP_FILES_DIR);
	(void) MakePGDirectory(path);
	strlcat(path, "/" PG_TEMP_FILE_PREFIX "_gpuconc", sizeof(path));
	return MakePGDirectory(path) == 0 || errno == EEXIST ? path : NULL;
}

/* The GPU of gpuconc.debug_pretend_gpu, or NULL. */
static const GcDeviceInfo *
pretended_gpu(void)
{
	static GcDeviceInfo info;
	const GcProfile *p = gc_profile_known(gc_pretended_arch() == 80 ? "A100" : "H200");

	if (gc_pretended_arch() == 0)
		return NULL;
	info = (GcDeviceInfo) {
		.sms = p->sms,.warp_size = p->warp_size,.max_warps = p->max_warps,.max_blocks = p->max_blocks,
		.registers = p->registers,.shared_per_sm = p->shared_per_sm,.shared_per_block = p->shared_per_block,
		.shared_reserved = p->shared_reserved,.l2_bytes = p->l2_bytes,.arch = gc_pretended_arch(),
	};
	return &info;
}

/* Open a device; where that fails, others may have its card. */
static bool
try_open(const GcDeviceOps *ops, const GcDeviceName *name, GcError *err)
{
	GcDeviceOptions options = {
		.ordinal = name->ordinal,
		.uuid = name->uuid,
		.claim = gc_queue_claim_card,
		.pretend = pretended_gpu(),
		.link = gc_pretended_link(),
		.temp_directory = temp_directory(),
		.host_threads = gc_host_threads,
		.memory_limit = (u64) gc_device_memory_limit_mb * 1024 * 1024,
	};

	if (ops->open(&gc_worker.dev, &options, err) != GC_OK)
	{
		gc_queue_give_card_back();
		return false;
	}
	gc_worker.ops = options.pretend && ops == &gc_host_ops ? gc_faults_wrap(gc_worker.dev, ops) : ops;
	return true;
}

/* Where the program that compiles is installed: in the server's $libdir. */
static const char *
compiler_program(void)
{
	static char path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/gpuconc_compiler", pkglib_path);
	return path;
}

/* Open the device that the settings ask for, or the best there is: *err then says why it is not cuda. */
static bool
open_device(GcError *err)
{
	const GcDeviceName name = gc_device_name(gc_my_device());
	GcError		host = {GC_OK, ""};

	if (name.choice != GC_DEVICE_HOST)
	{
		/* Before there is a CUDA driver in this process. */
		gc_compilers_start(compiler_program(), GC_VERSION, gc_compile_threads);
		if (try_open(&gc_cuda_ops, &name, err))
		{
			if (gc_compilers_count() < gc_compile_threads)
				ereport(LOG,
						(errmsg("gpuconc compiles in %d of %d processes of \"%s\"",
								gc_compilers_count(), gc_compile_threads, compiler_program())));
			return true;
		}
		gc_compilers_stop();
	}
	if (name.choice == GC_DEVICE_CUDA)
		return false;
	if (try_open(&gc_host_ops, &name, &host))
		return true;
	*err = host;
	return false;
}

/*
 * Read the constants in gpuconc.calibration_file, as bench/two_stage/calibrate writes them.  Where
 * the file cannot be used, the worker runs with the built-in constants.
 */
static void
read_calibration(GcCalibration *calibration)
{
	char		text[CALIBRATION_SIZE + 1];
	const char *problem = "there are more than 8 kB";
	size_t		n;
	FILE	   *file;

	if (gc_calibration_file == NULL || gc_calibration_file[0] == '\0')
		return;
	file = AllocateFile(gc_calibration_file, "r");
	if (file == NULL)
	{
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not open calibration file \"%s\": %m", gc_calibration_file),
				 errhint("Make one by bench/two_stage/calibrate, or leave gpuconc.calibration_file empty.")));
		return;
	}
	n = fread(text, 1, sizeof(text), file);
	if (ferror(file))
	{
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not read calibration file \"%s\": %m", gc_calibration_file)));
		FreeFile(file);
		return;
	}
	FreeFile(file);
	text[Min(n, CALIBRATION_SIZE)] = '\0';
	if (n <= CALIBRATION_SIZE && gc_calibration_parse(text, calibration, &problem))
		return;
	ereport(LOG,
			(errcode(ERRCODE_CONFIG_FILE_ERROR),
			 errmsg("calibration file \"%s\" is not used", gc_calibration_file),
			 errdetail("In it, %s.", problem)));
}

/* A device host that pretends to be a GPU is scheduled as one. */
static void
fill_profile(void)
{
	const GcDeviceInfo *i = &gc_worker.dev->info;

	gc_worker.profile = (GcProfile) {
		.serial_blocks = i->serial_blocks,.scalar = i->scalar,.shares_cpu = i->shares_cpu,
		.sms = i->sms,.warp_size = i->warp_size,
		.max_warps = i->max_warps,.max_blocks = i->max_blocks,.registers = i->registers,
		.shared_per_sm = i->shared_per_sm,.shared_per_block = i->shared_per_block,
		.shared_reserved = i->shared_reserved,.l2_bytes = i->l2_bytes,
	};
	gc_worker.calibration = i->shares_cpu ? gc_calibration_host : gc_calibration_of(i->name);
	read_calibration(&gc_worker.calibration);
	if (i->arch != 0)
		gc_profile_granules(&gc_worker.profile, i->arch);
}

/* Bytes of gpuconc.kernel_cache_size; 0: no limit. */
static u64
kernel_cache_limit(void)
{
	return (u64) gc_kernel_cache_size_mb * 1024 * 1024;
}

/* Open the device, its pool and its kernel cache.  False: there is none, and err says why. */
static bool
start_device(GcError *err)
{
	GcKernelCacheOptions cache = {
		.directory = gc_kernel_cache_directory,
		.threads = gc_compile_threads,
		.limit = kernel_cache_limit(),
		.wake = wake_worker,
		.wake_arg = MyLatch,
		.log = log_message,
	};
	GcAddr		base;
	u64			size;

	if (!open_device(err))
		return false;
	gc_worker.dev->wake = wake_worker;
	gc_worker.dev->wake_arg = MyLatch;
	gc_worker.ops->pool(gc_worker.dev, &base, &size);
	/* No request's, so not of the pool that gpuconc_devices shows. */
	size -= gc_stop_bytes();
	gc_worker.pool = gc_pool_create(base, size);
	if (gc_worker.pool == NULL)
	{
		gc_fail(err, GC_HOST_MEMORY, "Out of memory.");
		return false;
	}
	if (gc_kcache_open(&gc_worker.kernels, gc_worker.dev, &cache, err) != GC_OK)
		return false;
	fill_profile();
	gc_device_memory_init();
	gc_stop_init(base + size);
	gc_eviction_init();
	gc_device_cache_init();
	gc_device_lookups_init();
	gc_builds_init();
	gc_waves_init();
	gc_kernels_init();
	gc_admission_init();
	gc_schedule_init();
	gc_worker.link = gc_link_measure();
	gc_link_costs_init();
	return true;
}

/* Tell all processes of the device and its state.  The state is written last. */
static void
publish_status(GcWorkerState state, const GcError *err)
{
	GcDeviceStatus *s = gc_device_status();

	if (gc_worker.dev)
	{
		s->info = gc_worker.dev->info;
		strlcpy(s->kind, gc_worker.ops->name, sizeof(s->kind));
		s->link_bytes = gc_worker.link;
	}
	strlcpy(s->reason, err ? err->detail : "", sizeof(s->reason));
	s->started_at = GetCurrentTimestamp();
	pg_atomic_write_u32(&s->worker_pid, MyProcPid);
	/* Requests of a device that is lost are over: sessions of other devices count these. */
	pg_atomic_write_u32(&s->running, 0);
	pg_write_barrier();
	pg_atomic_write_u32(&s->state, state);
	gc_device_state_changed();
}

/*-------------------------------------------------------------------------
 * Requests
 *-------------------------------------------------------------------------
 */

/* Requests whose main kernels run, or whose results are fetched. */
static int
count_on_device(void)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, runs)
		n += gc_run_on_device(lfirst(lc));
	return n;
}

/* A worker that starts with debug_fail_device set has no fault: the one before it had. */
static void
reload(void)
{
	const int	fail_device = gc_debug_fail_device;

	ProcessConfigFile(PGC_SIGHUP);
	gc_kcache_limit(gc_worker.kernels, kernel_cache_limit());
	if (gc_debug_fail_device != fail_device)
		gc_faults_set(gc_debug_fail_device);
}

/*
 * Take queued requests, and join those that are equal to a request under way.  True if there was anything.  Settings
 * that had changed before a request was queued hold for it: they are read behind it.
 */
static bool
take_requests(void)
{
	int			slots[TAKE_AT_ONCE];
	int			n = gc_queue_take(slots, TAKE_AT_ONCE);
	const bool	reloaded = ConfigReloadPending;

	if (reloaded)
	{
		ConfigReloadPending = false;
		reload();
	}
	for (int i = 0; i < n; i++)
	{
		GcRun	   *run = gc_run_start(slots[i]);

		gc_run_join(run, runs);
		runs = lappend(runs, run);
	}
	return n > 0 || reloaded;
}

/* Requests that will give back device memory without a decision about others. */
static int
count_holding_device(void)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, runs)
		n += gc_run_holds_device(lfirst(lc));
	return n;
}

/* Move every request on, one after another; true if any moved. */
static bool
advance_all(int *hold)
{
	bool		moved = false;
	int			holding = *hold;
	ListCell   *lc;

	gc_admission_turn();
	foreach(lc, runs)
	{
		GcRun	   *run = lfirst(lc);
		bool		held = gc_run_holds_device(run);

		while (gc_run_advance(run, holding - held))
			moved = true;
		holding += gc_run_holds_device(run) - held;
		/* A leader that finishes here finishes its followers, which come later in the list. */
		if (gc_run_finished(run))
		{
			if (gc_run_device_failed(run) && !device_lost)
			{
				device_lost = true;
				lost_by = run->err;
			}
			runs = foreach_delete_current(runs, lc);
			gc_run_free(run);
		}
	}
	*hold = holding;
	return moved;
}

/* Move every request on, as far as it goes now. */
static bool
advance_requests(void)
{
	int			holding = count_holding_device();
	bool		alone = holding <= 1;
	bool		moved = advance_all(&holding);

	/* A request that was ready alone has peers now: its predicate kernel may be of use. */
	if (alone && holding > 1)
		(void) advance_all(&holding);
	return moved;
}

/* Below 0: without a limit.  Wait events tell whether the device is waited for. */
static void
sleep_on_latch(long timeout_ms)
{
	static uint32 idle = 0;
	static uint32 device = 0;
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;

	if (timeout_ms >= 0)
		(void) WaitLatch(MyLatch, events | WL_TIMEOUT, timeout_ms,
						 GC_WAIT_EVENT(device, "GpuconcDevice"));
	else
		(void) WaitLatch(MyLatch, events, -1, GC_WAIT_EVENT(idle, "GpuconcWorkerMain"));
	ResetLatch(MyLatch);
}

/*
 * Answer questions that other processes ask every process with a connection.  Some of them wait for the answer: DROP
 * DATABASE waits until all processes have closed the files of relations.
 */
static void
answer_processes(void)
{
	CHECK_FOR_INTERRUPTS();
	if (catchupInterruptPending)
		ProcessCatchupInterrupt();
}

/*
 * Nothing moved for idle_us: turn again, or sleep on the latch.  Sleep for a millisecond if there is
 * work on a device that does not wake the worker.
 */
static void
wait_for_work(double idle_us)
{
	bool		ask = !gc_worker.dev->info.wakes;
	bool		busy;

	if (ask && idle_us < SPIN_US)
	{
		SPIN_DELAY();
		return;
	}
	busy = ask && (count_on_device() > 0 || gc_share_working());
	sleep_on_latch(busy ? 1 : -1);
}

/* Before sessions are told that their kernels are being compiled. */
static void
publish_compilations(void)
{
	u32			asked;
	u32			ended;

	gc_kcache_compilations(gc_worker.kernels, &asked, &ended);
	gc_compilations_publish(asked, ended);
}

/* The loop: turns until the worker is to exit or the device is lost (README.md). */
static void
serve(void)
{
	instr_time	last_moved;		/* end of the last turn in which something moved */
	instr_time	began;			/* of this turn */
	bool		changed = true;	/* since the last decision */

	INSTR_TIME_SET_CURRENT(last_moved);
	while (!ShutdownRequestPending && !device_lost)
	{
		bool		moved;
		bool		dirty;
		int			running;

		INSTR_TIME_SET_CURRENT(began);
		answer_processes();
		gc_drop_regions();
		moved = take_requests();
		publish_compilations();
		changed = gc_share_poll() || changed;
		changed = gc_gang_kernels_poll() || changed;
		gc_stop_abandoned(runs);
		moved = advance_requests() || moved;
		dirty = gc_schedule_due(runs);
		/* An event that made a decision due may also have finished a request. */
		moved = moved || dirty;
		changed = changed || moved;
		if (changed && !device_lost)
			moved = gc_schedule_runs(runs) || moved;
		changed = moved;
		running = count_on_device();
		gc_meter_occupied(running > 0);
		pg_atomic_write_u32(&gc_device_status()->running, running);
		if (moved)
		{
			gc_meter_busy(gc_us_since(began));
			INSTR_TIME_SET_CURRENT(last_moved);
		}
		else
		{
			if (runs == NIL && !gc_link_costs_poll(&lost_by))
				device_lost = true;
			else
				wait_for_work(gc_us_since(last_moved));
		}
		gc_kernels_trim();
	}
}

/*
 * Without a device: finish every request with this error.  Where that may pass, the next worker looks again, after a
 * while or a reload.
 */
static void
refuse(const GcError *err)
{
	const bool	may_pass = err->code != GC_NO_DEVICE && err->code != GC_NO_COMPILER;
	const TimestampTz began = GetCurrentTimestamp();

	while (!ShutdownRequestPending &&
		   !(may_pass && (ConfigReloadPending || TimestampDifferenceExceeds(began, GetCurrentTimestamp(), LOOK_AGAIN_MS))))
	{
		int			slot;

		while (gc_queue_take(&slot, 1) == 1)
			gc_slot_finish(slot, err, NULL);
		sleep_on_latch(may_pass ? LOOK_AGAIN_MS : -1);
		answer_processes();
	}
}

/*-------------------------------------------------------------------------
 * Process
 *-------------------------------------------------------------------------
 */

/*
 * The device is closed first, so that nothing writes to shared memory; then requests that are left end with an error.
 */
static void
worker_exit(int code, Datum arg)
{
	ListCell   *lc;

	publish_status(GC_WORKER_STOPPED, NULL);
	if (gc_worker.dev)
	{
		/* Nothing may run in a module that is being unloaded, and running kernels may take long. */
		gc_stop_all(runs);
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		if (gc_worker.kernels)
			gc_kcache_close(gc_worker.kernels);
		gc_worker.ops->close(gc_worker.dev);
		gc_worker.dev = NULL;
		gc_compilers_stop();
	}
	foreach(lc, runs)
		gc_run_forget(lfirst(lc));
	runs = NIL;
	gc_share_abandon();
	gc_queue_worker_stop();
}

/*
 * Get an entry in pg_stat_activity.  This needs a connection, but no database.  From here on other processes wait for
 * answer_processes().  So the device, which may take seconds to open, is opened before.
 */
static void
connect_to_server(void)
{
	char		name[BGW_MAXLEN];

	/* pg_cancel_backend() has no statement to cancel here. */
	pqsignal(SIGINT, SIG_IGN);
	pqsignal(SIGFPE, SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	worker_name(name, sizeof(name), gc_my_device());
	SetConfigOption("application_name", name, PGC_USERSET, PGC_S_SESSION);
}

/* Say if the device has less memory to give than the settings ask for. */
static void
compare_memory(const char *which)
{
	const u64	bytes = gc_worker.dev->info.memory_bytes;

	if (bytes < (u64) gc_device_memory_limit_mb * 1024 * 1024 / 100 * 95)
		ereport(LOG,
				(errmsg("gpuconc's device%s gives %llu MB of memory, not the %d MB of gpuconc.device_memory_limit",
						which, (unsigned long long) (bytes / (1024 * 1024)), gc_device_memory_limit_mb)));
}

/* The entry of a worker; its argument is the number of its device. */
void
gc_worker_main(Datum arg)
{
	GcError		err = {GC_OK, ""};
	char		which[16] = "";
	bool		ok;

	gc_become_worker(DatumGetInt32(arg));
	if (gc_ndevices > 1)
		snprintf(which, sizeof(which), " %d", gc_my_device());
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	before_shmem_exit(worker_exit, (Datum) 0);
	pg_atomic_write_u32(&gc_device_status()->worker_pid, MyProcPid);
	/* Also where there is no device: nothing is compiled for it, and no column is there. */
	gc_compilations_restart();
	gc_device_cache_restart();

	ok = start_device(&err);
	connect_to_server();
	gc_queue_worker_start(MyLatch);
	if (!ok)
	{
		ereport(LOG,
				(errmsg("gpuconc has no device%s; queries run without it", which),
				 err.detail[0] ? errdetail("%s", err.detail) : 0));
		publish_status(GC_WORKER_NO_DEVICE, &err);
		refuse(&err);
	}
	else
	{
		ereport(LOG,
				(errmsg("gpuconc uses device%s %s: %s", which, gc_worker.ops->name, gc_worker.dev->info.name)));
		compare_memory(which);
		publish_status(GC_WORKER_READY, &err);
		serve();
		if (device_lost)
			ereport(LOG,
					(errmsg("gpuconc restarts its worker%s because the device has failed", which),
					 errdetail("%s", lost_by.detail)));
	}
	proc_exit(1);
}
