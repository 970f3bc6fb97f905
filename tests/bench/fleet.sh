#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# fleet.sh - COALMINE_BENCH_AGENTS (20,000) agents over mutual TLS and one
# collector: connection, memory, idle, the API, a campaign over 10,000 nodes,
# records, short runs for COALMINE_BENCH_CHURN_S (5; memory is checked from 1800
# on); see fleet/fleet.py. Takes at least four minutes.
exec python3 "$COALMINE_SOURCE/tests/bench/fleet/fleet.py"
