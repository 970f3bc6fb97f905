/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the ranks of the job: their nodes, roles and communicators.
 *
 * Nodes are numbered in the natural order of their names, so that a seed
 * assigns the same roles whatever the order of the ranks. The Nth rank of every
 * node of a role forms slice N, a communicator without traffic inside nodes.
 *
 * MPI errors are returned to MPI_DO, which ends the job: a failed rank must not
 * leave the others waiting.
 */
#ifndef PROBES_JOB_WORLD_H
#define PROBES_JOB_WORLD_H

#include <jansson.h>
#include <mpi.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/job/settings.h"
#include "probes/transport/transport.h"
#include "schema/names_probe.h"

#define WORLD_NAME_BYTES 256

/* The job as one rank sees it. */
struct world {
	int rank, size;
	int nodes;                       /* number of nodes */
	char (*names)[WORLD_NAME_BYTES]; /* name of each node */
	int node;                        /* number of this rank's node */
	int local; /* number of this rank on its node, and of its slice */

	int role;         /* ROLES_CANARY or an index into the mix */
	int *node_roles;  /* role of each node */
	MPI_Comm control; /* all ranks; for sleeping waits and relayed lines */
	MPI_Comm group;   /* all ranks of this role */
	/* The ranks of this role with this number on their nodes. */
	MPI_Comm slice;
	MPI_Comm node_comm; /* the ranks on this node */
	int group_rank, group_size;
	int *group_nodes; /* node of each rank of the group */
	/* Number of exchanges so far; control_agree makes it equal on all
	 * ranks. */
	uint64_t at;
	uint64_t stuck_ns;   /* see settings.h; 0: no limit */
	uint64_t timeout_ns; /* time limit of a round */
	int slice_rank, slice_size;
	/* Rank in control of the canaries' root. */
	int canary_root;
	/* Rank in control of each congestor's root, by index into the mix. */
	int kind_root[CONGESTOR_MAX];
	/* Canaries and congestors send from memory of the team's device, by MPI
	 * or XCCL; NULL: from host memory, by MPI. The caller owns the team. */
	const struct transport_team *team;
	enum plan_via via;
};

/* Call MPI_Init, and set names and numbers. Collective. */
void world_open(struct world *w, int *argc, char ***argv);
/* Return the member "affinity" of the begin record at rank 0, a new reference;
 * NULL on other ranks. Collective. */
json_t *world_affinity(const struct world *w);
/* Assign roles, the same on every rank; log lines then name rank and node.
 * Return 0, or -ERANGE if there are too few nodes; *ret_needed is the smallest
 * sufficient number. */
int world_roles(struct world *w, const struct settings *s, int *ret_needed);
/* Create the communicators of the roles. Collective. */
void world_split(struct world *w, const struct settings *s);
/* Free everything and call MPI_Finalize. If MPI hangs, as MPICH over TCP can,
 * the process exits with status. All results must have been written. */
void world_close(struct world *w, int status);
/* Open a part of a world whose nodes are all canaries: the ranks with the same
 * number >= 0. A rank with a negative number is in no part, and its
 * ret->control is MPI_COMM_NULL. Nodes keep their numbers; names belong to w.
 * Collective over w. */
void world_part_open(const struct world *w, int number,
    const struct settings *s, struct world *ret);
void world_part_close(struct world *part);
/* Return 1 if the rank is alone in its slice, so that it measures nothing; 0 if
 * not. */
int world_alone(const struct world *w);

/* Make all ranks of the job a team that runs plans, with one device each, or
 * none. device: a name for device_find. The nth rank of a node opens its device
 * n modulo their number. gpu_aware: the option measure.gpu_aware. Collective.
 * Return 0 and the team, which the caller frees with team_close; or -errno with
 * the same reason in err on every rank. */
int team_open(struct world *w, const char *device, const char *gpu_aware,
    struct transport_team **ret, struct err *err);
void team_close(struct transport_team *team); /* team can be NULL */
/* Return -ENOTSUP with the reason in err, on all ranks, if ranks of a node
 * share a GPU and `may` is 0; otherwise 0. Collective. */
int team_shares_gpu(const struct transport_team *team, int may,
    struct err *err);

/* All MPI calls of the engine use this macro. world_check ends the job if rc is
 * an MPI error. */
#define MPI_DO(call) world_check((call), #call)
void world_check(int rc, const char *what);

#endif
