#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# plan.sh - prove one in COALMINE_SWEEP_EVERY (500) collectives in all shapes, and
# print the cost of plans of many ranks. 1 proves all of them, in some hours.
exec "$COALMINE_BUILD/tests/bench/bench_plan" "${COALMINE_SWEEP_EVERY:-500}"
