#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Images are OCI layouts that umoci unpacks. From the collector's image a
# collector is set up and started, and from the agent's image a node enrols, in
# separate roots with one network. A second build has the same bytes, and the SBOM
# lists the sources of the build.
#
# The Kubernetes manifests match its types, without unknown fields. With the users,
# rights, arguments, settings and mounts of their pods a node can enrol.
#
# Not covered: a container runtime, an agent among other containers, a cluster of
# Kubernetes.
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

# A separate network; each program runs in its root as its image specifies.
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

# The types are in an npm package, which is fetched once into the build folder.
manifest=$source_dir/packaging/kubernetes/coalmine.yaml
types=$work/kubernetes
objects() {
	python3 -c 'import json, sys, yaml
json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)'
}
typed() {
	jq -r 'to_entries[] | "import type {I\(.value.kind) as T\(.key)} from " +
	    "\"kubernetes-models/\(.value.apiVersion)\"; " +
	    "export const o\(.key): T\(.key) = \(.value);"' >"$types/o.mts"
	(cd "$types" && node_modules/.bin/tsc --noEmit --strict --skipLibCheck \
	    --module nodenext o.mts)
}
mkdir -p "$types"
[ -x "$types/node_modules/.bin/tsc" ] || (cd "$types" && npm install --silent \
    --no-audit --no-fund kubernetes-models@5.1.0 typescript@5.9.3)
if [ -x "$types/node_modules/.bin/tsc" ]; then
	objects <"$manifest" | typed || fail "$manifest is not as it should be"
	! sed 's/hostNetwork/hostNet/' "$manifest" | objects | typed >/dev/null ||
	    fail "a wrong field is not seen"
	say "manifests are of Kubernetes' types"
else
	say "types of Kubernetes cannot be had from npm"
fi

# The settings of the manifests, for setpriv and mount.
pods=$images/pods
mkdir -p "$pods/state" "$pods/enroll"
objects <"$manifest" >"$pods/all.json"
of() {
	jq -r "map(select(.kind == \"$1\"))[0] | $2" "$pods/all.json"
}
for name in coalmined coalmine-agent; do
	of ConfigMap ".data[\"$name.conf\"]" >"$pods/$name.conf"
done
user=$(of StatefulSet .spec.template.spec.securityContext.runAsUser)
rights=$(of DaemonSet '.spec.template.spec.containers[0].securityContext
    .capabilities.add | map("+" + ascii_downcase) | join(",")')
args=$(of DaemonSet '.spec.template.spec.containers[0].args | join(" ")' |
    sed 's/\$(NODE)/c2/')
[ "$(of StatefulSet '.spec.template.spec.containers[0].image')" = \
    "coalmine-collector:$tag" ] || fail "the manifest has another version"
unshare --net --pid --fork --kill-child --mount sh -euc '
ip link set lo up
pods=$1/pods user=$2 rights=$3 args=$4
for name in collector agent; do
	root=$1/$name.bundle/rootfs
	echo "127.0.0.1 coalmine-collector" >>$root/etc/hosts
	for at in proc run tmp; do
		umount $root/$at 2>/dev/null || true
	done
	mount -t proc proc $root/proc
	mount -t tmpfs tmpfs $root/run
	mount -t tmpfs tmpfs $root/tmp
	mount --bind /dev $root/dev
done
root=$1/collector.bundle/rootfs
mkdir -p $root/run/coalmine
chown $user $root/run/coalmine $pods/state
rm -rf $root/etc/coalmine/pki
mkdir $root/etc/coalmine/pki
chroot $root sh -ec "coalctl pki init /etc/coalmine/pki
    coalctl pki issue /etc/coalmine/pki collector --role collector
    coalctl pki enroller /etc/coalmine/pki
    rm /etc/coalmine/pki/ca.key
    chgrp $user /etc/coalmine/pki/*
    chmod 440 /etc/coalmine/pki/*"
umount $root/tmp
mount --rbind $root $root
mount --bind $pods/coalmined.conf $root/etc/coalmine/coalmined.conf
mount --bind $pods/state $root/var/lib/coalmine
mount -o remount,bind,ro $root
in_collector="chroot $1/collector.bundle/rootfs setpriv --reuid=$user --regid=$user
    --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all"
$in_collector coalmined --config /etc/coalmine/coalmined.conf 2>$pods/collector.log &
for i in $(seq 60); do
	$in_collector coalctl version >/dev/null 2>&1 && break
	sleep 0.5
done
$in_collector coalctl pki token --any --uses 2 --json |
    sed -n "s/.*\"token\": *\"\([^\"]*\)\".*/\1/p" >$pods/enroll/token
chmod 400 $pods/enroll/token
root=$1/agent.bundle/rootfs
mkdir -p $root/etc/coalmine/enroll $root/run/coalmine-agent
rm -rf $root/var/lib/coalmine-agent/* $root/etc/coalmine/pki
mount --bind $pods/coalmine-agent.conf $root/etc/coalmine/coalmine-agent.conf
mount --bind -o ro $pods/enroll $root/etc/coalmine/enroll
chroot $root setpriv --no-new-privs --inh-caps=-all \
    --bounding-set=-all,$rights coalmine-agent $args 2>$pods/agent.log &
for i in $(seq 120); do
	$in_collector coalctl node list -s ok | grep -q "^c2 " && exit 0
	sleep 0.5
done
tail -n 20 $pods/collector.log $pods/agent.log
exit 1' - "$images" "$user" "$rights" "$args" ||
    fail "the pods of Kubernetes do not come together"
say "a node has enrolled as the manifests say"

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
