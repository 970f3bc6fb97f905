#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# man.sh [TREE [ROWS]] - the manual pages are clean mdoc, the index coalmine(7)
# lists each with its own one-line description, tests that they name are there,
# and they name everything that can be set, said or met: ROWS is the program that prints the tables of
# schema/, one "kind name" a line.
rows=${2-}
. "$(dirname "$0")/lib.sh"
need mandoc
bad=0

# page KIND: where its names are explained.
page() {
	case $1 in
	coalmined | coalmine-agent | campaign) echo etc/coalmine.conf.5 ;;
	machine) echo probes/topology/coalmine-machine.5 ;;
	plan) echo probes/coalmine-probe-options.5 ;;
	cause | state | test | congestor | stop | event | metric) echo schema/coalmine-output.7 ;;
	message) echo schema/coalmine-wire.7 ;;
	esac
}

for f in $(files '*.[1-8]' | grep -v '^tests/'); do
	out=$(mandoc -Tlint -W warning "$f" 2>&1 |
	    grep -v 'referenced manual not found')
	# As lintian looks at packages.
	[ -n "$out" ] || ! command -v man >/dev/null ||
	    out=$(MANROFFSEQ='' MANWIDTH=120 man --warnings -E UTF-8 -l -Tutf8 \
		-Z "$f" 2>&1 >/dev/null | sed "s|^|$f: |")
	[ -z "$out" ] && continue
	echo "$out"
	bad=1
done

index=docs/coalmine.7
for f in $(files '*.[1-8]' | grep -v -e '^tests/' -e "^$index$"); do
	entry=$(awk '$1 == ".Dt" { section = $3 } $1 == ".Nm" { name = $2 }
	    $1 == ".Nd" { sub(/^.Nd /, "")
	    printf ".It Xr %s %s\n%s.\n", name, section, $0; exit }' "$f")
	case "$(cat $index)" in
	*"$entry"*) ;;
	*)
		echo "$index: has no entry for $f:" "$entry"
		bad=1
		;;
	esac
done

# A test that a page names, as ".Pq Pa tests/FILE : Li NAME", is there.
for f in $(files '*.[1-8]' | grep -v '^tests/'); do
	sed -n 's/^\.Pq Pa \(tests[^ ]*\) : Li \([^ ]*\).*/\1 \2/p' "$f" |
	    while read -r file name; do
		grep -qw -e "$name" "$file" 2>/dev/null && continue
		echo "$f: names test $name of $file, which is not there"
	done
done | grep . && bad=1

# The words of a page, each page rendered once, without overstriking.
backspace=$(printf '\b')
words() {
	[ -f "$1" ] || return
	plain=$work/$(basename "$1")
	[ -f "$plain" ] ||
	    mandoc -Tascii "$1" | sed "s/.$backspace//g" >"$plain"
	grep -qwF -e "$2" "$plain"
}

if [ -n "$rows" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	list=$("$rows" rows) || exit 3
	while read -r kind name; do
		file=$(page "$kind")
		words "$file" "$name" && continue
		echo "$file: says nothing of $kind $name"
		bad=1
	done <<-EOF
	$list
	EOF
fi
exit $bad
