#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# functions.sh [TREE] - sizes: no function over 100 lines, no file over 1200;
# warns from 60 and 800 (headers 300), and prints a summary of the tree. Names: a
# static function of the product begins with the name of its file.
. "$(dirname "$0")/lib.sh"
need ctags

files '*.[ch]' | xargs wc -l /dev/null | awk '
$2 == "total" || $2 == "/dev/null" { next }
$1 > 1200 { print $2 ":1: " $1 " lines in one file, 1200 at most"; bad = 1 }
$1 > 800 && $1 <= 1200 { print $2 ": warning: " $1 " lines" }
$1 > 300 && $2 ~ /\.h$/ { print $2 ": warning: a header of " $1 " lines" }
END { exit bad }' || bad=1

files '*.c' | ctags -L - --languages=C --kinds-C=f --fields=nef -o - |
awk -F '\t' '
function column(name,    i)
{
	for (i = 4; i <= NF; i++)
		if (index($i, name ":") == 1)
			return substr($i, length(name) + 2)
	return 0
}
/^!/ { next }
{
	start = column("line")
	lines = column("end") - start + 1
	size[++n] = lines
	stem = $2
	sub(/.*\//, "", stem)
	sub(/\.c$/, "", stem)
	if (/\tfile:/ && $2 !~ /^tests\// &&
	    $1 ~ /[a-z]/ && $1 != stem && index($1, stem "_") != 1) {
		print $2 ":" start ": static " $1 " lacks the prefix " stem "_"
		bad = 1
	}
	if (lines > 100) {
		print $2 ":" start ": " $1 " has " lines " lines, 100 at most"
		bad = 1
	} else if (lines > 60) {
		print $2 ":" start ": warning: " $1 " has " lines " lines"
	}
}
END {
	for (i = 1; i <= n; i++)
		seen[size[i]]++
	for (i = 1; i <= 100; i++) {
		sum += seen[i]
		if (!median && sum >= n / 2)
			median = i
		if (!most && sum >= n * 0.9)
			most = i
	}
	print n " functions, median " median " lines, 90 % within " most
	exit bad
}' || bad=1
exit "${bad:-0}"
