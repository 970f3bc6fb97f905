/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - how the bytes of a plan move between ranks.
 *
 * A transport is a table of calls in one .c file (mpi, rma, ipc, xccl). The
 * executor (probes/execute/exec.h) gives it, once, its share of a plan: the
 * ends, on this rank, of the transfers that use it. Everything expensive
 * (requests, handles, communicators, streams) is created then and reused in
 * every iteration. Several transports can carry one plan; each has only its own
 * transfers.
 *
 * Order of calls: usable, prepare; then for every iteration begin, start of
 * every batch once (or of the batches of some steps separately), and test until
 * all of its ends were reported; finally release. usable, prepare and release
 * are collective: every rank of the team calls them, in the same order, even
 * without any transfer of this transport. begin, start and test are not
 * collective, and a rank can be one iteration ahead of another. All calls come
 * from one thread.
 *
 * Batches: the unit of starting is a batch. With by_step = 0, every end is a
 * batch of its own, which is started as soon as its data is ready (a send) or
 * its buffer is free (a receive). With by_step = 1, as in NCCL, which must post
 * related operations in one group, there is one batch for each step in which
 * this rank takes part. These batches are started in the order of steps, each
 * when all of its ends can start, so that groups match on all ranks and cannot
 * deadlock.
 *
 * Matching: both ends of a transfer have the same (src, dst, tag), which is
 * unique in the plan, and the same step and number of bytes. For a transfer
 * from a rank to itself both ends are in the list.
 *
 * Reporting: test reports an end exactly once per iteration: a send when its
 * bytes can be overwritten, a receive when they can be read, by the processor
 * (host) or by any stream of the device.
 *
 * Errors: calls return 0 or -errno; -ENOTSUP means an unsupported operation.
 * The error text is one line with the missing feature and, if known, the
 * remedy. No call prints, and none waits in a loop without sleeping. A
 * transport never reports an end whose bytes it did not move.
 */
#ifndef PROBES_TRANSPORT_TRANSPORT_H
#define PROBES_TRANSPORT_TRANSPORT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/device/device.h"
#include "probes/plan/plan.h"

struct world;

/* The ranks that take part: the same for all plans of a process. Rank numbers
 * are those of the plan. */
struct transport_team {
	int rank, ranks;
	/* To report peers with which this rank is stuck; NULL: it does not
	 * report. */
	struct world *world;
	const int *nodes;   /* node number of each rank */
	MPI_Comm comm;      /* all ranks; used for preparation */
	MPI_Comm node_comm; /* the ranks on this node, in the order of comm */
	const struct device_ops *ops;
	struct device *device;
	/* Ranks of this machine that use the same GPU, including this one. */
	int gpu_ranks;
	int mpi_takes; /* 1: MPI accepts pointers into the device's memory */
	/* PCI address of each rank's device; NULL: devices have none. */
	char (*pci)[16];
	/* For each rank, the rate in bytes per second at which the memory of
	 * its GPU can copy according to its specification (each byte is read
	 * and written), divided by the number of ranks that share the GPU; 0:
	 * unknown. NULL: the devices have no such rate. */
	double *rated_per_s;
	/* The transports that replace PLAN_VIA_AUTO, the same on all ranks:
	 * within a node, and between nodes. */
	enum plan_via within, across;
};

/* One end of a transfer, on this rank. */
struct transport_end {
	uint64_t off; /* offset in the memory of transport_share */
	uint64_t bytes;
	uint32_t peer; /* the rank at the other end */
	uint32_t tag;
	uint32_t step;
	uint32_t batch;  /* the batch to which it belongs; batches ascend */
	uint8_t receive; /* 0: this rank sends, 1: it receives */
	/* Enum plan_via: the member of a family, such as put or get. */
	uint8_t via;
	uint8_t terminal; /* 1: no operation of this rank waits for it */
	uint8_t on_host;  /* 1: off is an offset in host_memory */
};

/* This rank's share of a plan for one transport. Ends are sorted by batch,
 * receives before sends. The share stays valid until release. */
struct transport_share {
	const struct transport_end *ends;
	uint32_t ends_count;
	uint32_t batches_count;
	/* One allocation of the team's device, by its base: it contains all
	 * ends, except those of buffers that the plan keeps in host memory. */
	void *memory;
	uint64_t memory_bytes;
	/* An allocation of the host's device, pinned, with these other buffers;
	 * NULL: there are none. */
	void *host_memory;
	uint64_t host_bytes;
	struct device *host;
	uint64_t piece_bytes; /* see struct plan */
	uint32_t tags; /* above every tag of the plan; the same on all ranks */
	int tag_base;  /* for MPI: tags of this plan begin here */
	/* All calls except usable and prepare write the reason of a failure
	 * here. */
	struct err *err;
};

/* Return the memory of an end. */
static inline char *
transport_at(const struct transport_share *s, const struct transport_end *e)
{
	return (char *)(e->on_host ? s->host_memory : s->memory) + e->off;
}

struct transport; /* Each transport defines this struct itself */

/* The calls of a transport. Calls that can be NULL say so. */
struct transport_ops {
	const char *name; /* as in plan_vias */
	int by_step;
	int at_mpi; /* test polls MPI, which may yield the core */
	/* If the memory is on the host, cores of this node do the copying. */
	int copies_here;
	/* 0, or the window in bytes: a rank does not start sends of a later
	 * step while this many of its bytes are in flight. A transport that
	 * shares a link among all transfers would complete them together, late,
	 * and pipelines would not overlap. Must be 0 with by_step. It applies
	 * to host memory; for other memory see transport_window_bytes. */
	uint64_t window_bytes;
	/* Return the transport that serves this team instead, or NULL if this
	 * one does. Can be NULL. */
	const struct transport_ops *(*instead)(
	    const struct transport_team *team);
	/* Return 0 if these ends can be carried, or -ENOTSUP with the reason in
	 * err; ranks can differ. It is called before any memory is allocated:
	 * memory is NULL, and tags are not known yet. */
	int (*usable)(const struct transport_team *team,
	    const struct transport_share *share, struct err *err);
	/* Prepare to run. All ranks succeed or none: each goes through to its
	 * end, then they agree (transport_agree). A rank whose own part
	 * succeeded then releases it, and returns the common -errno with the
	 * text "". */
	int (*prepare)(const struct transport_team *team,
	    const struct transport_share *share, struct transport **ret,
	    struct err *err);
	/* Begin a new iteration; every end of the previous one was reported.
	 * NULL: nothing to do. */
	int (*begin)(struct transport *t);
	/* Start all ends of a batch. */
	int (*start)(struct transport *t, uint32_t batch);
	/* Make progress without waiting. Return the number of ends that are
	 * complete, at most cap, and write their numbers to ret_ends. Return
	 * -EIO if the transport is broken. */
	int (*test)(struct transport *t, uint32_t *ret_ends, uint32_t cap);
	/* Return 1 if an end was started and is not complete. NULL: not known.
	 */
	int (*is_pending)(const struct transport *t, uint32_t end);
	/* Both calls exist, or both are NULL. They replace start and test in an
	 * iteration in which no end waits for another: start_all starts all
	 * ends of this rank; test_all returns 1 once all are complete. */
	int (*start_all)(struct transport *t);
	int (*test_all)(struct transport *t);
	/* Wait, for a caller without other work; both calls can be NULL.
	 * wait_all, after start_all: wait in a plain loop until all ends are
	 * complete and return 1, if that is short and costs other ranks
	 * nothing; otherwise return 0. wait_some, after start: sleep until
	 * there may be progress; return 0 if nothing would end the sleep. */
	int (*wait_all)(struct transport *t);
	int (*wait_some)(struct transport *t);
	/* Return the bytes that the transport copies through host memory
	 * because it cannot move them directly, as a sentence for the record,
	 * or NULL. The call itself can be NULL. */
	const char *(*staging)(const struct transport *t);
	void (*release)(struct transport *t);
};

extern const struct transport_ops transport_mpi;
/* Replaces transport_mpi if MPI does not accept the device's pointers. */
extern const struct transport_ops transport_mpi_staged;
extern const struct transport_ops transport_rma;
extern const struct transport_ops transport_ipc; /* put and get */
extern const struct transport_ops transport_xccl;

/* Replace PLAN_VIA_AUTO in a plan by the transports that this team has chosen
 * for its device. */
void transport_choose_vias(const struct transport_team *team, struct plan *p);

/* Return the bytes of a piece: 1 GiB, or the plan's piece size if that is
 * smaller. MPI counts the bytes of a message with an int, so longer messages
 * are cut. */
uint64_t transport_piece_bytes(const struct transport_share *share);
/* Implement a part of usable: return 0, or -ENOTSUP with the reason in err if
 * this rank has more pieces than an int can count. */
int transport_pieces_fit(const char *name, const struct transport_team *team,
    const struct transport_share *share, struct err *err);

/* Return 1 if MPI sends a message of this size only after the receiver has
 * agreed to take it (rendezvous). Start such sends before receives. Otherwise a
 * rank that is a little behind its peer agrees to the peer's message before it
 * offers its own; the agreement to that then waits behind the peer's data in
 * the connection, and the two directions take turns. Over TCP both MPIs then
 * reach half of the rate. */
int transport_is_offered(uint64_t bytes);
/* Return the window of a transport for a team. It is larger for a device, whose
 * rendezvous takes longer and whose links are faster. */
uint64_t transport_window_bytes(const struct transport_team *team,
    const struct transport_ops *ops);

/* Write "WHAT: MPI's text" to share->err. Return -EIO. */
int transport_mpi_fail(const struct transport_share *share, int rc,
    const char *what);
/* Return 0 for MPI_SUCCESS, otherwise as transport_mpi_fail. Inline, because it
 * is called for every message. */
static inline int
transport_check(const struct transport_share *share, int rc, const char *what)
{
	return rc == MPI_SUCCESS ? 0 : transport_mpi_fail(share, rc, what);
}
/* Write the error text of the team's device to share->err. Return rc. */
int transport_fail(const struct transport_team *team,
    const struct transport_share *share, int rc);

/* Active MPI requests, and the end of each. They are contiguous, so that one
 * test covers all. */
struct transport_requests {
	MPI_Request *list;
	uint32_t *ends;
	int *done;       /* indices, for MPI_Testsome */
	uint32_t *found; /* ends of the requests that were complete */
	int count;
};
/* Allocate room for cap requests. transport_requests_close frees it. */
void transport_requests_open(struct transport_requests *r, size_t cap);
void transport_requests_close(struct transport_requests *r);
/* Test all requests and remove those that are complete. Return their number, or
 * -EIO. *ret_ends: the end of each, so an end may be in it several times; valid
 * until the next call. */
int transport_requests_test(struct transport_requests *r,
    const struct transport_share *share, const uint32_t **ret_ends);

/* Return the lowest rc of all ranks. Collective over the team. */
int transport_agree(const struct transport_team *team, int rc);
/* Return the lowest rc as transport_agree does, and write to err the reason of
 * the lowest rank that failed and gave one. *max, unless max is NULL on all
 * ranks, becomes the maximum over all ranks, which saves a second exchange.
 * Collective over the team. */
int transport_agree_why(const struct transport_team *team, int rc,
    uint32_t *max, struct err *err);

/* Return the transport for a via; never NULL. */
const struct transport_ops *transport_find(enum plan_via via);

#endif
