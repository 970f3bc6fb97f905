/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - messages between the ranks of a slice, from memory of the host or of
 * each rank's GPU.
 *
 * With measure.via = auto the MPI sends GPU memory if it takes pointers into
 * it, else NCCL or RCCL does. If neither can, each operation copies through
 * pinned memory of the host; link_describe puts that into the record, because
 * the measured times include the copies.
 *
 * Messages are posted between link_begin and link_end or link_wait. MPI matches
 * the messages of two ranks by tag, NCCL by the order in which both post them:
 * post them in the same order on both.
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
	int staged; /* GPU memory, copied through memory of the host */
	struct xccl_comm *xccl; /* NULL: the MPI carries messages */
	struct device_stream *stream;
	struct device_event *done;
	char *empty; /* on the device: xccl has no empty messages, so one byte
			to send and one to receive */
	MPI_Request *reqs;
	int count, reqs_max;
};

/* at: messages are sent from here and received here; host: this process reads
 * and writes the same bytes here, after link_get and before link_put. Without a
 * device both are the same pointer. */
struct link_memory {
	char *at, *host;
	void *device; /* NULL: none */
	size_t bytes;
};

/* Resolve measure.via (PLAN_VIA_AUTO, MPI or XCCL) for this team. Collective;
 * -ENOTSUP and the same reason on all ranks. */
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
/* Start all posted messages. With MPI they are complete when it returns, with
 * xccl after link_drain. */
void link_end(struct link *l);
void link_drain(struct link *l);
/* link_end, then wait like control_exchange until all are complete. */
void link_wait(struct link *l, const struct control_peers *p);
/* Wait for a collective; returns at once with MPI. control_watch limits the
 * time. */
void link_wait_all(struct link *l, const char *what);
/* The sum of doubles over all ranks; complete at once with MPI, else after
 * link_drain or link_wait_all. */
void link_allreduce(struct link *l, const void *from, void *to, int count);

#endif
