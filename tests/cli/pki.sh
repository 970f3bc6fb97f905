#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pki.sh - the authority and its certificates, as openssl(1) sees them.
. "$(dirname "$0")/lib.sh"
pki=$work/pki

field() { openssl x509 -in "$pki/$1.pem" -noout "$2"; }

expect pki-none 3 sh -c '"$0" pki init "$1/below" ||
    "$0" pki issue "$1" node1 --role agent' "$coalctl" "$pki"
expect pki-init 0 "$coalctl" pki init "$pki"
expect pki-init-again 3 "$coalctl" pki init "$pki"
expect pki-issue 0 "$coalctl" pki issue "$pki" 'node[1-2]' --role agent
expect pki-issue-collector 0 "$coalctl" pki issue "$pki" collector \
    --role collector --san 10.1.2.3 --san fe80::1 --san collector.site
expect pki-issue-person 0 "$coalctl" pki issue "$pki" alice --role operator
expect pki-issue-again 3 "$coalctl" pki issue "$pki" alice --role reader
expect pki-role 3 "$coalctl" pki issue "$pki" bob --role root
expect pki-no-role 3 "$coalctl" pki issue "$pki" bob
expect pki-san 3 "$coalctl" pki issue "$pki" bob --role reader --san 'a b'
expect pki-name 3 "$coalctl" pki issue "$pki" ../bob --role reader
expect pki-ca 3 "$coalctl" pki issue "$pki" ca --role reader
expect pki-days 3 "$coalctl" pki issue "$pki" bob --role reader --days 0
expect pki-revoke-none 3 "$coalctl" pki revoke "$pki" bob
expect pki-revoke-ca 3 "$coalctl" pki revoke "$pki" ca
expect pki-crl 3 "$coalctl" pki issue "$pki" crl --role reader
expect pki-renew-none 3 "$coalctl" pki renew "$pki" bob
check "a refused certificate left files" sh -c \
    "! ls $pki | grep -q 'bob\|new'"

check "keys are readable to others" sh -c \
    "! find $pki -name '*.key' ! -perm 600 | grep -q ."
for name in collector node1 node2 alice; do
	check "$name does not verify" \
	    openssl verify -CAfile "$pki/ca.pem" "$pki/$name.pem" >/dev/null
done
check "collector is not valid as a server" openssl verify -purpose sslserver \
    -verify_hostname collector.site -CAfile "$pki/ca.pem" \
    "$pki/collector.pem" >/dev/null
check "collector lacks its fixed name" openssl verify \
    -verify_hostname coalmine-collector -CAfile "$pki/ca.pem" \
    "$pki/collector.pem" >/dev/null
check "collector lacks its address" openssl verify -verify_ip 10.1.2.3 \
    -CAfile "$pki/ca.pem" "$pki/collector.pem" >/dev/null
check "an agent can pose as a server" sh -c "! openssl verify \
    -purpose sslserver -CAfile $pki/ca.pem $pki/node1.pem >/dev/null 2>&1"
check "subject" [ "$(field alice -subject)" = \
    "subject=CN = alice, OU = operator" ]
check "curve" sh -c "openssl ec -in $pki/alice.key -noout -text 2>/dev/null |
    grep -q prime256v1"

# Renewed: same key and names, another serial, later end.
before=$(field collector -serial)
key=$(field collector -pubkey)
sans=$(field collector -ext=subjectAltName 2>/dev/null ||
    openssl x509 -in "$pki/collector.pem" -noout -ext subjectAltName)
expect pki-renew 0 "$coalctl" pki renew "$pki" collector --days 900
check "the serial did not change" [ "$before" != "$(field collector -serial)" ]
check "the key changed" [ "$key" = "$(field collector -pubkey)" ]
check "the names changed" [ "$sans" = "$(openssl x509 \
    -in "$pki/collector.pem" -noout -ext subjectAltName)" ]
check "the old time remains" openssl x509 -in "$pki/collector.pem" -noout \
    -checkend $((890 * 86400)) >/dev/null

# With a new key: the same names, and the pair fits.
cp "$pki/collector.pem" "$work/before.pem"
expect pki-rekey 0 "$coalctl" pki renew "$pki" collector --days 900 --rekey
check "the key did not change" [ "$key" != "$(field collector -pubkey)" ]
check "key and certificate do not fit" [ "$(field collector -pubkey)" = \
    "$(openssl pkey -in "$pki/collector.key" -pubout)" ]
check "the new key is readable to others" [ "$(stat -c %a \
    "$pki/collector.key")" = 600 ]
check "names changed with the key" [ "$sans" = "$(openssl x509 \
    -in "$pki/collector.pem" -noout -ext subjectAltName)" ]
check "files of a renewal are left" sh -c "! ls $pki | grep -q new"

# The list, and its warnings; serials and times are masked.
"$coalctl" pki list "$pki" >"$work/list" || { echo "list: not 0"; bad=1; }
awk '{ print $1, $2, $5, $7 }' "$work/list" >"$work/short"
expect pki-list 0 cat "$work/short"
expect pki-issue-short 0 "$coalctl" pki issue "$pki" soon --role reader \
    --days 10
"$coalctl" pki list "$pki" --json >"$work/list"
check "a near expiry gives no warning" [ $? -eq 1 ]
check "the list is not JSON" jq -e 'length == 6 and .[0].role == "authority"' \
    "$work/list" >/dev/null

# A revoked certificate is on the list, which is valid as long as the authority,
# and its name is free again. Other certificates are not on the list.
cp "$pki/node1.pem" "$work/was.pem"
expect pki-revoke 0 "$coalctl" pki revoke "$pki" node1
expect pki-revoke-again 3 "$coalctl" pki revoke "$pki" node1
expect pki-issue-anew 0 "$coalctl" pki issue "$pki" node1 --role agent
expect pki-revoke-more 0 "$coalctl" pki revoke "$pki" 'node[1-2]'
cat "$pki/ca.pem" "$pki/crl.pem" >"$work/list.pem"
revoked() { openssl verify -crl_check -CAfile "$work/list.pem" "$1" 2>&1 |
	grep -q "certificate revoked"; }
check "it is not revoked" revoked "$work/was.pem"
check "two at once" revoked "$pki/node2.pem.revoked"
"$coalctl" pki list "$pki" >"$work/list"
awk '/revoked$|revoked / { print $1, $5, $NF ~ /^[0-9:]+$/ }' "$work/list" \
    >"$work/short"
"$coalctl" pki list "$pki" --json >"$work/list"
check "a revocation in the past or the future" jq -e --argjson now \
    "$(date +%s)" 'all(.[] | .revoked_unix_ns // empty;
	$now - . / 1e9 | . > -2 and . < 250)' "$work/list" >/dev/null
expect pki-list-revoked 0 cat "$work/short"
check "others are revoked" openssl verify -crl_check \
    -CAfile "$work/list.pem" "$pki/alice.pem" >/dev/null
check "two lists" [ "$(openssl crl -in "$pki/crl.pem" -noout -text |
    grep -c "Serial Number")" = 3 ]
check "the list ends before the authority" [ "$(openssl crl \
    -in "$pki/crl.pem" -noout -nextupdate | cut -d= -f2)" = "$(openssl x509 \
    -in "$pki/ca.pem" -noout -enddate | cut -d= -f2)" ]
check "a list is shown as a certificate" sh -c "! $coalctl pki list $pki |
    grep -q crl"

# A CA for enrolment: its list exists at once, it signs no servers, and
# certificates issued by a collector are revoked with the rest.
expect pki-enroller 0 "$coalctl" pki enroller "$pki"
expect pki-enroller-again 3 "$coalctl" pki enroller "$pki"
expect pki-enroll-name 3 "$coalctl" pki issue "$pki" enroll --role agent
check "two lists of two authorities" [ "$(grep -c BEGIN "$pki/crl.pem")" = 2 ]
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -keyout /dev/null -subj /CN=e1/OU=agent 2>/dev/null |
    openssl x509 -req -CA "$pki/enroll.pem" -CAkey "$pki/enroll.key" \
    -set_serial 77 -days 9 -out "$work/e1.pem" 2>/dev/null
enrolled() { openssl verify -purpose "$1" -crl_check -CAfile "$pki/ca.pem" \
    -CRLfile "$pki/crl.pem" -untrusted "$pki/enroll.pem" "$work/e1.pem" 2>&1; }
check "no client" enrolled sslclient >/dev/null
check "a server" sh -c "! openssl verify -purpose sslserver -CAfile \
    $pki/ca.pem -untrusted $pki/enroll.pem $work/e1.pem >/dev/null 2>&1"
jq -nc --rawfile cert "$work/e1.pem" \
    '{name: "e1", key: "0", end_unix_s: 1, cert: $cert}' >"$work/enrolled"
truncate -s 300M "$work/enrolled" # any size
printf '\n{"name":"e1",' >>"$work/enrolled" # torn
expect pki-revoke-enrolled 0 "$coalctl" pki revoke "$pki" e1 \
    --enrolled "$work/enrolled"
check "what was enrolled is not revoked" sh -c "openssl verify -crl_check \
    -CAfile $pki/ca.pem -CRLfile $pki/crl.pem -untrusted $pki/enroll.pem \
    $work/e1.pem 2>&1 | grep -q 'certificate revoked'"
rm "$work/list"
{
	head -n 1 "$work/enrolled"
	jq -nc --rawfile cert "$pki/alice.pem" '{name: "alice", cert: $cert}'
} >"$work/short-enrolled"
"$coalctl" pki list "$pki" --enrolled "$work/short-enrolled" >"$work/list"
check "a revoked node is not listed once: $(cat "$work/list")" [ "$(grep -c \
    '^e1 *agent .* revoked ' "$work/list")" = 1 ]
check "the rest is listed twice" [ "$(grep -c '^alice ' "$work/list")" = 1 ]
expect pki-list-none 3 "$coalctl" pki list "$work"
expect pki-revoke-enroller 0 "$coalctl" pki revoke "$pki" enroll
check "its list remains" [ "$(grep -c BEGIN "$pki/crl.pem")" = 1 ]
check "it is not on the list" sh -c "openssl verify -crl_check \
    -CAfile $pki/ca.pem -CRLfile $pki/crl.pem $pki/enroll.pem.revoked 2>&1 |
    grep -q 'certificate revoked'"
expect pki-enroller-anew 0 "$coalctl" pki enroller "$pki"
expect pki-revoke-stranger 3 "$coalctl" pki revoke "$pki" e2 \
    --enrolled "$work/enrolled"
# A node that was enrolled by the former authority, and again by this one.
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -keyout /dev/null -subj /CN=e1/OU=agent 2>/dev/null |
    openssl x509 -req -CA "$pki/enroll.pem" -CAkey "$pki/enroll.key" \
    -set_serial 78 -days 9 -out "$work/e1.pem" 2>/dev/null
{
	head -n 1 "$work/enrolled"
	jq -nc --rawfile cert "$work/e1.pem" \
	    '{name: "e1", key: "0", end_unix_s: 1, cert: $cert}'
} >"$work/enrolled-twice"
check "a repeated enrolment is not revoked" sh -c "$coalctl pki revoke $pki \
    e1 --enrolled $work/enrolled-twice >/dev/null && openssl verify -crl_check \
    -CAfile $pki/ca.pem -CRLfile $pki/crl.pem -untrusted $pki/enroll.pem \
    $work/e1.pem 2>&1 | grep -q 'certificate revoked'"

# A damaged list is not treated as missing, and is not changed.
cp -r "$pki" "$work/damaged"
sed -i '$d' "$work/damaged/crl.pem"
cp "$work/damaged/crl.pem" "$work/crl-before"
check "a damaged list is overwritten" sh -c "! $coalctl pki revoke \
    $work/damaged alice 2>$work/err && grep -q damaged $work/err &&
    cmp -s $work/damaged/crl.pem $work/crl-before"
expect pki-token-for-whom 3 "$coalctl" pki token
expect pki-token-uses 3 "$coalctl" pki token --any --uses 0

# No certificate is valid longer than its authority.
"$coalctl" pki init "$work/short-ca" --days 20 >/dev/null
"$coalctl" pki issue "$work/short-ca" x --role reader >/dev/null
check "a certificate outlives its authority" sh -c "! openssl x509 \
    -in $work/short-ca/x.pem -noout -checkend $((21 * 86400)) >/dev/null"
exit $bad
