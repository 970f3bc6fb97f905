#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# topo.sh - coalmine-probe topo on a machine made of files: two AMD GPUs with
# four XGMI links between them, one NIC on the switch of the first; and on this
# one, where nothing but an answer can be expected.
build=${COALMINE_BUILD:-$(dirname "$0")/../../../build/dev}
probe=
for mpi in openmpi mpich; do
	[ -x "$build/probes/$mpi/coalmine-probe" ] &&
	    probe=$build/probes/$mpi/coalmine-probe
done
[ -n "$probe" ] || { echo "skipped: no engine was built"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# put FILE LINE...
put() {
	file=$root/sys/$1
	shift
	mkdir -p "$(dirname "$file")"
	printf '%s\n' "$@" >"$file"
}

# device PATH CLASS VENDOR NUMA: as the kernel shows one.
device() {
	put "devices/$1/class" "$2"
	put "devices/$1/vendor" "$3"
	put "devices/$1/numa_node" "$4"
	put "devices/$1/max_link_speed" "16.0 GT/s PCIe"
	put "devices/$1/max_link_width" 16
	mkdir -p "$root/sys/bus/pci/devices"
	ln -s "../../../devices/$1" "$root/sys/bus/pci/devices/${1##*/}"
}

switch=pci0000:20/0000:20:01.0/0000:21:00.0
device $switch/0000:22:00.0/0000:23:00.0 0x038000 0x1002 0
device $switch/0000:22:01.0/0000:24:00.0 0x020700 0x15b3 0
device pci0000:60/0000:60:01.0/0000:63:00.0 0x038000 0x1002 1
put devices/$switch/0000:22:00.0/0000:23:00.0/product_name "Instinct MI250X"
put class/infiniband/mlx5_0/ports/1/state "4: ACTIVE"
put class/infiniband/mlx5_0/ports/1/rate "200 Gb/sec (4X HDR)"
ln -s ../../../devices/$switch/0000:22:01.0/0000:24:00.0 \
    "$root/sys/class/infiniband/mlx5_0/device"
mkdir -p "$root/sys/devices/system/node/node0" \
    "$root/sys/devices/system/node/node1"
kfd=class/kfd/kfd/topology/nodes
put $kfd/0/properties "simd_count 0"
put $kfd/1/properties "simd_count 440" "location_id 8960" "domain 0"
put $kfd/2/properties "simd_count 440" "location_id 25344" "domain 0"
put $kfd/1/io_links/0/properties "type 11" "node_from 1" "node_to 2" \
    "min_bandwidth 50000" "max_bandwidth 200000"
put $kfd/2/io_links/0/properties "type 11" "node_from 2" "node_to 1" \
    "min_bandwidth 50000" "max_bandwidth 200000"

"$probe" topo --root "$root" | sed 's/ *$//' >"$root/got"
cat >"$root/want" <<'END'
2 NUMA nodes, 2 GPUs, 1 NICs

gpu  pci           vendor  name             numa  slot GB/s  nic     nic proximity
0    0000:23:00.0  amd     Instinct MI250X     0       31.5  mlx5_0  switch
1    0000:63:00.0  amd     -                   1       31.5  mlx5_0  system

nic     kind  pci           numa  GB/s
mlx5_0  ib    0000:24:00.0     0  25.0

gpu  0       1
0    same    4 xgmi
1    4 xgmi  same
END
diff -u "$root/want" "$root/got" || exit 1

"$probe" topo >"$root/got" || exit 1
grep -q '^host  *1' "$root/got" || { cat "$root/got"; exit 1; }
grep -q '^cuda ' "$root/got" && grep -q '^hip ' "$root/got" || exit 1
for wrong in "topo more" "topo --odd" "topo --root"; do
	# shellcheck disable=SC2086
	"$probe" $wrong >/dev/null 2>"$root/err"
	[ $? = 3 ] && grep -q -- '--root FOLDER' "$root/err" && continue
	echo "$wrong: $(cat "$root/err")"
	exit 1
done
