#!/usr/bin/env bash
#
# device.sh: build the programs that measure the scheduling models on a device, and run them all.
#
#   bench/two_stage/device.sh [NAME=VALUE ...]        say OUT=/tmp/results
#
# Needs a C compiler and make; for device cuda a driver and NVRTC.  No server.  Settings are arguments,
# or come from the environment:
#
#   OUT       folder for the results, made if need be (two-stage-results in the current one)
#   COMMIT    what the tables call the commit (what git says)
#   DEVICE    cuda or host (cuda)
#   TEXTS     folder of kernel texts, *.gpu.src as gpuconc.debug_gpu_kernels writes them, for the
#             comparison of occupancies (none: the pool's kernels)
#   PARTS     programs to run (calibrate,occupancy,same_table,groups,selection,paper003,paper001)
#   LIMIT     seconds for all of them together (240); each has a limit of its own besides
#   PATIENCE  by which the single limits are multiplied (1)
#   EXTRA     more options for every program: "--profile H200 --rows 100000" tries them on a driver that
#             only pretends
#
# OUT gets NAME.md and NAME.log of each program, the calibration file, and a trace for each figure of
# Li, Yu, Kumar, Tu 2014 as JSON.  Exit status: 0 if all of them ran and ended well.
set -Eeuo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
NAMES=(OUT COMMIT DEVICE TEXTS PARTS LIMIT PATIENCE EXTRA)

die() {
	printf 'device.sh: %s\n' "$*" >&2
	exit 1
}

for arg; do
	[[ $arg == *=* && " ${NAMES[*]} " == *" ${arg%%=*} "* ]] || die "unknown argument \"$arg\"; see the head of this file"
	printf -v "${arg%%=*}" '%s' "${arg#*=}"
done
: "${OUT:=$PWD/two-stage-results}" "${DEVICE:=cuda}" "${TEXTS:=}" "${LIMIT:=240}" "${PATIENCE:=1}" "${EXTRA:=}"
: "${PARTS:=calibrate,occupancy,same_table,groups,selection,paper003,paper001}"
: "${COMMIT:=$(git -C "$HERE" describe --always --dirty 2>/dev/null || echo unknown)}"
[ -z "$TEXTS" ] || TEXTS=$(cd "$TEXTS" && pwd)
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
cd "$OUT"

make -s -C "$HERE" -j "$(nproc)" >build.log 2>&1 || { tail -n 20 build.log >&2; die 'the programs cannot be built'; }
printf 'built in %d s\n' "$SECONDS"

failed=0
left=$((LIMIT + SECONDS))

# run NAME SECONDS [ARGUMENT ...]: one program, if it is wanted and there is time.
run() {
	local name=$1 limit=$((PATIENCE * $2)) from=$SECONDS rc=0
	shift 2
	[[ ,$PARTS, == *,$name,* ]] || return 0
	((limit <= left - SECONDS)) || limit=$((left - SECONDS))
	if ((limit < 5)); then
		printf '%-12s no time left\n' "$name"
		failed=1
		return 0
	fi
	rm -f "$name.md" "$name.log"
	# shellcheck disable=SC2086
	timeout -k 5 "$limit" "$HERE/bin/$name" --device "$DEVICE" --commit "$COMMIT" --out "$name.md" $EXTRA "$@" \
		>"$name.log" 2>&1 || rc=$?
	printf '%-12s %4d s, status %d\n' "$name" $((SECONDS - from)) "$rc"
	if ((rc != 0)); then
		tail -n 5 "$name.log"
		failed=1
	fi
}

run calibrate 40
calibration=$(find . -maxdepth 1 -name '*.calibration' -newer build.log | head -n 1)
run occupancy 60 ${TEXTS:+"$TEXTS"}
run same_table 70 ${calibration:+--calibration "$calibration"}
run groups 40
run selection 60
run paper003 60 --json paper003
run paper001 100
printf 'all of it took %d s; the tables are in %s\n' "$SECONDS" "$OUT"
exit "$failed"
