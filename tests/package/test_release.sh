#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# packaging/release in a copy of the tree. It rejects a tree with changes, without
# the tag of its version, or with packages of several versions, and writes no files
# then. It makes a file of every kind, the checksums of all, and an SBOM that lists
# them. Packages and source have the same bytes as in package-build, although made
# in another folder and time zone, and without ccache. HIP's package is included if
# its compiler is installed.
. "$(dirname "$0")/lib.sh"
need dpkg-buildpackage rpmbuild mmdebstrap umoci git jq lintian
export LC_ALL=C

tree=$work/once/tree out=$work/once/out
rm -rf "$work/once"
"$source_dir/packaging/tree" "$tree" || fail "packaging/tree"
cd "$tree" || exit
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=x GIT_COMMITTER_NAME=x \
    GIT_AUTHOR_EMAIL=x@packages.invalid GIT_COMMITTER_EMAIL=x@packages.invalid
git init -q && git add -Af && git commit -qm "as it is" || fail "git"
version=$(dpkg-parsechangelog -S Version)

# refused WORDS: it fails with these words before it writes files.
refused() {
	local said
	! said=$(packaging/release "$out" 2>&1) ||
	    fail "released, though $1"
	[[ $said == *"$1"* ]] || fail "instead of \"$1\": $said"
	[ ! -e "$out" ] || fail "refused, but $out is there"
	say "refused: $said"
}

echo >>README.md
refused "not committed"
git checkout -q README.md
git tag v0.0.9
refused "no tag v$version here"
sed -i 's/^Version: .*/Version: 0.0.9/' packaging/coalmine.spec
git commit -qam "another version" && git tag "v$version"
refused "version 0.0.9, and $version in CMakeLists.txt"
git reset -q --hard HEAD~ && git tag -f "v$version" >/dev/null

! command -v hipcc >/dev/null || export DEB_BUILD_PROFILES=pkg.coalmine.hip
TZ=Pacific/Kiritimati CCACHE_DISABLE=1 nice packaging/release "$out" >"$work/release.log" 2>&1 ||
    fail "packaging/release: $(tail -n 20 "$work/release.log")"
say "$(tail -n 1 "$work/release.log")"
[ -z "$(git status --porcelain)" ] || fail "the tree has changed"

cd "$out" || exit
kinds=("coalmine_$version.dsc" "coalmine_$version.tar.xz" "coalmine-$version-*.src.rpm"
	"coalmine-"{collector,agent}"-$version.oci.tar" sbom.spdx.json)
for part in "${parts[@]}"; do
	kinds+=("coalmine-${part}_${version}_*.deb" "coalmine-$part-$version-*.rpm")
done
for kind in "${kinds[@]}"; do
	# shellcheck disable=SC2086
	[ "$(ls $kind 2>/dev/null | wc -l)" = 1 ] || fail "no $kind, or several"
done
[ -z "$(ls | grep -vE '\.(dsc|deb|rpm|tar|tar\.xz|spdx\.json)$|^SHA256SUMS$')" ] ||
    fail "unexpected files: $(ls)"
diff <(ls | grep -vx SHA256SUMS) <(awk '{ print $2 }' SHA256SUMS | sort) ||
    fail "SHA256SUMS does not list all files"
sha256sum --check --quiet --strict SHA256SUMS || fail "a sum is wrong"
say "$(ls | wc -l) files, of every kind, with their sums"

# An element for each file, related to the document, with the file's checksum.
jq -e --arg version "$version" '.spdxVersion == "SPDX-2.3" and
    .dataLicense == "CC0-1.0" and (.documentNamespace | startswith("https://")) and
    .name == "coalmine-\($version)" and (.creationInfo.creators | length) > 0 and
    all(.packages[]; .SPDXID and .name and .downloadLocation) and
    ([.packages[].SPDXID] | unique | length) == (.packages | length) and
    ([.relationships[] | .spdxElementId, .relatedSpdxElement] | unique) -
	[.packages[].SPDXID] == ["SPDXRef-DOCUMENT"]' sbom.spdx.json >/dev/null ||
    fail "the SBOM is not valid SPDX 2.3"
diff <(grep -E '\.(deb|rpm|tar|tar\.xz)$' SHA256SUMS | sort -k 2) <(jq -r '.packages[] |
    select(.packageFileName) | .checksums[0].checksumValue + "  " +
    .packageFileName' sbom.spdx.json | sort -k 2) ||
    fail "the SBOM has other files or sums"
say "the SBOM names them"

for file in "$packages"/*.deb "$packages"/*.dsc "$packages"/*.tar.*; do
	[[ $file != *-dbgsym_* ]] || continue
	cmp "$file" "$out/${file##*/}" || fail "${file##*/} differs"
done
say "the same bytes as before"
for file in coalmine-device-hip_*.deb; do
	[ ! -e "$file" ] || nice lintian --allow-root --fail-on error,warning \
	    "$file" || fail "lintian: $file"
done
rm -rf "$work/once"
