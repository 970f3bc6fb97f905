#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# common.sh - the cost of a sample: histogram and random numbers.
exec "$COALMINE_BUILD/tests/bench/bench_common"
