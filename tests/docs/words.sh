#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# words.sh TREE ROWS - every cause and every state of a run has its heading in
# the page of symptoms, ROWS being the program that prints the tables of
# schema/; so has every kind of verdict (what). A text in quotation marks in a
# heading occurs in the source, where “…” matches variable parts.
. "$COALMINE_SOURCE/tests/lint/lib.sh"
rows=$2
page=docs/guide/troubleshooting.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$rows" rows | awk '$1 ~ /^(cause|state|fault)$/ { print $2 }' |
    grep -vxE 'none|ok|pending|starting|running|finished' >"$work/words"
[ "$(wc -l <"$work/words")" -gt 30 ] || {
	echo "the tables have too few words: $(wc -l <"$work/words")"
	exit 1
}
# Strings of C as they are printed: adjacent strings are joined.
files '*.c' '*.h' | grep -E '^(agents|common|ctl|daemon|probes|schema)/' |
    xargs cat | tr -s ' \t\n' ' ' | sed 's/" "//g' >"$work/source"

# errors_of FILE: its errors, one per line.
errors_of() {
	while read -r word; do
		grep -qE "^#+ .*\`$word\`" "$1" ||
		    echo "$page:1: no heading has \`$word\`"
	done <"$work/words"
	grep -n '^#.*“' "$1" | while IFS=: read -r line text; do
		text=${text#*“}
		text=${text%%”*}
		printf '%s\n' "$text" | sed 's/ *… */\n/g' |
		    while read -r part; do
			[ ${#part} -lt 6 ] && continue
			grep -qF -e "$part" "$work/source" ||
			    echo "$page:$line: not in the source: \"$part\""
		done
	done
}

errors_of "$page" | grep . && exit 1

# It can fail.
{
	grep -v '^### `wrong-data`' "$page"
	echo '### “this text does not exist …”'
} >"$work/spoilt.md"
[ "$(errors_of "$work/spoilt.md" | grep -c -e '`wrong-data`$' \
    -e '"this text does not exist"$')" = 2 ] && exit 0
echo "a missing or wrong heading is not detected"
exit 1
