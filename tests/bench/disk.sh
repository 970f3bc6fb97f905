#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# disk.sh - thirty days of ten thousand nodes in the real store, and the
# formula of coalmined(8); see daemon/bench_disk.c. Twenty minutes and 3 GB in
# /tmp; COALMINE_NODES and COALMINE_DAYS for less. With COALMINE_DISK, a
# folder, the store stays there, and a call for more days continues where the
# last one ended.
set -eu -o pipefail
bench=$COALMINE_BUILD/tests/bench/daemon/bench_disk
nodes=${COALMINE_NODES:-10000}
days=${COALMINE_DAYS:-30}
dir=${COALMINE_DISK-}
bad=0

cat <<E
$nodes nodes: the mesh every five minutes, two light campaigns on 256 nodes every
five minutes, one campaign with load on 512 nodes a day; raw_retention 7 days,
retention 21 days. MB are 10^6 bytes, used and in the file, after each day's
housekeeping. s: elapsed time to simulate the day; CPU s: CPU time of both threads.

| day | used MB | file MB | formula MB | used / formula | s | CPU s |
|---:|---:|---:|---:|---:|---:|---:|
E
# The first day, the end of each week, the day after raw_retention, the last.
some_days()
{
	awk -v last="$days" '$2 == 1 || $2 % 7 == 0 || $2 == 8 || $2 == last'
}

if [ -z "$dir" ]; then
	"$bench" "$nodes" "$days" | some_days
	exit
fi
mkdir -p "$dir"
touch "$dir/rows"
had=$(wc -l <"$dir/rows")
[ "$had" -ge "$days" ] ||
	"$bench" "$nodes" "$days" "$dir" $((had + 1)) >>"$dir/rows" || bad=$?
some_days <"$dir/rows"
exit "$bad"
