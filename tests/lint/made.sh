#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# made.sh [TREE TABLES] - the files that the build made from rows, next to the
# program TABLES, match the current rows: default files, manual pages,
# dashboards, matrices.
if [ $# = 0 ]; then # by hand, in a tree whose dev build is there
	root=$(cd "$(dirname "$0")/../.." && pwd)
	set -- "$root" "$root/build/dev/etc/coalmine-tables"
	[ -x "$2" ] || { echo "no $2: build the dev preset first" >&2; exit 3; }
fi
tables=$2
. "$(dirname "$0")/lib.sh"
etc=$(dirname "$tables")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# compare FILE BUILT: the current output with the build's.
compare() {
	cmp -s "$1" "$2" && return
	echo "${2#"$etc/../"}:1: differs from its rows: build again"
	diff "$2" "$1" | head -n 10
	bad=1
}

for kind in coalmined coalmine-agent; do
	"$tables" defaults $kind >"$work/new" || exit 3
	compare "$work/new" "$etc/$kind.conf"
done
for page in $(files '*.[1-8]' | grep -v '^tests/'); do
	etc/make-page "$page" "$tables" >"$work/new" || exit 3
	compare "$work/new" "$etc/../man/man${page##*.}/${page##*/}"
done
mkdir "$work/grafana"
python3 etc/grafana/make.py "$work/grafana" "$tables" || exit 3
for board in "$work"/grafana/*; do
	compare "$board" "$etc/grafana/${board##*/}"
done
for matrix in "$etc"/matrices/*; do
	name=${matrix##*/}
	python3 lab/make-matrix "${name%.mtx}" >"$work/new" || exit 3
	compare "$work/new" "$matrix"
done
exit $bad
