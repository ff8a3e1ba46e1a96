#!/bin/sh
# Run the unit tests one after another, with their TAP on standard output, and
# end with a summary.  Called by the Makefile, which sets BIN, RUN and DEVICE, and says which
# there are.
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

RUN= run ./names_check.sh
for test in $ONCE
do
	run "$BIN/$test"
done
RUN= run ./lp_check.py "$BIN/batch_model_test"
for test in $PRETENDING
do
	LD_LIBRARY_PATH="$BIN/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" run "$BIN/$test"
done
for device in $DEVICE
do
	for test in $ON_DEVICES
	do
		run "$BIN/$test" "$device"
	done
done

echo "# $passed programs passed, $failed failed, $skipped skipped"
if [ $failed -gt 0 ]
then
	echo "# failed:$failures"
	exit 1
fi
