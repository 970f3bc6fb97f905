#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# common.sh - what a sample costs: histogram and random numbers.
exec "$COALMINE_BUILD/tests/bench/bench_common"
