/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_work.h - a plan as the simulation moves it: tasks, the cells that
 * they belong to and the queues that they wait in; and the rate of each.
 */
#ifndef PROBES_PREDICT_PREDICT_WORK_H
#define PROBES_PREDICT_PREDICT_WORK_H

#include "common/err.h"
#include "probes/predict/predict.h"

#define NONE UINT32_MAX

/* Transfers of one step and channel between two places, or the copies or
 * reductions of a rank there. */
struct task {
	double bytes;
	uint32_t src_cell, dst_cell; /* the same for what stays on a rank */
	uint32_t queue;
	uint32_t next; /* behind it in the queue, or NONE */
	uint32_t src, dst, step;
	uint32_t rows; /* of the plan */
	uint16_t channel;
	uint16_t from, to; /* vertices */
	uint8_t kind;      /* enum plan_via, or one of the following */
};
#define TASK_COPY   PLAN_VIA_MAX
#define TASK_REDUCE (PLAN_VIA_MAX + 1)

/* A step of a channel on a rank. */
struct cell {
	uint32_t rank, step;
	uint32_t first_send, sends; /* in tasks_by_cell; self transfers too */
	uint32_t first_local, locals;
	uint32_t transfers_left, locals_left;
	uint16_t channel;
	uint8_t ready; /* the last step of its channel is complete */
	uint8_t asked; /* waits for the processor, or has had it */
	uint8_t open;
	uint32_t waiting; /* PREDICT_DATA: tasks that wait for it to open */
	uint8_t last;     /* of its channel on this rank */
};

struct queue {
	uint64_t latency_ps, overhead_ps;
	uint32_t head, tail; /* tasks; the first one is moving */
	uint32_t src, dst;
	uint16_t from, to;
	uint8_t kind;
};

struct work {
	const struct plan *p;
	struct machine fit;
	const struct machine *m; /* fit */
	const struct predict_options *o;
	uint32_t nodes;
	struct task *tasks;
	uint32_t tasks_count;
	struct cell *cells; /* by rank, channel, step */
	uint32_t cells_count;
	uint32_t *tasks_by_cell;
	struct queue *queues; /* a queue has the number of its pipe */
	uint32_t queues_count;
	uint32_t *hash; /* of queues, number + 1 */
	uint32_t hash_size;
	struct maxmin *fair;
	uint32_t *transfer_task, *local_task; /* by row; NULL */
	/* PREDICT_DATA: what waits for the source's (2t) and the destination's
	 * (2t + 1) end of task t: tasks in after[first[end]...], and how many
	 * ends each task still waits for */
	uint32_t *after;
	size_t *first;
	uint32_t *waits;
	struct err *err;
};

/* -EINVAL with why when the plan does not fit the machine. */
int work_make(struct work *w);
void work_clear(struct work *w);

#endif
