#!/usr/bin/env bash
#
# device.sh: TPC-H on one machine by one command: a private server, the data, answers, power, throughput
# and plans, and everything taken down again.
#
#   bench/tpch/device.sh [NAME=VALUE ...]        say SCALE=10 WORKERS=16 OUT=/tmp/results DATA=/tmp/data
#
# It is bench/device.sh with other data and other parts: needs what that needs, and takes the same settings,
# as far as they say something here (SCALE, WORKERS, OUT, COMMIT, DEVICE, HOST_THREADS, DUCKDB, DATA,
# SHARED_BUFFERS, HOST_CACHE, WORK_MEM, EXTRA_CONF, PYTHON, RUNS), and:
#
#   PARTS        of answers, power, throughput, explain, with commas (all)
#   INDEXES      indexes on foreign keys: yes or no (no)
#   ONLY         queries of answers, power and explain, with commas (all)
#   POSTGRES     time PostgreSQL, too: yes or no (yes)
#   WARM         seconds of executions before what is timed (1)
#   TIMEOUT      seconds after which a query is stopped (60)
#   STREAMS      numbers of streams (1,8)
#   STREAM_SECONDS   of throughput, for each number of streams (3)
#   WHEELS       folder with Python wheels, for a machine without a network: tpchgen-cli, and duckdb of the
#                version that PYTHON takes
#
# OUT gets answers.txt, power.md, throughput.md, explain.txt, the server's log and settings, the loader's
# output.  The sizes of a scale: 1.8 GB of DATA, 2.4 GB of SHARED_BUFFERS, 4.8 GB of HOST_CACHE.  A part that
# fails leaves what it had, and the others go on.
set -Eeuo pipefail

TPCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/tpch/device.sh
MORE_NAMES=(INDEXES ONLY POSTGRES WARM TIMEOUT STREAMS STREAM_SECONDS)
DEFAULT_PARTS=answers,power,throughput,explain
BUFFERS_EACH=2400
CACHE_EACH=4800
WHAT=TPC-H

# Before the server starts: its settings, and programs from wheels.
prepare() {
	# Frozen rows have a proof of their visibility only where the map's pages were logged.
	MORE_CONF="max_parallel_workers_per_gather = $WORKERS
wal_level = replica"
	[[ ${INDEXES:=no} != yes ]] || WHAT='TPC-H with indexes'
	: "${POSTGRES:=yes}" "${WARM:=1}" "${TIMEOUT:=60}" "${STREAMS:=1,8}" "${STREAM_SECONDS:=3}" "${ONLY:=}"
	[ -z "${WHEELS:-}" ] || {
		WHEELS=$(cd "$WHEELS" && pwd)
		export TPCHGEN_WHEELS=$WHEELS
		unpack_duckdb
	}
	TPCHGEN_CLI=$("$TPCH/generator") || die 'there is no tpchgen-cli'
	export TPCHGEN_CLI
}

unpack_duckdb() {
	local wheel=("$WHEELS"/duckdb-*.whl)

	[[ $DUCKDB != no && -f ${wheel[0]} ]] || return 0
	[ -d "$DATA/site" ] || "$PYTHON" -m zipfile -e "${wheel[0]}" "$DATA/site"
	export PYTHONPATH=$DATA/site${PYTHONPATH:+:$PYTHONPATH}
}

load() {
	local more=()

	[[ $INDEXES != yes ]] || more=(--with-fk-indexes)
	"$PYTHON" "$TPCH/load" "$SCALE" --jobs "$WORKERS" "${more[@]}"
}

run_part() {
	local only=(${ONLY:+--only "$ONLY"}) told=(--commit "$COMMIT" --command "$COMMAND") others=()

	case $1 in
		answers)
			"$PYTHON" "$TPCH/answers" --timeout "$TIMEOUT" "${only[@]}" >"$OUT/answers.txt" ||
				{ grep -A 12 '^not ok' "$OUT/answers.txt" >&2; return 1; }
			;;
		power)
			[[ $POSTGRES != yes ]] || others+=(--postgres)
			! has_duckdb || others+=(--duckdb)
			TMPDIR=$DATA "$PYTHON" "$TPCH/power" --out "$OUT/power.md" --workers "$WORKERS" --runs "$RUNS" --warm "$WARM" --timeout "$TIMEOUT" \
				"${only[@]}" "${told[@]}" "${others[@]}"
			;;
		throughput)
			"$PYTHON" "$TPCH/throughput" "$STREAMS" --out "$OUT/throughput.md" --seconds "$STREAM_SECONDS" "${told[@]}"
			;;
		explain) "$PYTHON" "$TPCH/explain" --timeout "$TIMEOUT" "${only[@]}" >"$OUT/explain.txt" ;;
		*) die "there is no part \"$1\"" ;;
	esac
}

measure() {
	local part failed=0 from

	for part in ${PARTS//,/ }; do
		from=$SECONDS
		run_part "$part" || { failed=1; printf 'part %s failed\n' "$part" >&2; }
		printf '%-44s %5d s\n' "$part" $((SECONDS - from))
	done
	return $failed
}

source "$TPCH/../device.sh"
