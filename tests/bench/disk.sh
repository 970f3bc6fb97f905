#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# disk.sh - thirty days of ten thousand nodes in the real store, and the formula
# of coalmined(8); see daemon/bench_disk.c. Half an hour and 4 GB in /tmp;
# COALMINE_NODES and COALMINE_DAYS for less.
set -eu
cat <<'E'
The mesh every five minutes, two light campaigns every five minutes on 256
nodes, one with load a day on 512; raw_retention 7 days, retention 21. MB are
10^6 bytes, in use and of the file, at the end of each day's housekeeping; CPU
s are those of both threads.

| day | used MB | file MB | formula MB | used / formula | s | CPU s |
|---:|---:|---:|---:|---:|---:|---:|
E
exec "$COALMINE_BUILD/tests/bench/daemon/bench_disk" \
	"${COALMINE_NODES:-10000}" "${COALMINE_DAYS:-30}"
