#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# verdict.sh - how soon and how surely faults are named, in simulated clusters,
# and how often nobody's fault is. COALMINE_TRIALS (1000) of each fault, and
# COALMINE_ROUNDS (8640, a month of 5-minute rounds) without one.
exec "$COALMINE_BUILD/tests/sim/verdict/bench_verdict" \
	"${COALMINE_TRIALS:-1000}" "${COALMINE_ROUNDS:-8640}"
