#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_pack.sh - the pack in a root with a shell, its tools and a C library, and
# stand-ins of the driver instead of a card: all steps run, and the first failure
# ends it with its name.
set -u
[ "$(id -u)" = 0 ] || { echo "skipped: not root"; exit 77; }
[ -n "${PACK_APART-}" ] || PACK_APART=yes exec unshare --mount "$0"
work=$(mktemp -d)
trap 'umount -l "$work"/{proc,sys,dev} 2>/dev/null
	rm -rf --one-file-system "$work"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
command -v orterun >/dev/null || { echo "skipped: no orterun of Open MPI 4"; exit 77; }
"$here/pack" "$work/pack" --build "$COALMINE_BUILD" \
	--plugins "$COALMINE_BUILD/tests/fake" || exit 1
mkdir -p "$work"/{proc,sys,dev,tmp,usr/bin,driver,etc}
for tool in bash env cat cut date dirname grep head mkdir sed sh tail timeout; do
	cp -L "$(command -v $tool)" "$work/usr/bin/"
done
ln -s usr/bin "$work/bin"
echo root:x:0:0:root:/:/bin/sh >"$work/etc/passwd"
cp -L "$COALMINE_BUILD"/tests/fake/nccl/libnccl.so.2 "$work/driver/"
ldd "$work"/usr/bin/* "$work"/pack/bin/* 2>/dev/null |
	grep -oE '/[^ ]*/(ld-linux[^ ]*|lib(c|m|dl|pthread|rt|resolv|util|tinfo|selinux|pcre2-8|acl|attr)\.so[^ ]*)' |
	sort -u | while read -r file; do
	mkdir -p "$work$(dirname "$file")"
	cp -L "$file" "$work$file"
done
mount -t proc proc "$work/proc" && mount --rbind /sys "$work/sys" &&
	mount --rbind /dev "$work/dev" || exit 1
inside() {
	chroot "$work" /usr/bin/env -i PATH=/usr/bin LD_LIBRARY_PATH=/driver \
		COALMINE_FAKE_GPUS=4 COALMINE_PACK_GPUS=4 COALMINE_PACK_BYTES=1M \
		COALMINE_PACK_LIMIT_S=300 "$@" /pack/run /out
}
inside || { cat "$work/out/RESULTS.md"; exit 1; }
grep -q '^All steps were right' "$work/out/RESULTS.md" || exit 1
! inside COALMINE_FAKE_FAULT=5 || exit 1
grep -q '^\*\*Stopped at copies within a card' "$work/out/RESULTS.md"
