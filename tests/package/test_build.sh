#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages are built from the tree, with HIP's where its compiler is, and
# lintian finds nothing in them, nor an override that is not needed.
. "$(dirname "$0")/lib.sh"
need dpkg-buildpackage lintian git

rm -rf "$packages"
! command -v hipcc >/dev/null || export DEB_BUILD_PROFILES=pkg.coalmine.hip
nice "$source_dir/packaging/deb" "$packages" || fail "packaging/deb"
cd "$packages" || exit
say "built: $(echo *.deb)"
nice lintian --allow-root --fail-on error,warning ./*.changes || fail "lintian"
say "lintian is content"
