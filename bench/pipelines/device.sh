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
#   PARTS        with commas (edges):
#                efforts   Q9's kernel as compiled quickly and with full effort, on a server that is new (tpch)
#                edges     the queries by each edge
#                model     the same of all queries, without tiles and with fewer runs: how far predictions are off,
#                          and how near the default is to the best
#                pairs     the five queries of Li, Tu, Zeng 2019 in pairs (ssb, two_stage/five.py)
#                turns     Q9's executions, told apart by what they did (tpch)
#                skew      queries with skewed keys by each edge (the first of BENCHES; skew/)
#                calibrate what the model has to know of the device: figures 2 and 23 of the paper.  It needs no data, and
#                          alone no server
#   BENCHES      of tpch and ssb, with commas (both)
#   TILES        rows of a tile where packets are materialized in tiles, with commas (1000000,4000000)
#   STEPS        before which steps edges are tried: "default", or "all" (all for the paper's five queries,
#                default for the others)
#   ONLY         queries of part edges, and of model where that is not asked for, with commas (all)
#   WARM         executions before what is timed (3)
#   CHECK        compare the answers of all edges: yes or no (yes)
#   SECONDS_EACH seconds after which parts edges, model and pairs begin nothing else, each (180)
#   TEXTS        rows of texts in part pairs (10000000)
#   PAIR_RUNS    executions of each mix in part pairs (8)
#   SKEW_ORDERS  orders of part skew, of twelve lines each (3000000)
#
# OUT gets tpch.md and ssb.md, calibrate.md, and a folder with the logs of each server, and with efforts.md, edges.md,
# model.md, pairs.md, turns.md and skew.md.  CHECK=no also leaves out the check of part pairs.
# In five minutes on an H100 should be done what is asked first:
#
#   bench/pipelines/device.sh SCALE=10 WORKERS=16 BENCHES=tpch PARTS=efforts,edges STEPS=default TILES= ONLY=q05,q07,q08,q09,q14
#
# and in a minute, of any device: bench/pipelines/device.sh PARTS=calibrate
set -Eeuo pipefail

PIPELINES=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Without BENCH, a run for each.
if [[ " $* " != *" BENCH="* ]]; then
	benches=tpch,ssb out=$PWD/bench-results data= parts= first=yes calibrate=()
	for arg; do
		case $arg in
			BENCHES=*) benches=${arg#*=} ;;
			OUT=*) out=${arg#*=} ;;
			DATA=*) data=${arg#*=} ;;
			PARTS=*) parts=${arg#*=} ;;
			DEVICE=* | COMMIT=*) calibrate+=("$arg") ;;
		esac
	done
	mkdir -p "$out"
	failed=0
	if [[ ,$parts, == *,calibrate,* ]]; then
		"$PIPELINES/calibrate.sh" OUT="$out" "${calibrate[@]}" || failed=1
		parts=$(tr , '\n' <<<"$parts" | grep -vx calibrate | paste -sd , || true)
		[ -n "$parts" ] || exit $failed
	fi
	for bench in ${benches//,/ }; do
		more=()
		[ -z "$parts" ] || more+=(PARTS="$parts")
		[ $first = yes ] || more+=(SKEW_ORDERS=0)
		first=no
		[ -z "$data" ] || more+=(DATA="$data/$bench")
		"${BASH_SOURCE[0]}" "$@" BENCH="$bench" OUT="$out/$bench" "${more[@]}" || failed=1
		[ ! -f "$out/$bench/edges.md" ] || cp "$out/$bench/edges.md" "$out/$bench.md"
	done
	exit $failed
fi

for arg; do [[ $arg != BENCH=* ]] || BENCH=${arg#*=}; done
BENCH_PROGRAM=bench/pipelines/device.sh
MORE_NAMES=(BENCH BENCHES TILES STEPS ONLY WARM CHECK SECONDS_EACH TEXTS PAIR_RUNS SKEW_ORDERS)
DEFAULT_PARTS=edges
DEFAULT_CHECK=yes
[ "$BENCH" = ssb ] || { BUFFERS_EACH=2400 CACHE_EACH=4800 WHAT=TPC-H; }

prepare() {
	: "${TILES=1000000,4000000}" "${STEPS:=}" "${ONLY:=}" "${WARM:=3}" "${SECONDS_EACH:=180}" "${TEXTS:=10000000}"
	: "${PAIR_RUNS:=8}" "${SKEW_ORDERS:=3000000}"
	# Frozen rows have a proof of their visibility only where the map's pages were logged.
	MORE_CONF="wal_level = replica
gpuconc.compile_threads = $((WORKERS < 64 ? WORKERS : 64))"
	[ "$BENCH" = tpch ] || return 0
	[ -z "${WHEELS:-}" ] || { WHEELS=$(cd "$WHEELS" && pwd); export TPCHGEN_WHEELS=$WHEELS; }
	TPCHGEN_CLI=$("$PIPELINES/../tpch/generator") || die 'there is no tpchgen-cli'
	export TPCHGEN_CLI
}

load() {
	"$PIPELINES/../$BENCH/load" "$SCALE" --jobs "$WORKERS"
}

measure_efforts() {
	[ "$BENCH" = tpch ] || return 0
	"$PYTHON" "$PIPELINES/efforts.py" --out "$OUT/efforts.md" --commit "$COMMIT" --command "$COMMAND"
}

measure_edges() {
	local more=()

	[ -z "$ONLY" ] || more+=(--only "$ONLY")
	[ -z "$STEPS" ] || more+=(--steps "$STEPS")
	[ "$CHECK" != yes ] || more+=(--check)
	"$PYTHON" "$PIPELINES/edges.py" "$BENCH" --out "$OUT/edges.md" --tiles "$TILES" --runs "$RUNS" --warm "$WARM" \
		--jobs "$WORKERS" --seconds "$SECONDS_EACH" --commit "$COMMIT" --command "$COMMAND" "${more[@]}"
}

measure_model() {
	local more=()

	[ -z "$ONLY" ] || [[ ,$PARTS, == *,edges,* ]] || more+=(--only "$ONLY")
	[ "$CHECK" != yes ] || more+=(--check)
	"$PYTHON" "$PIPELINES/edges.py" "$BENCH" --out "$OUT/model.md" --tiles '' --runs 3 --warm 2 --steps default \
		--jobs "$WORKERS" --seconds "$SECONDS_EACH" --commit "$COMMIT" --command "$COMMAND" "${more[@]}"
}

measure_pairs() {
	local more=()

	[ "$BENCH" = ssb ] || return 0
	[ "$CHECK" = yes ] || more+=(--skip-check)
	"$PYTHON" "$PIPELINES/../two_stage/five.py" --out "$OUT/pairs.md" --seconds "$SECONDS_EACH" --texts "$TEXTS" --runs "$PAIR_RUNS" \
		--commit "$COMMIT" --command "$COMMAND" "${more[@]}"
}

measure_turns() {
	[ "$BENCH" = tpch ] || return 0
	"$PYTHON" "$PIPELINES/turns.py" --out "$OUT/turns.md" --commit "$COMMIT" --command "$COMMAND"
}

measure_skew() {
	local more=()

	[ "$SKEW_ORDERS" -gt 0 ] || return 0
	[ "$CHECK" != yes ] || more+=(--check)
	psql -Xq -v orders="$SKEW_ORDERS" -f "$PIPELINES/skew/data.sql"
	"$PYTHON" "$PIPELINES/edges.py" skew --out "$OUT/skew.md" --tiles '' --runs 5 --warm 3 --steps default --jobs "$WORKERS" \
		--seconds "$SECONDS_EACH" --commit "$COMMIT" --command "$COMMAND" "${more[@]}"
}

# One after another; a part that fails leaves what it had, and the others go on.
measure() {
	local part failed=0

	for part in ${PARTS//,/ }; do
		[[ $part =~ ^(efforts|edges|model|pairs|turns|skew)$ ]] || die "there is no part \"$part\""
		"measure_$part" || { printf 'part %s failed\n' "$part" >&2; failed=1; }
	done
	return $failed
}

source "$PIPELINES/../device.sh"
