#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# drawn.sh - docs/figures holds what coalmine-figures draws today.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$COALMINE_BUILD/tests/figures/coalmine-figures" "$work" || exit 1
bad=0
for f in "$work"/*.svg; do
	cmp -s "$f" "$COALMINE_SOURCE/docs/figures/$(basename "$f")" && continue
	echo "docs/figures/$(basename "$f"):1: not as drawn now" \
	    "(build/dev/tests/figures/coalmine-figures docs/figures)"
	bad=1
done
exit $bad
