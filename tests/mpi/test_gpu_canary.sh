#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_gpu_canary.sh MPI - canaries and congestors on GPU memory: by NCCL, by an
# MPI that takes the pointers, and through the host, over stand-ins of CUDA's
# runtime and of NCCL, whose memory the host cannot touch. Each test proves its
# data before it measures.
. "$(dirname "$0")/lib.sh"
need "$1"
unset UCX_TLS UCX_NET_DEVICES
fakes=$COALMINE_BUILD/tests/fake
export COALMINE_PLUGIN_DIR=$fakes COALMINE_FAKE_GPUS=8
export LD_LIBRARY_PATH=$fakes/nccl

# campaign TESTS MIX LINE...: [measure] has the lines.
campaign() {
	printf '[campaign]\nseed = 1\n[canary]\ntests = %s\nshare = .4
time = 50ms\nrounds_min = 1\nprecision = 1\n[congestor]\nmix = %s
bytes = 4K\nallreduce_bytes = 64K\nwarmup = 10ms\n[phases]\nvisits = 2
[measure]\ndevice = cuda\n' "$1" "$2" >"$work/c.conf"
	shift 2
	printf '%s\n' "$@" >>"$work/c.conf"
}

good() { # RANKS BEGIN-FILTER
	local rc=0
	engine "$1" run "$work/c.conf" --json "$work/records" || rc=$?
	[ $rc = 0 ] || fail "$(cat "$work/c.conf"): exit $rc"
	complete "$2"
	[ "$(count ".probe==\"begin\" and ($2)")" = 1 ] ||
		fail "no $2: $(jq -c 'select(.probe=="begin")' "$work/records")"
	[ "$(count '.cause and .probe!="impact"')" = 0 ] ||
		fail "cause: $(jq -c 'select(.cause)' "$work/records")"
}

refused() { # STATUS TEXT RANKS
	local rc=0
	engine "$3" run "$work/c.conf" --json "$work/records" || rc=$?
	[ $rc = "$1" ] || fail "exit $rc instead of $1"
	grep -q -- "$2" "$work/err" || fail "no $2"
	[ "$(count '.probe=="canary"')" = 0 ] || fail "a number of nothing"
}

tests=lat,bw,bw-sync,natural-bw,allreduce,alltoall,incast
by_nccl='.device=="cuda" and .via=="xccl" and .impl=="nccl" and .staging==null'
campaign $tests alltoall,incast
good 8 "$by_nccl"
[ "$(count '.probe=="canary" and .p50>0')" = 14 ] || fail "canaries"
[ "$(count '.probe=="impact"')" -gt 0 ] || fail "no impact"
grep -q '^  Memory of cuda, messages by nccl$' "$work/out" ||
	fail "the table does not say which memory"
campaign lat bcast,allreduce 'via = xccl'
good 8 "$by_nccl"
# Two ranks exchange in both directions; in one direction; with idle ranks.
for partners in match one-way; do
	campaign bw none
	sed -i "s/^share.*/share = 1\npartners = $partners/" "$work/c.conf"
	good 5 "$by_nccl"
done
# By an MPI that takes the pointers, and through the host where none does.
campaign $tests alltoall,allreduce
COALMINE_FAKE_QUERY=kind COALMINE_FAKE_OPEN=yes \
	LD_PRELOAD=$fakes/libfake-mpi-gpu.so good 8 \
	'.device=="cuda" and .via=="mpi" and .staging==null'
campaign $tests alltoall,bcast 'via = mpi'
good 8 '.via=="mpi" and (.staging|startswith("mpi: this MPI does not accept"))'
grep -q 'messages by mpi through host memory$' "$work/out" ||
	fail "the table does not say that messages are staged"
# Data that NCCL spoils is found before anything is measured.
campaign allreduce none
sed -i 's/^share.*/share = 1/' "$work/c.conf"
COALMINE_FAKE_NCCL=wrong engine 3 run "$work/c.conf" --json "$work/records"
[ "$(count '.probe=="canary" and .cause=="wrong-data" and .p50==null')" = 1 ] ||
	fail "spoiled data: $(jq -c 'select(.probe=="canary")' "$work/records")"

# Measurements that are not possible are rejected.
campaign lat none
sed -i 's/^share.*/share = 1/' "$work/c.conf"
COALMINE_FAKE_GPUS=1 refused 3 \
	'share GPU 0000:1a.*share_gpu = yes' 2
printf 'share_gpu = yes\n' >>"$work/c.conf"
COALMINE_FAKE_GPUS=1 NCCL_HOSTID=x good 2 "$by_nccl"
COALMINE_FAKE_GPUS=0 refused 3 'no CUDA device' 2
COALMINE_FAKE_NCCL=join engine 2 run "$work/c.conf" --json "$work/records"
[ "$(count '.probe=="canary" and .cause=="unsupported" and
	(.text|contains("cannot join the communicator: "))')" = 1 ] || fail "no communicator"
campaign get-lat none
refused 3 'get-lat and put-bw support host memory only' 2
campaign lat put-incast
refused 3 'put-incast and get-bcast support host memory only' 4
campaign lat none 'via = xccl'
sed -i 's/^device.*/device = host/' "$work/c.conf"
refused 3 'moves GPU memory only' 2
exit 0
