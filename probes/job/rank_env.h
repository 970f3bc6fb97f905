/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_env.h - what launchers and MPIs put into the environment of a rank, a
 * row each: the one place that knows their names.
 */
#ifndef PROBES_JOB_RANK_ENV_H
#define PROBES_JOB_RANK_ENV_H

#include <stddef.h>

/* The first row whose variable is set applies. */
static const struct rank_env {
	const char *prefix; /* of all its variables: kept from other programs */
	const char *rank;   /* of the run, or NULL */
	const char *local;  /* of its node, or NULL */
} rank_envs[] = {
	{ "OMPI_", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK" },
	{ "PMI_", "PMI_RANK", NULL },
	{ "PMIX_", "PMIX_RANK", NULL },
	{ "MPI_LOCAL", NULL, "MPI_LOCALRANKID" },
	{ "SLURM_", "SLURM_PROCID", "SLURM_LOCALID" },
	{ "PMI2_", NULL, NULL },
	{ "HYD", NULL, NULL },
	{ "MPIR_", NULL, NULL },
	{ "MPICH_", NULL, NULL },
	{ "PRTE_", NULL, NULL },
	{ "UCX_", NULL, NULL },
	{ "COALMINE_", NULL, NULL },
};

#endif
