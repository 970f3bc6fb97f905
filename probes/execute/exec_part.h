/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_part.h - inside of exec.h, for its own files: exec_make.c makes, exec.c
 * replays, exec_data.c fills and verifies.
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

/* Transfers of one direction in the order in which they take turns. */
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
	uint32_t *events;  /* by end: event of the view */
	uint32_t *waiting; /* by batch: events that may not start yet */
	uint32_t *members; /* by batch: events in it */
	uint32_t *first;   /* by batch: of its ends; and the count */
	uint32_t *steps;   /* by batch, ascending where by_step */
	uint32_t batch;    /* by_step: next to start */
	uint32_t batch_end;
	uint32_t running; /* ends started and not reported */
	uint32_t *done;   /* room for test */
	/* Where the transport has a window; sends, receives. */
	struct exec_turns turns[2];
	struct err err; /* of its share; last, it is large and rarely read */
};

struct exec_event {
	uint32_t waits; /* not complete yet */
	uint32_t parts; /* ends that have to be reported */
	uint32_t lane;  /* EXEC_NONE: the device does it */
	uint32_t end;   /* first of its ends; a self transfer has two */
	uint32_t ends;
	uint32_t next; /* first of those that wait for it, in exec.nexts */
	uint32_t nexts;
	uint32_t turn; /* position among the turns of its lane */
};

struct exec_queue {
	uint32_t *items;
	uint32_t head, tail;
};

/* Operations of the device, and transfers to oneself that it does. */
struct exec_locals {
	struct heap free;            /* may start; by event, so by step */
	struct exec_queue started;   /* and finish in this order */
	struct device_event **marks; /* by event: behind it */
	const void **inputs;         /* room for those of one */
};

struct exec {
	const struct transport_team *team;
	const struct plan *plan;
	struct rank_graph view;
	struct exec_event *events;
	uint32_t *nexts;
	uint8_t *gets; /* by row: of ipc, who copies */
	struct exec_lane lanes[PLAN_VIA_MAX];
	uint32_t lanes_count;

	/* Areas by base: device memory, and a separate area for buffers of the
	 * plan in host memory. */
	struct exec_area {
		char *memory;
		uint64_t bytes;
	} areas[2];
	struct device *host; /* of the second area; NULL if there is only one */
	uint64_t *places;    /* of each buffer, in its area */

	struct device_stream *stream;
	struct exec_locals locals;
	struct exec_queue receives, sends; /* may start */
	struct heap copies; /* copies within this host; completed by event */
	uint32_t awaited;   /* receives through MPI before it are complete */
	int simple;         /* only one step of one transport's transfers */
	int awake;          /* who waits keeps its core */
	int at_once;        /* all active operations were started together */
	uint32_t lo, hi;    /* active events: of some steps */
	uint32_t done;
	int tag_base;

	struct fill fill;
	void *staging; /* host memory, if the device's is not accessible */
};

static inline void
exec_push(struct exec_queue *q, uint32_t item)
{
	q->items[q->tail++] = item;
}

static inline int
exec_is_on_host(const struct exec *e, uint32_t buf)
{
	return !e->team->ops->host_access && e->plan->bufs[buf].on_host;
}

/* Where a place of the plan is in memory. */
static inline char *
exec_at(const struct exec *e, uint16_t buf, uint64_t off)
{
	return e->areas[exec_is_on_host(e, buf)].memory + e->places[buf] + off;
}

#endif
