#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# paths.sh [TREE] - required and forbidden contents of files: the licence line
# first (after #! or a document type), then the purpose of a .c file, no path of
# one machine or person, no open tasks, and in the documents no path of a missing
# file.
. "$(dirname "$0")/lib.sh"
bad=0

# Scripts have no suffix and are recognised by #!.
scripts() {
	find . \( -path ./build -o -path ./.git -o -path ./.cache \) -prune \
	    -o -type f ! -name '*.*' -print | sed 's|^\./||' | first '^#!' 1
}

# first REGEX 0|1: of the files named on stdin, those without (0) or with (1)
# such a line among their first two.
first() {
	tr '\n' '\0' | xargs -0 -r awk -v re="$1" -v with="$2" '
	function tell() { if (name != "" && (found ? 1 : 0) == with) print name }
	FNR == 1 { tell(); name = FILENAME; found = 0 }
	FNR <= 2 && $0 ~ re { found = 1 }
	FNR > 2 { nextfile }
	END { tell() }'
}

for f in $({ files '*.[ch]' '*.sh' '*.py' '*.sql' '*.awk' '*.conf' '*.service' \
    '*.socket' '*.[1-8]' '*.js' '*.css' '*.html' '*.cmake' CMakeLists.txt
	scripts; } | grep -Ev '/third_party/|^tests/.*/(seeds|fixtures|expect|golden)/' |
    first 'SPDX-License-Identifier: Apache-2.0' 0); do
	echo "$f:1: no SPDX line"
	bad=1
done

files '*.c' | grep -v '^tests/' | xargs awk '
FNR == 1 { name = FILENAME; sub(/.*\//, "", name); good = 0 }
FNR == 2 { good = $0 == "/*" }
FNR == 3 { if (!good || index($0, " * " name " - ") != 1) {
		print FILENAME ":2: no head \"" name " - purpose\""
		bad = 1
	}
	nextfile }
END { exit bad }' || bad=1

# The name of the folder is spelt so that this file does not name it itself.
text=$(files '*' | grep -Ev '\.(png|gz|db|ico)$|(^|/)(seeds|fixtures|expect|third_party)/|^LICENSE$')
echo "$text" | xargs grep -nIE \
    '(^|[^[:alnum:]_.])/(w[o]rk|home/[a-z]|Users|scr[a]tch)/' /dev/null && bad=1
echo "$text" | xargs grep -nIwE 'T[O]DO|F[I]XME|X[X]X' /dev/null && bad=1
echo "$text" | grep -v '\.md$' | xargs grep -nI '[[:blank:]]$' /dev/null |
    grep -v '\.[ch]:' && bad=1

# `folder/name` in README files and guides exists; * matches as in the shell.
# Names in capitals, such as FOLDER, stand for any name.
for f in $(files README.md CONTRIBUTING.md CHANGES.md launch.md statistics.md \
    'algorithms-*.md' | grep -E '^[^/]*$|^docs/'); do
	for path in $(grep -oE '`[a-z.]+/[^` ]*' "$f" | tr -d '`' |
	    grep -E '^(agents|common|ctl|daemon|docs|etc|lab|pki|probes|schema|systemd|tests)/' |
	    grep -vE '/[A-Z]+/' | LC_ALL=C sort -u); do
		# shellcheck disable=SC2086
		set -- $path
		[ -e "$1" ] && continue
		echo "$f:1: names $path, which is not there"
		bad=1
	done
done
exit $bad
