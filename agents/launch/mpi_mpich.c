/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_mpich.c - MPICH 3 and 4, and derived MPIs.
 */
#include <stddef.h>

#include "agents/launch/mpi_impl.h"

/* One build has one network module, or chooses among several; the engine
 * reports the chosen one when it runs. */
static const struct mpi_impl_fabric fabrics[] = {
	{ "tcp", "UCX_TLS", "tcp,self", "tcp,self,sm", 0 },
	{ "tcp", "FI_PROVIDER", "tcp", NULL, 0 },
	{ "ucx", "MPIR_CVAR_CH4_NETMOD", "ucx", NULL, 0 },
	{ "ofi", "MPIR_CVAR_CH4_NETMOD", "ofi", NULL, 0 },
	{ "psm", "MPIR_CVAR_CH4_NETMOD", "ofi", NULL, 0 },
	{ "psm", "FI_PROVIDER", "psm2,psm3", NULL, 0 },
	{ "cray", "MPIR_CVAR_CH4_NETMOD", "ofi", NULL, 0 },
	{ "cray", "FI_PROVIDER", "cxi", NULL, 0 },
	{ 0 },
};

/* Its warnings about a busy machine say nothing of the network. */
static void
mpi_mpich_rank_env(const struct mpi_impl_job *job, struct strvec *env)
{
	(void)job;
	strvec_env(env, "UCX_LOG_LEVEL", "error");
}

static const char *const launchers[] = { "mpiexec.hydra", NULL };

const struct mpi_impl_mpi launch_mpich = {
	.name = "mpich",
	.family = "mpich",
	.launchers = launchers,
	.argv0 = "mpiexec.hydra",
	.wireup = "pmi",
	.slurm = "pmi2",
	.version_mark = "Version:",
	.fabrics = fabrics,
	.rank_env = mpi_mpich_rank_env,
};
