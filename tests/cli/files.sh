#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# files.sh - wherever a user names a file, a pipe without a writer is rejected
# by that name, at once, with exit code 3; and so is a device without an end.
# Standard input is still accepted where it is requested.
. "$(dirname "$0")/lib.sh"
probe=$build/probes/serial/coalmine-probe
pipe=$work/pipe
mkfifo "$pipe" || exit 1
none='expected a regular file, not a pipe or a device'

# refused WHAT COMMAND...: it names the file WHAT, and does not hang.
refused() {
	what=$1
	shift
	timeout 60 "$@" >"$work/out" 2>&1 </dev/null
	rc=$?
	[ $rc = 3 ] && grep -qF "$what: $none" "$work/out" && return
	echo "$*: exit code $rc: $(cat "$work/out")"
	bad=1
}

for file in "$pipe" /dev/zero; do
	refused "$file" "$coalctl" campaign validate "$file"
	refused "$file" "$coalctl" campaign run --file "$file"
	refused "$file" "$coalctl" topology import "$file"
	refused "$file" "$coalctl" check --local --file "$file"
	for option in ca cert key; do
		refused "$file" "$coalctl" --url https://192.0.2.1:1 \
		    --$option "$file" node list
	done
	[ ! -x "$build/agents/coalmine-agent" ] ||
	    refused "$file" "$build/agents/coalmine-agent" --check-config \
		--config "$file"
	[ ! -x "$build/daemon/coalmined" ] || {
		refused "$file" "$build/daemon/coalmined" --check-config \
		    --config "$file"
		refused "$file" "$build/daemon/coalmined" --check-config \
		    -o topology.leaves="$file"
	}
	[ -x "$probe" ] || continue
	for verb in plan check; do
		refused "$file" "$probe" $verb "$file"
		for option in graph matrix sizes; do
			more=
			[ $option != sizes ] || more=rsg=.1
			refused "$file" "$probe" $verb neighbor \
			    $option="$file" ranks=4 $more
		done
		refused "$file" "$probe" $verb compose file="$file"
	done
	refused "$file" "$probe" predict self --machine "$file"
	refused "$file" "$probe" predict "$file" --machine lab
done

# A program is not a campaign.
regular=$none none='contains a NUL byte: expected a text file'
printf '[campaign]\nnodes = a\0b\n' >"$work/nul"
refused "$work/nul" "$coalctl" campaign validate "$work/nul"
refused "$work/nul" "$coalctl" campaign run --file "$work/nul"
none=$regular

# Certificates and keys, which OpenSSL would open itself.
mkdir "$work/campaigns"
for option in ca cert key; do
	for other in ca cert key; do # those before it have to be good
		echo x >"$work/$other"
	done
	rm "$work/$option"
	ln -s "$pipe" "$work/$option"
	set -- -o tls.ca="$work/ca" -o tls.cert="$work/cert" \
	    -o tls.key="$work/key"
	[ ! -x "$build/agents/coalmine-agent" ] ||
	    refused "$work/$option" "$build/agents/coalmine-agent" "$@" \
		-o agent.collector=127.0.0.1:1 -o agent.name=n1 \
		-o children.user= -o agent.user= -o agent.state_dir="$work/agent" \
		-o agent.run_dir="$work/run"
	[ ! -x "$build/daemon/coalmined" ] ||
	    refused "$work/$option" "$build/daemon/coalmined" --foreground "$@" \
		-o collector.state_dir="$work/state" \
		-o collector.campaign_dir="$work/campaigns" \
		-o http.socket="$work/collector.sock"
	rm "$work/ca" "$work/cert" "$work/key"
done

# A certificate's folder, a link to a pipe.
mkdir "$work/pki"
ln -s "$pipe" "$work/pki/ca.pem"
refused "$work/pki/ca.pem" "$coalctl" pki issue "$work/pki" n1 --role agent

# The standard input is read to its end, whatever it is.
about='[campaign]
about = from a pipe'
[ "$(echo "$about" | "$coalctl" campaign validate - 2>&1)" = '-: ok' ] || {
	echo "a campaign from the standard input is not taken"
	bad=1
}
[ ! -x "$probe" ] || {
	printf '[self]\nbytes = 8\n' >"$work/self.conf"
	"$probe" plan /dev/stdin <"$work/self.conf" | grep -q '^0 0 0 send' || {
		echo "a plain file as /dev/stdin is not taken"
		bad=1
	}
}
exit $bad
