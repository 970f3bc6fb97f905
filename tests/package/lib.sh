# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# lib.sh - what the tests of packages share: where they lie, and how to end.
set -u
source_dir=${COALMINE_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build_dir=${COALMINE_BUILD:-$source_dir/build/dev}
work=$build_dir/package
packages=$work/packages

fail() {
	echo "FAILED after $SECONDS s: $*" >&2
	exit 1
}

say() {
	echo "[$SECONDS s] $*"
}

# need PROGRAM...
need() {
	for p; do
		command -v "$p" >/dev/null && continue
		echo "skipped: no $p; see lab/deps"
		exit 77
	done
}
