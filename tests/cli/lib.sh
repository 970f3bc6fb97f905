# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# lib.sh - common to the tests of coalctl: a fake collector, and the comparison
# of stdout, stderr and exit code with expect/NAME. With EXPECT=write the
# expectations are written instead.

here=$(cd "$(dirname "$0")" && pwd)
build=${COALMINE_BUILD:-$here/../../build/dev}
coalctl=$build/ctl/coalctl
work=$(mktemp -d /tmp/coalctl-test.XXXXXX)
standin=
bad=0
unset COALMINE_CLUSTER COALMINE_CA COALMINE_CRL COALMINE_CERT COALMINE_KEY NO_COLOR
export COALMINE_URL="unix:$work/sock" LC_ALL=C.UTF-8 TERM=dumb

finish() {
	[ -n "$standin" ] && kill "$standin" 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# Start the fake collector of standin.c with fixtures/.
start_standin() {
	"$build/tests/cli/standin" "$work/sock" "$here/fixtures" \
	    "$work/requests" &
	standin=$!
	until [ -S "$work/sock" ]; do
		kill -0 "$standin" 2>/dev/null || exit 1
		sleep 0.05
	done
}

# expect NAME RC COMMAND...: its output is in expect/NAME. Paths of this test,
# waiting times and serial numbers are masked.
expect() {
	name=$1 want=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	rc=$?
	{
		cat "$work/out"
		[ -s "$work/err" ] && echo "--- stderr" && cat "$work/err"
	} | sed -e "s|$work|WORK|g" -e 's/^[0-9][0-9.a-z]*: run /TIME: run /' \
	    >"$work/got"
	if [ "$rc" != "$want" ]; then
		echo "$name: exit code $rc, expected $want"
		cat "$work/got"
		bad=1
	fi
	if [ "${EXPECT-}" = write ]; then
		cp "$work/got" "$here/expect/$name"
	elif ! diff -u "$here/expect/$name" "$work/got"; then
		echo "$name: differs from the expected output"
		bad=1
	fi
}

# check TEXT COMMAND...: the command must succeed.
check() {
	text=$1
	shift
	"$@" && return
	echo "$text"
	bad=1
}
