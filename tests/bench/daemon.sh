#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the collector's store, metrics and jobs cost, and records from an agent's
# frame to its acknowledgement; see daemon/.
set -eu -o pipefail
for part in daemon metrics; do
	"$COALMINE_BUILD/tests/bench/daemon/bench_$part" | sed 's/^/- /'
done
"$COALMINE_BUILD/tests/bench/daemon/bench_ledger" 0.25
echo
python3 "$COALMINE_SOURCE/tests/bench/daemon/records.py" | sed 's/^/- /'
