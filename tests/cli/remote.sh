#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# remote.sh - coalctl and the real collector: over its socket, over HTTP and
# over HTTPS with certificates of each role and of unknown CAs; the effects of
# an error in a campaign file. Without agents: runs are for the lab.
. "$(dirname "$0")/lib.sh"
coalmined=$build/daemon/coalmined
[ -x "$coalmined" ] || { echo "skipped: no coalmined"; exit 77; }
pki=$work/pki
export COALMINE_URL="unix:$work/sock"

"$coalctl" pki init "$pki" >/dev/null
"$coalctl" pki issue "$pki" collector --role collector >/dev/null
"$coalctl" pki issue "$pki" reader --role reader >/dev/null
"$coalctl" pki issue "$pki" operator --role operator >/dev/null
"$coalctl" pki issue "$pki" node1 --role agent >/dev/null
"$coalctl" pki init "$work/other" >/dev/null
"$coalctl" pki issue "$work/other" operator --role operator >/dev/null
mkdir "$work/campaigns" "$work/state"
printf '[campaign]\nnodes_min = 4\n' >"$work/campaigns/good.conf"
printf '[campaign]\nnodez = 4\n' >"$work/campaigns/broken.conf"

# configure PORT: three ports from there on.
configure() {
	cat >"$work/conf" <<-EOT
	[collector]
	listen = 127.0.0.1:$1
	state_dir = $work/state
	campaign_dir = $work/campaigns
	[tls]
	ca = $pki/ca.pem
	cert = $pki/collector.pem
	key = $pki/collector.key
	[http]
	socket = $work/sock
	listen = 127.0.0.1:$(($1 + 1))
	tls_listen = 127.0.0.1:$(($1 + 2))
	EOT
}

# A port may be taken: the next ones are tried.
start_collector() {
	port=$((20000 + $$ % 10000))
	for try in 1 2 3 4 5; do
		configure "$port"
		"$coalmined" --config "$work/conf" 2>"$work/log" &
		standin=$!
		while kill -0 "$standin" 2>/dev/null; do
			"$coalctl" version >/dev/null 2>&1 && return
			sleep 0.1
		done
		port=$((port + 500 * try))
	done
	cat "$work/log"
	echo "the collector does not start"
	exit 1
}
start_collector

expect remote-version 0 "$coalctl" version
expect remote-nodes 0 "$coalctl" node list --json
expect remote-campaigns 1 "$coalctl" campaign list
expect remote-runs 0 "$coalctl" run list
expect remote-last 3 "$coalctl" report last
expect remote-none 3 "$coalctl" run show nope
expect remote-node 3 "$coalctl" node show node1
expect remote-campaign 3 "$coalctl" campaign show nope
expect remote-run-none 3 "$coalctl" campaign run nope
expect remote-run-broken 3 "$coalctl" campaign run broken
expect remote-run-clash 3 "$coalctl" campaign run good -o campaign.nodes_max=2
"$coalctl" verdict list >"$work/said"
check "no node at all is ok: $(cat "$work/said")" \
    grep -q "^unknown, not ok: no node has been seen" "$work/said"
expect remote-check 0 "$coalctl" db check
expect remote-backup 0 "$coalctl" db backup "$work/copy.db"
expect remote-backup-nowhere 3 "$coalctl" db backup "$work/none/copy.db"
expect remote-list-none 3 "$coalctl" run list --campaign nope
expect remote-matrix-none 3 "$coalctl" matrix nope
expect remote-history-none 3 "$coalctl" verdict history node99
expect remote-backup-again 3 "$coalctl" db backup "$work/copy.db"
expect remote-schedule-nope 3 "$coalctl" schedule enable nope
expect remote-stop 0 "$coalctl" stop --all
"$coalctl" schedule disable good >/dev/null 2>&1
"$coalctl" events --json >"$work/events"
check "events are not an array" jq -e 'type == "array"' "$work/events" >/dev/null

# With no agent a run waits or is missed; cancelled it ends at once.
"$coalctl" campaign run good --json >"$work/run"
run=$(jq -r .run "$work/run")
"$coalctl" run cancel "$run" >/dev/null 2>&1
"$coalctl" run watch "$run" >/dev/null 2>&1
rc=$?
check "a run without nodes ends with $rc" [ "$rc" = 1 -o "$rc" = 2 ]
check "last is another run" [ "$("$coalctl" run show last --json |
    jq -r .run)" = "$run" ]
check "the overview knows no reason" sh -c "$coalctl run list |
    grep -q '^$run.*good'"

# Plain HTTP allows reading, and rejects orders.
export COALMINE_URL="http://127.0.0.1:$((port + 1))"
expect http-version 0 "$coalctl" version
"$coalctl" stop --all >"$work/out" 2>"$work/err"
check "an order over HTTP does not fail" [ $? -eq 3 ]
check "an order over HTTP is not refused" [ -s "$work/err" ]

# HTTPS: the rights of each role.
secure() { # NAME ARGUMENT...
	name=$1
	shift
	"$coalctl" --ca "$pki/ca.pem" --cert "$pki/$name.pem" \
	    --key "$pki/$name.key" "$@" >"$work/out" 2>"$work/err"
}
for host in 127.0.0.1 localhost; do
	export COALMINE_URL="https://$host:$((port + 2))"
	secure operator version
	case $? in
	0) [ $host = 127.0.0.1 ] || { echo "a wrong name is taken"; bad=1; } ;;
	*) [ $host = localhost ] || { cat "$work/err"; bad=1; } ;;
	esac
done
export COALMINE_URL="https://127.0.0.1:$((port + 2))"
expect https-ca-none 3 env COALMINE_CA="$work/none" "$coalctl" version
secure operator stop --all
check "an operator may not order" [ $? -eq 0 ]
secure reader run list
check "a reader may not read" [ $? -eq 0 ]
secure reader stop --all
check "a reader may order" [ $? -eq 3 ]
secure node1 run list
check "an agent's certificate opens the API" [ $? -eq 3 ]
"$coalctl" --ca "$pki/ca.pem" run list >/dev/null 2>"$work/err"
check "no certificate opens the API" [ $? -eq 3 ]
check "no advice: $(cat "$work/err")" grep -q "requires .*--cert and" \
    "$work/err"
"$coalctl" --ca "$pki/ca.pem" --cert "$work/other/operator.pem" \
    --key "$work/other/operator.key" run list >/dev/null 2>"$work/err"
check "a stranger's certificate opens the API" [ $? -eq 3 ]
check "no advice: $(cat "$work/err")" grep -q "authority" "$work/err"
COALMINE_URL="https://127.0.0.1:$((port + 1))" "$coalctl" --ca "$pki/ca.pem" \
    run list >/dev/null 2>"$work/err"
check "no advice: $(cat "$work/err")" grep -q "use http://" \
    "$work/err"
"$coalctl" --ca "$work/other/ca.pem" --cert "$pki/operator.pem" \
    --key "$pki/operator.key" run list >/dev/null 2>&1
check "a stranger's collector is trusted" [ $? -eq 3 ]

# The collector's certificate is revoked, and the collector has no such list.
"$coalctl" pki revoke "$pki" reader >/dev/null
secure operator run list
check "a list of others is held against it: $(cat "$work/err")" [ $? -eq 0 ]
"$coalctl" pki revoke "$pki" collector >/dev/null
secure operator run list
check "a revoked collector is trusted" [ $? -eq 3 ]
check "no reason given: $(cat "$work/err")" grep -q revoked "$work/err"
mv "$pki/crl.pem" "$work/list.pem"
secure operator run list
check "no list, and it is not trusted" [ $? -eq 0 ]
secure operator --crl "$work/list.pem" run list
check "--crl is not looked at" [ $? -eq 3 ]
(COALMINE_CRL=$work/list.pem && export COALMINE_CRL &&
    secure operator run list)
check "COALMINE_CRL is not looked at" [ $? -eq 3 ]
exit $bad
