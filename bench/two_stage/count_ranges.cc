/*-------------------------------------------------------------------------
 *
 * count_ranges.cc
 *	  Hardware counters of what a running server's worker launches, by CUPTI's range profiler.
 *
 * A library that the driver loads into every process that opens it with CUDA_INJECTION64_PATH in
 * its environment; the profiler ncu cannot follow the server's fork.  Named by the environment:
 *
 *	  COUNT_RANGES_LABEL	a file.  With each launch its text is read: what is launched under one
 *							text, until it changes or is empty, is one range
 *	  COUNT_RANGES_OUT		a file to which a line is added for each range: its label, its launches,
 *							the figures in the order of COUNT_RANGES_METRICS, with tabs between.
 *							Where the hardware cannot count all at once, "again" stands in the place
 *							of the figures until the same range has been there often enough
 *	  COUNT_RANGES_METRICS	names, with commas between
 *
 * Kernels of a range run as they do without this: side by side, once.  A range ends before the
 * first launch that follows it, once the device is idle.  Whatever goes wrong is told in
 * COUNT_RANGES_OUT, and nothing more is counted.
 *
 * C++ because CUPTI's header is.  Runs in whichever thread launches; there is one (worker.c).
 *
 *-------------------------------------------------------------------------
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace
{
const int	MOST_METRICS = 32;

FILE	   *out;
const char *label_path;
std::vector<const char *> metrics;
bool		failed;

CUpti_Profiler_Host_Object *host;
CUpti_RangeProfiler_Object *profiler;
std::vector<uint8_t> config;
std::vector<uint8_t> counters;

char		label[128];			/* of the range that is open; "": none */
long		launches;			/* in it */
bool		fresh = true;		/* of its passes this is the first */

void
tell(const char *what, CUptiResult result)
{
	const char *text = "";

	cuptiGetResultString(result, &text);
	fprintf(out, "failed\t%s: %s\n", what, text);
	fflush(out);
	failed = true;
}

bool
ok(const char *what, CUptiResult result)
{
	if (result != CUPTI_SUCCESS)
		tell(what, result);
	return result == CUPTI_SUCCESS;
}

#define PARAMS(type, name) \
	type		name; \
	memset(&name, 0, sizeof(name)); \
	name.structSize = type##_STRUCT_SIZE

bool
make_config(void)
{
	PARAMS(CUpti_Device_GetChipName_Params, chip);
	PARAMS(CUpti_Profiler_Host_Initialize_Params, init);
	PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
	PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
	PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);

	if (!ok("cuptiDeviceGetChipName", cuptiDeviceGetChipName(&chip)))
		return false;
	init.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
	init.pChipName = chip.pChipName;
	if (!ok("cuptiProfilerHostInitialize", cuptiProfilerHostInitialize(&init)))
		return false;
	host = init.pHostObject;
	add.pHostObject = size.pHostObject = get.pHostObject = host;
	add.ppMetricNames = metrics.data();
	add.numMetrics = metrics.size();
	if (!ok("cuptiProfilerHostConfigAddMetrics", cuptiProfilerHostConfigAddMetrics(&add)) ||
		!ok("cuptiProfilerHostGetConfigImageSize", cuptiProfilerHostGetConfigImageSize(&size)))
		return false;
	config.resize(size.configImageSize);
	get.configImageSize = config.size();
	get.pConfigImage = config.data();
	return ok("cuptiProfilerHostGetConfigImage", cuptiProfilerHostGetConfigImage(&get));
}

bool
enable(CUcontext context)
{
	PARAMS(CUpti_Profiler_Initialize_Params, init);
	PARAMS(CUpti_RangeProfiler_Enable_Params, on);
	PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);

	if (!ok("cuptiProfilerInitialize", cuptiProfilerInitialize(&init)) || !make_config())
		return false;
	on.ctx = context;
	if (!ok("cuptiRangeProfilerEnable", cuptiRangeProfilerEnable(&on)))
		return false;
	profiler = on.pRangeProfilerObject;
	size.pRangeProfilerObject = profiler;
	size.pMetricNames = metrics.data();
	size.numMetrics = metrics.size();
	size.maxNumOfRanges = 1;
	size.maxNumRangeTreeNodes = 1;
	if (!ok("cuptiRangeProfilerGetCounterDataSize", cuptiRangeProfilerGetCounterDataSize(&size)))
		return false;
	counters.resize(size.counterDataSize);
	return true;
}

bool
configure(void)
{
	PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);
	PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);

	init.pRangeProfilerObject = profiler;
	init.counterDataSize = counters.size();
	init.pCounterData = counters.data();
	if (!ok("cuptiRangeProfilerCounterDataImageInitialize", cuptiRangeProfilerCounterDataImageInitialize(&init)))
		return false;
	set.pRangeProfilerObject = profiler;
	set.configSize = config.size();
	set.pConfig = config.data();
	set.counterDataImageSize = counters.size();
	set.pCounterDataImage = counters.data();
	set.range = CUPTI_UserRange;
	set.replayMode = CUPTI_UserReplay;
	set.maxRangesPerPass = 1;
	set.numNestingLevels = 1;
	set.minNestingLevel = 1;
	set.targetNestingLevel = 1;
	return ok("cuptiRangeProfilerSetConfig", cuptiRangeProfilerSetConfig(&set));
}

void
begin_range(CUcontext context, const char *name)
{
	PARAMS(CUpti_RangeProfiler_Start_Params, start);
	PARAMS(CUpti_RangeProfiler_PushRange_Params, push);

	if ((profiler == nullptr && !enable(context)) || (fresh && !configure()))
		return;
	fresh = false;
	start.pRangeProfilerObject = push.pRangeProfilerObject = profiler;
	push.pRangeName = "range";
	if (!ok("cuptiRangeProfilerStart", cuptiRangeProfilerStart(&start)) ||
		!ok("cuptiRangeProfilerPushRange", cuptiRangeProfilerPushRange(&push)))
		return;
	snprintf(label, sizeof(label), "%s", name);
	launches = 0;
}

void
tell_figures(void)
{
	PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, values);
	double		figure[MOST_METRICS];

	values.pHostObject = host;
	values.pCounterDataImage = counters.data();
	values.counterDataImageSize = counters.size();
	values.ppMetricNames = metrics.data();
	values.numMetrics = metrics.size();
	values.pMetricValues = figure;
	if (!ok("cuptiProfilerHostEvaluateToGpuValues", cuptiProfilerHostEvaluateToGpuValues(&values)))
		return;
	fprintf(out, "%s\t%ld", label, launches);
	for (size_t i = 0; i < metrics.size(); i++)
		fprintf(out, "\t%.17g", figure[i]);
	fputc('\n', out);
	fflush(out);
}

/* Until the device is idle.  The driver is there, and was opened by its name. */
bool
synchronize(void)
{
	static CUresult (*wait) (void);

	if (wait == nullptr)
	{
		void	   *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

		*(void **) &wait = driver != nullptr ? dlsym(driver, "cuCtxSynchronize") : nullptr;
	}
	return wait != nullptr && wait() == CUDA_SUCCESS;
}

void
end_range(void)
{
	PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
	PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
	PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);

	pop.pRangeProfilerObject = stop.pRangeProfilerObject = decode.pRangeProfilerObject = profiler;
	if (!synchronize())
		tell("cuCtxSynchronize", CUPTI_ERROR_UNKNOWN);
	else if (ok("cuptiRangeProfilerPopRange", cuptiRangeProfilerPopRange(&pop)) &&
			 ok("cuptiRangeProfilerStop", cuptiRangeProfilerStop(&stop)))
	{
		if (!stop.isAllPassSubmitted)
		{
			fprintf(out, "%s\t%ld\tagain\n", label, launches);
			fflush(out);
		}
		else if (ok("cuptiRangeProfilerDecodeData", cuptiRangeProfilerDecodeData(&decode)))
		{
			tell_figures();
			fresh = true;
		}
	}
	label[0] = '\0';
}

void CUPTIAPI
before_launch(void *, CUpti_CallbackDomain domain, CUpti_CallbackId, const void *data)
{
	const CUpti_CallbackData *call = (const CUpti_CallbackData *) data;
	char		wanted[sizeof(label)] = "";
	int			file;

	if (failed || domain != CUPTI_CB_DOMAIN_DRIVER_API || call->callbackSite != CUPTI_API_ENTER)
		return;
	file = open(label_path, O_RDONLY);
	if (file >= 0)
	{
		const ssize_t n = read(file, wanted, sizeof(wanted) - 1);

		wanted[n > 0 ? n : 0] = '\0';
		close(file);
	}
	wanted[strcspn(wanted, "\n")] = '\0';
	if (strcmp(wanted, label) != 0)
	{
		if (label[0] != '\0')
			end_range();
		if (wanted[0] != '\0' && !failed)
			begin_range(call->context, wanted);
	}
	launches++;
}
}								/* namespace */

/* The driver calls this once, when it is opened. */
extern "C" int
InitializeInjection(void)
{
	static char names[4096];
	const char *path = getenv("COUNT_RANGES_OUT");
	const char *wanted = getenv("COUNT_RANGES_METRICS");
	CUpti_SubscriberHandle subscriber;

	label_path = getenv("COUNT_RANGES_LABEL");
	if (path == nullptr || wanted == nullptr || label_path == nullptr)
		return 1;
	out = fopen(path, "a");
	if (out == nullptr)
		return 1;
	snprintf(names, sizeof(names), "%s", wanted);
	for (char *name = strtok(names, ","); name != nullptr && metrics.size() < MOST_METRICS; name = strtok(nullptr, ","))
		metrics.push_back(name);
	if (ok("cuptiSubscribe", cuptiSubscribe(&subscriber, before_launch, nullptr)))
		ok("cuptiEnableCallback", cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	return 1;
}
