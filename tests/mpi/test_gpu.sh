#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_gpu.sh MPI - plans on GPU memory by NCCL, IPC and MPI, through the
# shipped plugin code and transports, over stand-ins of CUDA's runtime and of
# NCCL. tests/gpu runs on real ones.
. "$(dirname "$0")/lib.sh"
need "$1"
unset UCX_TLS UCX_NET_DEVICES
fakes=$COALMINE_BUILD/tests/fake
export COALMINE_PLUGIN_DIR=$fakes COALMINE_FAKE_GPUS=8
export LD_LIBRARY_PATH=$fakes/nccl
probe=(iterations=3 warmup=1 --json "$work/records")

good() {
	local ranks=$1
	shift
	engine "$ranks" run "$@" device=cuda "${probe[@]}" || fail "$*: exit $?"
	complete "$*"
	[ "$(count ".of==\"whole\" and .verified and .min>0")" = \
		"$(wholes "$@")" ] || fail "$*: record"
	[ "$(count '.probe=="bad"')" = 0 ] || fail "$*: wrong data"
}

# refused EXIT TEXT RANKS WORD...: for that reason, and nothing is measured.
refused() {
	local status=$1 text=$2 ranks=$3 rc=0
	shift 3
	engine "$ranks" run "$@" device="${device-cuda}" "${probe[@]}" || rc=$?
	[ $rc = "$status" ] || fail "$*: exit $rc instead of $status"
	grep -q -- "$text" "$work/err" || fail "$*: no $text"
	[ "$(count '.min')" = 0 ] || fail "$*: a number of nothing"
}

good 8 group "vary=pattern rail asymmetric symmetric" n=2 g=4 k=2 \
	count=50003 via=xccl
good 8 group pattern=rail n=4 g=2 k=2 count=999 via=xccl direction=omni
good 3 self bytes=1M via=xccl
# Several steps, remainders, local reductions, and channels that overlap.
good 8 stripe g=4 bytes=1000001 via=xccl
good 8 collective count=1003 hierarchy=2,4 stripe=2 ring=2 depth=3 via=xccl \
	"vary=name allreduce allgather alltoall reduce-scatter"
# All eight collectives alternating with NCCL's own, with uneven sizes and a root
# in the middle. baseline NAME BASELINE: the record of the speed-up has this
# baseline.
baseline() {
	[ "$(count ".probe==\"speedup\" and .collective==\"$1\" and .n==3 and
		.value>0 and .baseline==\"$2\" and .baseline_impl==\"nccl\" and
		.baseline_throughput>0")" = 1 ] ||
		fail "$1: $(jq -c 'select(.probe=="speedup")' "$work/records")"
}
names="broadcast reduce gather scatter allgather reduce-scatter allreduce"
good 4 collective "vary=name $names alltoall" count=1003 hierarchy=2,2 depth=2 \
	type=float via=xccl root=2
while read -r name baseline; do
	baseline "$name" "$baseline"
done <<-END
	broadcast ncclBroadcast
	reduce ncclReduce
	gather ncclSend and ncclRecv
	scatter ncclSend and ncclRecv
	allgather ncclAllGather
	reduce-scatter ncclReduceScatter
	allreduce ncclAllReduce
	alltoall ncclSend and ncclRecv
END
good 4 collective name=allreduce count=1003 type=int64 op=max via=mpi
baseline allreduce ncclAllReduce
COALMINE_FAKE_NODES=1 good 4 allreduce count=5004 type=float multipath=none
[ "$(count '.probe=="speedup" and .baseline=="ncclAllReduce" and
	.value>0')" = 1 ] || fail "an all-reduce for devices"
# Missing calls and wrong results of the library are reported; the plan is
# still measured.
good 4 collective name=allreduce count=1003 op=land via=xccl
[ "$(count '.probe=="speedup" and .value==null and .baseline=="" and
	.throughput>0 and (.text|contains("sum, prod, min and max"))')" = 1 ] ||
	fail "an op that NCCL lacks"
COALMINE_FAKE_NCCL=wrong good 4 collective name=reduce count=1003 via=mpi
[ "$(count '.probe=="speedup" and .value==null and
	(.text|contains("ncclReduce produced different data"))')" = 1 ] ||
	fail "wrong data of NCCL"
COALMINE_FAKE_NCCL=join good 4 collective name=reduce count=1003 via=mpi
[ "$(count '.probe=="speedup" and .value==null and
	(.text|contains("NCCL: cannot join the communicator: "))')" = 1 ] || fail "no communicator"
# Ranks that take no part, and a message for each pair.
printf '0 1 100\n1 5 70000\n5 0 3\n5 5 9\n' >"$work/list"
good 8 sparse file="$work/list" via=xccl
# Sizes and baselines share one communicator, as they are the same ranks.
rm -f "$work/stats"
COALMINE_FAKE_STATS=$work/stats good 2 collective name=allreduce count=1003 \
	via=xccl
[ "$(grep -c "^nccl rank 0" "$work/stats")" = 2 ] ||
	fail "communicators: $(cat "$work/stats")"
# Plans of other ranks have another, which one connection may not carry too.
printf '[measure]\ndevice = cuda\niterations = 2\n[sparse]\nfile = %s
via = xccl\n[stripe]\ng = 4\nbytes = 1M\nvia = xccl\n' "$work/list" >"$work/c.conf"
for connections in 1 8; do
	CUDA_DEVICE_MAX_CONNECTIONS=$connections engine 8 run "$work/c.conf" \
		--json "$work/records" || fail "two plans: exit $?"
	complete "two plans"
	[ $connections = "$(grep -q 'CUDA_DEVICE_MAX_CONNECTIONS = 1: two concurrent' \
		"$work/err" && echo 1 || echo 8)" ] || fail "$connections connections"
done
# IPC, and with NCCL in one plan.
COALMINE_FAKE_NODES=1 good 4 group pattern=rail n=2 g=2 k=2 count=300001 \
	direction=bi "vary=via ipc ipc-put ipc-get"
COALMINE_FAKE_NODES=1 good 4 stripe g=2 bytes=1000001 via=ipc,xccl,ipc
COALMINE_FAKE_PEERS=1 COALMINE_FAKE_NODES=1 refused 3 'no peer access' 2 \
	group pattern=rail n=2 g=1 k=1 count=8 via=ipc

# via=auto, the default: IPC within a node if the GPUs reach each other, NCCL
# between nodes, and staging if neither can be had. In memory of the host: MPI.
auto() {
	local want=$1
	shift
	"$@"
	[ "$(jq -r 'select(.of=="whole").via' "$work/records")" = "$want" ] ||
		fail "auto: $(jq -c 'select(.of=="whole").via' "$work/records")"
}
rails=(group pattern=rail n=2 g=1 k=1 count=1K)
COALMINE_FAKE_NODES=1 auto ipc good 2 "${rails[@]}"
COALMINE_FAKE_PEERS=1 COALMINE_FAKE_NODES=1 auto xccl good 2 "${rails[@]}"
COALMINE_FAKE_NODES=2 auto xccl good 2 "${rails[@]}"
COALMINE_FAKE_GPUS=1 COALMINE_FAKE_NODES=2 auto mpi good 2 "${rails[@]}"
COALMINE_FAKE_NODES=2 auto ipc,xccl good 4 stripe g=2 bytes=1M
COALMINE_FAKE_QUERY=kind COALMINE_FAKE_OPEN=yes COALMINE_FAKE_NODES=2 \
	LD_PRELOAD=$fakes/libfake-mpi-gpu.so auto mpi good 2 "${rails[@]}"
engine 2 run "${rails[@]}" "${probe[@]}" || fail "auto on the host"
[ "$(jq -r 'select(.of=="whole").via' "$work/records")" = mpi ] ||
	fail "auto on the host is not mpi"
# The driver's data on the memory is compared with copies within a node.
COALMINE_FAKE_NODES=1 good 2 self bytes=1M
[ "$(count '.of=="whole" and .nodes[0].rated_ratio>0')" = 1 ] ||
	fail "no share of the rated bandwidth"

# Messages: through pinned memory, as the record shows; in pieces; and directly
# if the MPI accepts such pointers.
staged='.of=="whole" and
	(.staging//""|startswith("mpi: this MPI does not accept cuda pointers"))'
good 8 stripe g=4 bytes=1000001 via=mpi
[ "$(count "$staged")" = 1 ] || fail "staging is not said"
good 8 collective name=allreduce count=1003 hierarchy=2,4 depth=3 via=mpi
good 2 self bytes=1M via=mpi
good 4 group pattern=symmetric direction=omni n=2 g=2 k=2 count=20011 \
	via=mpi piece=1000
[ "$(count "$staged")" = 1 ] || fail "staging is not said"
COALMINE_FAKE_NODES=1 good 4 stripe g=2 bytes=1000001 via=ipc,mpi,ipc
COALMINE_FAKE_OPEN=yes LD_PRELOAD=$fakes/libfake-mpi-gpu.so good 8 stripe g=4 bytes=1000001 via=mpi
[ "$(count '.of=="whole" and .staging==null')" = 1 ] ||
	fail "staged although the MPI takes the pointers"

# measure.gpu_aware compared with the MPI's report, by either of its calls, on
# every rank. A byte that ends the job was announced.
mpi_says() {
	COALMINE_FAKE_QUERY=$1 COALMINE_FAKE_OPEN=yes \
		LD_PRELOAD=$fakes/libfake-mpi-gpu.so \
		good 2 stripe g=1 bytes=100001 via=mpi gpu_aware="$2"
	[ "$(count "$staged")" = "$3" ] || fail "gpu_aware=$2, $1: staged"
}
mpi_says kind auto 0
mpi_says first auto 1
mpi_says all no 1
! engine 2 run stripe g=1 bytes=100001 via=mpi device=cuda gpu_aware=yes ||
	fail "an MPI has read memory of a device"
grep -q 'gpu_aware = no' "$work/err" || fail "no warning before"

# Buffers of a plan on the host are pinned memory, which other ranks' devices
# can access: defaults run on devices as on the host.
export COALMINE_FAKE_NODES=1
good 2 multipath bytes=1000001
[ "$(count '.of=="whole" and .plan!=null')" = 1 ] || fail "multipath"
good 3 multipath bytes=1000001 relays=1 share=.3,.3 \
	"vary=via ipc-put ipc-get xccl mpi,ipc,xccl"
good 4 allreduce count=5004 type=float per_socket=2 per_node=4
good 4 allreduce count=5004 type=float per_socket=2 per_node=4 via=ipc
# A stream for each peer, blocks that are waited for seldom.
made() {
	rm -f "$work/stats"
	COALMINE_FAKE_STATS=$work/stats good "$@"
	sed -n "s/^gpu streams \([0-9]*\) waits \([0-9]*\) .*/\\$field/p" \
		"$work/stats" | sort -n | tail -1
}
field=1
few=$(made 2 collective name=alltoall count=1003 via=ipc)
[ $(($(made 8 collective name=alltoall count=1003 via=ipc) - few)) = 6 ] ||
	fail "streams: $(cat "$work/stats")"
field=2
[ "$(made 1 self bytes=16M via=ipc)" -lt 200 ] ||
	fail "waits: $(cat "$work/stats")"
# Memory that ranks have together, and pinned memory that is not there.
COALMINE_FAKE_GPUS=1 refused 3 'needs 4 GiB' 2 self bytes=1G via=ipc
COALMINE_FAKE_PINNED=1000 refused 3 'host memory' 1 self bytes=1M via=ipc
# Parts of one card: neither one GPU of two ranks, nor within reach.
(
	export COALMINE_FAKE_GPUS=1 COALMINE_FAKE_MIG=yes \
		LD_LIBRARY_PATH=$fakes/driver:$LD_LIBRARY_PATH
	refused 3 'MIG' 2 group pattern=rail n=2 g=1 k=1 count=8 via=ipc
	good 2 stripe g=1 bytes=1M via=xccl
) || exit 1
# By the devices' own links: of what NVML says of 1a and 1b.
LD_LIBRARY_PATH=$fakes/nvml:$LD_LIBRARY_PATH good 2 collective name=allreduce \
	count=1003 tune=auto via=ipc
export COALMINE_FAKE_NODES=rank
# A device that breaks ends the job with its own words.
COALMINE_FAKE_FAULT=50 refused 1 'stand-in error 700' 2 self bytes=1M via=ipc

# Its baseline moves memory of the host: no ratio of unlike memories.
good 4 neighbor rsg=.5 via=mpi
[ "$(count '.probe=="speedup" and .value==null and
	(.text|contains("host memory only"))')" = 1 ] ||
	fail "device against host"
# Wake-up times do not count: the memory's own speed is measured with many
# concurrent copies, and NCCL's call is polled like the plan's steps.
COALMINE_FAKE_WAKE_MS=200 good 1 self bytes=1M via=mpi
[ "$(count '.of=="whole" and .memory_bytes_per_s>1.5e7')" = 1 ] ||
	fail "memory speed: $(jq -c 'select(.of=="whole")|.memory_bytes_per_s' "$work/records")"
COALMINE_FAKE_WAKE_MS=200 good 2 collective name=allreduce count=1003 via=xccl
[ "$(count '.probe=="speedup" and .baseline_seconds<0.2')" = 1 ] ||
	fail "baseline sleeps: $(jq -c 'select(.probe=="speedup")' "$work/records")"
# Compared in blocks, whatever the host has to pin.
COALMINE_FAKE_PINNED=10000000 good 2 collective name=broadcast count=2000000 \
	via=xccl
baseline broadcast ncclBroadcast
# Ranks that share a GPU are rejected before NCCL is called, and fake nodes
# share one machine's GPUs.
COALMINE_FAKE_GPUS=1 COALMINE_FAKE_NODES=1 good 2 collective name=allreduce \
	count=1003 via=mpi
[ "$(count '.probe=="speedup" and .value==null and
	(.text|contains("share GPU"))')" = 1 ] || fail "a baseline on one GPU"
COALMINE_FAKE_NODES=2 good 8 stripe g=4 bytes=1M via=xccl
COALMINE_FAKE_GPUS=4 COALMINE_FAKE_NODES=2 refused 3 'share GPU' 8 \
	stripe g=4 bytes=1M via=xccl
# One rank's lane that cannot does not leave the others in the next.
COALMINE_FAKE_NODES=2 refused 3 'ipc: ' 8 stripe g=4 bytes=1M \
	via=ipc,xccl,ipc
# A library by its path.
LD_LIBRARY_PATH= COALMINE_NCCL=$fakes/nccl/libnccl.so.2 good 2 stripe g=1 \
	bytes=1M via=xccl

via=(stripe g=2 bytes=1M via=xccl)
device=host refused 3 'device=cuda or device=hip' 4 "${via[@]}"
COALMINE_FAKE_NCCL=join refused 3 'the communicator: stand-in' 4 "${via[@]}"
COALMINE_FAKE_GPUS=1 COALMINE_FAKE_NODES=2 refused 3 'share GPU 0000:1a' 4 \
	"${via[@]}"
COALMINE_FAKE_GPUS=0 refused 3 'no CUDA device' 4 "${via[@]}"
COALMINE_FAKE_GPUS=1 COALMINE_FAKE_NODES=2 NCCL_HOSTID=x good 4 "${via[@]}"
# Reported by the failing rank, or by another one: the first abort ends all ranks.
COALMINE_FAKE_NCCL=group refused 1 'stand-in.* error: as requested' 4 "${via[@]}"
printf 'not a library\n' >"$work/libnccl.so.2"
LD_LIBRARY_PATH=$work refused 3 'cannot load NCCL' 4 "${via[@]}"
exit 0
