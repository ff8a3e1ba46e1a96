#!/usr/bin/env bash
#
# instructions.sh: what memory management costs, in instructions of the worker's main thread, by one command: a
# private server with SSB, whose worker runs under valgrind's callgrind.
#
#   bench/memory/instructions.sh [NAME=VALUE ...]        say OUT=/tmp/results DATA=/tmp/data
#   bench/memory/instructions.sh SCALE=0.05 LIMIT=14 SESSIONS=16 WARM=1 ROUNDS=2 OUT=/tmp/results DATA=/tmp/data
#
# The second one is of short memory: then all functions of the thread that take at least 1 % are listed, too.
#
# It is bench/device.sh with another part: needs what that needs, and valgrind.  It takes the same settings, as far as
# they say something here, and:
#
#   CHUNK_PAGES  gpuconc.debug_chunk_pages; as many chunks as a large table has (32)
#   WARM         rounds of the 13 queries before (8)
#   ROUNDS       rounds that are counted (5)
#   SESSIONS     sessions that run them at once, each in an order of its own (1)
#   LIMIT        device memory, in MB; none: it suffices (none)
#
# Instructions do not depend on what else the machine does, nor does the server need a GPU: the worker does what it does
# for an H200.  Left out of the whole: reading the configuration, which marks the begin and the end, and what is
# done by the processor for device `host` (zeroing its memory, copies, loading kernels).  System calls have no instructions.
#
# OUT gets instructions.md, and callgrind's profile of the thread.
set -Eeuo pipefail

MEMORY=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/memory/instructions.sh
MORE_NAMES=(CHUNK_PAGES WARM ROUNDS SESSIONS LIMIT)

# Decisions about device memory.  None calls another one.
DECISIONS="gc_run_admit gc_run_takes_less gc_run_leave_admitted gc_wave_scan_wanted gc_wave_scan_spared gc_column_used gc_request_begins"
LEFT_OUT="ProcessConfigFile host_fill host_copy_in host_copy_out gc_host_dlopen"

prepare() {
	: "${CHUNK_PAGES:=32}" "${WARM:=8}" "${ROUNDS:=5}" "${SESSIONS:=1}" "${LIMIT:=}"
	MORE_CONF="wal_level = replica
gpuconc.debug_chunk_pages = $CHUNK_PAGES
gpuconc.debug_pretend_gpu = 'H200'
gpuconc.debug_offload = require
gpuconc.enabled = on
gpuconc.cold = wait
jit = off
${LIMIT:+gpuconc.device_memory_limit = ${LIMIT}MB}"
}

# Rounds of all queries, prepared, in each session.  Each begins with another query, and goes on in other steps.
queries() {
	local names=("$HERE"/ssb/queries/*.sql) pids=() script name i n session

	for ((session = 0; session < $2; session++)); do
		script=$OUT/queries$session.sql
		for name in "${names[@]}"; do
			printf 'prepare "%s" as ' "${name##*/}"
			sed 's/--.*//' "$name"
		done >"$script"
		for ((i = 0; i < $1; i++)); do
			for ((n = 0; n < ${#names[@]}; n++)); do
				name=${names[(session + n * (session % (${#names[@]} - 1) + 1)) % ${#names[@]}]}
				printf 'execute "%s";\n' "${name##*/}"
			done
		done >>"$script"
		psql -Xqo /dev/null -v ON_ERROR_STOP=1 -f "$script" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

parts_of() {
	find "$OUT" -name "profile.$1.*-01" | wc -l
}

# Callgrind writes what was counted so far before the worker, $1, reads its configuration.
mark() {
	local parts

	parts=$(parts_of "$1")
	psql -Xqo /dev/null -c 'select pg_reload_conf()'
	until (($(parts_of "$1") > parts)); do sleep 0.2; done
	sleep 1
}

# Summarize callgrind's profile: the thread, what is left out, and each decision; in short memory, per wave and by
# function, too.
report() {
	callgrind_annotate --inclusive=yes --threshold=100 --auto=no "$1" | awk -v n="$2" -v waves="$3" -v decisions="$DECISIONS" -v left_out="$LEFT_OUT" '
		/^ *[0-9][0-9,]* / {
			count = $1
			gsub(/,/, "", count)
			sub(/^ *[0-9,]+ *(\([^)]*\))? */, "")
			sub(/ \[[^]]*\]$/, "")
			sub(/^.*:/, "")
			if (!($0 in of))
				order[++functions] = $0
			if (count + 0 > of[$0])
				of[$0] = count + 0
		}
		function line(name) {
			printf "| %s | %d |%s %.1f |\n", name, of[name] / n, waves ? sprintf(" %d |", of[name] / waves) : "", 100 * of[name] / whole
		}
		END {
			whole = of["gc_worker_main"]
			m = split(left_out, name, " ")
			for (i = 1; i <= m; i++)
				whole -= of[name[i]]
			of["the worker'"'"'s main thread"] = whole
			print "| function | instructions per query |" (waves ? " per wave |" : "") " % |"
			print "| --- | --- | --- |" (waves ? " --- |" : "")
			m = split(decisions, name, " ")
			for (i = 1; i <= m; i++) {
				line(name[i])
				of["all of these"] += of[name[i]]
			}
			line("all of these")
			line("the worker'"'"'s main thread")
			for (i = 1; waves && i <= functions; i++)
				if (of[order[i]] < whole && of[order[i]] >= whole / 100)
					line(order[i])
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
	mark "$pid"
	psql -Xqo /dev/null -c 'select gpuconc_stat_reset()'
	queries "$ROUNDS" "$SESSIONS"
	mark "$pid"
	profile=$(ls "$OUT/profile.$pid".*-01 | sort -V | tail -n 1)
	{
		printf '# Memory management where memory %s, in instructions\n\n- commit: %s\n- command: `%s`\n' \
			"$([ -n "$LIMIT" ] && echo 'is short' || echo suffices)" "$COMMIT" "$COMMAND"
		printf -- '- waves, evictions, fallbacks: %s\n\n' "$(psql -XAtqF ', ' -c 'select waves, evictions, fallbacks from gpuconc_stat, gpuconc_stat_memory')"
		report "$profile" "$n" "$([ -z "$LIMIT" ] || psql -XAtqc 'select nullif(waves, 0) from gpuconc_stat_memory')"
	} | tee "$OUT/instructions.md"
	mv "$profile" "$OUT/worker.callgrind"
	pg_ctl -D "$DATA/cluster" -m fast -w -t 120 stop >>"$OUT/server.log"
	rm -f "$OUT"/profile.*
}

source "$MEMORY/../device.sh"
