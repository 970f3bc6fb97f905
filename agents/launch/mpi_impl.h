/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_impl.h - the MPI implementations whose launchers an agent can start.
 *
 * A row knows the files of its implementation and how its launcher is told
 * hosts, ranks and our rsh agent. The environment is made from nothing. MPIs of
 * a site, which coalmine-build-probe has registered, are copies of the row of
 * their family, with paths of their own.
 */
#ifndef AGENTS_LAUNCH_MPI_IMPL_H
#define AGENTS_LAUNCH_MPI_IMPL_H

#include <stddef.h>

#include "agents/process/strvec.h"
#include "common/conf.h"
#include "common/err.h"

/* One node of a job; the first is this one. */
struct mpi_impl_node {
	const char *node;
	const char *addr; /* numeric */
};

struct mpi_impl_mpi;

struct mpi_impl_job {
	const struct conf *conf;
	const struct mpi_impl_mpi *mpi;
	const char *launcher; /* path of the MPI's own */
	const char *run;
	const char *dir;             /* the run's, for files */
	const struct conf *campaign; /* what is to be run */
	const struct mpi_impl_node *nodes;
	size_t node_count;
	int ranks_per_node;
	int cores;                  /* of this node */
	int as_root;                /* children stay root */
	const char *arsh;           /* path of coalmine-arsh */
	const char *const *command; /* of every rank, NULL-ended */
};

/* A variable that a fabric needs. */
struct mpi_impl_fabric {
	const char *fabric; /* as mpi.fabric */
	const char *name, *value;
	const char *several; /* with several ranks on a node; NULL: value */
	/* Only for the MPI of the distribution, in /usr/bin: that of a site has
	 * its own choice in its own files. */
	int packaged;
};

struct mpi_impl_mpi {
	const char *name;   /* as in campaigns */
	const char *family; /* the key of its directory in [children] */
	/* Of a site's MPI; NULL: by [children]. An empty bin: it has no
	 * launcher, as Cray's. */
	const char *bin, *engine;
	/* Files in that directory, best first; NULL-ended. */
	const char *const *launchers;
	const char *argv0;  /* the launcher looks at its own name */
	const char *daemon; /* what it starts on other nodes */
	/* How srun wires up its ranks: its --mpi. */
	const char *slurm;
	/* Where the version stands in what "LAUNCHER --version" prints. */
	const char *version_mark;
	const struct mpi_impl_fabric *fabrics; /* ends with a NULL name */
	/* Add to argv (which has argv0) and env (which has the base). */
	void (*build)(const struct mpi_impl_job *job, struct strvec *argv,
	    struct strvec *env);
};

extern const struct mpi_impl_mpi launch_openmpi;
extern const struct mpi_impl_mpi launch_mpich;

/* Read the files of children.probes, once, as the agent starts. One that is
 * wrong is logged and not offered. */
void mpi_impl_load(const struct conf *c);
const struct mpi_impl_mpi *mpi_impl_find(const char *name); /* NULL if none */
const struct mpi_impl_mpi *mpi_impl_at(size_t i); /* NULL behind the last */
/* Path of the launcher or the daemon, or of the engine built for it. 0, or
 * -ENOENT and what is missing in why. */
int mpi_impl_path(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret_launcher, char *ret_engine, size_t cap_bytes, struct err *err);
int mpi_impl_daemon(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret, size_t cap_bytes);
/* PATH and, for an implementation outside of /usr, where its libraries are. */
void mpi_impl_env(const struct mpi_impl_mpi *mpi, const struct conf *c,
    struct strvec *env);

/* 0 when the campaign sets nothing that the agent does not allow. */
int mpi_impl_allowed(const struct conf *agent, const struct conf *campaign,
    struct err *err);
/* The fabric, devices and settings of agent and campaign: what each overrules
 * comes before it. Adds to env; names gets the variables that a launcher has to
 * hand on, all but Open MPI's parameters. */
void mpi_impl_settings(const struct mpi_impl_job *job, struct strvec *env,
    struct strvec *names);
/* mpi.bind of campaign or agent: "core" or "numa", which the launcher binds
 * ranks to; NULL where it does not, or has not the cores. */
const char *mpi_impl_bind(const struct mpi_impl_job *job);
/* Networks on which Open MPI's control ports are offered, as CIDR with commas
 * between: mpi.net, or of a mesh.net that is given those that this node is in;
 * "": all. The caller frees. */
char *mpi_impl_control_nets(const struct conf *agent);
/* Names with sep between; the caller frees. */
char *mpi_impl_join(const struct strvec *names, const char *sep);

#endif
