/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - messages between the ranks of a slice (job/world.h), from host
 * memory or from the memory of each rank's GPU.
 *
 * With measure.via = auto, MPI sends GPU memory if it accepts pointers into it;
 * otherwise NCCL or RCCL does. If neither can, each operation copies through
 * pinned host memory. link_describe puts that into the record, because the
 * measured times include the copies.
 *
 * Messages are posted between link_begin and link_end or link_wait. MPI matches
 * the messages of two ranks by tag, NCCL by the order in which both ranks post
 * them: post them in the same order on both ranks.
 */
#ifndef PROBES_CONGESTION_LINK_H
#define PROBES_CONGESTION_LINK_H

#include <jansson.h>
#include <mpi.h>
#include <stddef.h>

#include "common/err.h"
#include "probes/job/control.h"
#include "probes/job/world.h"
#include "probes/transport/xccl_comm.h"

/* The state of the messages of one rank. */
struct link {
	struct world *world;
	MPI_Comm comm;
	const struct transport_team *team; /* NULL: host memory */
	int staged;             /* 1: GPU memory, copied through host memory */
	struct xccl_comm *xccl; /* NULL: MPI carries the messages */
	struct device_stream *stream;
	struct device_event *done;
	/* Two bytes on the device, one to send and one to receive: xccl has no
	 * empty messages, so an empty message is one byte. */
	char *empty;
	MPI_Request *reqs;
	int count, reqs_max;
};

/* Memory of messages. at: messages are sent from here and received here. host:
 * this process reads and writes the same bytes here, after link_get and before
 * link_put. Without a device both are the same pointer. */
struct link_memory {
	char *at, *host;
	void *device; /* NULL: no device */
	size_t bytes;
};

/* Resolve measure.via (PLAN_VIA_AUTO, MPI or XCCL) for this team. Collective
 * over the team. Return 0, or -ENOTSUP with the same reason in err on all
 * ranks. */
int link_choose(const struct transport_team *team, enum plan_via asked,
    enum plan_via *ret, struct err *err);

/* Add to a record: device, via, and impl ("nccl") or staging (a sentence). For
 * host memory nothing is added. */
void link_describe(const struct world *w, json_t *o);

/* Prepare messages between the ranks of comm, at most reqs_max at a time.
 * Collective over comm. Return 0, or -errno with the reason in err on all its
 * ranks. The caller calls link_close, which is also collective, in both
 * cases. */
int link_open(struct link *l, struct world *w, MPI_Comm comm, int reqs_max,
    struct err *err);
void link_close(struct link *l);

/* Allocate zeroed memory for messages. Return 0 or -errno with the reason in
 * err. The caller frees it with link_free, also after a failure. */
int link_alloc(struct link *l, size_t bytes, struct link_memory *ret,
    struct err *err);
void link_free(struct link *l, struct link_memory *m);
/* Copy from host to device (put), and back (get); without a device they do
 * nothing. The job ends if the device fails. */
void link_put(struct link *l, const struct link_memory *m);
void link_get(struct link *l, const struct link_memory *m);

/* Begin to post messages. */
void link_begin(struct link *l);
/* Post a message to or from a rank of comm. If bytes is 0, the pointer is
 * ignored. */
void link_send(struct link *l, const void *from, size_t bytes, int to, int tag);
void link_recv(struct link *l, void *to, size_t bytes, int from, int tag);
/* Start all posted messages. With MPI they are complete when it returns, with
 * xccl after link_drain. */
void link_end(struct link *l);
void link_drain(struct link *l);
/* Call link_end, then wait like control_exchange until all messages are
 * complete. */
void link_wait(struct link *l, const struct control_peers *p);
/* Wait for a collective; with MPI it returns at once. control_watch limits the
 * time. what: the name of the test, for reports. */
void link_wait_all(struct link *l, const char *what);
/* Sum count doubles over all ranks of comm. With MPI the sum is complete when
 * it returns, else after link_drain or link_wait_all. */
void link_allreduce(struct link *l, const void *from, void *to, int count);

#endif
