#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# health.sh - the examples of etc/ that answer Slurm and NHC from an agent's
# verdict: ok, suspect, bad, missing, expired; a coalctl that does not work; a
# node drained by another user; and the actions of preflight before a job
# starts and after it ends. sinfo and scontrol are fakes; the latter logs its
# arguments.
. "$(dirname "$0")/lib.sh"

etc=$here/../../etc
verdict=$work/verdict
export COALCTL="$coalctl" SINFO="$work/sinfo" SCONTROL="$work/scontrol" \
    STAMP="$work/stamp" SLURMD_NODENAME=n1
printf '#!/bin/sh\ncat "%s/state"\necho asked >>"%s/asked"\n' "$work" "$work" \
    >"$SINFO"
cat >"$SCONTROL" <<END
#!/bin/sh
last=\${3##*-}
[ "\$1 \$2" = "show job" ] && echo "JobId=12 ExcNodeList=\$EXCLUDED" && exit
[ "\$1 \$2" = "show partition" ] && echo "Name=\$4 TotalNodes=\$TOTAL" && exit
case \$1,\$3 in show,*,*) echo "\$3" | tr , '\n' && exit ;; esac
[ "\$1" = show ] && seq "\${last%]}" && exit
echo "\$*" >>"$work/orders"
END
chmod +x "$SINFO" "$SCONTROL"

# file VERDICT [AGE_S]: as an agent writes it.
file() {
	printf '{"node":"n1","verdict":"%s","text":"%s","at_unix_ns":%s%s' \
	    "$1" "n1's \\\"eth0\\\" slow" $(($(date +%s) - ${2-0})) \
	    '000000000,"fresh_ms":300000}' >"$verdict"
}

# The check as NHC runs it, with a die that prints its arguments.
nhc() {
	bash -c 'die() { echo "die $*"; }
		. "$1" && shift && check_coalmine "$@"' - \
	    "$etc/nhc/coalmine.nhc" "$@"
}

prolog() {
	"$etc/slurm/prolog" "$@"
}

# gates CODE: both examples return CODE for the file.
gates() {
	for gate in prolog nhc; do
		"$gate" --file "$verdict" >"$work/said" 2>&1
		rc=$?
		said=$(cat "$work/said")
		case $1$said in
		0 | 1*"bad: n1's \"eth0\" slow") ;;
		*) rc="$rc and \"$said\"" ;;
		esac
		[ "$rc" = "$1" ] && continue
		echo "$gate: $rc, expected $1, of $(cat "$verdict" 2>&1)"
		bad=1
	done
}

# health STATE ORDERS: the expected commands to Slurm while it has the node in
# STATE.
health() {
	echo "$1" >"$work/state"
	: >"$work/orders"
	: >"$work/asked"
	check "health: exit code" "$etc/slurm/health" --file "$verdict"
	[ "$(cat "$work/orders")" = "$2" ] && return
	echo "health, Slurm has $1: \"$(cat "$work/orders")\", expected \"$2\""
	bad=1
}

unasked() {
	check "health asked Slurm without need" test ! -s "$work/asked"
}

drain="update nodename=n1 state=drain"
drain="$drain reason=coalmine-health: bad: n1 s  eth0  slow"

# No action: ok, suspect, unknown, too old, no file, invalid JSON.
for case in "ok 0" "warn 0" "unknown 0" "bad 600" none junk; do
	case $case in
	none) rm -f "$verdict" ;;
	junk) echo bad >"$verdict" ;;
	*) file "${case% *}" "${case#* }" ;;
	esac
	gates 0
	health "idle|none" ""
	unasked
done

# Bad: no job starts, and the node is drained unless it already is drained.
file bad
gates 1
for state in "drained|broken fan" "down|Not responding" "idle*|none" \
    "maint|none" "reserved|none" "drained|coalmine: bad, slow" ""; do
	health "$state" ""
done
check "what it left alone is not noted" test ! -e "$STAMP"
for state in idle mixed allocated completing; do
	health "$state|none" "$drain"
done
health "draining|coalmine-health: bad: slow" ""

# Normal again: only a drain by this example is undone, and not earlier.
file warn
health "drained|coalmine-health: bad: slow" ""
rm "$verdict"
health "drained|coalmine-health: bad: slow" ""
file ok
health "drained|coalmine-health: bad: slow" "update nodename=n1 state=resume"
health "drained|coalmine-health: bad: slow" "" # not from here
unasked
file bad
health "idle|none" "$drain"
file ok
health "drained|broken fan" ""
health "drained|coalmine-health: bad: slow" ""
unasked

# A program that is missing or broken must not drain a cluster.
file bad
export COALCTL="$work/missing"
gates 0
health "idle|none" ""
printf '#!/bin/sh\nexit 1\n' >"$COALCTL"
chmod +x "$COALCTL"
gates 0
health "idle|none" ""

# Before a job starts: the result of coalctl preflight, by exit code, and the
# action in the site's configuration.
cat >"$COALCTL" <<'END'
#!/bin/sh
echo "$*" >>"$0.asked"
[ "$1" = epilog ] && echo "job 12: 4 nodes for 2h" && exit
[ "$(cat "$0.rc")" = 3 ] && echo "coalctl: no answer" >&2 && exit 3
printf 'slow  n2: 4.9 times the expected time\n'
printf 'slow  n4: runs with this node do not start, or do not end\n'
printf 'slow  the path between n1 and n3: 2.0 times the expected time\nfit   n1\n'
exit "$(cat "$0.rc")"
END
export SLURM_JOB_ID=12 SLURM_JOB_NODELIST='n[1-4]' CONFIG="$work/preflight.conf"

# preflight RC CONFIG ORDERS: the expected commands to Slurm
preflight() {
	echo "$1" >"$COALCTL.rc"
	echo "$2" >"$CONFIG"
	: >"$work/orders"
	: >"$COALCTL.asked"
	check "preflight: exit code" "$etc/slurm/preflight"
	[ "$(cat "$work/orders")" = "$3" ] && return
	echo "preflight $1 $2: \"$(cat "$work/orders")\", expected \"$3\""
	bad=1
}

told="update jobid=12 comment=coalmine: preflight: n2: 4.9 times the"
told="$told expected time n4: runs with this node do not start, or do not end the path between n1 and"
told="$told n3: 2.0 times the expected time"
for rc in 0 2 127; do
	preflight $rc ACTION=hold ""
done
preflight 3 ACTION=hold "update jobid=12 comment=coalmine: preflight: nothing \
was measured: coalctl: no answer"
preflight 1 "" "$told"
check "preflight: wrong options" grep -qxF \
    'preflight --nodes n[1-4] --within 20s' "$COALCTL.asked"
preflight 1 "ACTION=hold WITHIN=9s OPTIONS='--machine lab'" "requeuehold 12
$told"
check "preflight: options" grep -qxF \
    'preflight --nodes n[1-4] --within 9s --machine lab' "$COALCTL.asked"
# It waits until Slurm has excluded the nodes, and keeps earlier exclusions.
again() {
	EXCLUDED=$1 preflight 1 ACTION=requeue "requeuehold 12
update jobid=12 excnodelist=$2
release 12
$told"
}
export TOTAL=6
again '(null)' n2,n4
TOTAL=7 again n7 n7,n2,n4
# Its partition would have too few nodes: the job would wait forever.
EXCLUDED=n7 preflight 1 ACTION=requeue "$told"
TOTAL='' again '(null)' n2,n4
SLURM_JOB_NODELIST='n[1-2]' preflight 1 ACTION=hold ""
# Runs of the collector are not checked; a user who takes their name is.
export SLURM_JOB_NAME=coalmine-watch
SLURM_JOB_USER=coalmine preflight 1 "" ""
SLURM_JOB_USER=mallory preflight 1 "" "$told"
SLURM_JOB_USER=probes preflight 1 RUN_USERS=probes ""
unset SLURM_JOB_NAME
SLURM_SCRIPT_CONTEXT=epilog_slurmctld preflight 1 ACTION=hold \
    "update jobid=12 comment=coalmine: job 12: 4 nodes for 2h"
# After the end of a job Slurm's accounting stores the comment.
printf '#!/bin/sh\nexit 1\n' >"$work/refuses"
printf '#!/bin/sh\necho "$*" >>"%s"\n' "$work/orders" >"$work/sacctmgr"
chmod +x "$work/refuses" "$work/sacctmgr"
SLURM_SCRIPT_CONTEXT=epilog_slurmctld SCONTROL="$work/refuses" \
    SACCTMGR="$work/sacctmgr" preflight 1 ACTION=hold \
    "-i modify job where jobid=12 set comment=coalmine: job 12: 4 nodes for 2h"
SLURM_SCRIPT_CONTEXT=epilog_slurmctld SLURM_ARRAY_JOB_ID=9 \
    SLURM_ARRAY_TASK_ID=3 preflight 1 ACTION=hold \
    "update jobid=12 comment=coalmine: job 12: 4 nodes for 2h"
check "epilog: a part of an array" grep -qxF 'epilog 9_3' "$COALCTL.asked"
# A path has no node that could be excluded.
sed -i '/^printf .slow  n/d' "$COALCTL"
told="update jobid=12 comment=coalmine: preflight: the path between n1 and n3:"
EXCLUDED='(null)' preflight 1 ACTION=requeue \
    "$told 2.0 times the expected time"
rm "$COALCTL"
preflight 1 ACTION=hold ""
exit $bad
