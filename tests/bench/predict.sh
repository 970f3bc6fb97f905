#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# predict.sh - the cost of predictions by ranks and depth, on one core.
exec "$COALMINE_BUILD/tests/bench/bench_predict" "$COALMINE_SOURCE/etc/machines"
