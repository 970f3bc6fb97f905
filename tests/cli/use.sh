#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# use.sh - wrong use prints the valid values and exits with code 3; help.
. "$(dirname "$0")/lib.sh"

expect use 3 "$coalctl"
expect use-help 0 "$coalctl" --help
expect use-help-noun 0 "$coalctl" run --help
expect use-help-word 0 "$coalctl" help campaign
expect use-noun 3 sh -c '"$0" help nodes || "$0" nodes --help || "$0" nodes' \
    "$coalctl"
expect use-verb 3 "$coalctl" node lst
expect use-meant 3 sh -c '"$0" nde || "$0" run lits || "$0" run list --limt 1' \
    "$coalctl"
expect use-version 0 "$coalctl" --version
expect use-no-verb 3 "$coalctl" pki
expect use-option 3 "$coalctl" node list --frob
expect use-letter 3 "$coalctl" node list -Q
expect use-other-option 3 "$coalctl" node list --wait
expect use-value 3 "$coalctl" node list --json=yes
expect use-no-value 3 "$coalctl" run list --campaign
expect use-few 3 "$coalctl" compare 7d..now
expect use-many 3 "$coalctl" compare a b c
expect use-url 3 sh -c '"$0" --url ftp://x node list
    "$0" --url unix: node list' "$coalctl"
# https to a port of http: the answer of a plain server is not TLS.
python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
peer = s.accept()[0]
peer.recv(4096)
peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")' >"$work/port" &
until [ -s "$work/port" ]; do sleep 0.05; done
"$coalctl" --url "https://127.0.0.1:$(cat "$work/port")" node list \
    >"$work/out" 2>&1
check "https to http: $(cat "$work/out")" grep -q 'use http:// in --url' \
    "$work/out"
wait
expect use-unreachable 3 "$coalctl" --url http://127.0.0.1:1 node list
# Options that are checked before the collector is asked or a file is made.
expect use-token 3 sh -c '"$0" pki token --any --for never
    "$0" pki token --any --for 31d
    "$0" init --for never "$1"
    "$0" init --node "n[1-" "$1"
    "$0" init --san "bad name" "$1"' "$coalctl" "$work"
expect use-help-init 0 "$coalctl" init --help
expect use-full 3 sh -c "$coalctl --help >/dev/full"
exit $bad
