#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# rpmbuild makes the packages of the spec. Each has the files of the Debian package
# with its name. A second build in another folder has the same bytes. rpm installs
# them in a root with their users, where programs start, and removal deletes all
# their files.
#
# Not covered: a distribution of rpm packages, and therefore the dependencies.
. "$(dirname "$0")/lib.sh"
need rpmbuild rpm mmdebstrap git
root=$work/rpm-root
built=$work/rpm

# The files of a package; Debian has units in /lib.
deb_files() {
	dpkg-deb -c "$packages/coalmine-$1"_*.deb | grep -v '^d' |
	    awk '{ print $6 }' | sed 's|^\.||; s|^/lib/|/usr/lib/|'
}

rpm_files() {
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' \
	    "$built"/*/coalmine-"$1"-[0-9]*.rpm | grep -v '^d' | cut -d ' ' -f 2
}

# Without documentation, and links that only rpm makes.
sorted() {
	grep -vE '^/usr/(share/(doc|licenses|lintian)|lib/.build-id)/' | sed 's/\.gz$//' |
	    LC_ALL=C sort
}

rm -rf "$built"
nice "$source_dir/packaging/rpm" "$built" || fail "packaging/rpm"
for part in "${parts[@]}"; do
	diff <(deb_files "$part" | sorted) <(rpm_files "$part" | sorted) ||
	    fail "coalmine-$part: rpm has other files than deb"
done
say "the files of Debian's packages"
nice "$source_dir/packaging/rpm" "$built/once/more" || fail "packaging/rpm again"
for file in "$built"/*.rpm "$built"/*/*.rpm; do
	cmp "$file" "$built/once/more${file#"$built"}" ||
	    fail "${file##*/} differs"
done
rm -rf "$built/once"
say "the same bytes again"

make_root "$root"
rpm --root "$root" --nodeps -i "$built"/*/*.rpm || fail "rpm -i"
for program in coalmined coalmine-agent coalmine-probe; do
	chroot "$root" "$program" --version || fail "$program --version"
done
for user in coalmine coalmine-probe; do
	grep -q "^$user:" "$root/etc/passwd" || fail "no user $user"
done
rpm --root "$root" -e $(rpm --root "$root" -qa) || fail "rpm -e"
for part in "${parts[@]}"; do
	for path in $(rpm_files "$part"); do
		[ ! -e "$root$path" ] || fail "$path is left"
	done
done
rm -rf "$root" "$built"
say "installed and removed"
