#!/usr/bin/env bash
#
# points.sh: throughput of random SSB queries at a few points, one line each, for a quick look.
#
#   bench/two_stage/points.sh [NAME=VALUE ...]        say SCALE=20 WORKERS=16 CLIENTS=16,64
#
# Sets up what pg.sh does, and takes the same settings (SCALE, WORKERS, OUT, COMMIT, CLIENTS, DURATION, POLICIES, ...).
# For every policy a first run of all clients, not shown, has kernels compiled and times learned; then one run of
# DURATION seconds (2) for each number of clients, all of which counts.  OUT gets points.md.
set -Eeuo pipefail

TWO_STAGE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BENCH_PROGRAM=bench/two_stage/points.sh
MORE_NAMES=(POLICIES)
MORE_CONF='gpuconc.batch_log_size = 16384
gpuconc.enabled = on
plan_cache_mode = force_generic_plan'

# The 13 queries as pgbench draws their constants, one file each.
write_scripts() {
	PYTHONPATH=$TWO_STAGE/.. "$PYTHON" - "$1" <<'PY'
import sys
from measure import QUERIES
from run import random_variant
for name in QUERIES:
    with open(f'{sys.argv[1]}/{name}.sql', 'w') as f:
        f.write(random_variant(name) + ';\n')
PY
}

# Queries a second of so many clients for so many seconds.
rate() {
	timeout $(($2 + 20)) pgbench -n -M prepared -c "$1" -j $(($1 < 16 ? $1 : 16)) -T "$2" --random-seed=1 $FILES 2>>"$OUT/pgbench.log" |
		awk '/^tps/ {printf "%.0f", $3}'
}

line() {
	local policy=$1 clients=$2 tps

	psql -Xqc 'select gpuconc_stat_reset()' >/dev/null
	tps=$(rate "$clients" "$DURATION")
	psql -XAtq -v policy="$policy" -v clients="$clients" -v tps="$tps" <<'SQL'
select concat_ws(' | ', '| ' || :'policy', :'clients', :'tps',
	(select coalesce(round(sum(requests) filter (where kind <> 'kernel') / nullif(sum(launches) filter (where kind <> 'kernel'), 0), 1), 0) from gpuconc_stat_kernels),
	(select coalesce(round(100 * sum(requests) filter (where kind <> 'kernel') / sum(requests)), 0) from gpuconc_stat_kernels) || ' %',
	(select round(100.0 * results_shared / nullif(offloaded, 0)) from gpuconc_stat, gpuconc_stat_sharing) || ' %',
	(select round(100 * percentile_cont(0.5) within group (order by abs(predicted_time - actual_time) / nullif(actual_time, 0))) from gpuconc_stat_batches) || ' % |');
SQL
}

measure() {
	local policy clients scripts

	scripts=$(mktemp -d /tmp/gpuconc-points.XXXXXX)
	write_scripts "$scripts"
	FILES=$(printf -- '-f %s ' "$scripts"/*.sql)
	{
		printf '# Throughput of random SSB queries, scale %s\n\nCommit: %s. Command: `%s`\n\n' "$SCALE" "$COMMIT" "$COMMAND"
		echo '| policy | clients | queries/s | requests per shared scan | in one | results shared | error of predictions, median |'
		echo '|---|---|---|---|---|---|---|'
		for policy in ${POLICIES//,/ }; do
			psql -Xqc "alter system set gpuconc.schedule = '$policy'" -c 'select pg_reload_conf()' >/dev/null
			rate 16 4 >/dev/null
			for clients in ${CLIENTS//,/ }; do
				line "$policy" "$clients"
			done
		done
	} | tee "$OUT/points.md"
	rm -rf "$scripts"
}

: "${POLICIES:=sequential,twostage}"
DEFAULT_PARTS=points
DEFAULT_CLIENTS=1,4,8,16,32,64
DEFAULT_CHECK=no
DEFAULT_RUNS=
source "$TWO_STAGE/../device.sh"
