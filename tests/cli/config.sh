#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# config.sh - --check-config of coalmined and coalmine-agent finds the errors
# that a start would find: values, files, folders, helper programs, the user of
# the ranks.
. "$(dirname "$0")/lib.sh"
[ -x "$build/agents/coalmine-agent" ] && [ -x "$build/daemon/coalmined" ] ||
	exit 77
pki=$work/pki
"$coalctl" pki init "$pki" >/dev/null &&
    "$coalctl" pki issue "$pki" c --role collector >/dev/null &&
    mkdir "$work/state" "$work/campaigns" "$work/libexec" || exit 1
printf '#!/bin/sh\n' >"$work/libexec/coalmine-keeper"
chmod 755 "$work/libexec/coalmine-keeper"
set -- -n -c /dev/null -o tls.ca="$pki/ca.pem" -o tls.cert="$pki/c.pem" \
    -o tls.key="$pki/c.key"

# finds PROGRAM TEXT ARGUMENT...: exit code 3 and the text, or 0 and "ok".
finds() {
	program=$1
	want=$2
	shift 2
	got=$("$program" "$@" 2>&1)
	rc=$?
	[ "$rc:$want" = "0:ok" ] && [ "$got" = ok ] && return
	[ $rc = 3 ] && [ "$want" != ok ] && case $got in *"$want"*) return ;; esac
	echo "$program $*: exit code $rc, '$want' was expected: $got"
	bad=1
}

collector() {
	want=$1
	shift
	finds "$build/daemon/coalmined" "$want" "$@" \
	    -o collector.state_dir="$work/state" \
	    -o collector.campaign_dir="$work/campaigns" ${last:+-o "$last"}
}

last=
collector ok "$@"
last=collector.state_dir=$work/new # which a start makes
collector ok "$@"
while IFS='|' read -r last want; do
	collector "$want" "$@"
done <<E2
http.listen=127.0.0.1|expected host:port or nothing
collector.listen=::1:5|expected host:port
alerts.webhook=foo|expected http://HOST or https://HOST
collector.state_dir=$work/none/state|$work/none: No such file or directory
tls.key=$pki/c.pem|tls.key $pki/c.pem: no PEM data found
tls.cert=/etc/passwd|tls.cert /etc/passwd: no PEM data found
tls.key=$pki/ca.key|tls.key $pki/ca.key: key does not match the certificate
tls.ca=$work/none|tls.ca $work/none: No such file or directory
E2

# Reported, but not an error: the program starts.
"$build/daemon/coalmined" "$@" -o collector.state_dir="$work/state" \
    -o collector.campaign_dir="$work/none" 2>&1 |
    grep -q "$work/none: No such file" || {
	echo "a missing folder of campaigns is not told"
	bad=1
}

# Without children.libexec the helpers of the agent's own prefix are used.
mkdir -p "$work/prefix/sbin" "$work/prefix/libexec/coalmine" &&
    cp "$build/agents/coalmine-agent" "$work/prefix/sbin" || exit 1
for want in /usr/libexec/coalmine "$work/prefix/libexec/coalmine"; do
	"$work/prefix/sbin/coalmine-agent" --config /dev/null --print-config |
	    grep -q "^libexec = $want\$" || {
		echo "the folder of the helpers is not $want"
		bad=1
	}
	cp "$work/libexec/coalmine-keeper" "$work/prefix/libexec/coalmine"
done

agent() {
	want=$1
	shift
	finds "$build/agents/coalmine-agent" "$want" "$@" \
	    -o agent.collector=localhost:17700 -o children.user= -o agent.user= \
	    -o children.libexec="$work/libexec" ${last:+-o "$last"}
}

last=agent.log=warn
[ "$(id -u)" = 0 ] || agent ok "$@" # as root it reports that it runs no ranks
while IFS='|' read -r last want; do
	agent "$want" "$@"
done <<E2
agent.collector=collector|expected host:port
agent.collector=:17700|expected host:port
children.libexec=$work/none|$work/none/coalmine-keeper: No such file
agent.user=daemon|agent.user: expected a user other than root, and in children
mpi.ports=20000|-o: invalid value "20000" for mpi.ports: expected LOW-HIGH
mpi.ports=80-90|invalid value "80-90" for mpi.ports
mpi.ports=20100-20000|invalid value "20100-20000" for mpi.ports
mpi.ports=20000-70000|invalid value "20000-70000" for mpi.ports
mpi.ports=20000-20100,|invalid value "20000-20100," for mpi.ports
tls.cert=$work/none|$work/none: No such file or directory; to enrol this node
E2
last=agent.user=daemon
agent "agent.ras_port: expected 0 with agent.user" "$@" -o agent.ras_port=28028
last=children.user=nobody-of-that-name
[ "$(id -u)" != 0 ] || agent "user nobody-of-that-name does not exist" "$@"
last=children.user=nobody
[ "$(id -u)" != 0 ] || agent ok "$@"
exit $bad
