/*-------------------------------------------------------------------------
 *
 * device_choice_test.c
 *	  Which device a request goes to, and whether several share it.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../src/sched/policy/device_choice.h"

#define CHOOSE(us, policy, ...) \
	gc_choose_device((const GcDeviceOffer[]) {__VA_ARGS__}, sizeof((const GcDeviceOffer[]) {__VA_ARGS__}) / sizeof(GcDeviceOffer), (us), 0, (policy))

static void
test_choice(void)
{
	const GcDeviceOffer none = {.candidate = false,.link = 1};
	const GcDeviceOffer home = {.candidate = true,.backlog = 500,.requests = 5,.link = 100};
	const GcDeviceOffer idle = {.candidate = true,.missing = 10000,.link = 100,.memory_used = 7};
	const GcDeviceOffer far = {.candidate = true,.missing = 90000,.link = 100};
	const GcDeviceOffer busy = {.candidate = true,.missing = 10000,.requests = 1,.link = 100};
	const GcDeviceOffer is_short = {.candidate = true,.missing = 10000,.link = 100,.is_short = true};

	is(CHOOSE(600, GC_ROUTE_PREDICTED, idle, home), 1, "where its columns are, if what is before it is shorter");
	is(CHOOSE(100, GC_ROUTE_PREDICTED, idle, home), 0, "where backlog and copies are shortest, if that is longer");
	is(CHOOSE(100, GC_ROUTE_PREDICTED, far, home), 1, "home, if the copies take longer");
	is(CHOOSE(99, GC_ROUTE_PREDICTED, is_short, home), 1, "not where memory is short");
	is(CHOOSE(100, GC_ROUTE_PREDICTED, is_short, home), 0, "but if the copies take no longer than the request");
	is(CHOOSE(100, GC_ROUTE_PREDICTED, is_short), 0, "but if there is no other");
	is(CHOOSE(100, GC_ROUTE_PREDICTED, is_short, busy), 1, "nor is it home to what is nowhere");
	is(CHOOSE(1, GC_ROUTE_AFFINITY, idle, home, far), 1, "affinity: where least is missing");
	is(CHOOSE(1, GC_ROUTE_REQUESTS, home, far), 1, "the fewest requests");
	is(CHOOSE(1, GC_ROUTE_REQUESTS, idle, is_short), 1, "of equal ones, less in memory");
	is(CHOOSE(600, GC_ROUTE_PREDICTED, none, none, home), 2, "the only candidate");
	for (int policy = GC_ROUTE_ROUND_ROBIN; policy <= GC_ROUTE_PREDICTED; policy++)
		is(CHOOSE(1, (GcRoute) policy, none, none), -1, "no candidate");
}

static void
test_turns(void)
{
	GcDeviceOffer offers[GC_CHOICE_MAX_DEVICES] = {{0}};
	int			chosen[GC_CHOICE_MAX_DEVICES] = {0};

	offers[1].candidate = offers[2].candidate = offers[7].candidate = true;
	for (uint32_t turn = UINT32_MAX - 29; turn != 0; turn++)
		chosen[gc_choose_device(offers, GC_CHOICE_MAX_DEVICES, 1, turn, GC_ROUTE_ROUND_ROBIN)]++;
	ok(chosen[1] >= 9 && chosen[2] >= 9 && chosen[7] >= 9 && chosen[1] + chosen[2] + chosen[7] == 30, "candidates in turn");
}

static void
test_parts(void)
{
	ok(gc_parts_are_sooner((double[]) {0, 0}, 2, 100, 0), "idle devices share a request");
	ok(gc_parts_are_sooner((double[]) {900, 900, 900}, 3, 100, 0), "so do equally busy ones");
	ok(gc_parts_are_sooner((double[]) {49, 0}, 2, 100, 0), "one is a little busier");
	ok(!gc_parts_are_sooner((double[]) {50, 0}, 2, 100, 0), "one is busier by what the other would spare");
	ok(!gc_parts_are_sooner((double[]) {0, 10, 5000, 0}, 4, 100, 0), "one of four is much busier");
	ok(!gc_parts_are_sooner((double[]) {0}, 1, 100, 0), "one device has no parts");
	ok(gc_parts_are_sooner((double[]) {0, 0}, 2, 100, 49), "merging takes less than the parts spare");
	ok(!gc_parts_are_sooner((double[]) {0, 0}, 2, 100, 50), "merging takes as much");
}

int
main(void)
{
	tap_start();
	test_choice();
	test_turns();
	test_parts();
	return tap_done();
}
