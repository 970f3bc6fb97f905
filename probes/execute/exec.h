/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h - move the bytes of a plan, repeatedly.
 *
 * Memory, requests, handles and streams are created once. start and wait replay
 * the plan. A rank starts each of its sends, receives and local operations as
 * soon as all earlier operations that access the same bytes are complete
 * (rank_graph.h). Barriers do not separate steps, so that the channels of a
 * pipeline overlap. Local operations run on a stream of the device,
 * concurrently with the transfers.
 *
 * Only new and free are collective over the team. All plans of a process can
 * exist and run at the same time.
 *
 * Every buffer is between guard bytes in one allocation of the device. To prove
 * a run, call fill, run the plan and call verify: it compares everything that
 * the plan promises with the sources, byte by byte, and checks that no other
 * byte has changed.
 */
#ifndef PROBES_EXECUTE_EXEC_H
#define PROBES_EXECUTE_EXEC_H

#include "common/err.h"
#include "probes/plan/plan.h"
#include "probes/sampling/timing.h"
#include "probes/transport/transport.h"
#include "schema/names_probe.h"

struct exec;

/* Prepare to run a plan. p must be sorted, have passed check_plan, be the same
 * on all ranks of the team, and outlive the exec. Collective over the team.
 * Return 0 and the exec, which the caller frees; or -ENOTSUP, -ENOMEM or
 * another error, the same with the same reason in err on every rank. */
int exec_new(const struct transport_team *team, const struct plan *p,
    struct exec **ret, struct err *err);
/* Free what exec_new made. Collective; e can be NULL, then on all ranks. */
void exec_free(struct exec *e);

/* Limit the transfers of one step that are active at once: this rank has a few
 * active ones, in the order of the distance of ranks, 1, 2, 3... Thus many
 * senders do not send to one receiver at once. Do not use it for plans that
 * measure just that. Call it on all ranks of the team or on none, without
 * active transfers. */
void exec_take_turns(struct exec *e);

/* Return the team for which the exec was made. */
const struct transport_team *exec_team(const struct exec *e);

/* Start the steps lo to hi - 1 of the plan; 0 and UINT32_MAX start all of it.
 * exec_wait waits until they are complete. */
void exec_start(struct exec *e, uint32_t lo, uint32_t hi);
void exec_wait(struct exec *e);
/* Start the whole plan and wait; exec is a struct exec. */
void exec_run(void *exec);
/* Start all plans of a list, then wait for all. The plans are independent of
 * each other. */
void exec_run_all(struct exec *const *list, size_t count);

/* Return for how long a rank can wait for the others in a replay or a baseline
 * of this plan before it is stuck; 0: without limit. */
uint64_t exec_limit_ns(const struct exec *e);

/* Write the initial data of an iteration into this rank's sources. All other
 * bytes, and the guards, get values that no plan writes there. */
void exec_fill(struct exec *e, uint64_t iteration);
/* Write the same data as exec_fill, but leave the sources unchanged. */
void exec_blank(struct exec *e);

/* A wrong byte. */
struct exec_fault {
	uint32_t rank;
	uint16_t buf; /* number of the buffer in the plan */
	/* Offset in the buffer; a guard is before 0 or past the end. */
	int64_t off;
	uint8_t want, got;
};
/* Check the result of an iteration. Return 0, or -EBADMSG with this rank's
 * first wrong byte. */
int exec_verify(struct exec *e, uint64_t iteration, struct exec_fault *ret);

/* Return the place of a buffer of this rank, in memory of the team's device.
 * The pointer is valid as long as the exec. */
void *exec_place(const struct exec *e, uint16_t buf, uint64_t off);

/* Return a sentence about the transfers of device memory that are staged
 * through the host, or "". */
const char *exec_staging(const struct exec *e);

#endif
