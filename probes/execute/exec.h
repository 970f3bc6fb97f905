/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h - move the bytes of a plan, repeatedly.
 *
 * Memory, requests, handles and streams are created once. start and wait replay
 * the plan. A rank starts each of its sends, receives and local operations as
 * soon as those before it are complete that touch the same bytes (view.h),
 * receives first; there is no barrier between steps, so channels of a pipeline
 * overlap. Local operations run on a stream of the device, concurrently with
 * the transfers.
 *
 * Only new and free are collective over the team. All plans of a process may
 * exist and run at the same time.
 *
 * Every buffer lies between guard bytes in one allocation of the device. To
 * prove a run, call fill, run the plan and call verify: it compares everything
 * that the plan promises with the sources, byte by byte, and checks that no
 * other byte has changed.
 */
#ifndef PROBES_EXECUTE_EXEC_H
#define PROBES_EXECUTE_EXEC_H

#include "common/err.h"
#include "probes/plan/plan.h"
#include "probes/sampling/timing.h"
#include "probes/transport/transport.h"
#include "schema/names_probe.h"

struct exec;

/* p is sorted, has passed check_plan, and is the same on all ranks of the
 * team; it must outlive the exec. -ENOTSUP, -ENOMEM ...: the same rc and why
 * on every rank, and nothing is left. */
int exec_new(const struct transport_team *team, const struct plan *p,
    struct exec **ret, struct err *err);
void exec_free(struct exec *e); /* NULL is allowed, then on all ranks */

/* Limit the transfers of one step that are active at once: this rank has a few
 * of them, in the order of the distance of ranks, 1, 2, 3... So many senders do
 * not send to one receiver at once. Not for plans that measure just that. Call
 * it on all ranks of the team or on none, without active transfers. */
void exec_take_turns(struct exec *e);

const struct transport_team *exec_team(const struct exec *e);

/* Steps lo to hi - 1 of the plan: 0 and UINT32_MAX for all of it. */
void exec_start(struct exec *e, uint32_t lo, uint32_t hi);
void exec_wait(struct exec *e);
/* Start all of it and wait; exec is a struct exec. */
void exec_run(void *exec);
/* Start all, then wait for all: plans that have nothing to do with each other.
 */
void exec_run_all(struct exec *const *list, size_t count);

/* Initial data of an iteration into this rank's sources; everything else, and
 * the guards, hold what no plan writes there. */
void exec_fill(struct exec *e, uint64_t iteration);
/* As fill, but the sources stay as they are. */
void exec_blank(struct exec *e);

struct exec_fault {
	uint32_t rank;
	uint16_t buf; /* of the plan */
	int64_t off;  /* in it; before it or past its end: a guard */
	uint8_t want, got;
};
/* 0, or -EBADMSG and this rank's first wrong byte. */
int exec_verify(struct exec *e, uint64_t iteration, struct exec_fault *ret);

/* A place of a buffer of this rank, in memory of the team's device; valid as
 * long as the exec is. */
void *exec_place(const struct exec *e, uint16_t buf, uint64_t off);

/* Return the transfers of device memory that are staged through the host, or
 * "". */
const char *exec_staging(const struct exec *e);

#endif
