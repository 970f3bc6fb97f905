#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# predict.sh - what predictions cost against ranks and depth, on one core.
exec "$COALMINE_BUILD/tests/bench/bench_predict" "$COALMINE_SOURCE/etc/machines"
