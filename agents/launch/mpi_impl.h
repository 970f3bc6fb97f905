/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_impl.h - the MPI implementations whose ranks an agent can start, one row
 * each.
 *
 * A row has the files of its implementation and the way in which its ranks find
 * each other. The engine is the program coalmine-probe, built with that MPI.
 * The environment of ranks starts empty: only what these functions add is in
 * it. MPIs of
 * a site, registered by coalmine-build-probe, are copies of the row of their
 * family with other paths.
 */
#ifndef AGENTS_LAUNCH_MPI_IMPL_H
#define AGENTS_LAUNCH_MPI_IMPL_H

#include <stddef.h>

#include "agents/process/strvec.h"
#include "common/conf.h"
#include "common/err.h"

/* A node of a job. The first is this node. */
struct mpi_impl_node {
	const char *node;
	const char *addr; /* numeric */
};

struct mpi_impl_mpi;

/* A job: the ranks of a run. */
struct mpi_impl_job {
	const struct conf *conf;
	const struct mpi_impl_mpi *mpi;
	const char *run;
	const char *dir;             /* folder of the run, for files */
	const struct conf *campaign; /* the campaign to run */
	const struct mpi_impl_node *nodes;
	size_t node_count;
	int ranks_per_node;
	int cores;       /* number of cores of this node */
	const char *net; /* interfaces for ranks, comma-separated; "": any */
	const char *const *command; /* command of every rank, NULL-ended */
};

/* An environment variable that a fabric needs. */
struct mpi_impl_fabric {
	const char *fabric; /* as mpi.fabric */
	const char *name, *value;
	/* Value with several ranks on a node; NULL: member value. */
	const char *several;
	/* Only for the MPI of the distribution, in /usr/bin: a site's MPI has
	 * its own choice in its own files. */
	int packaged;
};

/* An MPI implementation. */
struct mpi_impl_mpi {
	const char *name;   /* name in campaigns */
	const char *family; /* the key of its directory in [children] */
	/* Folder of the programs and the engine of an MPI that the site has
	 * configured; NULL: both are from section [children]. bin "": the MPI
	 * has no launcher, like Cray's. */
	const char *bin, *engine;
	/* Files in that directory, best first; NULL-ended. */
	const char *const *launchers;
	/* argv[0] with which the launcher prints the version of the MPI. */
	const char *argv0;
	/* How the agents connect its ranks: "pmix" or "pmi". */
	const char *wireup;
	/* How srun connects its ranks: the value of --mpi. */
	const char *slurm;
	/* The text before the version in the output of "LAUNCHER --version". */
	const char *version_mark;
	const struct mpi_impl_fabric *fabrics; /* ends with a NULL name */
	/* Add the variables that ranks need to env. */
	void (*rank_env)(const struct mpi_impl_job *job, struct strvec *env);
};

extern const struct mpi_impl_mpi launch_openmpi;
extern const struct mpi_impl_mpi launch_mpich;

/* Read the files of children.probes once, at the start of the agent. An invalid
 * file is logged and skipped. */
void mpi_impl_load(const struct conf *c);
/* Return the implementation with this name; NULL: unknown. */
const struct mpi_impl_mpi *mpi_impl_find(const char *name);
/* Return implementation number i; NULL after the last. */
const struct mpi_impl_mpi *mpi_impl_at(size_t i);
/* Write the path of the engine that was built with this MPI. Return 0, or
 * -ENOENT with the missing file in err. */
int mpi_impl_path(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret_engine, size_t cap_bytes, struct err *err);
/* Write the path of the MPI's own launcher, which prints the version of the
 * MPI. Return 0 or -ENOENT. */
int mpi_impl_launcher(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret, size_t cap_bytes);
/* Add PATH and, for an implementation outside of /usr, the path of its
 * libraries. */
void mpi_impl_env(const struct mpi_impl_mpi *mpi, const struct conf *c,
    struct strvec *env);

/* Return 0 if the agent permits all settings of the campaign, otherwise a
 * negative error number with the rejected setting in err. */
int mpi_impl_allowed(const struct conf *agent, const struct conf *campaign,
    struct err *err);
/* Return 0, or -EINVAL with err if mpi.ports is neither empty nor LOW-HIGH. */
int mpi_impl_ports_check(const struct conf *c, struct err *err);
/* Add to env what the ranks' MPI needs, and all settings. */
void mpi_impl_rank_env(const struct mpi_impl_job *job, struct strvec *env);
/* mpi_net.c: add to env the variables by which ranks use their interfaces. bin:
 * the folder of the MPI. fabric: the value of mpi.fabric. */
void mpi_net_env(const struct mpi_impl_job *job, const char *bin,
    const char *fabric, struct strvec *env);
/* Return mpi.bind of the campaign or the agent, "core" or "numa", to which
 * ranks are bound; NULL if they are not, or if there are too few cores. */
const char *mpi_impl_bind(const struct mpi_impl_job *job);

#endif
