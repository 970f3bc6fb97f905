#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# orders.sh - verbs that change something: their requests, their output, and
# waiting for a run, with and without a terminal.
. "$(dirname "$0")/lib.sh"
start_standin

expect run 0 "$coalctl" campaign run gpcnet-quick
expect run-unseen 0 "$coalctl" campaign run some
expect run-json 0 "$coalctl" campaign run gpcnet-quick --json
expect run-wait 0 "$coalctl" campaign run gpcnet-quick --wait
expect run-wait-json 0 "$coalctl" campaign run gpcnet-quick --wait --json
expect run-wait-failed 2 "$coalctl" campaign run bad --wait --json
expect run-none 3 "$coalctl" campaign run none
expect run-nameless 3 "$coalctl" campaign run
expect run-override 0 "$coalctl" campaign run gpcnet-quick \
    -o canary.time=2s -o campaign.nodes='node[1-4]'
expect run-override-form 3 "$coalctl" campaign run gpcnet-quick -o time=2s
expect run-override-key 3 "$coalctl" campaign run gpcnet-quick \
    -o canary.tmie=2s
expect run-override-value 3 "$coalctl" campaign run gpcnet-quick \
    -o canary.time=never
check "overrides are not sent" grep -qF \
    '{"overrides":{"canary.time":"2s","campaign.nodes":"node[1-4]"}}' \
    "$work/requests"

# A campaign file of the user is sent as text, with its file name.
printf '[canary]\ntime = 3s\n' >"$work/gpcnet-quick.conf"
expect run-file 0 "$coalctl" campaign run --file "$work/gpcnet-quick.conf"
check "the text is not sent" grep -qF \
    '"text":"[canary]\ntime = 3s\n"' "$work/requests"
printf '[canary]\ntime = 0\n' >"$work/bad.conf"
expect run-file-bad 3 "$coalctl" campaign run --file "$work/bad.conf"
expect run-file-none 3 "$coalctl" campaign run --file "$work/none.conf"
check "a bad file was sent" sh -c "! grep -q /campaigns/bad/ $work/requests \
    || grep -c /campaigns/bad/ $work/requests | grep -qx 1"

expect validate 3 "$coalctl" campaign validate "$work/gpcnet-quick.conf" \
    "$work/bad.conf"
printf '[canary]\ntime = 0\n# ok\nlevle = 1\n[campaign]\nclass = idle\n' \
    >"$work/three.conf"
expect validate-three 3 "$coalctl" campaign validate "$work/three.conf"
printf '[campaign]\nnodes_min = 4\nnodes_max = 2\n[schedule]\nevery = 5\n' \
    >"$work/rules.conf"
expect validate-rules 3 "$coalctl" campaign validate "$work/rules.conf"
# Plans are built by the engine, for any number of ranks; without an engine
# that is reported.
printf '[group]\ng = 2\nk = 3\n' >"$work/plan.conf"
printf '[neighbor]\nrsg = 0.1\n[collective]\ntune = auto\n' \
    >"$work/any.conf"
PATH=$build/probes/serial:$PATH expect validate-plan 3 "$coalctl" \
    campaign validate "$work/plan.conf" "$work/any.conf"
expect validate-no-engine 0 env PATH=/nowhere "$coalctl" campaign validate \
    "$work/plan.conf"
# A sweep orders a run for each value, after all values have been checked.
expect sweep 0 "$coalctl" sweep sizes congestor.bytes 4K 64K --ascii
check "a value is not sent" grep -qF \
    '{"overrides":{"congestor.bytes":"64K"}}' "$work/requests"
expect sweep-key 3 "$coalctl" sweep sizes campaign.nodes n1
expect sweep-value 3 "$coalctl" sweep none canary.bytes 4K many
check "a sweep with a bad value has begun" sh -c \
    "! grep -q campaigns/none/run.*canary.bytes '$work/requests'"
expect cancel 0 "$coalctl" run cancel 20261118-gq-b
expect cancel-ended 3 "$coalctl" run cancel 20261118-gq-a
expect schedule-disable 0 "$coalctl" schedule disable canary
expect schedule-nope 3 "$coalctl" schedule enable nope
expect stop 3 "$coalctl" stop
expect stop-all 0 "$coalctl" stop --all
expect db-backup 0 "$coalctl" db backup /var/tmp/copy.db
expect db-backup-path 3 "$coalctl" db backup copy.db

# On a terminal: a bar with phase, share and remaining time, in colour unless
# that is unwanted; the terminal is script's.
kill "$standin"
rm "$work/sock"
start_standin
on_terminal() {
	env TERM=xterm "$@" script -qefc \
	    "stty cols 100; $coalctl campaign run gpcnet-quick --wait" \
	    "$work/tty" </dev/null >/dev/null
}
on_terminal
check "no bar on a terminal" grep -q '█' "$work/tty"
check "no phase on a terminal" grep -q 'running, congested lat \[' "$work/tty"
check "no remaining time" grep -q ' 75 %, 11s left' "$work/tty"
check "no colour" grep -q "$(printf '\033')\[32m" "$work/tty"
check "no last line" grep -q 'finished after 41s' "$work/tty"
kill "$standin"
rm "$work/sock"
start_standin
on_terminal NO_COLOR=1
check "no bar without colour" grep -q '█' "$work/tty"
check "colour in spite of NO_COLOR" sh -c \
    "! grep -q '$(printf '\033')\[32m' $work/tty"

# The collector goes away in the middle and comes back.
kill "$standin"
rm "$work/sock"
start_standin
"$coalctl" campaign run gpcnet-quick --wait >"$work/out" 2>"$work/err" &
waiter=$!
until grep -q 'running, isolated' "$work/err"; do sleep 0.05; done
kill "$standin"
rm -f "$work/sock"
until grep -q 'waiting for it' "$work/err"; do sleep 0.05; done
start_standin
wait "$waiter" || { echo "the wait did not outlive the collector"; bad=1; }
check "no end after the collector's return" grep -q finished "$work/out"

# Ctrl-C ends the wait, not the run, and coalctl prints that.
kill "$standin"
rm -f "$work/sock"
start_standin
timeout -s INT --preserve-status 3 "$coalctl" campaign run endless -w \
    >"$work/out" 2>"$work/err"
check "an interrupted wait does not exit with 130" [ $? -eq 130 ]
check "an interrupted wait does not report that the run continues" grep -qx \
    'run 20261120-ever continues; coalctl run cancel 20261120-ever ends it' \
    "$work/err"
exit $bad
