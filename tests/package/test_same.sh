#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Built from the source package, in another folder and zone, with one job,
# packages and source have the same bytes again.
. "$(dirname "$0")/lib.sh"
need dpkg-buildpackage

again=$work/once/more
rm -rf "$work/once"
mkdir -p "$again"
dpkg-source -x "$packages"/*.dsc "$again/coalmine" >/dev/null ||
    fail "dpkg-source"
! command -v hipcc >/dev/null || export DEB_BUILD_PROFILES=pkg.coalmine.hip
(cd "$again/coalmine" && TZ=Pacific/Kiritimati DEB_BUILD_OPTIONS=parallel=1 \
    CCACHE_DISABLE=1 nice dpkg-buildpackage -us -uc) || fail "dpkg-buildpackage"
for file in "$packages"/*.deb "$packages"/*.dsc "$packages"/*.tar.*; do
	cmp "$file" "$again/${file##*/}" || fail "${file##*/} differs"
	say "the same: ${file##*/}"
done
rm -rf "$work/once"
