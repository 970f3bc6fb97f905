#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# topology_cases.sh - real files with adapters without a host's name, unmanaged
# switches, bonds, includes and headings. Unknown items are skipped, counted and
# reported with their line; --strict rejects the file.
. "$(dirname "$0")/lib.sh"

data=$(cd "$here/../data/topology" && pwd)

# gives SKIPPED ARGUMENTS...: the import equals the file "want" and names
# SKIPPED, "" for none; --strict rejects an import with something skipped.
gives() {
	skipped=$1
	shift
	"$coalctl" topology import "$@" >"$work/got" 2>"$work/err" || {
		echo "$*: $(cat "$work/err")"
		bad=1
		return
	}
	sed 1d "$work/got" | diff -u "$work/want" - || {
		echo "$*: unexpected result"
		bad=1
	}
	# the last line is the summary
	if [ -z "$skipped" ]; then
		[ "$(wc -l <"$work/err")" = 1 ]
	else
		grep -qF -- "$skipped" "$work/err"
	fi || {
		echo "$*: not \"$skipped\" was skipped: $(cat "$work/err")"
		bad=1
	}
	"$coalctl" topology import --strict "$@" >"$work/got" 2>"$work/err"
	rc=$?
	if [ -z "$skipped" ]; then
		[ $rc = 0 ]
	else
		[ $rc = 3 ]
	fi || {
		echo "--strict $*: exit code $rc: $(cat "$work/err")"
		bad=1
	}
}

# refused TEXT ARGUMENTS...: exit code 3 and the text.
refused() {
	text=$1
	shift
	"$coalctl" topology import "$@" >"$work/got" 2>"$work/err" </dev/null
	rc=$?
	[ $rc = 3 ] && grep -qF -- "$text" "$work/err" && return
	echo "topology import $*: exit code $rc, not \"$text\":"
	cat "$work/err"
	bad=1
}

# machine NUMBER FILE: NICs of a node.
machine() {
	"$coalctl" topology machine --gbps 100 "$2" 2>/dev/null |
	    grep -qx "count = $1" && return
	echo "$2: not $1 NICs"
	bad=1
}

want() {
	printf '%s\n' "$@" >"$work/want"
}

cd "$data" || exit 1

# ---- ibnetdiscover ----

want 'leaf1 n1 gbps=400' 'leaf2 n4 gbps=400'
gives 'without a host name: 3: ib-default-description.txt:34: "MT4129 ConnectX7' \
    ib-default-description.txt
machine 1 ib-default-description.txt
# a description that several adapters have, and one that is not a host's
for text in 'Generic HCA' 'localhost mlx5_0' 'NVIDIA ConnectX-7' MT4129 \
    '(none)' mlx5_0 'ConnectX-7 HCA' 'HCA-1' ''
do
	sed "s/MT4129 ConnectX7   Mellanox Technologies/$text/" \
	    ib-default-description.txt >"$work/fabric"
	gives ": 3: $work/fabric:34: \"$text\" (H-00000000000000b2)" \
	    "$work/fabric"
done
# two functions of one card are one adapter
sed 's/^sysimgguid=0xb[235]/sysimgguid=0xb2/
	s/MT4129 ConnectX7   Mellanox Technologies/n2/' \
    ib-default-description.txt >"$work/fabric"
want 'leaf1 n[1-2] rail=0 gbps=400' 'leaf1 n2 rail=1 gbps=400' \
    'leaf2 n4 rail=0 gbps=400' 'leaf2 n2 rail=2 gbps=400'
gives '' "$work/fabric"
# a switch whose adapters are all skipped is not a spine
sed 's/n4 mlx5_0/MT4129 ConnectX7/' ib-default-description.txt >"$work/fabric"
want 'leaf1 n1 gbps=400'
gives 'without a host name: 4:' "$work/fabric"

want 'Quantum_Mellanox_Technologies_a1 n[1-2] gbps=200' \
    'Quantum_Mellanox_Technologies_c1 n[3-4] gbps=200'
gives '' ib-unmanaged-rail0.txt ib-unmanaged-rail1.txt
gives '' ib-unmanaged-rail1.txt ib-unmanaged-rail0.txt
# managed switches of two fabrics may have one name as well
for rail in 0 1; do
	sed 's/Quantum Mellanox Technologies/MF0;leaf1:MQM8700\/U1/' \
	    ib-unmanaged-rail$rail.txt >"$work/rail$rail"
done
want 'leaf1_a1 n[1-2] gbps=200' 'leaf1_c1 n[3-4] gbps=200'
gives '' "$work/rail0" "$work/rail1"
# one fabric, dumped twice
want 'leaf1 n[1-2] gbps=200'
cp "$work/rail0" "$work/again"
gives '' "$work/rail0" "$work/again"

# one host by its full and its short name; of two domains there are two
sed 's/n3/n1.example.com/; s/n4/n2.example.com/' ib-unmanaged-rail1.txt \
    >"$work/rail1"
want 'Quantum_Mellanox_Technologies_a1 n[1-2] gbps=200' \
    'Quantum_Mellanox_Technologies_c1 n[1-2] rail=1 gbps=200'
gives '' ib-unmanaged-rail0.txt "$work/rail1"
want 'l1 n1.a' 'l2 n1.b'
printf 'n1.a l1\nn1.b l2\n' >"$work/two"
gives '' "$work/two"

want 'leaf1 n1 gbps=200'
gives 'without a host name: 1: ib-one-odd-description.txt:25: "(n2) HCA-1"' \
    ib-one-odd-description.txt

want 'leaf1 n[1-2] gbps=200'
gives '' ib-grouped.txt
# -g has switches of a chassis twice; -f adds words behind the rate
{
	cat ib-grouped.txt
	sed -n '/^switchguid/,/^vendid/p' ib-grouped.txt
} | sed 's/ 4xHDR$/& s=4 w=2 v=4 e=4/' >"$work/fabric"
gives '' "$work/fabric"
sed 's/4xHDR$/4xZDR/' ib-grouped.txt >"$work/fabric"
want 'leaf1 n[1-2]'
gives 'with an unknown rate: 2:' "$work/fabric"
want 'leaf1 n[1-2] gbps=200'
{ cat ib-grouped.txt; echo 'a line of a later version'; } >"$work/fabric"
gives 'skipped, not understood: 1: ' "$work/fabric"
"$coalctl" topology import "$work/fabric" 2>&1 >/dev/null |
    grep -qF "$work/fabric:35: \"a line" || {
	echo "no line is named"
	bad=1
}
sed 's/"S-00000000000000a1"\[2\]/"S-9"[2]/' ib-grouped.txt >"$work/fabric"
want 'leaf1 n1 gbps=200'
gives 'no Switch of this file is "S-9"' "$work/fabric"

refused 'ib-ports-report.txt:1: this is ibnetdiscover -p: give' \
    ib-ports-report.txt
printf 'Ca\t: 0x00000000000000b1 ports 1 devid 0x1 vendid 0x2 "n1 mlx5_0"\n' \
    >"$work/list"
refused 'list:1: this is ibnetdiscover -l' "$work/list"
printf '0xb1 "n1 mlx5_0" 11 1[  ] ==( 4X 50.0 Gbps)==>  1 2[  ] "leaf1"\n' \
    >"$work/list"
refused 'this is iblinkinfo' "$work/list"
printf 'CA: n1 mlx5_0:\n' >"$work/list"
refused 'this is iblinkinfo' "$work/list"

# ---- LLDP ----

want 'leaf1 b1' 'leaf2 b1 rail=1'
gives 'lldp-bond/b1.json: port eth0: leaf1, not leaf2' lldp-bond/b1.json
machine 2 lldp-bond/b1.json
want 'leaf1 b1'
gives '' --skip leaf2,b1:eth1 lldp-bond/b1.json

want 'leaf1 n2'
gives 'nodes without a neighbour: 1: lldp-none/n3.json' \
    lldp-none/n2.json lldp-none/n3.json
mkdir "$work/lldp"
for text in '' '{}' '{"lldp": []}' '{"lldp": {"interface": []}}' \
    '{"lldp": {"interface": {"eth0": {"via": "LLDP"}}}}' '{"lldp": {'; do
	echo "$text" >"$work/lldp/n3.json"
	gives "$work/lldp/n3.json" lldp-none/n2.json "$work/lldp/n3.json"
done
# two switches with one name
sed 's/00:01"/00:09"/' lldp-none/n2.json >"$work/lldp/n3.json"
want 'leaf1_20000000001 n2' 'leaf1_20000000009 n3'
gives '' lldp-none/n2.json "$work/lldp/n3.json"
# ... and one that sends the MAC of each port
for node in n2 n3; do
	sed "s/\"id\": {\"type\": \"mac\", \"value\": \"02:/\"mgmt-ip\": \
\"192.0.2.1\", &$node/" lldp-none/n2.json >"$work/lldp/$node.json"
done
want 'leaf1 n[2-3]'
gives '' "$work/lldp/n2.json" "$work/lldp/n3.json"
sed 's/Bridge/Station/' lldp-none/n2.json >"$work/lldp/n4.json"
"$coalctl" topology import lldp-none/n2.json "$work/lldp/n4.json" 2>&1 \
    >/dev/null | grep -q 'LLDP neighbours other than switches: 1' || {
	echo "no word of a neighbour that is a station"
	bad=1
}
sed 's/"via"/"descr": "a switchguid=0xa1 topology: x", "via"/' \
    lldp-none/n2.json >"$work/lldp/n2.json"
want 'leaf1 n2'
gives '' "$work/lldp/n2.json"
echo '{"lldp": [{"interface": []}]}' >"$work/lldp/n3.json"
refused 'this is lldpctl -f json0' lldp-none/n2.json "$work/lldp/n3.json"
echo 'lldp.eth0.via=LLDP' >"$work/lldp/n3.json"
refused 'n3.json:1: this is lldpctl -f keyvalue' "$work/lldp/n3.json"

# ---- Topograph ----

want 'leaf1 n[1-2] up=spine1' 'spine1 -'
gives 'not placed: 2: topograph-instance-without-layers.json: n3; ' \
    topograph-instance-without-layers.json
sed 's/null/[7]/; s/"n4"/"n 4"/' topograph-instance-without-layers.json \
    >"$work/graph"
gives 'skipped, not understood: 1:' "$work/graph"

sed 's/null/[""]/; s/\["leaf1", "spine1"\]},$/["leaf1", "spine1", ""]},/' \
    topograph-instance-without-layers.json >"$work/graph"
gives 'upper layers are unknown: 2:' "$work/graph"

# ---- Slurm ----

want 'b1 n[1-4]' 'b2 n[5-8]'
gives '' slurm-scontrol-blocks.txt
sed 's/ BlockSize/ Colour=red&/' slurm-scontrol-blocks.txt >"$work/blocks"
gives ": 3: $work/blocks:1: Colour; $work/blocks:2: Colour" "$work/blocks"
want 'l1 n[1-2] up=root' 'l2 n3 up=root' 'root -'
gives '' slurm-include.conf
gives '' slurm-include.conf slurm-include-leaves.conf
gives '' slurm-include-leaves.conf slurm-include.conf
sed 's,Include ,include	/nowhere/,' slurm-include.conf >"$work/root.conf"
gives '' "$work/root.conf" slurm-include-leaves.conf
refused 'root.conf:3: cannot include /nowhere/slurm-include-leaves.conf' \
    "$work/root.conf"
cp slurm-include-leaves.conf "$work/leaves.conf"
echo 'Include leaves.conf' >>"$work/leaves.conf" # of itself
echo 'SwitchName=root Switches=l[1-2]' >"$work/spines.conf"
printf 'Include leaves.conf\nInclude spines.conf\n' >"$work/all.conf"
gives '' "$work/all.conf"

gives '' slurm-comment-decides.conf
{
	echo '# not "lldp": but coalctl topology import: caguid=1'
	cat slurm-comment-decides.conf
} >"$work/comment"
gives '' "$work/comment"
want 'leaf1 n1'
printf '# SwitchName=l1, topology: x\nn1 leaf1\n' >"$work/comment"
gives '' "$work/comment"
want 'l1 n[1-2]'
printf 'SwitchName = "l1"  nodes = n[1-2]\nSwitchName l2\n' >"$work/blanks"
gives "$work/blanks:2: expected SwitchName" "$work/blanks"
printf 'SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=ALL\n' >"$work/all"
gives "$work/all:2: nodes ALL: expected their names" "$work/all"
cat >"$work/two.yaml" <<'YAML'
- topology: one
  cluster_default: true
  block:
    blocks:
      - {block: l1, nodes: "n[1-2]", colour: red}
- topology: two
  tree:
    switches: []
YAML
gives 'keys skipped, unknown: 1:' "$work/two.yaml"
"$coalctl" topology import "$work/two.yaml" 2>&1 >/dev/null |
    grep -qF 'topologies skipped, another is read: 1:' || {
	echo "the second topology was not named"
	bad=1
}
want 'g1 x[1000-1001]c[0-7]s[0-7]b[0-1]n[0-1]'
gives '' slurm-five-brackets.conf
exit $bad
