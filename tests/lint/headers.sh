#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# headers.sh [TREE] - every header compiles alone, with the flags of the build.
# Headers of tests/ are parts of test programs, and are compiled there.
. "$(dirname "$0")/lib.sh"
need cc
need pkg-config

libraries="libevent libevent_openssl jansson inih sqlite3 openssl libcurl zlib
    cmocka"
# shellcheck disable=SC2086
flags=$(pkg-config --cflags $libraries) || exit 3
mpi=
command -v mpicc.openmpi >/dev/null && mpi=$(mpicc.openmpi --showme:compile)

postgresql=$(pkg-config --cflags libpq 2>/dev/null)

bad=0
for header in $(files '*.h'); do
	case $header in
	tests/*) continue ;;
	probes/device/gpu/*) extra=-Itests/fake/include ;;
	probes/*) extra=$mpi ;;
	daemon/store/store_postgresql*.h)
		extra=$postgresql
		[ -n "$extra" ] || continue ;;
	*) extra= ;;
	esac
	# shellcheck disable=SC2086
	cc -std=c11 -D_GNU_SOURCE -DCOALMINE_VERSION='"0"' -I. -Wall -Wextra \
	    -Wno-unused -Werror $flags $extra -fsyntax-only -x c \
	    - <<-EOF || bad=1
	#include "$header"
	#include "$header"
	EOF
done
exit $bad
