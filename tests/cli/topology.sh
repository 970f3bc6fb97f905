#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# topology.sh - the same two-tier fabric in every format that coalctl imports
# gives the same file; rails and --skip choose; errors are rejected with their
# line; a machine file has the sums of the links.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1

# same NAME FILE...: the import equals the file "want".
same() {
	name=$1
	shift
	"$coalctl" topology import "$@" >"$work/got" 2>"$work/err" &&
	    sed 1d "$work/got" | diff -u "$work/want" - && return
	echo "$name: unexpected result: $(cat "$work/err")"
	bad=1
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

# ---- without switches above ----

cat >want <<'END'
leaf1 n[1-2]
leaf2 n3
END
printf '# nodes\nn3 leaf2\nn1 leaf1\n\nn2\tleaf1 # two\n' >table
same table table
printf 'n3,leaf2\r\nn1,leaf1\r\nn2,leaf1\r\n' >table.csv
same csv table.csv

# ---- a tree, as schedulers have it ----

cat >want <<'END'
leaf1 n[1-2] up=root
leaf2 n3 up=root
root -
END
cat >topology.conf <<'END'
# the site's
SwitchName=root Switches=leaf[1-2]
switchname=leaf1 nodes=n[1-2] LinkSpeed=900
SwitchName=leaf2 \
  Nodes=n3
END
same slurm topology.conf
cat >scontrol <<'END'
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n3
SwitchName=root Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=leaf[1-2]
END
same scontrol scontrol
cat >topology.yaml <<'END'
---
- topology: other
  tree:
    switches:
      - switch: wrong
        nodes: n[1-3]
- topology: lab
  cluster_default: true
  tree:
    switches:
      - switch: root
        children: leaf[1-2]
      - {switch: leaf1, nodes: "n[1-2]"}
      - switch: leaf2
        nodes: n3
- topology: none
  flat: true
END
same yaml topology.yaml
cat >graph.json <<'END'
{"instances": [
 {"id": "n1", "network_layers": ["leaf1", "root"], "labels": {}},
 {"id": "n2", "network_layers": ["leaf1", "root"]},
 {"id": "n3", "type": "H100", "network_layers": ["leaf2", "root"]}]}
END
same topograph graph.json

cat >want <<'END'
b1 n[1-2]
b2 n3
END
printf 'BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n3\nBlockSizes=2,4\n' \
    >blocks.conf
same blocks blocks.conf
cat >blocks.yaml <<'END'
- topology: gpus
  block:
    block_sizes: [2, 4]
    blocks:
      - block: b1
        nodes: n[1-2]
      - {block: b2, nodes: n3}
END
same blocks-yaml blocks.yaml

# ---- ports: rails, and ports that are not for computing ----

# lldp NODE PORT SWITCH ...
lldp() {
	node=$1
	shift
	printf '{"lldp": {"interface": [' >"$node.json"
	comma=
	while [ $# -gt 0 ]; do
		printf '%s{"%s": {"via": "LLDP", "chassis": {"%s": {%s}},
			"port": {"descr": "x"}}}' "$comma" "$1" "$2" \
		    '"capability": [{"type": "Bridge", "enabled": true}]' \
		    >>"$node.json"
		comma=,
		shift 2
	done
	echo ']}}' >>"$node.json"
}
lldp n1 eth0 mgmt eth10 b1 eth2 a1
lldp n2 eth2 a1 eth10 b1 eth0 mgmt
cat >n3.json <<'END'
{"lldp": {"interface": {"eth2": {"chassis": {"id": {"type": "mac",
 "value": "0c:42:a1:00:00:01"}}, "port": {}}}}}
END
# for example its virtual machine, or a node that is cabled back to back
sed 's/"type": "Bridge"/"type": "Station"/g' n2.json >n8.json
cat >want <<'END'
0c_42_a1_00_00_01 n3
a1 n[1-2]
b1 n[1-2] rail=1
END
same lldp --skip mgmt n1.json n2.json n3.json n8.json
same lldp-port --skip '*:eth0' n1.json n2.json n3.json
same lldp-rails --rails 'eth[2],eth1*' n1.json n2.json n3.json
cat >want <<'END'
a1 n[1-2] rail=1
b1 n[1-2]
END
same lldp-order --rails 'eth10,eth2' n1.json n2.json
grep -q '^# .*: 2 nodes, 2 rails, 2 leaves' got || {
	echo "no summary: $(head -n 1 got)"
	bad=1
}
cp got again.conf # the output is accepted as input
same again again.conf
printf 'n1 a1 1\nn2 a1 1\nn1 b1 0\nn2 b1 0\n' >table
same rails table

# ---- names of an InfiniBand fabric ----

cat >fabric <<'END'
#
# Topology file: generated on Mon Nov 23 18:28:12 2026
#
vendid=0x2c9
switchguid=0x1(1)
Switch	40 "S-0000000000000001"	# "MF0;sw-1:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-000000000000000a"[1](b) 	# "n1 mlx5_0" lid 5 4xHDR
[21]	"S-0000000000000002"[1]	# "MF0;core:CS8500/L01/U1" lid 3 4xNDR
[22][ext 7]	"S-0000000000000002"[2]	# "MF0;core:CS8500/L01/U1" lid 3 4xNDR
[23]	"S-0000000000000003"[1]	# "Quantum" lid 4 4xHDR
[40]	"H-00000000000000ff"[1](fe) 	# "Mellanox Technologies Aggregation Node" lid 9 4xHDR

switchguid=0x2(2)
Switch	40 "S-0000000000000002"	# "MF0;core:CS8500/L01/U1" base port 0 lid 3 lmc 0
[1]	"S-0000000000000001"[21]	# "MF0;sw-1:MQM8700/U1" lid 1 4xNDR
[2]	"S-0000000000000001"[22]	# "MF0;sw-1:MQM8700/U1" lid 1 4xNDR
switchguid=0x3(3)
Switch	40 "S-0000000000000003"	# "Quantum" base port 0 lid 4 lmc 0
[1]	"S-0000000000000001"[23]	# "MF0;sw-1:MQM8700/U1" lid 1 4xHDR
[2]	"H-000000000000000c"[1](d) 	# "n2 mlx5_0" lid 6 2xHDR
switchguid=0x4(4)
Switch	40 "S-0000000000000004"	# "Quantum" base port 0 lid 7 lmc 0

caguid=0xa
Ca	1 "H-000000000000000a"	# "n1 mlx5_0"
[1](b) 	"S-0000000000000001"[1]	# lid 5 lmc 0 "MF0;sw-1:MQM8700/U1" lid 1 4xHDR
caguid=0xc
Ca	2 "H-000000000000000c"	# "n2 mlx5_0"
[1](d) 	"S-0000000000000003"[2]	# lid 6 lmc 0 "Quantum" lid 4 2xHDR
caguid=0xff
Ca	1 "H-00000000000000ff"	# "Mellanox Technologies Aggregation Node"
[1](fe) 	"S-0000000000000001"[40]	# lid 9 lmc 0 "MF0;sw-1:MQM8700/U1" lid 1 4xHDR
END
cat >want <<'END'
Quantum_3 n2 gbps=100
sw-1 n1 gbps=200 up=core_L01_U1*2@400
core_L01_U1 -
END
same fabric fabric
grep -q 'skipped links within a tier: 1' err || {
	echo "the link between two leaves was not reported: $(cat err)"
	bad=1
}
same fabric-rails --rails 'mlx5_0*' fabric

# ---- refused ----

echo 'n1 leaf1 64' >bad
refused 'bad:1: rail "64": expected 0 to 63' bad
printf 'n1 leaf1\nn2\n' >bad
refused 'bad:2: expected NODE LEAF or NODE LEAF RAIL; it was read as a table' bad
printf 'n1 l1 0\nn1 l2 0\n' >bad
refused 'n1 is also on leaf l1, by rail 0' bad
printf 'SwitchName=a Nodes=n[1-\n' >bad
refused 'bad:1: ' bad
printf 'SwitchName=a\\\n Nods=n1\n' >bad
refused 'bad:1: Nods' bad
printf -- '- topology: a\n  flat: true\n' >bad
refused 'no topology in this file has a tree or blocks' bad
printf -- '- topology: a\n  tree:\n    switches:\n      - nodes: n1\n' >bad
refused 'bad:4: the name of a switch' bad
printf -- '- topology: [a\n' >bad
refused 'bad:2: ' bad
printf '{"instances": [{"id": "n1", "network_layers": 1}]}' >bad
refused 'bad: instances[0]: expected' bad
printf '{"instances": [\n{]}' >bad
refused 'bad:2: ' bad
printf '{"lldp": {"interface": {}}}' >bad
refused 'must have the name of its node' bad
printf '{"lldp": 1}' >n9.json
refused 'n9.json: expected {"lldp"' n9.json
refused '--from xml: expected ibnetdiscover|slurm|slurm-yaml' \
    --from xml table
refused 'no host is linked to a switch; 4 links' --skip 'n*' table
awk 'BEGIN { printf "- topology: "; for (i = 0; i < 3000; i++) printf "["
}' >deep.yaml
refused 'deep.yaml:1: nested more than 64 deep' --from slurm-yaml deep.yaml
refused '3 neighbours are not switches according to LLDP' n8.json
refused 'nowhere: No such file' nowhere
refused 'again.conf: an imported topology file cannot be combined' again.conf table

# ---- skipped, and rejected with --strict ----

# skipped TEXT FILE: imported without it, and refused by --strict.
skipped() {
	"$coalctl" topology import "$2" >got 2>err && grep -qF -- "$1" err || {
		echo "$2: not skipped: \"$1\": $(cat err)"
		bad=1
	}
	refused "" --strict "$2"
}

printf 'SwitchName=a Nodes=n1\nNodes=n2\n' >bad
skipped 'bad:2: the name of a switch or block is missing' bad
sed 's/"S-0000000000000003"\[2\]/"S-9"[2]/' fabric >bad
skipped 'bad:29: no Switch of this file is "S-9"' bad
sed 's/^Ca	2.*/Ca	2 "H-c"	# "*bad*"/' fabric >bad
skipped 'bad:28: "*bad*"' bad
sed 's/^Switch	40 "S-0000000000000004"/Switch	x/' fabric >bad
skipped 'bad:22: expected Switch, Ca or Rt' bad

# ---- a machine ----

printf 'l1 n[1-4] gbps=200 up=s[1-2]@400\nl1 n[1-4] rail=1 gbps=200\n' >t.conf
printf 'l2 n[5-8] gbps=200 up=s[1-2]@400\nl2 n[5-8] rail=1 gbps=200\n' >>t.conf
check "no machine file" "$coalctl" topology machine --from coalmine \
    --out m.conf t.conf
for line in 'nodes = 8' 'count = 2' 'out = 25' 'leaf = 4' 'uplink = 100'; do
	grep -qxF "$line" m.conf || {
		echo "the machine file lacks $line: $(cat m.conf)"
		bad=1
	}
done
check "predict does not take the machine file" \
    "$build/probes/serial/coalmine-probe" predict stripe --machine ./m.conf \
    >"$work/said" 2>&1 || cat "$work/said"
"$coalctl" topology machine table 2>err && bad=1
grep -q 'specify it with --gbps' err || { cat err; bad=1; }
exit $bad
