#!/usr/bin/env bash
#
# sanitize.sh: kernels under NVIDIA's compute-sanitizer: the unit tests of each kind of kernel, and regression tests on a
# private server, the newest first, each for a limited time.
#
#   bench/sanitize.sh [NAME=VALUE ...]        say OUT=/tmp/results SECONDS_MAX=500
#
# Runs as an ordinary user.  Needs on PATH: initdb, pg_ctl, psql of a server with gpuconc, a C compiler, make, and
# compute-sanitizer or what SANITIZER names.
#
#   OUT           folder for the results (sanitize-results in the current one)
#   SANITIZER     the program (compute-sanitizer); none: only run, where there is no GPU
#   DEVICE        cuda or host (cuda)
#   TOOLS         of memcheck, racecheck, synccheck, initcheck, with commas (memcheck,racecheck); the server has the first
#   UNITS         unit tests, in order (all that run kernels; none: no unit test)
#   TESTS         regression tests, in order (those that are new, and some of each kind of kernel; none: no server)
#   SECONDS_EACH  seconds after which an item is stopped (60)
#   SECONDS_MAX   seconds after which nothing else is begun (500)
#   BIN           folder of unit tests that are built, or will be (a temporary one)
#   JOBS          compilers at a time (as many as there are processors)
#   EXTRA_CONF    lines for postgresql.conf (4 MB of device memory, chunks of 8 pages: waves)
#
# OUT gets sanitize.md, a line for each item as soon as it has ended, and errors.log, what the sanitizer reported.
# Exit status is 1 if something was reported, or an item failed.  An item that was stopped is no failure: its errors count.
#
# To be tried without a GPU:
#
#   bench/sanitize.sh OUT=/tmp/results SANITIZER=none DEVICE=host UNITS=link_kernel_test,gang_test TESTS=refill,edges
set -Eeuo pipefail

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
NAMES=(OUT SANITIZER DEVICE TOOLS UNITS TESTS SECONDS_EACH SECONDS_MAX JOBS EXTRA_CONF BIN)

die() {
	printf 'sanitize.sh: %s\n' "$*" >&2
	exit 1
}

for arg; do
	[[ $arg == *=* && " ${NAMES[*]} " == *" ${arg%%=*} "* ]] || die "unknown argument \"$arg\"; see the head of this file"
	printf -v "${arg%%=*}" '%s' "${arg#*=}"
done
: "${OUT:=$PWD/sanitize-results}" "${SANITIZER:=compute-sanitizer}" "${DEVICE:=cuda}" "${TOOLS:=memcheck,racecheck}"
: "${UNITS:=link_kernel_test,gang_test,edge_test,holes_test,text_test,join_test,packed_test,groups_test,rows_test,fused_test,filter_aggregate_test,selection_test,key_groups_test,key_groups_scan_test,device_test}"
: "${TESTS:=refill,edges,group_lookups,documents,instants,everyday,more_types,joins,grouping,pair_groups,late_fetch,topk,distinct_aggs,unions,full_join,text_functions,scans,sizes}"
: "${SECONDS_EACH:=60}" "${SECONDS_MAX:=500}" "${JOBS:=$(nproc)}"
: "${EXTRA_CONF=gpuconc.device_memory_limit = 4MB
gpuconc.debug_chunk_pages = 8}"
[ "$(id -u)" -ne 0 ] || die 'PostgreSQL refuses root: run this as an ordinary user'
[[ $SANITIZER == none ]] || command -v "$SANITIZER" >/dev/null || die "there is no $SANITIZER"
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/gpuconc-sanitize.XXXXXX")
: "${BIN:=$WORK/bin}"
FAILED=0

cleanup() {
	pg_ctl -D "$WORK/cluster" -m immediate stop >/dev/null 2>&1 || true
	[ -z "${SERVER:-}" ] || kill "$SERVER" 2>/dev/null || true
	rm -rf "$WORK"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# A line of the table: what, tool, seconds, how it ended, errors, and what else is to be said.
line() {
	{ printf '| %s ' "$@"; echo '|'; } | tee -a "$OUT/sanitize.md"
}

# The command that runs another under a tool, of which the report goes to files whose names begin with a word.
sanitizer() {
	[[ $SANITIZER == none ]] || printf '%s\n' "$SANITIZER" --tool "$1" --target-processes all --log-file "$WORK/$2.%p.report"
}

# Errors in these files of reports, which are kept if there is one.
errors() {
	local n

	cat "$@" >"$WORK/all" 2>/dev/null || true
	n=$(sed -nE 's/.*ERROR SUMMARY: ([0-9]+) error.*/\1/p; s/.*RACECHECK SUMMARY: ([0-9]+) hazard.*/\1/p' "$WORK/all" | awk '{n += $1} END {print n + 0}')
	# A process that was stopped has no summary.
	grep -q SUMMARY "$WORK/all" || n=$(grep -cE '^=+ (Invalid|Error|ERROR|Race reported|Potential|Barrier error|Uninitialized)' "$WORK/all" || true)
	[ "$n" = 0 ] || { printf '######## %s\n' "$1"; head -c 200000 "$WORK/all"; } >>"$OUT/errors.log"
	echo "$n"
}

late() {
	[ "$SECONDS" -ge "$SECONDS_MAX" ] || return 1
	line "$1" "$2" '' 'left out for want of time' '' ''
}

how_ended() {
	case $1 in 0) echo ended ;; 124 | 137) echo "stopped after $SECONDS_EACH s" ;; *) echo "status $1" ;; esac
}

unit() {
	local tool=$1 test=$2 from=$SECONDS status=0 n not_ok command

	! late "$test" "$tool" || return 0
	mapfile -t command < <(sanitizer "$tool" "$test.$tool")
	GPUCONC_TEST_KERNELS=$WORK/kernels timeout -k 10 "$SECONDS_EACH" "${command[@]}" "$BIN/$test" "$DEVICE" >"$WORK/tap" 2>&1 </dev/null || status=$?
	n=$(errors "$WORK/$test.$tool".*.report)
	not_ok=$(grep -c '^not ok' "$WORK/tap" || true)
	[[ $n$not_ok == 00 && $status =~ ^(0|124|137)$ ]] || { FAILED=1; grep -m 5 '^not ok' "$WORK/tap" || tail -n 3 "$WORK/tap"; }
	line "$test" "$tool" $((SECONDS - from)) "$(how_ended "$status")" "$n" "$(grep -c '^ok' "$WORK/tap" || true) ok, $not_ok not$(sed -n 's/^1\.\.0 # SKIP/; skipped:/p' "$WORK/tap")"
}

start_server() {
	local tool=${TOOLS%%,*} command i

	initdb -D "$WORK/cluster" -A trust -U postgres --no-sync --no-locale -E UTF8 >"$WORK/initdb.log"
	cat >>"$WORK/cluster/postgresql.conf" <<CONF
shared_preload_libraries = 'gpuconc'
listen_addresses = ''
unix_socket_directories = '$WORK'
fsync = off
autovacuum = off
max_prepared_transactions = 5
gpuconc.devices = '$DEVICE'
gpuconc.cold = wait
gpuconc.loader_workers = 1
$EXTRA_CONF
CONF
	mapfile -t command < <(sanitizer "$tool" server)
	setsid "${command[@]}" postgres -D "$WORK/cluster" >"$OUT/server.log" 2>&1 &
	SERVER=$!
	export PGHOST=$WORK PGUSER=postgres PGDATABASE=postgres PG_ABS_SRCDIR=$TREE/regress
	for ((i = 0; i < 1200; i++)); do
		[[ $(psql -XAtqc 'create extension if not exists gpuconc' -c 'select state from gpuconc_devices' 2>/dev/null) != ready ]] || return 0
		kill -0 "$SERVER" 2>/dev/null || break
		sleep 0.1
	done
	tail -n 5 "$OUT/server.log" >&2
	return 1
}

regression() {
	local test=$1 from=$SECONDS status=0 differ offloaded

	! late "$test.sql" "${TOOLS%%,*}" || return 0
	psql -Xqc 'select gpuconc_stat_reset()' >/dev/null || true
	timeout -k 10 "$SECONDS_EACH" psql -X -a -q <"$TREE/regress/sql/$test.sql" >"$WORK/out" 2>&1 || status=$?
	differ=$(diff "$TREE/regress/expected/$test.out" "$WORK/out" | grep -c '^[<>]' || true)
	offloaded=$(psql -XAtqc "select offloaded || ' offloaded, ' || fallbacks || ' fallbacks' from gpuconc_stat" 2>&1 || true)
	line "$test.sql" "${TOOLS%%,*}" $((SECONDS - from)) "$(how_ended "$status")" '' "$offloaded; $differ lines are not as expected"
}

rm -f "$OUT/errors.log"
{
	printf 'Device %s, `%s`; %s.\n\n' "$DEVICE" "$SANITIZER" "$([[ $SANITIZER == none ]] || "$SANITIZER" --version | tail -n 1)"
	printf '| item | tool | s | how it ended | errors | |\n| --- | --- | ---: | --- | ---: | --- |\n'
} | tee "$OUT/sanitize.md"

[[ $UNITS == none ]] || {
	read -ra programs <<<"${UNITS//,/ }"
	make -s -C "$TREE/tests/unit" -j "$JOBS" BIN="$BIN" "${programs[@]/#/$BIN/}" >"$OUT/build.log" 2>&1 ||
		{ tail -n 5 "$OUT/build.log" >&2; die 'the unit tests are not built'; }
	for test in "${programs[@]}"; do unit "${TOOLS%%,*}" "$test"; done
}

[[ $TESTS == none ]] || {
	if start_server; then
		for test in ${TESTS//,/ }; do regression "$test"; done
	else
		FAILED=1
		line server "${TOOLS%%,*}" '' 'it did not start' '' ''
	fi
	# Reports are complete when the processes have ended.
	pg_ctl -D "$WORK/cluster" -m fast -t 30 stop >/dev/null 2>&1 || true
	n=$(errors "$WORK"/server.*.report)
	[ "$n" = 0 ] || FAILED=1
	line 'all of these' "${TOOLS%%,*}" '' "$(grep -c 'restarts its worker' "$OUT/server.log" || true) restarts of the worker" "$n" ''
}

[[ $UNITS == none || $TOOLS != *,* ]] || for tool in $(tr , ' ' <<<"${TOOLS#*,}"); do
	for test in "${programs[@]}"; do unit "$tool" "$test"; done
done
exit $FAILED
