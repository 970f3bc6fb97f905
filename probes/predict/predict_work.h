/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_work.h - a plan as the simulation processes it: tasks, the cells to
 * which they belong, the queues in which they wait, and the rate of each queue.
 */
#ifndef PROBES_PREDICT_PREDICT_WORK_H
#define PROBES_PREDICT_PREDICT_WORK_H

#include "common/err.h"
#include "probes/predict/predict.h"

#define NONE UINT32_MAX

/* A task: the transfers of one step and channel between two places, or the
 * copies or reductions of a rank in them. */
struct task {
	double bytes;
	/* Cells of the source and the destination; one cell for an operation
	 * within a rank. */
	uint32_t src_cell, dst_cell;
	uint32_t queue;
	uint32_t next; /* the task behind it in the queue, or NONE */
	uint32_t src, dst, step;
	uint32_t rows; /* number of the plan's rows */
	uint16_t channel;
	uint16_t from, to; /* vertices of the machine */
	uint8_t kind;      /* enum plan_via, TASK_COPY or TASK_REDUCE */
};
#define TASK_COPY   PLAN_VIA_MAX
#define TASK_REDUCE (PLAN_VIA_MAX + 1)

/* A cell: a step of a channel on a rank. */
struct cell {
	uint32_t rank, step;
	/* Positions in tasks_by_cell; transfers of a rank to itself are
	 * included. */
	uint32_t first_send, sends;
	uint32_t first_local, locals;
	uint32_t transfers_left, locals_left;
	uint16_t channel;
	uint8_t ready; /* 1: the previous step of its channel is complete */
	uint8_t asked; /* 1: it waits for the rank's processor, or has had it */
	uint8_t open;  /* 1: its tasks may start */
	/* PREDICT_DATA: number of tasks that wait for it to open. */
	uint32_t waiting;
	uint8_t last; /* 1: the last step of its channel on this rank */
};

/* A queue: tasks from one place to another over one transport, of which one is
 * active at a time. */
struct queue {
	uint64_t latency_ps, overhead_ps;
	uint32_t head, tail; /* tasks; the one at head is active */
	uint32_t src, dst;
	uint16_t from, to;
	uint8_t kind;
};

/* The whole state of a simulation. */
struct work {
	const struct plan *p;
	struct machine fit;      /* the machine, fitted to the ranks */
	const struct machine *m; /* points to fit */
	const struct predict_options *o;
	uint32_t nodes;
	struct task *tasks;
	uint32_t tasks_count;
	struct cell *cells; /* ordered by rank, channel, step */
	uint32_t cells_count;
	uint32_t *tasks_by_cell;
	struct queue *queues; /* each has the number of its pipe (maxmin.h) */
	uint32_t queues_count;
	uint32_t *hash; /* hash table of queues: number + 1 */
	uint32_t hash_size;
	struct maxmin *fair;
	/* Task of each row of the plan; NULL if not requested. */
	uint32_t *transfer_task, *local_task;
	/* PREDICT_DATA: the tasks that wait for the end of task t at the source
	 * (end 2t) and at the destination (end 2t + 1) are after[first[end]]
	 * and up. waits: number of ends for which each task still waits. */
	uint32_t *after;
	size_t *first;
	uint32_t *waits;
	struct err *err;
};

/* Make the tasks, cells and queues of w->p on w->m. Return 0, or -EINVAL with
 * the reason in w->err if the plan does not fit the machine. */
int work_make(struct work *w);
void work_clear(struct work *w); /* frees the lists */

#endif
