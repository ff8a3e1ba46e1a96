#!/usr/bin/env bash
#
# mix_counters.sh: what the mixes' queries read and issue, alone and sharing a scan, by NVIDIA's profiler (ncu).
#
#   bench/two_stage/mix_counters.sh DATA=/tmp/data OUT=/tmp/results [NAME=VALUE ...]
#
# Runs on the cluster that pg.sh has loaded and left in DATA, with the settings it had last, as the same
# user.  The server is started under the profiler, which counts every kernel in one pass: what does not
# fit into one would have it save and restore all of the device's memory.  Times under the profiler are
# its own and tell the scheduler nothing, so what is to be shared is forced.  Settings:
#
#   DATA      folder of the loaded cluster
#   OUT       folder for mix_counters.md, the profiler's CSV file and logs
#   COMMIT    what the table calls the commit
#   NCU       the profiler (ncu of the path)
#   LIMIT     seconds for all of it (150)
set -Eeuo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for arg; do
	case $arg in
		DATA=* | OUT=* | COMMIT=* | NCU=* | LIMIT=*) printf -v "${arg%%=*}" '%s' "${arg#*=}" ;;
		*) printf 'mix_counters.sh: unknown argument "%s"; see the head of this file\n' "$arg" >&2; exit 1 ;;
	esac
done
: "${DATA:?}" "${OUT:?}" "${COMMIT:=}" "${NCU:=ncu}" "${LIMIT:=150}"
mkdir -p "$OUT"
SOCKETS=$(mktemp -d /tmp/gpuconc-sockets.XXXXXX)
unset PGPORT PGOPTIONS PGSERVICE
export PGHOST=$SOCKETS PGUSER=bench PGDATABASE=postgres PYTHONDONTWRITEBYTECODE=1

stop() {
	pg_ctl -D "$DATA/cluster" -m fast -t 60 stop >/dev/null 2>&1 || true
	wait || true
	rm -rf "$SOCKETS"
}
trap stop EXIT

"$NCU" --target-processes all --clock-control none --cache-control none --csv --page raw --print-units base \
	--metrics "$(python3 "$HERE/mix_counters.py" metrics)" --log-file "$OUT/mix_counters.csv" \
	"$(command -v postgres)" -D "$DATA/cluster" -k "$SOCKETS" >"$OUT/mix_counters-server.log" 2>&1 &
for ((i = 0; i < 300; i++)); do
	[[ $(psql -XAtqc 'select state from gpuconc_devices' 2>/dev/null) != ready ]] || break
	sleep 0.2
done
timeout -k 5 "$LIMIT" python3 "$HERE/mix_counters.py" run --out "$OUT/mix_counters.plan" || rc=$?
stop
trap - EXIT
python3 "$HERE/mix_counters.py" table --plan "$OUT/mix_counters.plan" --csv "$OUT/mix_counters.csv" \
	--commit "$COMMIT" --out "$OUT/mix_counters.md"
exit "${rc:-0}"
