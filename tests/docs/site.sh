#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# site.sh - docs/site builds without a warning, and its output links only to
# existing pages and anchors, and loads nothing from elsewhere. A page with a
# wrong link, or one missing in the menu, is rejected.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in mkdocs mandoc python3; do
	command -v $tool >/dev/null || {
		echo "skipped: no $tool; see lab/deps"
		exit 77
	}
done
"$COALMINE_SOURCE/docs/site" "$work/site" "$COALMINE_BUILD/man" || exit 1
python3 "$COALMINE_SOURCE/tests/docs/links.py" "$work/site" || exit 1

# A small valid tree, which is then spoilt.
tree=$work/tree
mkdir -p "$work/no-pages" "$tree/docs/figures" "$tree/docs/guide/pictures" \
    "$tree/daemon/page/guide"
cp "$COALMINE_SOURCE/docs/site" "$COALMINE_SOURCE/docs/statistics.md" \
    "$tree/docs"
cp "$COALMINE_SOURCE/docs/guide/site.css" "$tree/docs/guide"
cp "$COALMINE_SOURCE/docs/figures/ring.svg" "$tree/docs/figures"
cp "$COALMINE_SOURCE/daemon/page/guide/slow-node.png" "$tree/daemon/page/guide"
{
	sed '/^nav:/,$d' "$COALMINE_SOURCE/docs/mkdocs.yml"
	printf 'nav:\n  - A: index.md\n  - B: statistics.md\n'
} >"$tree/docs/mkdocs.yml"
echo '# A' >"$tree/docs/guide/index.md"
bad=0

# refused TEXT: the tree is not built.
refused() {
	"$tree/docs/site" "$work/small" "$work/no-pages" >/dev/null 2>&1 || return
	echo "not seen: $1"
	bad=1
}
"$tree/docs/site" "$work/small" "$work/no-pages" || exit 1
echo '# C' >"$tree/docs/guide/c.md"
refused "a page that the menu lacks"
rm "$tree/docs/guide/c.md"
echo '[nowhere](nowhere.md)' >>"$tree/docs/guide/index.md"
refused "a link that leads nowhere"
echo '<a href="index.html#nowhere">x</a>' >>"$work/site/index.html"
python3 "$COALMINE_SOURCE/tests/docs/links.py" "$work/site" >/dev/null && {
	echo "not seen: an anchor that is not there"
	bad=1
}
exit $bad
