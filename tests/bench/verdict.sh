#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# verdict.sh - how soon and how surely faults are named, in simulated clusters,
# and how often nobody's fault is: all scenarios of tests/sim/verdict.
# COALMINE_SHARE (1) of their trials.
exec "$COALMINE_BUILD/tests/sim/verdict/bench_verdict" \
	-s "${COALMINE_SHARE:-1}" \
	"$COALMINE_SOURCE"/tests/sim/verdict/scenarios/*.conf
