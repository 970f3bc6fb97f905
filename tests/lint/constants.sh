#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# constants.sh [TREE] - every number that the diagnosis decides with has its
# reason: a comment on its line, or above the group of lines that it belongs to.
# constants.sh --table prints the table of these constants instead, in Markdown.
table=0
[ "${1-}" = --table ] && table=1 && shift
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2046
exec awk -v table=$table '
function clean(s)
{
	gsub(/\/\*|\*\//, "", s)
	gsub(/[ \t]+\*[ \t]+|[ \t]+/, " ", s)
	gsub(/^ | $/, "", s)
	return s
}
# The rest of a comment or of a continued line.
function more(end,    s, line)
{
	while (s !~ end && (getline line) > 0)
		s = s " " line
	return s
}
BEGIN {
	if (table)
		print "| constant | value | reason | file |\n|---|---|---|---|"
}
FNR == 1 { reason = "" }
/^[ \t]*\/\*/ {
	reason = clean($0 ~ /\*\// ? $0 : $0 more("\\*/"))
	next
}
/^#define [A-Z][A-Z0-9_]*[ \t]+[^ \t]/ {
	at = FNR
	name = $2
	value = $0
	sub(/^#define [A-Z0-9_]+[ \t]+/, "", value)
	if (value ~ /\\$/)
		value = value more("[^\\\\]$")
	own = ""
	if (i = index(value, "/*")) {
		own = substr(value, i)
		own = clean(own ~ /\*\// ? own : own more("\\*/"))
		value = substr(value, 1, i - 1)
	}
	gsub(/\\/, "", value)
	gsub(/[ \t]+/, " ", value)
	sub(/ $/, "", value)
	if (value !~ /[0-9]/)
		next
	if (own == "" && reason == "") {
		print FILENAME ":" at ": no reason for " name
		bad = 1
	} else if (table) {
		text = own != "" ? own : reason
		gsub(/\|/, "\\|", text)
		print "| `" name "` | `" value "` | " text " | `" FILENAME "` |"
	}
	next
}
!/^#/ { reason = "" }
END { exit bad }' $(files '*.c' '*.h' | grep '^daemon/diagnosis/')
