#!/usr/bin/env bash
#
# pg.sh: what scheduling is worth, through PostgreSQL, by one command: a private server, the Star
# Schema Benchmark, throughput.py, mixes.py, five.py, pool.py, alone.py, look.py and counted.py, and everything taken
# down again.
#
#   bench/two_stage/pg.sh [NAME=VALUE ...]        say SCALE=20 WORKERS=16 OUT=/tmp/results SECONDS_EACH=300
#
# It is bench/device.sh with other parts: needs what that needs, and takes the same settings, as far as
# they say something here (SCALE, WORKERS, OUT, COMMIT, DEVICE, HOST_THREADS, DATA, SHARED_BUFFERS,
# HOST_CACHE, WORK_MEM, EXTRA_CONF, PYTHON; a DATA folder loaded by either serves both), and:
#
#   PARTS        of throughput, mixes, five, pool, alone, look, counted, with commas (throughput,mixes,pool; counted needs
#                CUPTI, which then is loaded into the worker, so its times are for itself)
#   SECONDS_EACH budget of each part in seconds; 0: as long as it takes (0)
#   POLICIES     gpuconc.schedule by name, and twostage-unshared (all; mixes: all but random)
#   CLIENTS      of throughput (1,2,4,8,16,32,64)
#   DURATION     of throughput: seconds for each number of clients and policy (3)
#   ROUNDS       of throughput: one client alone, two-stage against sequential in turns (12)
#   SIZES        of five: texts, rows of a matrix, atoms, with commas (10000000,512,20000)
#   RUNS         of mixes, five and pool: runs of each (30; five: 20; pool: 400, and 200 of the large groups)
#   SETS         of pool (fixed16,fixed31,random16,random31,random39,random52,random65)
#   LOOK         groups of look (what it has)
#   WARM_UP      seconds to wait for fused kernels at a time, at most (30)
#   CHECK        compare answers with PostgreSQL: yes or no (yes)
#   SEED         of everything drawn (1)
#   BANDWIDTH    of mixes: of the device's memory in TB/s, as calibrate measures it (an H200's)
#
# OUT gets throughput.md and .svg, mixes.md, five.md, pool.md, alone.md, look.md, counted.md, the server's log and settings, the loader's output.
# A part that is interrupted or fails leaves what it had, and the others go on.
set -Eeuo pipefail

TWO_STAGE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/two_stage/pg.sh
MORE_NAMES=(SECONDS_EACH POLICIES ROUNDS SETS WARM_UP SEED BANDWIDTH LOOK SIZES)
MORE_CONF='gpuconc.batch_log_size = 16384'

# Settings of the profiler's library, which the driver loads into the worker.
prepare() {
	[[ ,$PARTS, == *,counted,* ]] || return 0
	[ -f "$TWO_STAGE/bin/libcount_ranges.so" ] || make -s -C "$TWO_STAGE" bin/libcount_ranges.so >"$OUT/build.log" 2>&1 ||
		die "bin/libcount_ranges.so cannot be built: see $OUT/build.log"
	rm -f "$OUT"/ranges.{label,tsv}
	export CUDA_INJECTION64_PATH=$TWO_STAGE/bin/libcount_ranges.so
	export COUNT_RANGES_LABEL=$OUT/ranges.label COUNT_RANGES_OUT=$OUT/ranges.tsv
	COUNT_RANGES_METRICS=$("$PYTHON" "$TWO_STAGE/counted.py" --metrics)
	export COUNT_RANGES_METRICS
}

measure() {
	local part failed=0 args=() texts matrix atoms

	[ -z "${POLICIES:-}" ] || args+=(--policies "$POLICIES")
	[ -z "${WARM_UP:-}" ] || args+=(--warm-up "$WARM_UP")
	[ -z "${SEED:-}" ] || args+=(--seed "$SEED")
	[ "$CHECK" != no ] || args+=(--skip-check)
	for part in ${PARTS//,/ }; do
		local own=()

		case $part in
			throughput) own=(--clients "$CLIENTS" --point "$DURATION" --rounds "${ROUNDS:-12}") ;;
			mixes) own=(${RUNS:+--runs "$RUNS"} ${BANDWIDTH:+--bandwidth "$BANDWIDTH"}) ;;
			five) IFS=, read -r texts matrix atoms <<<"${SIZES:-10000000,512,20000}"
				own=(${RUNS:+--runs "$RUNS"} --texts "$texts" --matrix "$matrix" --atoms "$atoms") ;;
			pool) own=(${RUNS:+--runs "$RUNS"} ${SETS:+--sets "$SETS"}) ;;
			look) own=(${RUNS:+--runs "$RUNS"} ${LOOK:+--groups "$LOOK"}) ;;
			alone | counted) own=(${RUNS:+--runs "$RUNS"}) ;;
			*) die "there is no part \"$part\"" ;;
		esac
		"$PYTHON" "$TWO_STAGE/$part.py" --out "$OUT/$part.md" --seconds "${SECONDS_EACH:-0}" --workers "$WORKERS" \
			--commit "$COMMIT" --command "$COMMAND" "${args[@]}" "${own[@]}" || {
			failed=1
			printf 'part %s failed\n' "$part" >&2
		}
	done
	return $failed
}

DEFAULT_PARTS=throughput,mixes,pool
DEFAULT_CLIENTS=1,2,4,8,16,32,64
DEFAULT_CHECK=yes
DEFAULT_RUNS=
source "$TWO_STAGE/../device.sh"
