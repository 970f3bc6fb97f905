#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# plan.sh - collectives in all shapes proven, one in COALMINE_SWEEP_EVERY (500) of
# them, and what plans of many ranks cost. 1 proves all of them, in some hours.
exec "$COALMINE_BUILD/tests/bench/bench_plan" "${COALMINE_SWEEP_EVERY:-500}"
