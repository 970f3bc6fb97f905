/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_env.h - the environment variables that launchers and MPIs set for a
 * rank, one row each. Only this file knows their names.
 */
#ifndef PROBES_JOB_RANK_ENV_H
#define PROBES_JOB_RANK_ENV_H

#include <stddef.h>

/* The variables of one launcher or MPI. To find the number of a rank, the first
 * row whose variable is set applies. */
static const struct rank_env {
	/* Prefix of all its variables, which other programs do not get. */
	const char *prefix;
	/* Variable with the number of the rank in the run, or NULL. */
	const char *rank;
	const char *local; /* variable with its number on the node, or NULL */
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
