#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages are built from the tree, with ccache if it is installed. lintian finds
# no problems in them, and no unused override. test_release.sh builds the packages
# for GPUs, which take longer than all others.
. "$(dirname "$0")/lib.sh"
need dpkg-buildpackage lintian git

rm -rf "$packages"
! command -v ccache >/dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache
# Nothing here reads packages of debugging symbols.
export DEB_BUILD_OPTIONS=noautodbgsym
"$source_dir/packaging/deb" "$packages" || fail "packaging/deb"
cd "$packages" || exit
say "built: $(echo *.deb)"
# Lines that groff cannot justify depend on its version; mandoc checks manuals.
nice lintian --allow-root --fail-on error,warning \
    --suppress-tags groff-message ./*.changes || fail "lintian"
say "lintian is content"
