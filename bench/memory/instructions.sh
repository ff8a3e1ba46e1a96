#!/usr/bin/env bash
#
# instructions.sh: what memory management costs where memory suffices, in instructions of the worker's main thread,
# by one command: a private server with SSB, whose worker runs under valgrind's callgrind.
#
#   bench/memory/instructions.sh [NAME=VALUE ...]        say OUT=/tmp/results DATA=/tmp/data
#
# It is bench/device.sh with another part: needs what that needs, and valgrind.  It takes the same settings, as far as
# they say something here, and:
#
#   CHUNK_PAGES  gpuconc.chunk_pages; as many chunks as a large table has (32)
#   WARM         rounds of the 13 queries before (8)
#   ROUNDS       rounds that are counted (5)
#   SESSIONS     sessions that run them at once (1)
#
# Instructions do not depend on what else the machine does, nor does the server need a GPU: the worker does what it does
# for an H200.  Left out of the whole: reading the configuration, which marks the begin and the end, and what is
# done by the processor for device `host` (zeroing its memory, loading kernels).  System calls have no instructions.
#
# OUT gets instructions.md, and callgrind's profile of the thread.
set -Eeuo pipefail

MEMORY=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/memory/instructions.sh
MORE_NAMES=(CHUNK_PAGES WARM ROUNDS SESSIONS)

# Decisions about device memory.  None calls another one.
DECISIONS="gc_run_admit gc_run_takes_less gc_run_leave_admitted gc_wave_scan_wanted gc_wave_scan_spared gc_column_used gc_request_begins"
LEFT_OUT="ProcessConfigFile host_fill gc_host_dlopen"

prepare() {
	: "${CHUNK_PAGES:=32}" "${WARM:=8}" "${ROUNDS:=5}" "${SESSIONS:=1}"
	MORE_CONF="wal_level = replica
gpuconc.chunk_pages = $CHUNK_PAGES
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.debug_offload = require
gpuconc.enabled = on
gpuconc.cold = wait
jit = off"
}

# Rounds of all queries, prepared, in each session.
queries() {
	local script=$OUT/queries.sql name i

	: >"$script"
	for name in "$HERE"/ssb/queries/*.sql; do
		printf 'prepare "%s" as ' "${name##*/}"
		sed 's/--.*//' "$name"
	done >>"$script"
	for ((i = 0; i < $1; i++)); do
		for name in "$HERE"/ssb/queries/*.sql; do
			printf 'execute "%s";\n' "${name##*/}"
		done
	done >>"$script"
	for ((i = 0; i < $2; i++)); do
		psql -Xqo /dev/null -v ON_ERROR_STOP=1 -f "$script" &
	done
	wait $(jobs -p)
}

# Callgrind writes what was counted so far before the worker reads its configuration.
mark() {
	psql -Xqo /dev/null -c 'select pg_reload_conf()' -c 'select pg_sleep(1)'
}

# Of callgrind's profile: the thread, what is left out, and each decision.
report() {
	callgrind_annotate --inclusive=yes --threshold=100 --auto=no "$1" | awk -v n="$2" -v decisions="$DECISIONS" -v left_out="$LEFT_OUT" '
		/^ *[0-9][0-9,]* / {
			count = $1
			gsub(/,/, "", count)
			sub(/^ *[0-9,]+ *(\([^)]*\))? */, "")
			sub(/ \[[^]]*\]$/, "")
			sub(/^.*:/, "")
			if (count + 0 > of[$0])
				of[$0] = count + 0
		}
		END {
			whole = of["gc_worker_main"]
			m = split(left_out, name, " ")
			for (i = 1; i <= m; i++)
				whole -= of[name[i]]
			print "| function | instructions per query | % |"
			print "| --- | --- | --- |"
			m = split(decisions, name, " ")
			for (i = 1; i <= m; i++) {
				printf "| %s | %d | %.1f |\n", name[i], of[name[i]] / n, 100 * of[name[i]] / whole
				all += of[name[i]]
			}
			printf "| all of these | %d | %.1f |\n", all / n, 100 * all / whole
			printf "| the worker'"'"'s main thread | %d | 100 |\n", whole / n
		}'
}

measure() {
	local pid profile n=$((13 * ROUNDS * SESSIONS))

	psql -Xqc 'set client_min_messages = warning' -c 'drop extension if exists gpuconc' -c 'create extension gpuconc'
	# Kernels are compiled, and on disk, before valgrind makes all of it slow.
	queries "$WARM" "$SESSIONS"
	pg_ctl -D "$DATA/cluster" -m fast -w stop >>"$OUT/server.log"
	rm -f "$OUT"/profile.*
	(cd "$DATA" && exec valgrind --tool=callgrind --separate-threads=yes --dump-before=ProcessConfigFile \
		--callgrind-out-file="$OUT/profile.%p" "$(type -P postgres)" -D "$DATA/cluster") >>"$OUT/server.log" 2>&1 &
	until psql -Xqo /dev/null -c 'select 1' 2>>"$OUT/server.log"; do sleep 1; done
	wait_for_device
	disown -a
	pid=$(psql -XAtqc 'select worker_pid from gpuconc_devices')
	queries "$WARM" "$SESSIONS"
	mark
	queries "$ROUNDS" "$SESSIONS"
	mark
	profile=$(ls "$OUT/profile.$pid".*-01 | sort -V | tail -n 1)
	{
		printf '# Memory management where memory suffices, in instructions\n\n- commit: %s\n- command: `%s`\n' "$COMMIT" "$COMMAND"
		printf -- '- waves, evictions, fallbacks: %s\n\n' "$(psql -XAtqF ', ' -c 'select waves, evictions, fallbacks from gpuconc_stat')"
		report "$profile" "$n"
	} | tee "$OUT/instructions.md"
	mv "$profile" "$OUT/worker.callgrind"
	pg_ctl -D "$DATA/cluster" -m fast -w -t 120 stop >>"$OUT/server.log"
	rm -f "$OUT"/profile.*
}

source "$MEMORY/../device.sh"
