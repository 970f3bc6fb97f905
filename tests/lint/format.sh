#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# format.sh [TREE] - clang-format 14 would change nothing. Other versions format
# differently and are not used.
. "$(dirname "$0")/lib.sh"
need clang-format-14

sources=$(files '*.[ch]')
[ -n "$sources" ] || exit 0
echo "$sources" | xargs clang-format-14 --style=file --dry-run --Werror 2>&1 |
    awk -F: '
/ (error|warning): / {
	if (!($1 in lines))
		print $1 ":" $2 ": clang-format-14 -i would change this file"
	lines[$1]
	bad = 1
}
END { exit bad }'
