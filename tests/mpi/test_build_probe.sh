#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_build_probe.sh MPI - the engine is compiled from its installed sources
# for an MPI under another prefix, tried, registered and removed.
# COALMINE_SITE_MPICC names the wrapper of one that is not Debian's.
. "$(dirname "$0")/lib.sh"
command -v pkg-config >/dev/null || skip "no pkg-config"
wireup="pmix|pmi"
chmod 755 "$work" # the ranks are another user's
stage=$work/usr site=$work/opt/mpi-1.0
mkdir -p "$site/bin"

case $1 in
openmpi) needs="opal_wrapper mpirun.openmpi" wrapper=opal_wrapper wireup=pmix ;;
mpich) needs="mpicc.mpich mpiexec.hydra hydra_pmi_proxy" wrapper=mpicc.mpich ;;
site) needs="" wrapper= ;;
esac
for program in $needs; do
	path=$(command -v "$program") || skip "no $program"
	ln -s "$path" "$site/bin/${program%.openmpi}"
done
[ -z "$wrapper" ] || mv "$site/bin/$wrapper" "$site/bin/mpicc"
mpicc=$site/bin/mpicc
if [ "$1" = site ]; then
	[ -n "${COALMINE_SITE_MPICC-}" ] || skip "COALMINE_SITE_MPICC is not set"
	mpicc=$COALMINE_SITE_MPICC
fi
cmake --install "$COALMINE_BUILD" --prefix "$stage" >/dev/null || fail "install"

build() {
	"$stage/sbin/coalmine-build-probe" --prefix "$work/local" \
		--register "$work/probes.d" "$@" >"$work/out" 2>"$work/err"
}

# Errors are reported, and no files remain.
build && fail "no wrapper"
[ $? = 3 ] || fail "wrong usage is not status 3"
build --mpicc /bin/true
grep -q "/bin/true: no wrapper of Open MPI, MPICH" "$work/err" || fail "no wrapper"
build --mpicc "$mpicc" --name mpich && fail "a name of the package's own"
if [ "$1" = mpich ]; then
	agent=$stage/sbin/coalmine-agent
	printf '#!/bin/sh\nexit 7\n' >"$agent.no"
	chmod +x "$agent.no"
	mv "$agent.no" "$agent"
	build --mpicc "$mpicc" && fail "ranks that do not run"
	grep -q "two ranks do not run, neither by pmix nor by pmi: nothing is" \
		"$work/err" || fail "says that they do not run"
	[ ! -e "$work/local" ] && [ ! -e "$work/probes.d" ] || fail "something is left"
	# Without an agent the launcher starts it. The launcher may fail at its
	# end, as Hydra does sometimes, after all records are written.
	rm "$agent"
	wireup=auto
	printf '#!/bin/sh\n%s "$@"\nexit 255\n' "$(readlink "$site/bin/mpiexec.hydra")" \
		>"$work/hydra"
	chmod +x "$work/hydra"
	ln -sf "$work/hydra" "$site/bin/mpiexec.hydra"
fi
build --mpicc "$mpicc" --slurm pmi9 || fail "not built"
read -r name engine <<<"$("$stage/sbin/coalmine-build-probe" --list \
	--register "$work/probes.d")"
[[ $name =~ ^(openmpi|mpich)-[0-9]+\.[0-9] ]] || fail "name $name"
[ "$("$engine" --version)" = "$("$stage/bin/coalmine-probe" --version)" ] ||
	fail "version"
grep -qx "bin = ${mpicc%/*}" "$work/probes.d/$name.conf" || fail "bin"
grep -Eqx "wireup = ($wireup)" "$work/probes.d/$name.conf" || fail "wireup"
grep -qx "slurm = pmi9" "$work/probes.d/$name.conf" || fail "slurm"
"$COALMINE_BUILD/etc/coalmine-tables" check probe \
	"$work/probes.d/$name.conf" || fail "agents do not take its file"
"$stage/sbin/coalmine-build-probe" --remove "$name" \
	--register "$work/probes.d" || fail "remove"
[ -z "$(ls -A "$work/probes.d")" ] && [ ! -e "$engine" ] || fail "not removed"
echo "ok: $name"
