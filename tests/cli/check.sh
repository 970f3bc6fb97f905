#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check.sh - coalctl check --local: the verdict stored by an agent, the exit
# codes, an expired verdict, malformed files, and that it sends no request and
# returns at once.
. "$(dirname "$0")/lib.sh"

# file VERDICT AGE_S: as an agent writes it.
file() {
	printf '{"node":"n1","verdict":"%s","text":"%s","at_unix_ns":%s%s' \
	    "$1" "rail0 slow" $(($(date +%s) - $2)) \
	    '000000000,"fresh_ms":300000}' >"$work/verdict"
}

# verdict EXPECTED-CODE EXPECTED-WORD [OPTION...]
verdict() {
	want=$1 word=$2
	shift 2
	out=$("$coalctl" check --local --file "$work/verdict" "$@" 2>&1)
	rc=$?
	if [ "$rc" != "$want" ] || [ "${out%%:*}" != "$word" ]; then
		echo "check $*: exit code $rc, \"$out\"; expected $want, $word"
		bad=1
	fi
}

file ok 0
verdict 0 ok
verdict 0 ok --fail-on bad
file warn 10
verdict 1 warn
verdict 1 warn --fail-on warn
verdict 0 warn --fail-on bad
file bad 240
verdict 2 bad
verdict 2 bad --fail-on bad
file unknown 0
verdict 3 unknown
verdict 0 unknown --fail-on warn
file ok 360
verdict 3 unknown
file ok -3600
verdict 3 unknown
echo '{"verdict":"ok"}' >"$work/verdict"
verdict 3 unknown
echo 'ok' >"$work/verdict"
verdict 3 unknown
rm "$work/verdict"
verdict 3 unknown
verdict 0 unknown --fail-on bad
verdict 3 coalctl --fail-on ok

# It sends no request.
file ok 0
start_standin
: >"$work/requests"
"$coalctl" check --local --file "$work/verdict" >/dev/null || bad=1
if [ -s "$work/requests" ]; then
	echo "check --local asks the collector:"
	cat "$work/requests"
	bad=1
fi
exit $bad
