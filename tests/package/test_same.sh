#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Built again, in a folder of another name, in another zone and language, with
# one job, packages and source have the same bytes.
. "$(dirname "$0")/lib.sh"
need dpkg-buildpackage git

again=$work/once-more
rm -rf "$again"
! command -v hipcc >/dev/null || export DEB_BUILD_PROFILES=pkg.coalmine.hip
TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 LANG=C.UTF-8 DEB_BUILD_OPTIONS=parallel=1 \
    CCACHE_DISABLE=1 nice "$source_dir/packaging/deb" "$again" ||
	fail "packaging/deb"
for file in "$packages"/*.deb "$packages"/*.dsc "$packages"/*.tar.*; do
	cmp "$file" "$again/${file##*/}" || fail "${file##*/} differs"
	say "the same: ${file##*/}"
done
rm -rf "$again"
