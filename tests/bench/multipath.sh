#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# multipath.sh - one message over several ways in real time: what is gained on
# links that are not there, a hundred times slower than those of two nodes of
# the paper, with costs as much larger, so that the same chunks come out;
# against the closed model, and against 1/(1 - f) for the share f that does not
# go directly. Half a minute.
set -eu -o pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
engine=$COALMINE_BUILD/probes/openmpi/coalmine-probe
[ -x "$engine" ] || { echo "skipped: no Open MPI" >&2; exit 77; }

# node NAME DIRECT HOST: rates in GB/s.
node()
{
	COALMINE_FAKE_NODES=1 timeout 120 "$engine" run multipath emulate=yes \
		bytes=256M direct_rate="$2" host_in="$3" host_out="$3" \
		direct_setup=1ms host_setup=1500us chunk_setup=1ms --quiet \
		--json "$work/records" || exit 1
	jq -r --arg node "$1" '
		def cut: . * 1000 | round / 1000;
		select(.probe == "speedup") | .ways[1] as $host |
		"| \($node) | \(if .bytes < 1048576 then
			"\(.bytes / 1024) KiB" else
			"\(.bytes / 1048576) MiB" end) | \(.n) | " +
		"\($host.share | cut) | \($host.chunks) | \(.value | cut) | " +
		"\(.stated_ratio | cut) | " +
		"\((.value / .stated_ratio - 1) * 1000 | round / 10) | " +
		"\(1 / (1 - $host.share) | cut) |"' "$work/records" || exit 1
}

echo "Speed-up over the direct way alone, median of n turns; rates of Mist and"
echo "Cedar over 100, costs times 100, as the tuner splits."
echo
echo "| node | message | n | share of the host | chunks | speed-up | model |" \
	"off by % | 1/(1 - f) |"
echo "|---|---|---:|---:|---:|---:|---:|---:|---:|"
node Mist 0.72 0.61
node Cedar 0.49 0.112
