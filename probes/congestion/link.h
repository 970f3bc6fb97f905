/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - messages between the ranks of a slice, and the memory that they
 * leave and reach: memory of the host, or of the GPU of each rank.
 *
 * Messages of a GPU go by the MPI if it takes pointers into GPU memory, else by
 * NCCL or RCCL (measure.via = auto). If neither can be had, each operation
 * copies through pinned memory of the host, and link_via says so: such numbers
 * are those of the copies as well.
 *
 * Messages are posted between link_begin and link_end or link_wait. Two ranks
 * match theirs by tag with MPI, and with NCCL by the order in which both post
 * them, so that both must do so in the same order.
 */
#ifndef PROBES_CONGESTION_LINK_H
#define PROBES_CONGESTION_LINK_H

#include <jansson.h>
#include <mpi.h>
#include <stddef.h>

#include "common/err.h"
#include "probes/job/control.h"
#include "probes/job/world.h"
#include "probes/transport/xccl.h"

struct link {
	struct world *world;
	MPI_Comm comm;
	const struct transport_team *team; /* NULL: memory of the host */
	int staged; /* memory of a GPU, and messages of the host's */
	struct xccl_comm *xccl; /* NULL: messages are the MPI's */
	struct device_stream *stream;
	struct device_event *done;
	char *empty; /* on the device: what an empty message has with xccl */
	MPI_Request *reqs;
	int count, reqs_max;
};

/* at: what messages are sent from and received in; host: where this process
 * reads and writes the same bytes, after link_get and before link_put. On the
 * host both are one. */
struct link_memory {
	char *at, *host;
	void *device; /* NULL: none */
	size_t bytes;
};

/* By what messages of this team go if measure.via says PLAN_VIA_AUTO, MPI or
 * XCCL. Collective; -ENOTSUP and why, alike on all ranks. */
int link_choose(const struct transport_team *team, enum plan_via asked,
    enum plan_via *ret, struct err *err);

/* Into a record: device, via, and impl ("nccl") or staging (a sentence);
 * nothing for memory of the host. */
void link_describe(const struct world *w, json_t *o);

/* Messages between the ranks of comm, at most reqs_max at a time; collective
 * over comm, 0 or -errno and why on all its ranks. The caller ends it with
 * link_close in both cases, also collective. */
int link_open(struct link *l, struct world *w, MPI_Comm comm, int reqs_max,
    struct err *err);
void link_close(struct link *l);

/* Zeroed, on both sides. The caller frees it, also after a failure. */
int link_alloc(struct link *l, size_t bytes, struct link_memory *ret,
    struct err *err);
void link_free(struct link *l, struct link_memory *m);
/* From host to device, and back; nothing where they are one. The job ends if
 * the device cannot. */
void link_put(struct link *l, const struct link_memory *m);
void link_get(struct link *l, const struct link_memory *m);

void link_begin(struct link *l);
/* A message may be empty: from and to are then ignored. */
void link_send(struct link *l, const void *from, size_t bytes, int to, int tag);
void link_recv(struct link *l, void *to, size_t bytes, int from, int tag);
/* What was posted goes on; with MPI it is complete afterwards, with xccl after
 * link_drain. */
void link_end(struct link *l);
void link_drain(struct link *l);
/* Until all that was posted is complete, as control_exchange. */
void link_wait(struct link *l, const struct control_peers *p);
/* Until all that was ended is complete, of a collective that has no peers:
 * nothing with MPI. It has no limit but that of control_watch. */
void link_wait_all(struct link *l, const char *what);
/* The sum of doubles over all ranks; complete at once with MPI, else after
 * link_drain or link_wait_all. */
void link_allreduce(struct link *l, const void *from, void *to, int count);

#endif
