# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# lib.sh - common to the lint scripts. Each takes the tree to check as its
# argument, prints "file:line: error", and exits with 1 after any finding.
# Without an argument it checks its own tree.

here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}" || exit 3
unset here

# files PATTERN...: the tree's own files of such names, without built ones.
files() {
	set -f
	expr=
	for pattern; do
		expr="$expr${expr:+ -o} -name $pattern"
	done
	# shellcheck disable=SC2086
	find . \( -path ./build -o -path ./.git -o -path ./.cache \) -prune \
	    -o -type f \( $expr \) -print | sed 's|^\./||' | LC_ALL=C sort
	set +f
}

# skip REASON: ctest's status for a test that could not run.
skip() {
	echo "skipped: $*"
	exit 77
}

need() {
	command -v "$1" >/dev/null || skip "no $1; see lab/deps"
}
