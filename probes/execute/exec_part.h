/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_part.h - the internals of exec.h for its own files: exec_make.c prepares
 * a plan, exec.c replays it, exec_data.c fills and verifies its buffers.
 */
#ifndef PROBES_EXECUTE_EXEC_PART_H
#define PROBES_EXECUTE_EXEC_PART_H

#include "common/heap.h"
#include "probes/plan/rank_graph.h"
#include "probes/execute/exec.h"
#include "probes/execute/fill.h"
#include "probes/execute/inflight.h"

#define EXEC_GUARD_BYTES 256ULL
#define EXEC_NONE        UINT32_MAX

/* The transfers of one direction, in the order in which they take turns. */
struct exec_turns {
	struct inflight window;
	struct inflight_turn *turns;
	uint32_t *events; /* by turn */
	uint32_t count;
};

/* One transport's share of this rank. */
struct exec_lane {
	const struct transport_ops *ops;
	struct transport *transport; /* NULL: not prepared */
	struct transport_share share;
	struct transport_end *ends;
	uint32_t *events; /* by end: its event */
	/* Number of events of each batch that cannot start yet. */
	uint32_t *waiting;
	uint32_t *members; /* by batch: number of its events */
	uint32_t *first;   /* by batch: its first end; then the count */
	uint32_t *steps;   /* by batch: its step; ascending with by_step */
	uint32_t batch;    /* with by_step: the next batch to start */
	uint32_t batch_end;
	uint32_t running; /* ends that were started and not reported */
	uint32_t *done;   /* memory for the results of test */
	/* Turns of sends and of receives, if the transport has a window. */
	struct exec_turns turns[2];
	/* Reason of a failure; at the end, because it is large and rarely
	 * read. */
	struct err err;
};

/* The state of an event of rank_graph.h. */
struct exec_event {
	uint32_t waits; /* events before it that are not complete */
	uint32_t parts; /* its ends that have not been reported yet */
	uint32_t lane;  /* its lane; EXEC_NONE: the device performs it */
	uint32_t end;   /* its first end; a transfer to itself has two */
	uint32_t ends;
	/* Position in exec.nexts of the first event that waits for it. */
	uint32_t next;
	uint32_t nexts; /* number of events that wait for it */
	uint32_t turn;  /* position in the turns of its lane */
};

/* A queue of events. */
struct exec_queue {
	uint32_t *items;
	uint32_t head, tail;
};

/* Events that the device performs: local operations, and some transfers of a
 * rank to itself. */
struct exec_locals {
	/* Events that can start, in their order, and so by step. */
	struct heap free;
	/* Active events, in the order in which they finish. */
	struct exec_queue started;
	struct device_event **marks; /* by event: recorded behind it */
	/* Memory for the inputs of one operation. */
	const void **inputs;
};

/* The state of a plan that is ready to run. */
struct exec {
	const struct transport_team *team;
	const struct plan *plan;
	struct rank_graph view;
	struct exec_event *events;
	uint32_t *nexts;
	/* For each row of the plan: 1 if the receiver of an ipc transfer
	 * copies. */
	uint8_t *gets;
	struct exec_lane lanes[PLAN_VIA_MAX];
	uint32_t lanes_count;

	/* areas[0]: device memory; areas[1]: buffers that the plan keeps in
	 * host memory. */
	struct exec_area {
		char *memory;
		uint64_t bytes;
	} areas[2];
	struct device *host; /* device of areas[1]; NULL if it does not exist */
	uint64_t *places;    /* offset of each buffer in its area */

	struct device_stream *stream;
	struct exec_locals locals;
	struct exec_queue receives, sends; /* events that can start */
	/* Ready copies within this host, ordered by event. */
	struct heap copies;
	/* Events below this one have no incomplete receive through MPI. */
	uint32_t awaited;
	/* 1: the active events are one step of transfers of one transport. */
	int simple;
	int awake;       /* 1: a waiting rank polls and keeps its core */
	int at_once;     /* 1: all active events were started together */
	uint32_t lo, hi; /* the active events are lo to hi - 1 */
	uint32_t done;   /* number of active events that are complete */
	int tag_base;    /* tags of this plan begin here, for MPI */

	/* See exec_stuck.h; times of waits without a completed message. */
	struct exec_stuck {
		uint64_t slow_ns;    /* of the plan on a slow network */
		uint64_t longest_ns; /* the longest one that ended */
		uint64_t waited_ns;  /* the present one */
		uint64_t start;      /* number of the replay in this process */
		unsigned polls;      /* of waits, without progress */
		int is_replayed;     /* 1: at least once */
	} stuck;

	struct fill fill;
	/* Host memory, if the processor cannot access the device's. */
	void *staging;
};

static inline void
exec_push(struct exec_queue *q, uint32_t item)
{
	q->items[q->tail++] = item;
}

/* Return 1 if a buffer is in areas[1], 0 if it is in areas[0]. */
static inline int
exec_is_on_host(const struct exec *e, uint32_t buf)
{
	return !e->team->ops->host_access && e->plan->bufs[buf].on_host;
}

/* Return the memory of a place in a buffer of the plan. */
static inline char *
exec_at(const struct exec *e, uint16_t buf, uint64_t off)
{
	return e->areas[exec_is_on_host(e, buf)].memory + e->places[buf] + off;
}

#endif
