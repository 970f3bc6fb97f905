#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# canary.sh - what the engine adds to the operations it measures, on 3 hosts of
# the lab, one behind each leaf: the mean must be within 3 % of a plain loop's.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bench=$COALMINE_BUILD/tests/bench/bench_canary-openmpi
[ -x "$bench" ] || { echo "skipped: no Open MPI"; exit 77; }
work=$(mktemp -d)
name=bench-$$
trap '"$root/lab/lab" down --name $name >/dev/null 2>&1; rm -rf "$work"' EXIT
"$root/lab/lab" up --name $name >"$work/lab" 2>&1 ||
	{ echo "skipped: $(tail -1 "$work/lab")"; exit 77; }

# mpirun's remote shell: the words are meant for a shell.
cat >"$work/rsh" <<EOF
#!/bin/sh
host=\$1
shift
exec "$root/lab/lab" exec --name $name "\$host" sh -c "\$*"
EOF
chmod +x "$work/rsh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=$work/rsh OMPI_MCA_plm_rsh_pass_environ_mca_params=0
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_tcp_if_include=10.78.0.0/16 OMPI_MCA_oob_tcp_if_include=10.78.0.0/16
export OMPI_MCA_hwloc_base_binding_policy=none
echo "Turns of a plain loop and of the engine in pairs, one right after the other; the"
echo "median of their ratios. Open MPI over the lab's shaped links, 3 hosts on 3 leaves"
echo "and 2 cores."
echo
"$root/lab/lab" exec --name $name node1 timeout 300 \
	mpirun.openmpi --host node1:1,node5:1,node9:1 -n 3 "$bench" </dev/null \
	2>"$work/err"
