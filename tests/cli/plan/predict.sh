#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# predict.sh - the verb predict of coalmine-probe without MPI: times, models
# and links as table and JSON, machines by name and file, campaign files, and
# that every wrong input is answered within 2 s with its place.
build=${COALMINE_BUILD:-$(dirname "$0")/../../../build/dev}
probe=$build/probes/serial/coalmine-probe
work=$(mktemp -d /tmp/coalmine-predict.XXXXXX)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
	echo "FAIL: $*"
	bad=1
}

# says WORDS ARGUMENT...: exit 0, and these words on stdout.
says() {
	words=$1
	shift
	"$probe" predict "$@" >"$work/out" 2>"$work/err" || fail "$*: exit $?"
	grep -qF -e "$words" "$work/out" ||
	    fail "$*: no \"$words\" in: $(cat "$work/out")"
	[ -s "$work/err" ] && fail "$*: stderr: $(cat "$work/err")"
}

# refused WORDS ARGUMENT...: exit 3, nothing on stdout, these words on stderr.
refused() {
	words=$1
	shift
	timeout 60 "$probe" predict "$@" >"$work/out" 2>"$work/err"
	rc=$?
	[ $rc = 3 ] || fail "$*: exit $rc"
	[ -s "$work/out" ] && fail "$*: printed $(cat "$work/out")"
	grep -qF -e "$words" "$work/err" ||
	    fail "$*: $(cat "$work/err"), not \"$words\""
}

cat >"$work/m.conf" <<'END'
[node]
devices = 4
[nic]
count = 2
out = 25
END

# 3 devices, packed on two NICs: the first NIC has two of them.
rail="group pattern=rail n=2 g=4 k=3 count=1000000000 type=byte"
# shellcheck disable=SC2086
{
	says 'time        80 ms' $rail --machine "$work/m.conf"
	says 'throughput  37.5 GB/s' $rail --machine "$work/m.conf"
	says 'CommBench eq. 1: packed, p = 2, k = 3  37.5 GB/s  37.5 GB/s  1.000' \
	    $rail --machine "$work/m.conf"
	says 'node0 n0 out  100.0 %  2000000000    25' $rail \
	    --machine "$work/m.conf"
	says 'throughput  75 GB/s' $rail --machine "$work/m.conf" \
	    -o nic.count=4 -o nic.binding=one-to-one
	says '"time_s":0.08,' $rail --machine "$work/m.conf" --format json
	says '"links":[{"link":"node0 n0 out","busy":1.0,' $rail \
	    --machine "$work/m.conf" --format json --links 1
}
says 'note: groups of 12 ranks lie across nodes of 8' group n=2 g=12 \
    --machine dgx-a100
says '"note":"groups of 4 ranks share nodes of 12"' group n=2 g=4 \
    --machine aurora --format json
! "$probe" predict group n=2 g=8 --machine dgx-a100 | grep note ||
    fail "a note where groups are nodes"
says 'HiCCL eq. 1: ring, 4 nodes, depth 32' collective name=broadcast \
    hierarchy=4,4 ring=4 stripe=4 depth=32 count=1000000 --machine perlmutter
says 'HiCCL Table III: bound of alltoall  ' collective name=alltoall \
    --ranks 24 --machine lab
says ' on lab: 48 ranks on 12 nodes' collective name=allreduce \
    --ranks 48 --machine lab.conf --pace steps
says 'throughput  37.5 GB/s' group pattern=rail n=2 g=4 k=3 count=1000000000 \
    type=byte --machine "$work/m.conf" --pace data

cat >"$work/c.conf" <<'END'
[campaign]
about = two plans

[group]
n = 2
g = 4
k = 4

[collective]
name = gather
hierarchy = 2,4
END
says 'group n=2 g=4 k=4 on m: 8 ranks on 2 nodes' "$work/c.conf" \
    --machine "$work/m.conf" --ranks 8
says 'collective name=gather hierarchy=2,4 on m: 8 ranks' "$work/c.conf" \
    --machine "$work/m.conf" --ranks 8
cp "$work/m.conf" "$work/other.conf"
COALMINE_MACHINES=$work says ' on other:' self bytes=8 --machine other

refused 'missing --machine' self bytes=8
refused '--machine = nowhere' self bytes=8 --machine nowhere
refused 'No such file' self bytes=8 --machine "$work/none.conf"
printf '[node]\ndevices = 4\n[nic]\nrate = 3\n' >"$work/bad.conf"
refused 'bad.conf:4: unknown key rate in [nic]' self bytes=8 \
    --machine "$work/bad.conf"
printf '[node]\ndevices = 0\n' >"$work/bad.conf"
refused 'bad.conf:2: node.devices = 0' self bytes=8 --machine "$work/bad.conf"
refused 'command line: nic.binding = best' self bytes=8 --machine lab \
    -o nic.binding=best
refused 'section.key=value' self bytes=8 --machine lab -o nic
refused 'expected up to 4 ranks' self bytes=8 --machine mist --ranks 5
refused 'expected up to 24 ranks' self bytes=8 --machine lab --ranks 25 \
    -o node.ranks=2
refused 'transport ipc' group via=ipc --machine lab -o node.ranks=1
refused '--pace' self bytes=8 --machine lab --pace fast
refused '--links' self bytes=8 --machine lab --links few
refused '--format' self bytes=8 --machine lab --format svg
refused 'collective.hierarchy' collective hierarchy=3,3 --ranks 8 --machine lab
refused 'neither a campaign file nor a probe' nothing --machine lab
exit $bad
