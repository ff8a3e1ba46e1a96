#!/usr/bin/env bash
#
# device.sh: edges between the steps of pipelines (Paul, He, He 2016), compared on one machine by one command: for TPC-H and
# for the Star Schema Benchmark a private server each, the data, edges.py, and everything taken down again.
#
#   bench/pipelines/device.sh [NAME=VALUE ...]        say SCALE=10 WORKERS=16 OUT=/tmp/results DATA=/tmp/data
#
# It is bench/device.sh with other parts: needs what that needs, and takes the same settings, as far as they say
# something here (SCALE, WORKERS, OUT, COMMIT, DEVICE, HOST_THREADS, DATA, SHARED_BUFFERS, HOST_CACHE, WORK_MEM,
# EXTRA_CONF, PYTHON, RUNS, WHEELS), and:
#
#   BENCHES      of tpch and ssb, with commas (both)
#   TILES        rows of a tile where packets are materialized in tiles, with commas (1000000,4000000)
#   STEPS        before which steps edges are tried: "default", or "all" (all for the paper's five queries,
#                default for the others)
#   ONLY         queries, with commas (all)
#   WARM         executions before what is timed (3)
#   CHECK        compare the answers of all edges: yes or no (yes)
#
# OUT gets tpch.md and ssb.md, and a folder with the logs of each server.
set -Eeuo pipefail

PIPELINES=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Without BENCH, a run for each.
if [[ " $* " != *" BENCH="* ]]; then
	benches=tpch,ssb out=$PWD/bench-results data=
	for arg; do
		case $arg in
			BENCHES=*) benches=${arg#*=} ;;
			OUT=*) out=${arg#*=} ;;
			DATA=*) data=${arg#*=} ;;
		esac
	done
	mkdir -p "$out"
	failed=0
	for bench in ${benches//,/ }; do
		more=()
		[ -z "$data" ] || more=(DATA="$data/$bench")
		"${BASH_SOURCE[0]}" "$@" BENCH="$bench" OUT="$out/$bench" "${more[@]}" || failed=1
		[ ! -f "$out/$bench/edges.md" ] || cp "$out/$bench/edges.md" "$out/$bench.md"
	done
	exit $failed
fi

for arg; do [[ $arg != BENCH=* ]] || BENCH=${arg#*=}; done
BENCH_PROGRAM=bench/pipelines/device.sh
MORE_NAMES=(BENCH BENCHES TILES STEPS ONLY WARM CHECK)
DEFAULT_PARTS=edges
[ "$BENCH" = ssb ] || { BUFFERS_EACH=2400 CACHE_EACH=4800 WHAT=TPC-H; }

prepare() {
	: "${TILES:=1000000,4000000}" "${STEPS:=}" "${ONLY:=}" "${WARM:=3}" "${CHECK:=yes}"
	# Frozen rows have a proof of their visibility only where the map's pages were logged.
	MORE_CONF="wal_level = replica
gpuconc.compile_threads = $((WORKERS < 64 ? WORKERS : 64))"
	[ "$BENCH" = tpch ] || return 0
	[ -z "${WHEELS:-}" ] || { WHEELS=$(cd "$WHEELS" && pwd); export TPCHGEN_WHEELS=$WHEELS; }
	TPCHGEN_CLI=$("$PIPELINES/../tpch/generator") || die 'there is no tpchgen-cli'
	export TPCHGEN_CLI
}

load() {
	"$PYTHON" "$PIPELINES/../$BENCH/load" "$SCALE" --jobs "$WORKERS"
}

measure() {
	local more=()

	[ -z "$ONLY" ] || more+=(--only "$ONLY")
	[ -z "$STEPS" ] || more+=(--steps "$STEPS")
	[ "$CHECK" != yes ] || more+=(--check)
	"$PYTHON" "$PIPELINES/edges.py" "$BENCH" --out "$OUT/edges.md" --tiles "$TILES" --runs "$RUNS" --warm "$WARM" \
		--jobs "$WORKERS" --commit "$COMMIT" --command "$COMMAND" "${more[@]}"
}

source "$PIPELINES/../device.sh"
