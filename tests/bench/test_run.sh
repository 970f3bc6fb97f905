#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_run.sh - tests/bench/run replaces the section of a bench and keeps the
# others. If a bench fails or is skipped, it changes nothing.
#
# Not covered: the benches.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/a/tests/bench" "$work/build"
cp "$here/run" "$work/a/tests/bench"
cd "$work/a/tests/bench" || exit 1

bench() {
	printf '#!/bin/sh\n%s\n' "$2" >"$1.sh"
	chmod +x "$1.sh"
}

go() {
	./run -b "$work/build" "$@" >"$work/out" 2>&1
}

same() {
	diff - RESULTS.md || { echo "wrong after: $1"; exit 1; }
}

bench one 'echo first'
bench two 'echo "| x |"'
go || { cat "$work/out"; exit 1; }
printf '%s\n' '# Results' '' '## one' '' '    tests/bench/run one' '' first \
    '' '## two' '' '    tests/bench/run two' '' '| x |' >"$work/want"
same 'all' <"$work/want"

bench one 'printf "%s\n" second more'
go one || exit 1
printf '%s\n' '# Results' '' '## one' '' '    tests/bench/run one' '' second \
    more '' '## two' '' '    tests/bench/run two' '' '| x |' >"$work/want"
same 'one again' <"$work/want"

bench one 'echo third; exit 1'
go && { echo "a failing bench passes"; exit 1; }
same 'a failure' <"$work/want"
bench one 'echo third; echo no device >&2; exit 77'
go one || exit 1
grep -q 'skipped: no device' "$work/out" || exit 1
same 'a skip' <"$work/want"
go three && { echo "an unknown bench passes"; exit 1; }
exit 0
