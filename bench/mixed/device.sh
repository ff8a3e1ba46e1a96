#!/usr/bin/env bash
#
# device.sh: the mixed queries on one machine by one command: a private server, the data of all three schemas, each
# query with gpuconc off and on, warm and cold, and everything taken down again.
#
#   bench/mixed/device.sh [NAME=VALUE ...]        say SCALE=0.5 WORKERS=8 OUT=/tmp/results
#
# It is bench/device.sh with other data and other parts: needs what that needs, and takes the same settings,
# as far as they say something here (SCALE, WORKERS, OUT, COMMIT, DEVICE, HOST_THREADS, DATA, SHARED_BUFFERS,
# HOST_CACHE, WORK_MEM, EXTRA_CONF, PYTHON, RUNS), and:
#
#   PARTS        of mixed, planning, with commas (mixed)
#   ONLY         queries, a regular expression (all)
#   FROM         the query to begin with, say the first that a run before has left out
#   COLD_RUNS    cold executions of which the median is taken (3)
#   SECONDS_AT_MOST   a run that takes longer leaves the rest of the queries out, and says so (360)
#   WHEELS       folder with the Python wheel of tpchgen-cli, for a machine without a network
#
# OUT gets mixed.md, planning.md, the server's log and settings, the loader's output.  Scale 0.5 takes 2 GB of DATA.
# PostgreSQL's parallel workers are its usual two, unless EXTRA_CONF sets max_parallel_workers_per_gather.
set -Eeuo pipefail

MIXED=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/mixed/device.sh
MORE_NAMES=(ONLY FROM COLD_RUNS SECONDS_AT_MOST)
DEFAULT_PARTS=mixed
BUFFERS_EACH=5000
CACHE_EACH=6000
WHAT=mixed

# Before the server starts.
prepare() {
	# Frozen rows have a proof of their visibility only where the map's pages were logged.
	MORE_CONF='wal_level = replica'
	: "${ONLY:=}" "${FROM:=}" "${COLD_RUNS:=3}" "${SECONDS_AT_MOST:=360}"
	[ -z "${WHEELS:-}" ] || TPCHGEN_WHEELS=$(cd "$WHEELS" && pwd)
	export TPCHGEN_WHEELS=${TPCHGEN_WHEELS:-}
	TPCHGEN_CLI=$("$MIXED/../tpch/generator") || die 'there is no tpchgen-cli'
	export TPCHGEN_CLI
}

load() {
	PYTHON=$PYTHON "$MIXED/load" "$SCALE" --jobs "$WORKERS"
}

measure() {
	local only=(${ONLY:+--only "$ONLY"}) from=(${FROM:+--from "$FROM"}) failed=0

	{
		printf 'Commit %s, `%s`, %s.\n\n' "${COMMIT:-unknown}" "$COMMAND" \
			"$(psql -XAtqc "select device || ', ' || name from gpuconc_devices")"
	} >"$OUT/mixed.md"
	[[ ,$PARTS, != *,mixed,* ]] ||
		"$PYTHON" "$MIXED/run" --runs "$RUNS" --cold-runs "$COLD_RUNS" --seconds "$SECONDS_AT_MOST" "${only[@]}" "${from[@]}" \
			>>"$OUT/mixed.md" 2>"$OUT/run.err" || failed=1
	[[ ,$PARTS, != *,planning,* ]] ||
		"$PYTHON" "$MIXED/planning" "${only[@]}" >"$OUT/planning.md" 2>>"$OUT/run.err" || failed=1
	sed -n '/ violations/,$p' "$OUT/mixed.md"
	cat "$OUT/run.err" >&2
	[ "$failed" = 0 ] || printf 'there are violations, or a part failed\n'
}

source "$MIXED/../device.sh"
