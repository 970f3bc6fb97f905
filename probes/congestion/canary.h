/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary.h - the operations whose time shows the state of the network, one row
 * per test of schema/names_probe.h. On the host an operation is exactly the MPI
 * calls of the paper (section 3.1), on the slice communicator: clocks, rounds
 * and agreement are elsewhere and not part of its time.
 *
 * Order of calls: open (collective over the slice), any number of once and
 * check, close (collective).
 */
#ifndef PROBES_CONGESTION_CANARY_H
#define PROBES_CONGESTION_CANARY_H

#include <mpi.h>
#include <stddef.h>

#include "common/err.h"
#include "probes/congestion/link.h"
#include "probes/job/control.h"
#include "probes/job/roles.h"
#include "probes/job/world.h"
#include "schema/names_probe.h"

/* Of an operation between two: does this rank send and receive, or one of
 * both? */
enum canary_way { CANARY_BOTH_WAYS, CANARY_SENDS, CANARY_RECEIVES };

struct canary {
	enum canary_test test;
	enum canary_way way; /* set before each round */
	MPI_Comm comm;       /* the slice */
	int rank, size;
	int left, right; /* set before each round; of an incast the receiver */
	/* Of an incast, at the receiver; else none. */
	int senders[RING_SENDERS_MAX], sender_count;
	size_t bytes; /* of a message */
	int window;   /* messages to a neighbour */
	char *send;   /* to the left, then to the right */
	char *recv;   /* window messages from the left, then the right */
	/* Memory of both sides, unless the test uses a window. */
	struct link_memory send_memory, recv_memory;
	MPI_Win win; /* one-sided tests only */
	struct link *link;
	struct world *world;
};

struct canary_ops {
	int ring;    /* 1: has neighbours; 0: a collective */
	int natural; /* 1: the ring is never shuffled */
	int halved;  /* 1: the time is that of two messages in a row */
	/* One operation, from memory that messages can leave: canary_once. */
	void (*once)(struct canary *c);
	/* Bytes that this rank sends in one operation; bandwidths only. */
	double (*sent_bytes)(const struct canary *c);
};
extern const struct canary_ops canary_ops[CANARY_MAX];

/* -ENOTSUP, on all ranks of the slice or none, when this MPI cannot do it; err
 * then has the MPI's words. l: of the slice, for CONTROL_REQS_MAX messages; it
 * outlives the canary. */
int canary_open(struct canary *c, enum canary_test test, struct world *w,
    struct link *l, struct err *err);
void canary_close(struct canary *c);
/* One operation. */
void canary_once(struct canary *c);
/* One operation with known data. The offset of the first wrong byte received,
 * or -1. */
long canary_check(struct canary *c);
/* Return the number of rounds in which every rank that is to be measured takes
 * a turn, in each slice. */
int canary_turns(const struct canary *c);
/* Value of one operation in the unit of the test. */
double canary_value(const struct canary *c, double elapsed_s);
/* 1 for a bandwidth; and the quantile that is a test's headline: the bad tail
 * of its values. */
int canary_low_is_bad(enum canary_test test);
double canary_tail(enum canary_test test);

/* Open a window of bytes on every rank, under a shared lock of all; congestors
 * use it too. Collective: all ranks return 0, or all return -ENOTSUP and MPI's
 * error text. Debian's Open MPI has no one-sided component for TCP unless
 * osc=^ucx is set: tests that need a window then report that, and the run
 * continues. */
int canary_window_open(MPI_Comm comm, size_t bytes, char **ret_base,
    MPI_Win *ret, struct err *err);
void canary_window_close(MPI_Win *win); /* collective; frees the memory too */

#endif
