/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the ranks: their nodes, roles and partners.
 *
 * Nodes are numbered in the human order of their names, so that a seed means
 * the same roles whatever the order of the ranks. The Nth rank of every node of
 * a role forms slice N, a communicator without on-node traffic.
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

struct world {
	int rank, size;
	int nodes;                       /* how many */
	char (*names)[WORLD_NAME_BYTES]; /* by node */
	int node;                        /* this rank's */
	int local; /* it is the local'th rank of its node: its slice */

	int role;         /* ROLES_CANARY or an index into the mix */
	int *node_roles;  /* by node */
	MPI_Comm control; /* all ranks; for sleeping waits and relayed lines */
	MPI_Comm group;   /* all ranks of this role */
	MPI_Comm slice;   /* those with this local number */
	MPI_Comm node_comm; /* those on this node */
	int group_rank, group_size;
	int *group_nodes; /* by group rank */
	uint64_t at;      /* exchanges so far: control_agree makes them alike */
	uint64_t stuck_ns;   /* as settings; 0: no limit */
	uint64_t timeout_ns; /* time limit of a round */
	int slice_rank, slice_size;
	int canary_root;              /* rank in control */
	int kind_root[CONGESTOR_MAX]; /* by index into the mix */
	/* Canaries and congestors send from memory of its device, by MPI or
	 * XCCL; NULL: of the host, by MPI. Belongs to the caller. */
	const struct transport_team *team;
	enum plan_via via;
};

/* MPI_Init, names, numbers. */
void world_open(struct world *w, int *argc, char ***argv);
/* The member affinity of the begin record at rank 0, NULL elsewhere.
 * Collective.
 */
json_t *world_affinity(const struct world *w);
/* Assign roles, the same on every rank; log lines then name rank and node.
 * -ERANGE: too few nodes, *ret_needed would do. */
int world_roles(struct world *w, const struct settings *s, int *ret_needed);
/* Make the communicators of the roles; collective. */
void world_split(struct world *w, const struct settings *s);
/* Free and MPI_Finalize; ends the process with status when MPI hangs, as MPICH
 * over TCP can. Results are out before this. */
void world_close(struct world *w, int status);
/* Open a part of a world whose nodes are all canaries: the ranks with the same
 * number >= 0. A rank with a negative number is in no part, and its
 * ret->control is MPI_COMM_NULL. Nodes keep their numbers; names belong to w.
 * Collective over w. */
void world_part_open(const struct world *w, int number,
    const struct settings *s, struct world *ret);
void world_part_close(struct world *part);
/* Return 1 for a rank that is alone in its slice: it measures nothing. */
int world_alone(const struct world *w);

/* All ranks of the job as a team that runs plans, with one device each, or
 * none. Collective. device: a name for device_find; the nth rank of a node
 * opens its device n modulo their number. -errno and the same why on every
 * rank. The caller ends *ret with team_close. */
int team_open(const struct world *w, const char *device, const char *gpu_aware,
    struct transport_team **ret, struct err *err);
void team_close(struct transport_team *team); /* NULL is allowed */
/* -ENOTSUP and why, on all ranks, if ranks of a node share a GPU and may not;
 * collective. */
int team_shares_gpu(const struct transport_team *team, int may,
    struct err *err);

/* All MPI calls use this macro. */
#define MPI_DO(call) world_check((call), #call)
void world_check(int rc, const char *what);

#endif
