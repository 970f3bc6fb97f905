#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The three listeners of a real coalmined: TCP accepts reads, the unix socket
# accepts orders, TLS accepts requests by the role of the certificate. Clients
# without a certificate, or with one of another CA, are rejected and do not
# disturb others. Thousands of idle connections disturb no service and use no
# memory.
set -eu

tmp=$(mktemp -d)
# Below the ports that the kernel gives to connections.
base=$((20000 + $$ % 4000 * 3))
tcp=$base tls=$((base + 1)) agents=$((base + 2))
pid=
trap 'if [ -n "$pid" ]; then kill $pid 2>/dev/null; wait $pid || true; fi
	rm -rf "$tmp"' EXIT
fail() {
	echo "FAILED: $*"
	tail -20 "$tmp/log"
	exit 1
}

ctl=$COALMINE_BUILD/ctl/coalctl
"$ctl" pki init "$tmp/pki" >/dev/null
"$ctl" pki issue "$tmp/pki" collector --role collector --san 127.0.0.1 \
	--san localhost >/dev/null
for role in reader operator agent; do
	"$ctl" pki issue "$tmp/pki" "a-$role" --role $role >/dev/null
done
"$ctl" pki init "$tmp/foreign" >/dev/null
"$ctl" pki issue "$tmp/foreign" eve --role operator >/dev/null

mkdir "$tmp/campaigns"
cat >"$tmp/coalmined.conf" <<END
[collector]
listen = 127.0.0.1:$agents
state_dir = $tmp/state
campaign_dir = $tmp/campaigns
[tls]
ca = $tmp/pki/ca.pem
cert = $tmp/pki/collector.pem
key = $tmp/pki/collector.key
[http]
listen = 127.0.0.1:$tcp
socket = $tmp/sock
tls_listen = 127.0.0.1:$tls
hosts = other.example, monitor.example
END
"$COALMINE_BUILD/daemon/coalmined" --config "$tmp/coalmined.conf" \
	2>"$tmp/log" &
pid=$!
for _ in $(seq 100); do
	curl -sf "http://127.0.0.1:$tcp/healthz" >/dev/null && break
	sleep 0.1
done

# expect STATUS CURL-ARGUMENT...: 000 means that no answer arrived.
expect() {
	local want=$1 got
	shift
	got=$(curl -s --max-time 10 -o "$tmp/body" -w '%{http_code}' "$@" ||
		true)
	[ "$got" = "$want" ] || fail "$* gave $got, not $want"
}
as() {
	echo --cacert "$tmp/pki/ca.pem" --cert "$1/$2.pem" --key "$1/$2.key"
}
http=http://127.0.0.1:$tcp https=https://127.0.0.1:$tls
unix="--unix-socket $tmp/sock http://localhost"

expect 200 "$http/"
expect 200 "$http/metrics"
expect 200 "$http/api/v1/nodes"
expect 403 -X POST "$http/api/v1/stop"
expect 200 -X POST ${unix}/api/v1/stop
expect 200 -X POST ${unix}/api/v1/db/check
expect 405 ${unix}/api/v1/db/check
# A page elsewhere whose name was made to point here.
expect 421 -H 'Host: evil.example' "$http/api/v1/nodes"
expect 421 -H 'Host: evil.example:17701' "$http/"
expect 200 -H 'Host: Monitor.example:17701' "$http/api/v1/nodes"
expect 200 -H 'Host: localhost' "$http/api/v1/nodes"
expect 200 -H "Host: $(hostname)" "$http/api/v1/nodes"
expect 200 -H 'Host: [::1]:17701' "$http/api/v1/nodes"
expect 200 -H 'Host: evil.example' ${unix}/api/v1/nodes
expect 200 $(as "$tmp/pki" a-reader) "$https/api/v1/nodes"
expect 403 $(as "$tmp/pki" a-reader) -X POST "$https/api/v1/stop"
expect 200 $(as "$tmp/pki" a-operator) -X POST "$https/api/v1/stop"
expect 403 $(as "$tmp/pki" a-agent) "$https/api/v1/nodes"
expect 000 --cacert "$tmp/pki/ca.pem" "$https/api/v1/nodes"
expect 000 --cacert "$tmp/pki/ca.pem" --cert "$tmp/foreign/eve.pem" \
	--key "$tmp/foreign/eve.key" "$https/api/v1/nodes"
if [ "$(id -u)" = 0 ] && chmod 755 "$tmp" &&
	setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	got=$(setpriv --reuid 65534 --clear-groups curl -s -o /dev/null -w \
		'%{http_code}' -X POST ${unix}/api/v1/stop || true)
	[ "$got" = 403 ] || fail "another user's order gave $got"
fi
"$ctl" --url "unix:$tmp/sock" diags >/dev/null || true
# It is written a moment after the order is answered.
for try in {1..100}; do
	curl -s "$http/api/v1/events" | grep -q 'by a-operator' && break
	[ "$try" -lt 100 ] ||
		fail "the event log does not tell who gave the order"
	sleep 0.1
done

# Rubbish on every door.
for port in $tcp $tls; do
	for _ in 1 2 3; do
		(exec 3<>/dev/tcp/127.0.0.1/$port
		head -c 100000 /dev/urandom >&3) 2>/dev/null || true
	done
done
expect 200 "$http/healthz"

# Many that say nothing.
rss() { awk '/VmRSS/ { print $2 }' /proc/$pid/status; }
before=$(rss)
timeout 60 python3 - $tcp $tls <<'END' || fail "idle connections"
import resource, socket, sys
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
held = []
for i in range(10000):
    s = socket.socket()
    s.settimeout(5)
    try:
        s.connect(("127.0.0.1", int(sys.argv[1 + i % 2])))
    except OSError:
        pass
    held.append(s)
    if len(held) > min(hard - 100, 2000):
        held.pop(0).close()
END
expect 200 "$http/healthz"
expect 200 $(as "$tmp/pki" a-reader) "$https/api/v1/nodes"
for try in {1..50}; do # freed memory returns to the kernel with a delay
	after=$(rss)
	[ -z "${COALMINE_SANITIZE-}" ] && [ $((after - before)) -ge 20000 ] ||
		break
	[ "$try" -lt 50 ] || fail "memory grew from $before to $after KiB"
	sleep 0.2
done

# New certificates without a restart.
"$ctl" pki renew "$tmp/pki" collector >/dev/null
kill -HUP $pid
expect 200 $(as "$tmp/pki" a-reader) "$https/api/v1/nodes"

kill -TERM $pid
wait $pid || fail "coalmined ended with $?"
pid=
[ ! -e "$tmp/sock" ] || fail "the socket was left behind"
echo "idle connections: $before to $after KiB"
