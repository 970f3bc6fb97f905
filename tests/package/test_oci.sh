#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Images are OCI layouts that umoci unpacks; out of that of the collector one is
# set up and started, out of that of the agent a node enrols, in roots of their
# own with one network; made again they have the same bytes; the SBOM names what
# they were built from.
#
# Not covered: a container runtime, an agent among other containers.
. "$(dirname "$0")/lib.sh"
need umoci mmdebstrap dpkg-deb unshare jq
images=$work/oci
rm -rf "$images"
nice "$source_dir/packaging/oci" "$packages" "$images" || fail "packaging/oci"
say "built: $(cd "$images" && du -m ./*.tar | tr '\n\t' '  ') MB"

nice "$source_dir/packaging/oci" "$packages" "$images/again" ||
    fail "packaging/oci again"
for file in "$images"/*.tar; do
	cmp "$file" "$images/again/${file##*/}" || fail "${file##*/} differs"
done
rm -rf "$images/again"
say "the same bytes again"

for name in collector agent; do
	mkdir -p "$images/$name"
	tar -C "$images/$name" -xf "$images"/coalmine-$name-*.oci.tar
	tag=$(jq -r '.manifests[0].annotations["org.opencontainers.image.ref.name"]' \
	    "$images/$name/index.json")
	umoci unpack --image "$images/$name:$tag" "$images/$name.bundle" ||
	    fail "umoci unpack $name"
done
entry=$(jq -r '.process.args | join(" ")' "$images/collector.bundle/config.json")
[ "$entry" = "/usr/sbin/coalmined --config /etc/coalmine/coalmined.conf" ] ||
    fail "the collector's image starts $entry"

# One network of its own; each in its root, as its image says.
unshare --net --pid --fork --kill-child --mount sh -euc '
ip link set lo up
for name in collector agent; do
	root=$1/$name.bundle/rootfs
	mount -t proc proc $root/proc
	mount -t tmpfs tmpfs $root/run
	mount -t tmpfs tmpfs $root/tmp
done
in_collector="chroot $1/collector.bundle/rootfs"
in_agent="chroot $1/agent.bundle/rootfs"
mount --bind /dev $1/agent.bundle/rootfs/dev
mount --bind /dev $1/collector.bundle/rootfs/dev
$in_collector systemd-tmpfiles --create 2>/dev/null || true
$in_agent systemd-tmpfiles --create 2>/dev/null || true
$in_collector coalctl init --san 127.0.0.1
$in_collector chown -R coalmine /etc/coalmine/pki
chroot --userspec=coalmine $1/collector.bundle/rootfs coalmined \
    --config /etc/coalmine/coalmined.conf 2>$1/collector.log &
for i in $(seq 60); do
	$in_collector coalctl version >/dev/null 2>&1 && break
	sleep 0.5
done
line=$($in_collector coalctl init --san 127.0.0.1 | grep umask)
$in_agent sh -c "systemctl() { :; }; $line"
$in_agent coalmine-agent -o agent.name=c1 2>$1/agent.log &
for i in $(seq 120); do
	$in_collector coalctl node list -s ok | grep -q "^c1 " && exit 0
	sleep 0.5
done
tail -n 20 $1/collector.log $1/agent.log
exit 1' - "$images" || fail "no agent of the one image at the other's collector"
say "an agent has enrolled"

"$source_dir/packaging/sbom" "$packages" >"$images/sbom.json" || fail "sbom"
"$source_dir/packaging/sbom" "$packages" | cmp - "$images/sbom.json" ||
    fail "the SBOM differs from itself"
jq -e '.spdxVersion == "SPDX-2.3" and ([.packages[].SPDXID] | unique | length) ==
    (.packages | length) and any(.packages[]; .name | startswith("libssl3")) and
    any(.packages[]; .name | test("uplot")) and
    ([.relationships[].relatedSpdxElement] - [.packages[].SPDXID] == [])' \
    "$images/sbom.json" >/dev/null || fail "the SBOM lacks something"
for deb in "$packages"/*.deb; do
	jq -e --arg sum "$(sha256sum "$deb" | cut -d " " -f 1)" 'any(.packages[];
	    .checksums[0].checksumValue == $sum)' "$images/sbom.json" \
	    >/dev/null || fail "${deb##*/} is not in the SBOM"
done
say "the SBOM is whole"
rm -rf "$images"
