#!/bin/sh
# Run the unit tests one after another, with their TAP on standard output, and
# end with a summary.  Called by the Makefile, which sets BIN, RUN and DEVICE.
# Exit status: 0 if no program failed.

passed=0
failed=0
skipped=0
failures=

run()
{
	echo "# $*"
	output=$($RUN "$@")
	status=$?
	printf '%s\n' "$output"
	case $output in
		*"1..0 # SKIP"*) skipped=$((skipped + 1)) ;;
		*)
			if [ $status -eq 0 ]
			then
				passed=$((passed + 1))
			else
				echo "# $1 ended with status $status"
				failed=$((failed + 1))
				failures="$failures $(basename "$1")"
			fi ;;
	esac
}

run "$BIN/abi_test"
RUN= run ./names_check.sh
run "$BIN/occupancy_test"
run "$BIN/cost_test"
run "$BIN/kernel_model_test"
run "$BIN/pool_test"
run "$BIN/kcache_test"
run "$BIN/nvrtc_test"
run "$BIN/batch_model_test"
RUN= run ./lp_check.py "$BIN/batch_model_test"
run "$BIN/line_test"
run "$BIN/policy_test"
run "$BIN/simulator_test"
run "$BIN/simulator_random_test"
LD_LIBRARY_PATH="$BIN/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" run "$BIN/fake_cuda_test"
for device in $DEVICE
do
	run "$BIN/device_test" "$device"
	run "$BIN/fused_test" "$device"
	run "$BIN/fold_test" "$device"
	run "$BIN/packed_test" "$device"
	run "$BIN/marks_test" "$device"
	run "$BIN/classes_test" "$device"
	run "$BIN/records_test" "$device"
	run "$BIN/rows_test" "$device"
done

echo "# $passed programs passed, $failed failed, $skipped skipped"
if [ $failed -gt 0 ]
then
	echo "# failed:$failures"
	exit 1
fi
