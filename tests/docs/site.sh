#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# site.sh - docs/site builds without a warning, and what it has built links only
# to what is there, anchors included, and loads nothing from elsewhere. A page
# with a wrong link, or that the menu lacks, is refused.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in mkdocs mandoc python3; do
	command -v $tool >/dev/null || {
		echo "skipped: no $tool; see lab/deps"
		exit 77
	}
done
"$COALMINE_SOURCE/docs/site" "$work/site" || exit 1
python3 "$COALMINE_SOURCE/tests/docs/links.py" "$work/site" || exit 1

# The same with a small tree that is spoilt.
mkdir -p "$work/tree/docs/figures" "$work/tree/daemon/page/guide"
cp -r "$COALMINE_SOURCE/docs/site" "$COALMINE_SOURCE/docs/guide" \
    "$COALMINE_SOURCE/docs/mkdocs.yml" "$COALMINE_SOURCE/docs/statistics.md" \
    "$work/tree/docs"
cp "$COALMINE_SOURCE"/docs/figures/*.svg "$work/tree/docs/figures"
cp "$COALMINE_SOURCE"/daemon/page/guide/*.png "$work/tree/daemon/page/guide"
echo '[nowhere](nowhere.md)' >>"$work/tree/docs/guide/index.md"
"$work/tree/docs/site" "$work/spoilt" >"$work/log" 2>&1 && {
	echo "a link that leads nowhere is not seen"
	exit 1
}
echo '<a href="index.html#nowhere">x</a>' >>"$work/site/index.html"
python3 "$COALMINE_SOURCE/tests/docs/links.py" "$work/site" >/dev/null && {
	echo "an anchor that is not there is not seen"
	exit 1
}
exit 0
