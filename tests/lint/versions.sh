#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# versions.sh [TREE] - packages are of the version that CMakeLists.txt says.
. "$(dirname "$0")/lib.sh"
bad=0
version=$(sed -n 's/^project(coalmine VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)

# says FILE LINE TEXT: text is that version, or one of its packages'.
says() {
	case $3 in
	"$version" | "$version"[+~-]*) return ;;
	esac
	echo "$1:$2: version $3, and $version in CMakeLists.txt"
	bad=1
}

says debian/changelog 1 "$(sed -n '1s/.*(\([^)]*\)).*/\1/p' debian/changelog)"
says packaging/coalmine.spec "$(grep -n '^Version:' packaging/coalmine.spec |
    cut -d : -f 1)" "$(sed -n 's/^Version: //p' packaging/coalmine.spec)"
# Spack's is Python as well.
recipe=packaging/spack/packages/coalmine/package.py
says $recipe "$(grep -n '^    version(' $recipe | cut -d : -f 1)" \
    "$(sed -n 's/^    version("\(.*\)")/\1/p' $recipe)"
python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' $recipe ||
    bad=1
exit $bad
