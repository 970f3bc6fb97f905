#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cppcheck.sh [TREE] - cppcheck finds no defect in the product. Checks with false
# positives are off: NULL in variadic calls, arrays filled through a pointer or by
# an index in one loop, macros that it cannot expand.
. "$(dirname "$0")/lib.sh"
need cppcheck

parts=
for part in agents common ctl daemon etc lab pki probes schema; do
	[ ! -d "$part" ] || parts="$parts $part"
done
queue=/usr/include/$(cc -print-multiarch)/sys/queue.h
# shellcheck disable=SC2086
out=$(cppcheck --quiet --std=c11 --enable=warning,portability -j2 \
    --include="$queue" --include=/usr/include/jansson.h \
    -I. -D_GNU_SOURCE -DCOALMINE_VERSION='"0"' \
    --suppress='*:/usr/include/*' --suppress=varFuncNullUB \
    --suppress=uninitvar --suppress=objectIndex \
    --suppress=arrayIndexThenCheck --suppress=unknownMacro \
    --template='{file}:{line}: {message} ({id})' $parts 2>&1)
[ -z "$out" ] && exit 0
echo "$out"
exit 1
