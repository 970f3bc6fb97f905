#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_rules.sh - promtool accepts the rules, the alerts and the example of a
# scrape; the alerts fire when they should; an invalid rule is detected.
set -u
command -v promtool >/dev/null || {
	echo "skipped: no promtool; see lab/deps"
	exit 77
}
etc=$COALMINE_SOURCE/etc/prometheus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

check() { # COMMAND...: must succeed
	"$@" >"$work/out" 2>&1 && return
	echo "$*:"
	tail -n 60 "$work/out"
	bad=1
}

cp "$etc"/*.yml "$COALMINE_SOURCE/tests/prometheus/rules_test.yml" "$work" ||
    exit 1
cd "$work" || exit 1
check promtool check rules coalmine.rules.yml coalmine.alerts.yml
check promtool check config scrape.yml
check promtool test rules rules_test.yml

# Every alert is triggered, and has the expected text.
for alert in $(sed -n 's/.*alert: //p' coalmine.alerts.yml); do
	grep -A 2 "alertname: $alert\$" rules_test.yml | grep -q exp_alerts && continue
	echo "$alert is never seen to fire in rules_test.yml"
	bad=1
done
for word in severity summary description runbook_url; do
	[ "$(grep -c "$word:" coalmine.alerts.yml)" = \
	    "$(grep -c 'alert:' coalmine.alerts.yml)" ] && continue
	echo "an alert lacks its $word"
	bad=1
done

sed -i 's/(coalmine_node_verdict)/(coalmine_node_verdict) > 1/' \
    coalmine.alerts.yml
if promtool test rules rules_test.yml >"$work/out" 2>&1; then
	echo "a spoilt rule passes its tests"
	bad=1
fi
exit $bad
