#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# texts.sh [TREE] - jansson rejects a text that is not valid UTF-8, and with it
# the whole message. So a text that may quote a peer, a file or a child goes
# into JSON by text_json, never by json_pack's "s" nor by json_string. A value
# counts as such if its key or the last word of its expression is a name used
# for sentences.
. "$(dirname "$0")/lib.sh"

files '*.c' | grep -E '^(daemon|agents|schema)/' | xargs awk '
function strip(s)
{
	gsub(/^ +| +$/, "", s)
	return s
}
# Arguments behind the parenthesis that closes at depth 0; their number.
function arguments(s, arg,    i, c, depth, quoted, n)
{
	n = 1
	arg[1] = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "\\") {
			arg[n] = arg[n] c substr(s, ++i, 1)
			continue
		}
		if (c == "\"")
			quoted = !quoted
		else if (!quoted && (c == "(" || c == "[" || c == "{"))
			depth++
		else if (!quoted && (c == ")" || c == "]" || c == "}"))
			if (depth-- == 0)
				return n
		if (c == "," && depth == 0 && !quoted)
			arg[++n] = ""
		else
			arg[n] = arg[n] c
	}
	return n
}
function foreign(key, value,    last)
{
	value = strip(value)
	if (value ~ /^"/)
		return 0
	last = value
	sub(/.*[^a-z_]/, "", last)
	return key ~ /^"(text|error|why|reason|stderr|message|rendered|campaign_text|by|alarm|summary|description)"$/ ||
	    last ~ /^(text|error|why|reason|tail|message|line|summary|by)$/
}
function report(what)
{
	print file ": " what ": text_json takes any text, this does not"
	bad = 1
}
function pack_check(s,    arg, n, fmt, i, c, k, key)
{
	n = arguments(s, arg)
	fmt = arg[1]
	k = 1
	for (i = 1; i <= length(fmt) && k <= n; i++) {
		c = substr(fmt, i, 1)
		if (c !~ /[sibfIoO]/)
			continue
		k++
		if (substr(fmt, i + 1, 1) == ":") {
			key = strip(arg[k])
			continue
		}
		if (c == "s" && foreign(key, arg[k]))
			report("json_pack of " key " as " strip(arg[k]))
		key = ""
	}
}
function check(    all, one)
{
	all = text
	while (match(all, /json_pack\(/)) {
		all = substr(all, RSTART + 10)
		pack_check(substr(all, 1, 4000))
	}
	all = text
	while (match(all, /json_string\(/)) {
		all = substr(all, RSTART + 12)
		arguments(substr(all, 1, 4000), one)
		if (foreign("", one[1]))
			report("json_string of " strip(one[1]))
	}
}
FNR == 1 {
	check()
	file = FILENAME
	text = ""
}
{
	gsub(/\t/, " ")
	text = text " " $0
}
END {
	check()
	exit bad
}' || exit 1
