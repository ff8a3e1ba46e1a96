#!/usr/bin/env bash
#
# counters.sh: hardware counters of kernels alone and of groups of them, by NVIDIA's profiler (ncu).
#
#   bench/two_stage/counters.sh [NAME=VALUE ...]      say OUT=/tmp/results
#
# Needs what device.sh needs, Python 3 and Nsight Compute.  Clocks are left as they are.  Settings are
# arguments, or come from the environment:
#
#   OUT       folder for the results, made if need be (counters in the current one)
#   COMMIT    what the tables call the commit (what git says)
#   NCU       the profiler (ncu of the path, else of the newest toolkit)
#   LIMIT     seconds for all of it (120)
#   REPLAY    how groups are counted: range, app-range, or both in turn until one works (range,app-range)
#   EXTRA     more options for the program: "--profile H200 --rows 100000" tries it on a driver that only
#             pretends
#
# OUT gets counters.md, the plan, and the profiler's CSV and log files.  What is launched, how often and
# why so: see the head of counters.c.  Exit status: 0 with all counters; 2 if some or all are missing, and
# then counters.md says why and has the times alone; 1 if there are no times either.
set -Eeuo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
NAMES=(OUT COMMIT NCU LIMIT REPLAY EXTRA)

die() {
	printf 'counters.sh: %s\n' "$*" >&2
	exit 1
}

for arg; do
	[[ $arg == *=* && " ${NAMES[*]} " == *" ${arg%%=*} "* ]] || die "unknown argument \"$arg\"; see the head of this file"
	printf -v "${arg%%=*}" '%s' "${arg#*=}"
done
: "${OUT:=$PWD/counters}" "${NCU:=}" "${LIMIT:=120}" "${REPLAY:=range,app-range}" "${EXTRA:=}"
: "${COMMIT:=$(git -C "$HERE" describe --always --dirty 2>/dev/null || echo unknown)}"
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
cd "$OUT"
rm -f counters.md counters.plan counters-*.csv counters-*.log
# The driver reads this once, and under the profiler that may be before the program has set it.
export CUDA_DEVICE_MAX_CONNECTIONS=32 LC_ALL=C

make -s -C "$HERE" -j "$(nproc)" bin/counters >build.log 2>&1 || { tail -n 20 build.log >&2; die 'the program cannot be built'; }
printf 'built in %d s\n' "$SECONDS"
end=$((SECONDS + LIMIT))

# for_at_most SECONDS COMMAND ...: that long, or as long as there is time.
for_at_most() {
	local limit=$1
	shift
	((limit <= end - SECONDS)) || limit=$((end - SECONDS))
	((limit >= 5)) || return 124
	timeout -k 5 "$limit" "$@"
}

find_ncu() {
	if [ -n "$NCU" ]; then
		command -v "$NCU"
	else
		command -v ncu || {
			find /usr/local/cuda*/bin /opt/nvidia/nsight-compute/* -maxdepth 1 -name ncu 2>/dev/null || true
		} | sort -V | tail -n 1 | grep .
	fi
}

# One line: why the profiler counted nothing.
reason() {
	local log=$1 rc=$2 rows=$3
	if grep -q ERR_NVGPUCTRPERM "$log"; then
		echo 'the driver keeps counters from this user (ERR_NVGPUCTRPERM): be root, or load the kernel module with NVreg_RestrictProfilingToAdminUsers=0'
	elif ((rc == 124 || rc == 137)); then
		echo 'it took too long'
	else
		echo "status $rc, $rows groups counted; $(grep -hE '==(ERROR|WARNING)==|^counters: ' "$log" | head -n 2 | cut -c 1-300 | tr '\n' ' ')"
	fi
}

# count PART REPLAY METRICS SECONDS: into counters-PART.csv; 0 if every group was counted.
count() {
	local part=$1 replay=$2 metrics=$3 limit=$4 from=$SECONDS rc=0 rows want
	local log=counters-$part-$replay-$metrics.log
	local options=(--replay-mode "$replay" --clock-control none --cache-control all --csv --page raw --print-units base)
	# Replay of ranges takes what lies between start and stop anyway, and refuses the option.
	[ "$replay" != kernel ] || options+=(--profile-from-start off)
	rm -f "counters-$part.csv"
	# shellcheck disable=SC2086
	for_at_most "$limit" "$NCU" "${options[@]}" --log-file "counters-$part.csv" \
		--metrics "$(python3 "$HERE/counters.py" metrics "$metrics" --available counters-metrics.log)" \
		"$HERE/bin/counters" --mode "$part" --plan counters.plan $EXTRA >"$log" 2>&1 || rc=$?
	[ ! -f "counters-$part.csv" ] || grep -E '^==' "counters-$part.csv" >>"$log" || true
	rows=$(python3 "$HERE/counters.py" rows "counters-$part.csv" 2>/dev/null || echo 0)
	want=$(grep -cE "^group	$([ "$part" = kernels ] && echo kernels || echo '(scans|pool)')	" counters.plan)
	printf '%-8s %-9s %-4s %4d s, status %d, %d of %d rows\n' "$part" "$replay" "$metrics" $((SECONDS - from)) "$rc" "$rows" "$want"
	if ((rows == want)); then
		how[$part]="$replay replay, $metrics metrics"
		return 0
	fi
	why[$part]=$(reason "$log" "$rc" "$rows")
	grep -v '==PROF==' "$log" | tail -n 5
	return 1
}

count_groups() {
	local replay
	for replay in ${REPLAY//,/ }; do
		[ "$replay" != range ] || count groups range full 40 || count groups range core 30 || continue
		# Every pass runs the whole program again: few metrics, few passes.
		[ "$replay" != app-range ] || count groups app-range core 80 || continue
		return 0
	done
	return 1
}

rc=0
for_at_most 60 "$HERE/bin/counters" --plan counters.plan --commit "$COMMIT" --out counters.md ${EXTRA:+$EXTRA} \
	>counters-plan.log 2>&1 || rc=$?
printf 'times    status %d, after %d s\n' "$rc" "$SECONDS"
((rc == 0)) || { tail -n 5 counters-plan.log >&2; die 'the kernels could not be measured'; }

declare -A how=() why=([kernels]='ncu was not found: say NCU=/path/to/ncu')
why[groups]=${why[kernels]}
version=''
if NCU=$(find_ncu); then
	version=$("$NCU" --version 2>/dev/null | sed -n 's/^Version //p' | cut -d ' ' -f 1)
	for_at_most 30 "$NCU" --query-metrics >counters-metrics.log 2>&1 || true
	count kernels kernel full 40 || count kernels kernel core 30 || true
	count_groups || true
fi

{
	printf '\n'
	[ -z "$NCU" ] || printf 'Profiler: Nsight Compute %s, clocks as they are.\n' "${version:-of unknown version}"
	for part in kernels groups; do
		if [ -n "${how[$part]:-}" ]; then
			printf 'Counted %s: %s.\n' "$part" "${how[$part]}"
		else
			printf 'No counters of %s: %s.\n' "$part" "${why[$part]}" | tee /dev/stderr
		fi
	done
	printf '\n'
	python3 "$HERE/counters.py" tables counters.plan ${how[kernels]:+--kernels counters-kernels.csv} \
		${how[groups]:+--groups counters-groups.csv}
} >>counters.md
printf 'all of it took %d s; the tables are in %s/counters.md\n' "$SECONDS" "$OUT"
((${#how[@]} == 2)) || exit 2
