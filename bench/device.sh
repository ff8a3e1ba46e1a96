#!/usr/bin/env bash
#
# device.sh: the whole benchmark on one machine by one command: a private server, the Star Schema
# Benchmark, all parts of run.py, and everything taken down again.
#
#   bench/device.sh [NAME=VALUE ...]        say SCALE=20 WORKERS=16 OUT=/tmp/results
#
# Runs as an ordinary user (PostgreSQL refuses root).  Needs on PATH: initdb, pg_ctl, psql, pgbench of
# a server in which gpuconc is installed (not an assertion-enabled one), a C compiler, Python 3.
# Settings are arguments, or come from the environment:
#
#   SCALE        scale factor of the data (1)
#   PARTS        parts of run.py, with commas (all)
#   WORKERS      PostgreSQL's parallel workers, loader workers, DuckDB's threads (cores, at most 16)
#   OUT          folder for the results, made if need be (bench-results in the current one)
#   COMMIT       what the tables call the commit (what git says)
#   DEVICE       gpuconc.devices (auto)
#   HOST_THREADS gpuconc.host_threads, for device host (0: as many as cores)
#   DUCKDB       yes, no, or auto: if Python has DuckDB's package (auto)
#   CLIENTS      numbers of clients (1,2,4,8,16,32)
#   DURATION     seconds of each pgbench run (3)
#   RUNS         executions of which the median is taken (5; 25 for those of gpuconc and DuckDB)
#   CHECK        also run ssb/check_filter_factors: yes or no (no)
#   DATA         folder for cluster and DuckDB database.  The default is a temporary one that is removed
#                at the end; one that is named here stays, and what is loaded in it is used again.
#                SCALE 20 takes 20 GB, and 12 GB more in between with DuckDB.
#   SHARED_BUFFERS, HOST_CACHE, WORK_MEM   in MB (enough for all of SCALE; 256)
#   EXTRA_CONF   more lines for postgresql.conf
#   PYTHON       (python3)
#   WHEELS       folder with Python wheels, which only tpch/device.sh uses
#   STOP_AFTER   seconds after which all of it is ended and taken down; what was written until then stays (none)
#
# OUT gets results.md, the server's log, its settings, and the loader's output.
#
# two_stage/pg.sh and tpch/device.sh read this file to measure something else: they define measure(), the
# latter also load() and WHAT, and the defaults and settings that differ.
set -Eeuo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
NAMES=(SCALE PARTS WORKERS OUT COMMIT DEVICE HOST_THREADS DUCKDB CLIENTS DURATION RUNS CHECK DATA
	SHARED_BUFFERS HOST_CACHE WORK_MEM EXTRA_CONF PYTHON WHEELS STOP_AFTER ${MORE_NAMES[@]+"${MORE_NAMES[@]}"})

die() {
	printf 'device.sh: %s\n' "$*" >&2
	exit 1
}

# Prints how long a command took; its output goes to a file in OUT.
step() {
	local what=$1 log=$2 from=$SECONDS
	shift 2
	"$@" >>"$OUT/$log" 2>&1 || { tail -n 20 "$OUT/$log" >&2; die "failed: $what"; }
	printf '%-44s %5d s\n' "$what" $((SECONDS - from))
}

take_arguments() {
	local arg

	for arg; do
		[[ $arg == *=* && " ${NAMES[*]} " == *" ${arg%%=*} "* ]] || die "unknown argument \"$arg\"; see the head of this file"
		printf -v "${arg%%=*}" '%s' "${arg#*=}"
	done
}

# The command that the tables show: only settings that shape the figures, and no folders.
command_line() {
	local name line=${BENCH_PROGRAM:-bench/device.sh}

	for name in SCALE PARTS WORKERS DEVICE HOST_THREADS DUCKDB CLIENTS DURATION RUNS SHARED_BUFFERS HOST_CACHE \
		WORK_MEM EXTRA_CONF ${MORE_NAMES[@]+"${MORE_NAMES[@]}"}; do
		[[ -n ${!name:-} ]] || continue
		line+=" $name=$([[ ${!name} == *[!A-Za-z0-9_.,-]* ]] && printf %q "${!name}" || printf %s "${!name}")"
	done
	printf '%s' "$line"
}

set_defaults() {
	local cores

	COMMAND=$(command_line)
	cores=$(nproc)
	: "${SCALE:=1}" "${PARTS:=${DEFAULT_PARTS:-kernels,latency,postgres,clients,shapes,loading}}"
	: "${WORKERS:=$((cores < 16 ? cores : 16))}" "${OUT:=$PWD/bench-results}" "${COMMIT:=}"
	: "${DEVICE:=auto}" "${HOST_THREADS:=0}" "${DUCKDB:=auto}" "${CLIENTS:=${DEFAULT_CLIENTS:-1,2,4,8,16,32}}" "${DURATION:=3}" "${RUNS:=${DEFAULT_RUNS-5}}"
	: "${CHECK:=${DEFAULT_CHECK:-no}}" "${DATA:=}" "${EXTRA_CONF:=}" "${PYTHON:=python3}" "${WORK_MEM:=256}"
	# At scale 1 the tables take 750 MB in PostgreSQL and 250 MB in the column cache.
	: "${SHARED_BUFFERS:=$(awk -v s="$SCALE" -v each="${BUFFERS_EACH:-800}" 'BEGIN {printf "%d", 512 + each * s}')}"
	: "${HOST_CACHE:=$(awk -v s="$SCALE" -v each="${CACHE_EACH:-350}" 'BEGIN {printf "%d", 512 + each * s}')}"
}

cleanup() {
	pg_ctl -D "$DATA/cluster" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$SOCKETS"
	[ "$KEEP" = yes ] || rm -rf "$DATA"
}

make_cluster() {
	initdb -D "$DATA/cluster" -A trust -U bench --no-sync --locale=C -E UTF8
	cp "$DATA/cluster/postgresql.conf" "$DATA/postgresql.conf.initial"
}

# Anew at each start, as sizes and device are this run's.
write_conf() {
	cat >"$OUT/postgresql.conf" <<CONF
shared_preload_libraries = 'gpuconc'
listen_addresses = ''
unix_socket_directories = '$SOCKETS'
shared_buffers = ${SHARED_BUFFERS}MB
work_mem = ${WORK_MEM}MB
maintenance_work_mem = 512MB
max_connections = 200
max_worker_processes = $((2 * WORKERS + 16))
max_parallel_workers = $((2 * WORKERS))
max_parallel_maintenance_workers = $WORKERS
# nothing but queries while there is measuring; the data can be made again
autovacuum = off
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 4GB
checkpoint_timeout = 1h
gpuconc.devices = '$DEVICE'
gpuconc.host_threads = $HOST_THREADS
gpuconc.host_cache_size = ${HOST_CACHE}MB
gpuconc.loader_workers = $WORKERS
${MORE_CONF:-}
$EXTRA_CONF
CONF
	# what ALTER SYSTEM left behind in a run that was killed
	[ ! -f "$DATA/cluster/postgresql.auto.conf" ] || : >"$DATA/cluster/postgresql.auto.conf"
	cat "$DATA/postgresql.conf.initial" "$OUT/postgresql.conf" >"$DATA/cluster/postgresql.conf"
}

wait_for_device() {
	local i state

	for ((i = 0; i < 600; i++)); do
		state=$(psql -XAtqc "select string_agg(distinct state, ', ') from gpuconc_devices")
		[[ $state != ready ]] || return 0
		sleep 0.1
	done
	die "gpuconc's device is not ready: ${state:-no answer}"
}

declare -F load >/dev/null || load() {
	rm -f "$DATA/loaded" "$DATA/ssb.duckdb"
	"$HERE/ssb/load" "$SCALE" --jobs "$WORKERS"
}

has_duckdb() {
	case $DUCKDB in
		yes) return 0 ;;
		no) return 1 ;;
		*) "$PYTHON" -c 'import duckdb' 2>/dev/null ;;
	esac
}

declare -F measure >/dev/null || measure() {
	local duck=()

	if [[ ,$PARTS, == *,postgres,* ]] && has_duckdb; then
		[ -f "$DATA/ssb.duckdb" ] || step 'DuckDB database made' duckdb.log make_duckdb
		duck=(--duckdb "$DATA/ssb.duckdb" --duckdb-threads "$WORKERS")
	fi
	"$PYTHON" "$HERE/run.py" --out "$OUT/results.md" --parts "$PARTS" --workers "$WORKERS" --clients "$CLIENTS" \
		--seconds "$DURATION" --runs "$RUNS" --commit "$COMMIT" --command "$COMMAND" "${duck[@]}"
}

make_duckdb() {
	"$PYTHON" "$HERE/duck.py" "$DATA/new.duckdb" "$SCALE" --jobs "$WORKERS"
	mv "$DATA/new.duckdb" "$DATA/ssb.duckdb"
}

take_arguments "$@"
# timeout sends its signal to all programs that are running here, and cleanup() does the rest.
[[ -z ${STOP_AFTER:-} || -n ${STOPS:-} ]] || STOPS=yes exec timeout -k 60 "$STOP_AFTER" "$BASH" "$0" "$@"
set_defaults
[ "$(id -u)" -ne 0 ] || die 'PostgreSQL refuses root: run this as an ordinary user'
for tool in initdb pg_ctl psql pgbench "$PYTHON"; do
	command -v "$tool" >/dev/null || die "$tool is not on PATH"
done
KEEP=yes
[ -n "$DATA" ] || { KEEP=no; DATA=$(mktemp -d "${TMPDIR:-/tmp}/gpuconc-bench.XXXXXX"); }
mkdir -p "$OUT" "$DATA"
OUT=$(cd "$OUT" && pwd)
SOCKETS=$(mktemp -d /tmp/gpuconc-sockets.XXXXXX)
rm -f "$OUT"/{server,load,duckdb,filter_factors}.log
trap cleanup EXIT
trap 'exit 130' INT TERM
unset PGPORT PGOPTIONS PGSERVICE
export PGHOST=$SOCKETS PGUSER=bench PGDATABASE=postgres PYTHONDONTWRITEBYTECODE=1

[ -f "$DATA/postgresql.conf.initial" ] || step 'cluster made' server.log make_cluster
! declare -F prepare >/dev/null || prepare
write_conf
step 'server started' server.log pg_ctl -D "$DATA/cluster" -w -t 120 -l "$OUT/server.log" start
psql -Xqc 'create extension if not exists gpuconc' 2>/dev/null || die 'CREATE EXTENSION gpuconc failed'
step 'device ready' server.log wait_for_device
! grep 'calibration file' "$OUT/server.log" >&2 || die 'the calibration that EXTRA_CONF names is not used'
psql -XAtqc "select 'device: ' || device || ', ' || name from gpuconc_devices"
# One benchmark at a time: they share names of tables.
LOADED="${WHAT:+$WHAT }$SCALE"
[[ -f $DATA/loaded && $(<"$DATA/loaded") == "$LOADED" ]] || {
	rm -f "$DATA/loaded"
	step "${WHAT:-SSB} loaded at scale $SCALE" load.log load
	echo "$LOADED" >"$DATA/loaded"
}
[[ $CHECK != yes || -n ${BENCH_PROGRAM:-} ]] || step 'filter factors checked' filter_factors.log "$HERE/ssb/check_filter_factors"
measure
printf 'all of it took %d s; the tables are in %s\n' "$SECONDS" "$OUT"
