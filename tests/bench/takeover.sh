#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# takeover.sh - two collectors that share a database on a separate server; the
# active one is killed, COALMINE_BENCH_TAKEOVERS times (10):
# COALMINE_BENCH_AGENTS (5,000) agents with live runs, and one agent twice as
# often, and the requests of the page with 10,000 nodes; see fleet/fleet.py and
# tests/cli/daemon/standby.py.
set -eu
times=${COALMINE_BENCH_TAKEOVERS:-10}
export COALMINE_BENCH_AGENTS=${COALMINE_BENCH_AGENTS:-5000}
python3 "$COALMINE_SOURCE/tests/bench/fleet/fleet.py" takeovers "$times"
echo
printf 'One agent, from SIGKILL until one of its records is acknowledged: '
python3 "$COALMINE_SOURCE/tests/cli/daemon/standby.py" times $((2 * times))
echo
COALMINE_BENCH_AGENTS=10000 python3 \
    "$COALMINE_SOURCE/tests/bench/fleet/fleet.py" pages
