#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# man.sh [TREE TABLES] - the manual pages, with their tables, are clean mdoc, the
# index coalmine(7) lists each with its own one-line description, tests that
# they name exist, each claim of the threat model names one, and they document
# every option, output and state: TABLES is coalmine-tables of the build.
if [ $# = 0 ]; then # by hand, in a tree whose dev build is there
	root=$(cd "$(dirname "$0")/../.." && pwd)
	set -- "$root" "$root/build/dev/etc/coalmine-tables"
fi
tables=$2
. "$(dirname "$0")/lib.sh"
need mandoc
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tables" rows >"$work/rows" || exit 3

# page KIND: the page that explains its names.
page() {
	case $1 in
	coalmined | coalmine-agent | campaign) echo etc/coalmine.conf.5 ;;
	machine) echo probes/topology/coalmine-machine.5 ;;
	promise) echo ctl/accept/coalmine-promise.5 ;;
	plan) echo probes/coalmine-probe-options.5 ;;
	scan) echo probes/coalmine-scan.1 ;;
	cause | state | test | congestor | stop | event | metric | number) echo schema/coalmine-output.7 ;;
	message) echo schema/coalmine-wire.7 ;;
	fault) echo daemon/diagnosis/coalmine-verdict.7 ;;
	esac
}

for f in $(files '*.[1-8]' | grep -v '^tests/'); do
	made=$work/$f
	mkdir -p "$(dirname "$made")"
	etc/make-page "$f" "$tables" >"$made" || exit 1
	out=$(mandoc -Tlint -W warning "$made" 2>&1 | sed "s|$work/||" |
	    grep -v 'referenced manual not found')
	# As lintian looks at packages.
	[ -n "$out" ] || ! command -v man >/dev/null ||
	    out=$(MANROFFSEQ='' MANWIDTH=120 man --warnings -E UTF-8 -l -Tutf8 \
		-Z "$made" 2>&1 >/dev/null | sed "s|^|$f: |")
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

# A test that a page names, as ".Pq Pa tests/FILE : Li NAME", exists.
for f in $(files '*.[1-8]' | grep -v '^tests/'); do
	sed -n 's/^\.Pq Pa \(tests[^ ]*\) : Li \([^ ]*\).*/\1 \2/p' "$f" |
	    while read -r file name; do
		grep -qw -e "$name" "$file" 2>/dev/null && continue
		echo "$f: names test $name of $file, which is not there"
	done
done | grep . && bad=1

# Each item of the threat model's lists names a test; recommendations have none,
# nor what an attacker "can" do.
for f in $(files coalmine-security.7); do
	awk '/^\.Sh/ { advice = /CONNECTIONS OF RANKS/ }
	    /^\.(It|El)/ && at && !tested && !advice {
		print FILENAME ":" at ": a claim without a test"; bad = 1 }
	    /^\.Bl/ { list = /-bullet/ }
	    /^\.(It|El)/ { at = list && /It/ ? FNR : 0; tested = 0 }
	    /^\.El/ { list = 0 }
	    /^\.Pq Pa tests/ || (/^can / && FNR == at + 1) { tested = 1 }
	    END { exit bad }' "$f" || bad=1
done

# The words of a page, each page rendered once, without overstriking.
backspace=$(printf '\b')
words() {
	[ -f "$work/$1" ] || return
	plain=$work/$1.txt
	[ -f "$plain" ] ||
	    mandoc -Tascii "$work/$1" | sed "s/.$backspace//g" >"$plain"
	grep -qwF -e "$2" "$plain"
}

while read -r kind name; do
	file=$(page "$kind")
	words "$file" "$name" && continue
	echo "$file: says nothing of $kind $name"
	bad=1
done <"$work/rows"
exit $bad
