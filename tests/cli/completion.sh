#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# completion.sh - the completion of bash, zsh and fish.
. "$(dirname "$0")/lib.sh"

# complete WANT WORD...: the completions of the last word.
complete() {
	want=$1
	shift
	# shellcheck disable=SC2016
	got=$(PATH=$build/ctl:$PATH bash -c '
		compopt() { :; }
		. "$1" && shift
		COMP_WORDS=(coalctl "$@")
		COMP_CWORD=$#
		_coalctl
		echo "${COMPREPLY[@]}"' bash "$here/../../ctl/completion/coalctl.bash" "$@")
	[ "$got" = "$want" ] && return
	echo "completion of coalctl $*: $got, expected $want"
	bad=1
}

start_standin
complete "node" no
complete "report" rep
complete "epilog" epi
complete "link" lin
complete "list show upgrade-check maintain forget" node ""
complete "validate" campaign va
complete "--fold" node list --fo
complete "--ascii" report --as
complete "" report --wa
complete "--url" --ur
complete "node1 node10" node show node1
complete "node2" node --json show node2
complete "gpcnet-quick" campaign run gp
complete "gpcnet-quick" run list --campaign gp
complete "canary" schedule disable ca
complete "20261119-gq-cccc" report 20261119
complete "20261119-gq-cccc" compare 20261118-gq-aaaa 20261119
complete "operator" pki issue d n --role op
complete "$here/lib.sh" campaign validate "$here/li"
complete "" stop x
complete "alarm alert" events --kind al
complete "late lost" node list -s l
complete "timed-out" run list --state ti

# zsh and fish use the same requests; the shells parse their files.
for shell in zsh fish; do
	command -v $shell >/dev/null || continue
	got=$(PATH=$build/ctl:$PATH $shell "$here/completion.$shell" \
	    "$here/../../ctl/completion" 2>&1)
	[ "$got" = "upgrade-check" ] || {
		echo "completion of $shell: $got"
		bad=1
	}
done
exit $bad
