#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the collector's store and metrics cost; see daemon/bench_daemon.c.
set -eu
"$COALMINE_BUILD/tests/bench/daemon/bench_daemon" | sed 's/^/- /'
