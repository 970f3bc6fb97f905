/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary.h - the operations whose time shows the state of the network, one row
 * per test of schema/names_probe.h. On the host an operation is exactly the MPI
 * calls of the paper (GPCNeT, section 3.1) on the communicator of a slice: the
 * ranks with the same number on their nodes (job/world.h). Clocks, rounds and
 * agreement are elsewhere and are not part of its time.
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

/* The part of this rank in an operation between two ranks: it sends and
 * receives, or does only one of both. */
enum canary_way { CANARY_BOTH_WAYS, CANARY_SENDS, CANARY_RECEIVES };

/* A canary test in progress on one rank. */
struct canary {
	enum canary_test test;
	enum canary_way way; /* set before each round */
	MPI_Comm comm;       /* communicator of the slice */
	int rank, size;
	/* Neighbours, set before each round; for an incast the receiver. */
	int left, right;
	/* The senders of an incast, at its receiver; elsewhere sender_count is
	 * 0. */
	int senders[RING_SENDERS_MAX], sender_count;
	size_t bytes; /* bytes of a message */
	int window;   /* messages in flight to each neighbour */
	char *send;   /* messages to the left, then to the right */
	char *recv;   /* `window` messages from the left, then from the right */
	/* Memory of send and recv, unless the test uses an MPI window. */
	struct link_memory send_memory, recv_memory;
	MPI_Win win; /* one-sided tests only */
	struct link *link;
	struct world *world;
};

/* The operations of one test. */
struct canary_ops {
	/* 1: ranks have neighbours; 0: the operation is a collective. */
	int ring;
	int natural; /* 1: the ring is never shuffled */
	/* 1: an operation is two messages in a row, and its value half of the
	 * time. */
	int halved;
	/* Perform one operation, from memory that messages can be sent from.
	 * Called by canary_once. */
	void (*once)(struct canary *c);
	/* Return the bytes that this rank sends in one operation. Only for
	 * bandwidths. */
	double (*sent_bytes)(const struct canary *c);
};
extern const struct canary_ops canary_ops[CANARY_MAX];

/* Open a test with messages of this many bytes; 0: the size of the test. l: the
 * link of the slice, for CONTROL_REQS_MAX messages; it must live longer than
 * the canary. Return 0, or -ENOTSUP with the reason in err if this MPI does not
 * support the test or the messages to all ranks take too much memory; the
 * result is the same on all ranks of the slice. */
int canary_open(struct canary *c, enum canary_test test, size_t bytes,
    struct world *w, struct link *l, struct err *err);
/* Close a test. Collective over the slice. */
void canary_close(struct canary *c);
/* Perform one operation. */
void canary_once(struct canary *c);
/* Perform one operation with known data. Return the offset of the first wrong
 * byte that was received, or -1. */
long canary_check(struct canary *c);
/* Return the number of rounds after which every rank that has to be measured
 * had its turn, in each slice. */
int canary_turns(const struct canary *c);
/* Return the value of an operation of this duration, in the unit of the
 * test. */
double canary_value(const struct canary *c, double elapsed_s);
/* Return 1 if the test is a bandwidth, 0 if it is a time; and the quantile that
 * is the main result of a test: the bad tail of its values. */
int canary_low_is_bad(enum canary_test test);
double canary_tail(enum canary_test test);

/* Open an MPI window of this many bytes on every rank, under a shared lock of
 * all ranks; congestors use it too. Collective over comm: all ranks return 0
 * and the memory of the window in *ret_base, or all return -ENOTSUP with MPI's
 * text in err. Debian's Open MPI has no one-sided component for TCP unless
 * osc=^ucx is set; tests that need a window then report that, and the run
 * continues. */
int canary_window_open(MPI_Comm comm, size_t bytes, char **ret_base,
    MPI_Win *ret, struct err *err);
void canary_window_close(MPI_Win *win); /* collective; also frees the memory */

#endif
