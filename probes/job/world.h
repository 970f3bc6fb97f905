/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the ranks: where they run, what they are, who talks to whom.
 *
 * Nodes are numbered in the human order of their names, so that a seed means
 * the same roles whatever the order of the ranks. The Nth rank of every node
 * of a role forms slice N, a communicator without on-node traffic.
 *
 * MPI errors are returned to MPI_DO, which ends the job: a rank that cannot
 * go on must not leave the others waiting.
 */
#ifndef PROBES_JOB_WORLD_H
#define PROBES_JOB_WORLD_H

#include <jansson.h>
#include <mpi.h>

#include "common/err.h"
#include "common/hist.h"
#include "probes/job/cores.h"
#include "probes/job/settings.h"
#include "probes/transport/transport.h"

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
	uint64_t timeout_ns; /* likewise */
	int slice_rank, slice_size;
	int canary_root;              /* rank in control */
	int kind_root[CONGESTOR_MAX]; /* by index into the mix */
};

/* MPI_Init, names, numbers. */
void world_open(struct world *w, int *argc, char ***argv);
/* The member affinity of the begin record at rank 0, NULL elsewhere.
 * Collective.
 */
json_t *world_affinity(const struct world *w);
/* Assign roles and split; log lines then name rank and node. -ERANGE: too few
 * nodes, *ret_needed would do. */
int world_split(struct world *w, const struct settings *s, int *ret_needed);
/* Free and MPI_Finalize; ends the process with status when MPI hangs, as MPICH
 * over TCP can. Results are out before this. */
void world_close(struct world *w, int status);
/* 1 for a rank whose slice has nobody else: it measures nothing. */
int world_alone(const struct world *w);

/* All ranks of the job as a team that runs plans, with one device each, or
 * none. Collective. device: a name for device_find; the nth rank of a node
 * opens its device n modulo their number. -errno and the same why on every
 * rank. The caller ends *ret with team_close. */
int team_open(const struct world *w, const char *device, const char *gpu_aware,
    struct transport_team **ret, struct err *err);
void team_close(struct transport_team *team); /* NULL is allowed */

/* Every MPI call goes through this. */
#define MPI_DO(call) world_check((call), #call)
void world_check(int rc, const char *what);

/* ---- control.c: waiting without spinning ----
 *
 * A rank that waits for its turn polls and sleeps in between, 1 ms at first
 * and 5 ms later, so that it leaves its core to those that measure. What rank
 * 0 has to do meanwhile (write lines that others relay) is its idle hook.
 */

/* Called about once a poll by every wait of this rank; NULL for none. */
void control_set_idle(void (*hook)(void *arg), void *arg);

/* Until the request is complete. */
void control_wait(MPI_Request *req);
void control_barrier(MPI_Comm comm);
/* The largest value of all. */
double control_max(MPI_Comm comm, double mine);
/* 1 once complete; does not wait. */
int control_done(MPI_Request *req);

/* An exchange with others at once: requests are with the first, the second and
 * so on, and from the first again; at most CONTROL_REQS_MAX. */
#define CONTROL_REQS_MAX 32
struct control_peers {
	const char *what; /* a word */
	MPI_Comm comm;    /* of ranks of the role */
	const int *ranks;
	int count;
	uint64_t limit_ns; /* 0: none */
};
/* Until all are complete, at once: it does not sleep, it measures. Where none
 * of them is for limit_ns, the agent of the node and the log are told with
 * whom this rank is stuck, and after a pause in which others can say so too the
 * job ends, for requests that are under way cannot be given up. */
void control_exchange(struct world *w, const struct control_peers *p,
    MPI_Request *reqs, int count);
/* The largest of all ranks of the role, each of which has told it by the time
 * that the first returns. A barrier and a reduction whose waits have names,
 * which MPI's own do not. what: the test. */
double control_agree(struct world *w, const char *what, double mine);
/* From now on, until the next call: a rank that is in MPI for longer than a
 * round may take says that it is stuck, with whom nobody knows, and ends. what
 * NULL: no more. */
void control_watch(const struct world *w, const char *what);

/* ---- relay.c: records from the rank that made them to the one that writes
 * them ----
 *
 * Only rank 0 writes. The root of the canaries and the roots of the congestors
 * hand their records to it as JSON text; rank 0 takes them while it waits or
 * between two batches of its own traffic, numbers them and writes them.
 */

/* What rank 0 does with a record, its own or another's; takes it. */
typedef void relay_sink(void *arg, json_t *record);

void relay_open(struct world *w, relay_sink *sink, void *arg);
void relay_close(void);
/* Takes record. Returns once rank 0 has it, or will. */
void relay_put(json_t *record);
/* The same for what may be lost: dropped while the last is still on its way.
 */
void relay_put_soon(json_t *record);
/* At rank 0: take what has arrived; cheap, at most every 50 ms. */
void relay_poll(void);
/* All ranks together: everything that root put so far is with rank 0. */
void relay_turn(int root);

/* ---- collect.c: histograms of the ranks of a role, summed up at its root ----
 *
 * Collective over the group; what comes back is valid at group rank 0 only.
 */

struct collect_node {
	double node; /* index; < 0: an entry without a node */
	double n, q25, p50, q75, p99;
	double run_s, wait_s; /* of its ranks together, as cores.h */
};

/* Sum of the histograms of all ranks of comm, at its rank 0. */
void collect_sum(MPI_Comm comm, const struct hist *mine, struct hist *ret);
/* One entry a node, from all its ranks, in the order of nodes; their number.
 * cores: NULL where nobody looked. The caller frees. */
int collect_nodes(const struct world *w, const struct hist *mine,
    const struct cores *cores, struct collect_node **ret);

#endif
