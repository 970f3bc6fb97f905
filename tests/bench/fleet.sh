#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# fleet.sh - COALMINE_BENCH_AGENTS (20,000) agents over mutual TLS and one
# collector: connection, memory, idle, the API, a campaign over 10,000 nodes,
# records, runs that come and go for COALMINE_BENCH_CHURN_S (5; memory is judged
# from 1800 on); see fleet/fleet.py. Real time: four minutes and more.
exec python3 "$COALMINE_SOURCE/tests/bench/fleet/fleet.py"
