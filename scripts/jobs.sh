# Shared by check: jobs that run side by side, and the tests that they count.  To be sourced
# by bash after lib.sh; WORK is a directory of the caller's.
#
# A job is a function with its arguments, run in a shell of its own.  What it prints is shown
# when it has ended.  Settings: JOBS, how many run at a time.  Tests wait as much as
# they compute, so that is one more than there are processors by default.

JOBS=${JOBS:-$(($(nproc) + 1))}
# A run that takes longer hangs; no loaded machine needs as long.
MOST_SECONDS=21600
# The output of a job's programs is shown when it fails, so many lines of each file at most.
SHOWN=150

LOGS=$WORK/logs
COUNTS=$WORK/counts
FAILURES=$WORK/failures
QUEUE=()
declare -A RUNNING=()

mkdir "$LOGS" "$FAILURES" "$WORK/jobs"
touch "$COUNTS"

show() {
	local file
	for file in "$@"; do
		[ -s "$file" ] || continue
		echo "---- ${file#"$WORK"/}"
		tail -n $SHOWN "$file"
		echo "----"
	done
}

# Failures in a log, in so few lines that they can be shown once more at the end.  Output shown
# at once may be far above, and long.
failures() {
	local name=$1 log=$2
	echo "---- $name"
	awk '/^not ok / && !/# TODO/ {wanted = 12} /^ok / {wanted = 0} wanted-- > 0 && said++ < 60 {print substr($0, 1, 400)}' "$log" |
		grep . || tail -n 12 "$log" | cut -c 1-400
}

# Tests that passed and failed, by the lines of TAP or of pg_regress in a log.
count() {
	awk '
		/^not ok / && !/# TODO/ {failed++; next}
		/^ok / {passed++; if (/# [Ss][Kk][Ii][Pp]/) skipped++; next}
		/^1\.\.0 # [Ss][Kk][Ii][Pp]/ {skipped++}
		/^(test |     )[^ ].*\.\.\. +ok / {passed++}
		/^(test |     )[^ ].*\.\.\. +FAILED/ {failed++}
		/^(test |     )[^ ].*\.\.\. +failed \(ignored\)/ {passed++}
		END {print passed + 0, failed + 0, skipped + 0}' "$1"
}

# The log of tests with this name.
log_of() {
	echo "$LOGS/${1//[^a-zA-Z0-9_]/_}.log"
}

# counted NAME PASSED FAILED SKIPPED SECONDS: add to the counts, and say so.
counted() {
	echo "$2 $3" >>"$COUNTS"
	printf '%-34s %5d ok %4d not ok%s  %4d s\n' "$1" "$2" "$3" "$([ "$4" -eq 0 ] || echo ", $4 skipped")" "$5"
}

# run_tests NAME COMMAND...: a program that prints what count() knows.  One that fails
# without saying which test failed, or runs none, is a failed test.
run_tests() {
	local name=$1 passed failed skipped begin=$SECONDS status=0 log
	log=$(log_of "$name")
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	read -r passed failed skipped <<<"$(count "$log")"
	if { [ $status -ne 0 ] || [ $((passed + skipped)) -eq 0 ]; } && [ "$failed" -eq 0 ]; then
		failed=1
	fi
	counted "$name" "$passed" "$failed" "$skipped" $((SECONDS - begin))
	[ "$failed" -ne 0 ] || return 0
	show "$log"
	failures "$name" "$log" >"$FAILURES/$(basename "$log")"
	return 1
}

fail() {
	echo "0 1" >>"$COUNTS"
	echo "FAILED: $*" | tee -a "$FAILURES/others"
}

# job COMMAND...: to be run when run_jobs is called.
job() {
	QUEUE+=("$(printf '%q ' "$@")")
}

start_job() {
	local number=$1
	# In a process group of its own, so that it can be stopped with all that it started.
	set -m
	(eval "${QUEUE[number]}") >"$WORK/jobs/$number" 2>&1 </dev/null &
	set +m
	RUNNING[$!]=$number
}

end_job() {
	local pid=$1 status=$2 number=${RUNNING[$1]}
	unset "RUNNING[$pid]"
	cat "$WORK/jobs/$number"
	[ "$status" -eq 0 ] || fail "${QUEUE[number]}ended with status $status"
}

# All jobs, in the order in which they came, $JOBS of them at a time.
run_jobs() {
	local next=0 pid status watch
	sleep $MOST_SECONDS &
	watch=$!
	while [ $next -lt ${#QUEUE[@]} ] || [ ${#RUNNING[@]} -gt 0 ]; do
		if [ $next -lt ${#QUEUE[@]} ] && [ ${#RUNNING[@]} -lt "$JOBS" ]; then
			start_job $((next++))
			continue
		fi
		status=0
		wait -n -p pid "${!RUNNING[@]}" $watch || status=$?
		[ "$pid" != $watch ] || { fail "stopped after $MOST_SECONDS s"; stop_jobs; break; }
		end_job "$pid" $status
	done
	kill $watch 2>/dev/null || true
	QUEUE=()
}

# Stop the jobs that run, and show what they have printed so far.
stop_jobs() {
	local pid
	for pid in "${!RUNNING[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null || true
		cat "$WORK/jobs/${RUNNING[$pid]}"
	done
	RUNNING=()
}

# Print what failed, and the line that counts all tests; false if one failed, or none was run.
sum_up() {
	local passed failed
	cat "$FAILURES"/* 2>/dev/null || true
	read -r passed failed <<<"$(awk '{p += $1; f += $2} END {print p + 0, f + 0}' "$COUNTS")"
	rm -rf "$WORK"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
