#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_alone.sh - without a launcher: list, version, wrong usage, and the
# wrapper that picks an engine.
. "$(dirname "$0")/lib.sh"
for mpi in openmpi mpich; do
	engine=$COALMINE_BUILD/probes/$mpi/coalmine-probe
	[ -x "$engine" ] && break
done
[ -x "$engine" ] || skip "no engine"

"$engine" --version | grep -q '^coalmine-probe [0-9]' || fail "version"
"$engine" list >"$work/list" || fail "list"
for word in get-lat natural-bw put-incast canary.precision phases.visits; do
	grep -q "^$word " "$work/list" || fail "list lacks $word"
done
for wrong in "" "walk" "run" "run a b" "run --json" "list x"; do
	# shellcheck disable=SC2086
	"$engine" $wrong 2>"$work/err"
	[ $? = 3 ] || fail "'$wrong' is not status 3"
	grep -q '^usage:' "$work/err" || fail "'$wrong' shows no usage"
done
"$engine" walk 2>&1 | grep -q 'unknown verb walk' || fail "which verb"
"$engine" help | grep -q '^usage:' || fail "help"
"$engine" scan --expect nonsense 2>&1 |
	grep -q -e '--expect nonsense: expected a rate' || fail "scan --expect"
for words in walk "scan --expect nonsense"; do
	# shellcheck disable=SC2086
	OMPI_COMM_WORLD_RANK=3 "$engine" $words 2>"$work/err"
	[ ! -s "$work/err" ] || fail "every rank prints an error of $words"
done

# The wrapper chooses by the launcher's environment.
mkdir -p "$work/bin" "$work/libexec/coalmine"/{openmpi,mpich}
cp "$COALMINE_BUILD/probes/coalmine-probe" "$work/bin/"
for mpi in openmpi mpich; do
	printf '#!/bin/sh\necho %s "$@"\n' $mpi \
		>"$work/libexec/coalmine/$mpi/coalmine-probe"
	chmod +x "$work/libexec/coalmine/$mpi/coalmine-probe"
done
wrapper=$work/bin/coalmine-probe
[ "$(OMPI_COMM_WORLD_SIZE=2 "$wrapper" a b)" = "openmpi a b" ] || fail "openmpi"
[ "$(PMIX_RANK=0 "$wrapper" a)" = "openmpi a" ] || fail "pmix"
[ "$(PMI_RANK=1 "$wrapper" a)" = "mpich a" ] || fail "mpich"
[ "$(COALMINE_MPI=mpich "$wrapper" a)" = "mpich a" ] || fail "by hand"
rm "$work/libexec/coalmine/openmpi/coalmine-probe"
[ "$("$wrapper" list)" = "mpich list" ] || fail "the only engine"
OMPI_COMM_WORLD_SIZE=2 "$wrapper" list 2>"$work/err"
[ $? = 3 ] || fail "missing engine"
grep -q "no engine for openmpi" "$work/err" || fail "name of the missing engine"
