#!/usr/bin/env bash
#
# device.sh: less device memory than queries want, on one machine by one command: a private server, SSB and
# perhaps TPC-H, and at limits that are parts of the measured working set: one client, many, pairs of
# queries, policies of admission and replacement, the cost of decisions, and the smallest limits.
#
#   bench/memory/device.sh [NAME=VALUE ...]        say SCALE=20 WORKERS=16 OUT=/tmp/results DATA=/tmp/data
#
# It is bench/device.sh with other parts: needs what that needs, and takes the same settings, as far as they
# say something here (SCALE, WORKERS, OUT, COMMIT, DEVICE, HOST_THREADS, DATA, SHARED_BUFFERS, HOST_CACHE,
# WORK_MEM, EXTRA_CONF, PYTHON, DURATION, WHEELS), and:
#
#   PARTS        of one, many, overhead, replacement, reads, admission, moved, pairs, smallest, with commas (all, in
#                that order), and host, for a HOST_CACHE that is too small; none: load only
#   TPCH         scale of TPC-H, for part smallest (none)
#   SHARES       limits, in percent of the working set (100,75,50,25)
#   PAIRS        number of SSB's 78 pairs, an even sample if less (78)
#   SEED         of the sample (1)
#   ROUNDS       turns of each policy in parts admission and replacement (2)
#   SECONDS_MAX  seconds for all parts together (1500); each part takes what its share of the rest is at most
#   CHUNK_PAGES  gpuconc.debug_chunk_pages, for tiny scales (the server's default)
#
# The musts of many clients alone, in less than 6 minutes on a GPU machine of 16 cores: limits of 100, 50 and 25 %, 1 and
# 16 clients, bytes and evictions per query, use of the link, latencies.  What kernels' reads over the link cost is in
# the server's log.
#
#   bench/memory/device.sh SCALE=10 WORKERS=16 PARTS=many SHARES=100,50,25 SECONDS_MAX=150 OUT=/tmp/results DATA=/tmp/data
#
# To be tried without a GPU, in a few minutes:
#
#   bench/memory/device.sh SCALE=0.05 TPCH=0.01 PAIRS=3 DURATION=1 ROUNDS=1 CHUNK_PAGES=32 OUT=/tmp/results \
#       DATA=/tmp/data EXTRA_CONF="gpuconc.debug_pretend_gpu = 'H200'"
#
# OUT gets PART.md and PART.csv as soon as a part is done, the server's log and settings, the loader's output.
# Limits are changed while the server runs: its worker starts anew, and the column cache stays.
set -Eeuo pipefail

MEMORY=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/memory/device.sh
MORE_NAMES=(TPCH SHARES PAIRS SEED ROUNDS SECONDS_MAX CHUNK_PAGES)
DEFAULT_PARTS=one,many,overhead,replacement,reads,admission,moved,pairs,smallest

# Before the server starts.
prepare() {
	: "${TPCH:=}" "${SHARES:=100,75,50,25}" "${PAIRS:=78}" "${SEED:=1}" "${ROUNDS:=2}" "${SECONDS_MAX:=1500}" "${CHUNK_PAGES:=}"
	# Frozen rows have a proof of their visibility only where the map's pages were logged.
	MORE_CONF="max_parallel_workers_per_gather = $WORKERS
wal_level = replica
${CHUNK_PAGES:+gpuconc.debug_chunk_pages = $CHUNK_PAGES}"
	WHAT=SSB
	[ -z "$TPCH" ] || {
		WHAT="TPC-H $TPCH and SSB"
		HOST_CACHE=$(awk -v c="$HOST_CACHE" -v s="$TPCH" 'BEGIN {printf "%d", c + 4800 * s}')
		[ -z "${WHEELS:-}" ] || { WHEELS=$(cd "$WHEELS" && pwd); export TPCHGEN_WHEELS=$WHEELS; }
		TPCHGEN_CLI=$("$MEMORY/../tpch/generator") || die 'there is no tpchgen-cli'
		export TPCHGEN_CLI
	}
}

# Called where errexit is off: each step that fails has to end it.
load() {
	"$HERE/ssb/load" "$SCALE" --jobs "$WORKERS" || return
	psql -Xqc checkpoint || return
	[ -z "$TPCH" ] || {
		psql -Xqc 'drop database if exists tpch' -c 'create database tpch' &&
			psql -Xqd tpch -c 'create extension gpuconc' &&
			"$PYTHON" "$HERE/tpch/load" "$TPCH" --jobs "$WORKERS" --with-fk-indexes --database tpch &&
			psql -Xqc checkpoint
	}
}

measure() {
	local database

	# Databases in DATA may have been made with another build's script.
	for database in postgres ${TPCH:+tpch}; do
		psql -Xqd "$database" -c 'set client_min_messages = warning' -c 'drop extension if exists gpuconc' -c 'create extension gpuconc'
	done
	"$PYTHON" "$MEMORY/limits.py" --out "$OUT" --parts "$PARTS" --shares "$SHARES" --duration "$DURATION" --pairs "$PAIRS" \
		--seed "$SEED" --rounds "$ROUNDS" --seconds "$SECONDS_MAX" --tpch "${TPCH:-0}" --commit "$COMMIT" --command "$COMMAND"
}

source "$MEMORY/../device.sh"
