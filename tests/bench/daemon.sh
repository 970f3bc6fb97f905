#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the collector's store and metrics cost; see daemon/.
set -eu -o pipefail
for part in daemon metrics; do
	"$COALMINE_BUILD/tests/bench/daemon/bench_$part" | sed 's/^/- /'
done
