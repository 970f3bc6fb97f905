#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# generated.sh [--write] [TREE TABLES] - what is made from the tables of schema/
# is equal to them: the default files of etc/, and in manual pages what stands
# between ".\" begin TABLE" and ".\" end"; TABLE detection is of
# tests/bench/RESULTS.md. With --write it is made so, and the dashboards as well,
# which tests/grafana compares.
write=
[ "${1-}" = --write ] && write=yes && shift
if [ $# = 0 ]; then # by hand, in a tree whose dev build is there
	root=$(cd "$(dirname "$0")/../.." && pwd)
	set -- "$root" "$root/build/dev/tests/lint/coalmine-tables"
	[ -x "$2" ] || { echo "no $2: build the dev preset first" >&2; exit 3; }
fi
tables=$2
. "$(dirname "$0")/lib.sh"
bad=0
new=$(mktemp)
detection=$(mktemp)
trap 'rm -f "$new" "$detection"' EXIT

# compare FILE: with what is in $new.
compare() {
	cmp -s "$new" "$1" && return
	if [ -n "$write" ]; then
		cat "$new" >"$1"
		return
	fi
	echo "$1:1: differs from the tables (tests/lint/generated.sh --write)"
	diff "$1" "$new" | head -n 10
	bad=1
}

for kind in coalmined coalmine-agent; do
	[ -f etc/$kind.conf ] || [ -n "$write" ] || continue
	"$tables" defaults $kind >"$new" || exit 3
	compare etc/$kind.conf
done

# Of each scenario: fault, detected, named, rounds, runs an hour, false alarms.
if [ -f tests/bench/RESULTS.md ]; then
	awk -F ' *[|] *' '
	function share(text) { return text == "-" ? text : int(text) " %" }
	/^## / { inside = $0 == "## verdict" }
	inside && $3 ~ /^[0-9]/ {
		print ".It " $2 " Ta " share($4) " Ta " share($5) " Ta " \
		    ($6 > 0 ? $6 : "-") " Ta " $7 " Ta " $9
	}' tests/bench/RESULTS.md >"$detection"
fi

for page in $(files '*.[1-8]' | grep -v '^tests/'); do
	# shellcheck disable=SC2016
	awk -v tables="$tables" -v detection="$detection" '
	/^\.\\" end/ { inside = 0 }
	!inside { print; fflush() }
	/^\.\\" begin / {
		if (system($3 == "detection" ? "cat " detection \
		    : tables " mdoc " $3) != 0)
			exit 3
		inside = 1
	}' "$page" >"$new" || exit 3
	compare "$page"
done
if [ -n "$write" ] && [ -f etc/grafana/make.py ]; then
	python3 etc/grafana/make.py etc/grafana/dashboards "$tables" || exit 3
fi
exit $bad
