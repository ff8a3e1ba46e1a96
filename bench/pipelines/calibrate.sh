#!/usr/bin/env bash
#
# calibrate.sh: build the program that calibrates the model of edges, and run it.
#
#   bench/pipelines/calibrate.sh [OUT=DIR] [DEVICE=cuda|host] [COMMIT=TEXT] [SECONDS_AT_MOST=240]
#
# Needs a C compiler and make; for device cuda a driver and NVRTC.  No server.  OUT (pipelines-results in the
# current folder) gets calibrate.md and DEVICE-NAME.edges.calibration, whose lines belong into the file that
# gpuconc.calibration_file names, behind those of bench/two_stage/calibrate.
set -Eeuo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for arg; do
	case $arg in
		OUT=* | DEVICE=* | COMMIT=* | SECONDS_AT_MOST=*) printf -v "${arg%%=*}" '%s' "${arg#*=}" ;;
		*) printf 'calibrate.sh: unknown argument "%s"; see the head of this file\n' "$arg" >&2; exit 1 ;;
	esac
done
: "${OUT:=$PWD/pipelines-results}" "${DEVICE:=cuda}" "${SECONDS_AT_MOST:=240}"
: "${COMMIT:=$(git -C "$HERE" describe --always --dirty 2>/dev/null || echo unknown)}"
mkdir -p "$OUT"
make -s -C "$HERE"
cd "$OUT"
rm -f calibrate.md
timeout -k 5 "$SECONDS_AT_MOST" "$HERE/bin/calibrate" --device "$DEVICE" --commit "$COMMIT" --out calibrate.md
