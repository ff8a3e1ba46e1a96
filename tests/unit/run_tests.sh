#!/bin/sh
# Run the unit tests, $JOBS of them at a time, with their TAP on standard output, one
# program's after another's, and end with a summary.  Called by the Makefile, which sets
# BIN, RUN and DEVICE, and says which there are.
# Exit status: 0 if no program failed.
#   run_tests.sh                   all of them
#   run_tests.sh OUTPUT COMMAND    one: its output and status to OUTPUT and OUTPUT.status

if [ $# -gt 0 ]
then
	output=$1
	shift
	"$@" >"$output" 2>&1 </dev/null
	echo $? >"$output.status"
	exit 0
fi

# Lines of what is run: its name, and what to do.  Those that take longest come first.
list()
{
	for device in $DEVICE
	do
		for test in $ON_DEVICES
		do
			echo "$test.$device $RUN $BIN/$test $device"
		done
	done
	for test in $ONCE
	do
		echo "$test $RUN $BIN/$test"
	done
	for test in $PRETENDING
	do
		echo "$test env LD_LIBRARY_PATH=$BIN/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} $RUN $BIN/$test"
	done
	echo "names_check ./names_check.sh"
	echo "lp_check ./lp_check.py $BIN/batch_model_test"
}

tap=$BIN/tap
rm -rf "$tap"
mkdir -p "$tap"
list | sed "s|^|$tap/|" | xargs -L 1 -P "${JOBS:-1}" sh "$0"

passed=0
failed=0
skipped=0
failures=
for name in $(list | cut -d ' ' -f 1)
do
	status=$(cat "$tap/$name.status")
	echo "# $name"
	cat "$tap/$name"
	if grep -q '^1\.\.0 # SKIP' "$tap/$name"
	then
		skipped=$((skipped + 1))
	elif [ "$status" = 0 ]
	then
		passed=$((passed + 1))
	else
		echo "# $name ended with status $status"
		failed=$((failed + 1))
		failures="$failures $name"
	fi
done

echo "# $passed programs passed, $failed failed, $skipped skipped"
if [ $failed -gt 0 ]
then
	echo "# failed:$failures"
	exit 1
fi
