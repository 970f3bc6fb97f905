/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - how the bytes of a plan move between ranks.
 *
 * A transport is a table of calls, one .c file (mpi, rma, ipc, xccl). The
 * executor (probes/execute/exec.h) gives it, once, its share of a plan: this
 * rank's ends of the transfers that use it. Everything expensive (requests,
 * handles, communicators, streams) is created then and reused in every
 * iteration. Several transports share one plan; each sees only its own
 * transfers.
 *
 * Order of calls: usable, prepare, then for every iteration begin, start of
 * every batch once (or of the batches of some steps separately), test until all
 * its ends were reported, and at last release. usable, prepare and release are
 * collective: every rank of the team calls them, in the same order, even
 * without any transfer of this transport; begin, start and test are not, and a
 * rank may be one iteration ahead of another. All calls come from one thread.
 *
 * Batches. The unit of starting is a batch. A transport with by_step = 0 has
 * every end in a separate batch, which is started as soon as its data is ready
 * (a send) or its buffer is free (a receive). One with by_step = 1, such as
 * NCCL, which must post related operations in one group, has one batch for each
 * step in which this rank takes part; they are started in the order of steps,
 * each when all its ends may start, so that groups match on all ranks and
 * cannot deadlock.
 *
 * Matching. Both ends of a transfer have the same (src, dst, tag), unique in
 * the plan, and the same step and number of bytes. A rank may have transfers to
 * itself: both ends are in the list then.
 *
 * Reporting. An end is reported by test exactly once an iteration: a send when
 * its bytes may be overwritten, a receive when they may be read, by the
 * processor (host) or by any stream of the device.
 *
 * Errors: 0 or -errno, -ENOTSUP for an unsupported operation. The error text is
 * one line with the missing feature and, if known, the remedy. No call
 * prints, none waits in a loop without sleeping, and a transport never reports
 * an end whose bytes it did not move.
 */
#ifndef PROBES_TRANSPORT_TRANSPORT_H
#define PROBES_TRANSPORT_TRANSPORT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/device/device.h"
#include "probes/plan/plan.h"

/* Who takes part: the same for all plans of a process. Rank numbers are those
 * of the plan. */
struct transport_team {
	int rank, ranks;
	const int *nodes;   /* node number of each rank */
	MPI_Comm comm;      /* all ranks, for making things ready */
	MPI_Comm node_comm; /* those on this node, in the order of comm */
	const struct device_ops *ops;
	struct device *device;
	int gpu_ranks;   /* of this machine that have its GPU, this one too */
	int mpi_takes;   /* the MPI takes the device's pointers */
	char (*pci)[16]; /* by rank, of its device; NULL: they have none */
	/* By rank, bytes per second that the memory of its GPU is rated to copy
	 * (it reads and writes each byte), divided by the ranks that share the
	 * GPU; 0: unknown. NULL: they have none. */
	double *rated_per_s;
	/* On all ranks alike: what PLAN_VIA_AUTO becomes. */
	enum plan_via within, across;
};

struct transport_end {
	uint64_t off; /* in memory of transport_share */
	uint64_t bytes;
	uint32_t peer; /* the rank at the other end */
	uint32_t tag;
	uint32_t step;
	uint32_t batch;   /* to which it belongs; batches ascend */
	uint8_t receive;  /* 0: this rank sends, 1: it receives */
	uint8_t via;      /* enum plan_via: which of a family, put or get */
	uint8_t terminal; /* nothing that this rank does waits for it */
	uint8_t on_host;  /* off is in host_memory */
};

/* This rank's share. Ends are sorted by batch, receives before sends; it stays
 * valid until release. */
struct transport_share {
	const struct transport_end *ends;
	uint32_t ends_count;
	uint32_t batches_count;
	/* One allocation of team's device, by its base: all ends are in it,
	 * except buffers that the plan keeps in host memory. */
	void *memory;
	uint64_t memory_bytes;
	/* Of those an allocation of the host's device, pinned; NULL: none. */
	void *host_memory;
	uint64_t host_bytes;
	struct device *host;
	uint64_t piece_bytes; /* of the plan */
	uint32_t tags; /* above every tag of the plan, on all ranks the same */
	int tag_base;  /* for MPI: tags of this plan start here */
	/* Where every call but usable and prepare says why it failed. */
	struct err *err;
};

static inline char *
transport_at(const struct transport_share *s, const struct transport_end *e)
{
	return (char *)(e->on_host ? s->host_memory : s->memory) + e->off;
}

struct transport; /* every transport has its own */

struct transport_ops {
	const char *name; /* as in plan_vias */
	int by_step;
	int at_mpi;      /* test looks at MPI, which may give up the core */
	int copies_here; /* on memory of the host this node's cores carry it */
	/* 0, or the window: a rank does not start sends of a later step while
	 * this many of its bytes are in flight. A transport that shares a
	 * link among all of them would complete them together, late, and
	 * pipelines would not overlap. Never with by_step. For host memory:
	 * transport_window_bytes. */
	uint64_t window_bytes;
	/* Who serves this team in its place, NULL: itself. May be NULL. */
	const struct transport_ops *(*instead)(
	    const struct transport_team *team);
	/* May these ends be carried, here and now? Before any memory is
	 * allocated: memory is NULL and tags are not yet known. 0, or -ENOTSUP
	 * and why; ranks may differ. */
	int (*usable)(const struct transport_team *team,
	    const struct transport_share *share, struct err *err);
	/* All ranks or none: each goes through to the end, then they agree
	 * (transport_agree), and a rank whose part was fine gives back what
	 * it made and returns the common -errno with why "". */
	int (*prepare)(const struct transport_team *team,
	    const struct transport_share *share, struct transport **ret,
	    struct err *err);
	/* A new iteration: every end of the last one was reported. NULL:
	 * there is nothing to do then. */
	int (*begin)(struct transport *t);
	int (*start)(struct transport *t, uint32_t batch);
	/* Move things on, without waiting: numbers of ends that are done by
	 * now, at most cap of them, and how many that are. -EIO: broken. */
	int (*test)(struct transport *t, uint32_t *ret_ends, uint32_t cap);
	/* Both or neither: all ends of this rank at once, in place of start
	 * and test for an iteration in which none waits for another. 1 once
	 * all are done. */
	int (*start_all)(struct transport *t);
	int (*test_all)(struct transport *t);
	/* For a caller without other work. After start_all: wait until all are
	 * done in a plain loop, if that is short and costs others nothing, else
	 * return 0. After start: sleep until there may be progress; return 0 if
	 * nothing would wake it up. Both may be NULL. */
	int (*wait_all)(struct transport *t);
	int (*wait_some)(struct transport *t);
	/* Which bytes it cannot move directly and takes through memory of
	 * the host, as a sentence for the record. NULL: none. */
	const char *(*staging)(const struct transport *t);
	void (*release)(struct transport *t);
};

extern const struct transport_ops transport_mpi;
/* In its place where the MPI does not take the device's pointers. */
extern const struct transport_ops transport_mpi_staged;
extern const struct transport_ops transport_rma;
extern const struct transport_ops transport_ipc; /* put and get */
extern const struct transport_ops transport_xccl;

/* Replace PLAN_VIA_AUTO by what this team has found for its device. */
void transport_choose_vias(const struct transport_team *team, struct plan *p);

/* MPI counts a message's bytes with an int, so longer ones are cut. Return the
 * bytes of a piece: 1 GiB, or the plan's piece size if smaller. */
uint64_t transport_piece_bytes(const struct transport_share *share);
/* For usable: 0, or -ENOTSUP and why when this rank's pieces are more than an
 * int counts. */
int transport_pieces_fit(const char *name, const struct transport_team *team,
    const struct transport_share *share, struct err *err);

/* The window of a team's transport: a device's rendezvous takes longer, and its
 * links are faster. */
uint64_t transport_window_bytes(const struct transport_team *team,
    const struct transport_ops *ops);

/* -EIO and "what: MPI's text". */
int transport_mpi_fail(const struct transport_share *share, int rc,
    const char *what);
/* 0 for MPI_SUCCESS, else as above. Inline: it is asked for every message. */
static inline int
transport_check(const struct transport_share *share, int rc, const char *what)
{
	return rc == MPI_SUCCESS ? 0 : transport_mpi_fail(share, rc, what);
}
/* rc, with the text of team's device. */
int transport_fail(const struct transport_team *team,
    const struct transport_share *share, int rc);

/* Active requests of MPI, and the end of each. They are contiguous, so that one
 * test covers all. */
struct transport_requests {
	MPI_Request *list;
	uint32_t *ends;
	int *done; /* indices, for MPI_Testsome */
	int count;
};
void transport_requests_open(struct transport_requests *r, size_t cap);
void transport_requests_close(struct transport_requests *r);
/* The end of each that is complete by now, at most cap; how many, or -EIO. */
int transport_requests_test(struct transport_requests *r,
    const struct transport_share *share, uint32_t *ret_ends, uint32_t cap);

/* The lowest rc of all ranks; collective. */
int transport_agree(const struct transport_team *team, int rc);
/* Like transport_agree, with the reason of the lowest rank that failed and gave
 * one. The text has the same size on all ranks. *max, unless it is NULL on all
 * ranks, becomes the maximum over all ranks, which saves a second exchange. */
int transport_agree_why(const struct transport_team *team, int rc,
    uint32_t *max, struct err *err);

/* Whose job a via is; never NULL. */
const struct transport_ops *transport_find(enum plan_via via);

#endif
