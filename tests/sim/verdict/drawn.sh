#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# drawn.sh - docs/guide/pictures holds what coalmine-decides draws today.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node=tests/sim/verdict/scenarios/node.conf
"$COALMINE_BUILD/tests/sim/verdict/coalmine-decides" "$work" \
    "$COALMINE_SOURCE/$node" || exit 1
bad=0
for f in "$work"/*.svg; do
	cmp -s "$f" "$COALMINE_SOURCE/docs/guide/pictures/$(basename "$f")" &&
	    continue
	echo "docs/guide/pictures/$(basename "$f"):1: not as drawn now" \
	    "(coalmine-decides docs/guide/pictures $node)"
	bad=1
done
exit $bad
