#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The lab of an ordinary user, and Open MPI across its hosts with only `lab exec`
# to start daemons.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

folder=$(mktemp -d "${TMPDIR:-/tmp}/lab-XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
# The user may not be allowed to read the source tree.
cp "$lab" "$folder/lab"
user=()
[ "$(id -u)" != 0 ] ||
	user=(setpriv --reuid nobody --regid nogroup --clear-groups)
"${user[@]}" unshare --user --map-root-user --net true 2>/dev/null ||
	skip "ordinary users may not make user namespaces here"
command -v mpirun.openmpi >/dev/null || skip "no mpirun.openmpi"

cat >"$folder/rsh" <<END
#!/bin/bash
host=\$1
shift
exec $folder/lab exec "\$host" sh -c "\$*"
END
chmod 755 "$folder/rsh"

cat >"$folder/all" <<END
exec {fd}< <(exec $folder/lab up --foreground --leaves 2 --hosts 2 2>&1)
read -r line <&\$fd
[[ \$line == *"is up:"* ]] || { echo "\$line"; exit 1; }
[ "\$($folder/lab exec node3 hostname)" = node3 ] || exit 1
[ "\$($folder/lab exec node3 ls /sys/class/net | xargs)" = "eth0 lo" ] ||
	exit 1
$folder/lab degrade node2 rate=20mbit || exit 1
$folder/lab list --name $COALMINE_LAB | grep -q '^node2 .* 20Mbit' || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
hosts=\$($folder/lab exec node1 mpirun.openmpi \
	--mca plm_rsh_agent $folder/rsh --mca btl tcp,self \
	--mca btl_tcp_if_include 10.78.0.0/16 \
	--mca oob_tcp_if_include 10.78.0.0/16 \
	--host node1,node2,node3,node4 hostname 2>/dev/null | sort | xargs)
echo "\$hosts"
END
hosts=$("${user[@]}" timeout 300 bash "$folder/all") || fail "lab: $hosts"
[ "$hosts" = "node1 node2 node3 node4" ] || fail "mpirun: '$hosts'"
poll 5 eval '! pgrep -f "coalmine-lab-init .* $COALMINE_LAB " >/dev/null' ||
	fail "the lab outlives its parent"
say passed
