#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# fabric.sh - a simulated InfiniBand fabric of three tiers, 500 hosts with two
# ports each: the output of ibnetdiscover is imported, and the leaves of every
# host agree with the simulator's own file. Storage and a management host are
# skipped. Then a real slurmctld gets this tree, and the import of its output
# has the same leaves.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1

skip()
{
	echo "skipped: $*"
	exit 77
}

PATH=$PATH:/usr/sbin
for program in ibsim ibsim-run opensm ibnetdiscover jq unshare; do
	command -v $program >/dev/null ||
		skip "no $program; apt-get install what tests/packages.txt lists"
done
# The simulator's sockets are abstract: a network namespace keeps them apart.
unshare -rn true 2>/dev/null || skip "no network namespace of an own"

# 5 pods of 5 pairs of leaves, one a rail, with 20 hosts and 4 spines a pod,
# each linked to 4 cores; a leaf of storage in each pod, and a host of the
# management on a core.
awk 'function link(a, pa, b, pb) {
		lines[a] = lines[a] sprintf("[%d]\t\"%s\"[%d]\n", pa, b, pb)
		lines[b] = lines[b] sprintf("[%d]\t\"%s\"[%d]\n", pb, a, pa)
	}
	BEGIN {
		for (pod = 0; pod < 5; pod++) {
			for (leaf = 0; leaf < 5; leaf++)
				for (host = 1; host <= 20; host++)
					for (rail = 0; rail < 2; rail++)
						link(sprintf("r%d-leaf%02d", rail,
						    pod * 5 + leaf + 1), host,
						    sprintf("node%03d mlx5_%d",
						    ++n[rail], rail), 1)
			for (spine = 1; spine <= 4; spine++) {
				name = sprintf("spine%02d", pod * 4 + spine)
				for (leaf = 0; leaf < 5; leaf++)
					for (rail = 0; rail < 2; rail++)
						link(sprintf("r%d-leaf%02d", rail,
						    pod * 5 + leaf + 1),
						    20 + spine, name,
						    1 + leaf * 2 + rail)
				for (core = 1; core <= 4; core++)
					link(name, 10 + core, "core" core,
					    pod * 4 + spine)
				link(name, 15, "stor" pod + 1, 30 + spine)
			}
			for (host = 1; host <= 8; host++)
				link("stor" pod + 1, host,
				    sprintf("oss%02d mlx5_0", pod * 8 + host), 1)
		}
		link("core1", 40, "admin mlx5_0", 1)
		for (name in lines) {
			kind = index(name, " ") ? "Hca\t1" : "Switch\t40"
			printf("%s\t\"%s\"\n%s\n", kind, name, lines[name])
		}
	}' >net
# The reference: host, rail, leaf, from that file alone.
awk '/^Hca/ { split($0, q, "\""); split(q[2], w, " mlx5_"); next }
	/^Switch/ { w[1] = "" }
	/^\[/ && w[1] ~ /^node/ { split($0, q, "\""); print w[1], w[2], q[2] }' \
    net | sort >truth
[ "$(wc -l <truth)" = 1000 ] || { echo "the test's own net is wrong"; exit 1; }

cat >simulate <<'END'
ibsim -s -n net </dev/null >ibsim.log 2>&1 &
sim=$!
for i in $(seq 100); do
	grep -q ready ibsim.log && break
	sleep 0.1
done
export SIM_HOST='node001 mlx5_0' OSM_TMP_DIR=$PWD OSM_CACHE_DIR=$PWD
ibsim-run opensm -o -e -f "$PWD/opensm.log" >opensm.out 2>&1 &&
    ibsim-run ibnetdiscover >discovered 2>discover.log
rc=$?
kill $sim
exit $rc
END
timeout 120 unshare -rn -p -f --kill-child sh simulate && [ -s discovered ] || {
	echo "the simulated fabric was not discovered:"
	tail -n 5 ibsim.log opensm.out discover.log
	exit 1
}

"$coalctl" topology import --skip 'oss*,admin' --out fabric.conf discovered \
    2>err || { cat err; exit 1; }
grep -q '500 nodes, 2 rails, 50 leaves, 20 spines, 4 of tier 3, 5 pods; skipped '\
'links of hosts: 41; skipped switches without hosts: 5$' err || {
	echo "summary: $(cat err)"
	bad=1
}

grep -q '^next: set topology.leaves = fabric.conf .*restart coalmined' err || {
	echo "next step: $(cat err)"
	bad=1
}

# leaves FILE: host, rail, leaf.
leaves()
{
	"$coalctl" topology show --json "$1" |
	    jq -r '.[] | .switch as $s | .nodes[] | "\(.node) \(.rail) \($s)"' |
	    sort
}
leaves fabric.conf | diff truth - >diff || {
	echo "hosts are on other leaves than the simulator has them:"
	head -n 5 diff
	bad=1
}
grep -q '^r0-leaf01 node\[001-020\] .*pod=pod1 up=spine\[01-04\]@10$' \
    fabric.conf || { grep leaf01 fabric.conf; bad=1; }
grep -qx 'spine20 - pod=pod5 up=core\[1-4\]@10' fabric.conf ||
    { grep spine20 fabric.conf; bad=1; }

# ---- the same by Slurm ----

[ $bad = 0 ] || exit 1
[ "$(id -u)" = 0 ] || skip "the fabric is right; slurmctld needs root"
for program in munged slurmctld scontrol; do
	command -v $program >/dev/null ||
		skip "the fabric is right; no $program"
done
# a tree of rail 0, with the spines of a pod as one
awk '{ sub(/^r0-/, "") } /^leaf/ { pod = $0; sub(/.*pod=/, "", pod);
		sub(/ .*/, "", pod); print "SwitchName=" $1, "Nodes=" $2
		of[pod] = of[pod] "," $1 }
	END { for (pod in of) { print "SwitchName=" pod, "Switches=" \
		substr(of[pod], 2); all = all "," pod }
		print "SwitchName=top Switches=" substr(all, 2) }' \
    fabric.conf >topology.conf
mkdir state
(umask 077; head -c 1024 /dev/urandom >munge.key)
chmod 755 "$work" # munged wants to know who may get at its socket
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$(hostname)(192.0.2.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SelectType=select/cons_tres
TopologyPlugin=topology/tree
NodeName=node[001-500] NodeHostname=$(hostname) Port=[20001-20500] CPUs=1
PartitionName=all Nodes=ALL Default=YES
END
cat >schedule <<'END'
ip link set lo up
# getaddrinfo needs another address too
ip link add here type veth peer name there && ip addr add 192.0.2.1/24 dev here &&
    ip link set here up && ip link set there up
munged --foreground --force --num-threads=1 --key-file="$PWD/munge.key" \
    --socket="$PWD/munge.socket" --seed-file="$PWD/munge.seed" \
    --pid-file="$PWD/munge.pid" \
    >munged.out 2>&1 &
munge=$!
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D -i >slurmctld.log 2>&1 &
ctl=$!
for i in $(seq 200); do
	scontrol show topology >said 2>scontrol.log && break
	sleep 0.1
done
kill -KILL $ctl
kill $munge
wait
[ -s said ]
END
timeout 120 unshare -n -p -f --kill-child sh schedule || {
	echo "Slurm says nothing of its topology:"
	tail -n 5 munged.out slurmctld.log scontrol.log
	exit 1
}
sed -n 's/^\([^ ]*\) 0 r0-\(.*\)/\1 0 \2/p' truth >want
for file in topology.conf said; do
	"$coalctl" topology import --out $file.leaves $file 2>err ||
	    { cat err; bad=1; }
	leaves $file.leaves | diff want - >diff || {
		echo "$file: other leaves than the fabric has:"
		head -n 5 diff
		bad=1
	}
done
cmp topology.conf.leaves said.leaves || bad=1
exit $bad
