/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_openmpi.c - Open MPI 4 and 5: all settings are in the environment of its
 * ranks.
 */
#include <stddef.h>

#include "agents/launch/mpi_impl.h"

/* Debian's file of parameters excludes UCX, to avoid warnings on machines
 * without a fabric, and with it all one-sided components that work on TCP. auto
 * is the choice that Open MPI makes without that file: an exclude list that
 * names only an unused component overrides it. */
static const struct mpi_impl_fabric fabrics[] = {
	{ "auto", "OMPI_MCA_pml", "^monitoring", NULL, 1 },
	{ "auto", "OMPI_MCA_osc", "^monitoring", NULL, 1 },
	{ "tcp", "OMPI_MCA_pml", "ob1", NULL, 0 },
	/* no shared memory files that outlive a killed rank, where they would
	 * carry nothing */
	{ "tcp", "OMPI_MCA_btl", "tcp,self", "tcp,self,vader", 0 },
	/* not by the name of the component that is left: Open MPI 4 has pt2pt
	 * for it, 5 has rdma, and unknown names end MPI_Init */
	{ "tcp", "OMPI_MCA_osc", "^ucx", NULL, 0 },
	/* any device that UCX has: by default Open MPI uses UCX for Mellanox
	 * only */
	{ "ucx", "OMPI_MCA_pml", "ucx", NULL, 0 },
	{ "ucx", "OMPI_MCA_pml_ucx_tls", "any", NULL, 0 },
	{ "ucx", "OMPI_MCA_pml_ucx_devices", "any", NULL, 0 },
	{ "ucx", "OMPI_MCA_osc", "ucx", NULL, 0 },
	{ "ofi", "OMPI_MCA_pml", "cm", NULL, 0 },
	{ "ofi", "OMPI_MCA_mtl", "ofi", NULL, 0 },
	{ "ofi", "OMPI_MCA_osc", "^ucx", NULL, 0 },
	{ "psm", "OMPI_MCA_pml", "cm", NULL, 0 },
	{ "psm", "OMPI_MCA_mtl", "psm2,psm", NULL, 0 },
	{ "psm", "OMPI_MCA_osc", "^ucx", NULL, 0 },
	{ "cray", "OMPI_MCA_pml", "cm", NULL, 0 },
	{ "cray", "OMPI_MCA_mtl", "ofi", NULL, 0 },
	{ "cray", "OMPI_MCA_mtl_ofi_provider_include", "cxi", NULL, 0 },
	{ "cray", "OMPI_MCA_osc", "^ucx", NULL, 0 },
	{ 0 },
};

/* From this many nodes on a rank fetches a peer's data when it first needs it,
 * instead of all ranks' data at the start: in a campaign a rank has far fewer
 * peers than there are ranks. */
#define DIRECT_NODES 512

static void
mpi_openmpi_rank_env(const struct mpi_impl_job *job, struct strvec *env)
{
	/* only the agent binds ranks */
	strvec_env(env, "OMPI_MCA_hwloc_base_binding_policy", "none");
	if (job->node_count >= DIRECT_NODES)
		strvec_env(env, "OMPI_MCA_pmix_base_collect_data", "0");
	if (job->ranks_per_node > job->cores)
		strvec_env(env, "OMPI_MCA_mpi_yield_when_idle", "1");
}

static const char *const launchers[] = { "orterun", "mpirun.openmpi", "mpirun",
	NULL };

const struct mpi_impl_mpi launch_openmpi = {
	.name = "openmpi",
	.family = "openmpi",
	.launchers = launchers,
	.argv0 = "mpirun",
	.wireup = "pmix",
	.slurm = "pmix",
	.version_mark = "(Open MPI) ",
	.fabrics = fabrics,
	.rank_env = mpi_openmpi_rank_env,
};
