#!/usr/bin/env bash
#
# device.sh: SSB beside writers, the soak test and the compute-bound queries on one machine by one command: a private
# server, the data, the programs, and everything taken down again.
#
#   bench/fresh/device.sh [NAME=VALUE ...]        say SCALE=10 WORKERS=16 OUT=/tmp/results DATA=/tmp/data
#
# It is bench/device.sh with other parts: needs what that needs, and takes the same settings, as far as they say something
# here (SCALE, WORKERS, OUT, COMMIT, DEVICE, HOST_THREADS, DATA, SHARED_BUFFERS, HOST_CACHE, WORK_MEM, EXTRA_CONF, PYTHON,
# STOP_AFTER), and:
#
#   PARTS        of written, soak, compute, with commas (written,soak)
#   LOADS        of part written: numbers of clients and updates a second (16x1000,64x10000)
#   WRITERS      of part written (16)
#   FOR          seconds of each of its measurements (30): for each load four, with the warming 20 s more
#   SECONDS_MAX  seconds after which part written begins nothing else (420)
#   SOAK_FOR     seconds of part soak (60)
#   ROWS         its accounts (20000)
#   COMPUTE      options of compute/papers (--texts 1000000 --atoms 10000 --matrix 512)
#
# OUT gets written.md line by line, soak.md, compute.md, the server's log and settings, the loader's output.  A part that fails
# leaves what it had, and the others go on.
#
# In ten minutes on a machine of 16 cores:
#
#   bench/fresh/device.sh SCALE=10 WORKERS=16 FOR=25 SECONDS_MAX=300 SOAK_FOR=60 STOP_AFTER=580 OUT=/tmp/results
#
# To be tried without a GPU:
#
#   bench/fresh/device.sh SCALE=0.02 DEVICE=host LOADS=2x50 WRITERS=2 FOR=2 SOAK_FOR=3 ROWS=2000 OUT=/tmp/results \
#       PARTS=written,soak,compute COMPUTE="--texts 1000 --atoms 100 --matrix 16"
set -Eeuo pipefail

FRESH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/fresh/device.sh
MORE_NAMES=(LOADS WRITERS FOR SECONDS_MAX SOAK_FOR ROWS COMPUTE)
DEFAULT_PARTS=written,soak

# Before the server starts.
prepare() {
	: "${LOADS:=16x1000,64x10000}" "${WRITERS:=16}" "${FOR:=30}" "${SECONDS_MAX:=420}" "${SOAK_FOR:=60}" "${ROWS:=20000}"
	: "${COMPUTE:=--texts 1000000 --atoms 10000 --matrix 512}"
	# Changes are read in the WAL, and soak prepares transactions and replicates.
	MORE_CONF='wal_level = logical
max_wal_senders = 4
max_replication_slots = 4
max_prepared_transactions = 64
max_wal_size = 16GB'
}

part_written() {
	"$PYTHON" "$FRESH/written" --only beside --loads "$LOADS" --writers "$WRITERS" --for "$FOR" --without-wal \
		--seconds-max "$SECONDS_MAX" --out "$OUT/written.md"
}

part_soak() {
	"$PYTHON" "$FRESH/soak" --for "$SOAK_FOR" --rows "$ROWS" --out "$OUT/soak.md"
}

part_compute() {
	local options

	read -ra options <<<"$COMPUTE"
	"$PYTHON" "$FRESH/../compute/papers" "${options[@]}" --out "$OUT/compute.md"
}

measure() {
	local part failed=0 from

	printf 'Commit %s, `%s`, %s.\n\n' "${COMMIT:-unknown}" "$COMMAND" \
		"$(psql -XAtqc "select device || ', ' || name from gpuconc_devices")" | tee "$OUT/about.md"
	for part in ${PARTS//,/ }; do
		[[ $part =~ ^(written|soak|compute)$ ]] || die "there is no part \"$part\""
		from=$SECONDS
		"part_$part" 2>&1 || { failed=1; printf 'part %s failed\n' "$part" >&2; }
		printf '%-44s %5d s\n' "$part" $((SECONDS - from))
	done
	return $failed
}

source "$FRESH/../device.sh"
