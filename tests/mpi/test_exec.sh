#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_exec.sh MPI CASE - the executor alone: exec_check under a launcher.
. "$(dirname "$0")/lib.sh"
need "$1"
unset UCX_TLS UCX_NET_DEVICES
export COALMINE_FAKE_NODES=1
program=$COALMINE_BUILD/tests/mpi/exec_check-$1
[ -x "$program" ] || skip "no exec_check for $1"
own=()
case $2 in
leaks)
	[ -z "$COALMINE_SANITIZE" ] || skip "a sanitizer keeps freed memory"
	ranks=4
	# It counts files in /dev/shm, where other tests create files too.
	! unshare --mount true 2>/dev/null || own=(unshare --mount sh -c
	    'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$@"' -)
	;;
setup) ranks=48 ;;
devices | requests) ranks=1 ;;
*) ranks=8 ;;
esac
timeout -k 2 900 "${own[@]}" $launcher -n $ranks "$program" "$2" >"$work/out" \
	2>"$work/err" </dev/null || fail "$2: exit $?"
cat "$work/out"
