#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The cost of the collector's store, metrics and jobs, and of records from an
# agent's frame to its acknowledgement; see daemon/.
set -eu -o pipefail
for part in daemon metrics; do
	"$COALMINE_BUILD/tests/bench/daemon/bench_$part" | sed 's/^/- /'
done
"$COALMINE_BUILD/tests/bench/daemon/bench_ledger" 0.25
echo
python3 "$COALMINE_SOURCE/tests/bench/daemon/records.py" | sed 's/^/- /'
# The same on a database server on this host, if there is one.
on=$COALMINE_SOURCE/tests/unit/daemon/store/on_postgresql.py
for i in 1 2 3; do
	"$COALMINE_BUILD/tests/bench/daemon/bench_daemon"
	"$on" "$COALMINE_BUILD/tests/bench/daemon/bench_daemon" || [ $? = 77 ]
done | grep ingest | sed 's/^/- /'
