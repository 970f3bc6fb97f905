/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ras_read.h - read a reply of NCCL's RAS port, as JSON or as text.
 *
 * The reply is read as it arrives and is not kept: a job of 4096 ranks sends
 * several MiB. Any process may listen on the port, so nothing in a reply is
 * trusted: lists, texts and depth are limited, and a reply that is malformed is
 * an error. Source: NCCL's user guide, RAS; replies of 2.28.9 on an H100.
 */
#ifndef AGENTS_SENSOR_RAS_READ_H
#define AGENTS_SENSOR_RAS_READ_H

#include <arpa/inet.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define RAS_VERSION_MAX 32
#define RAS_PIDS_MAX    64

struct ras_read;

/* A complete reply. */
struct ras_reply {
	/* {version comms launched list: [{hash size answered ending
	 * most least missing_count missing: [RANK] behind_count behind:
	 * [RANK]}]}, RANK {rank addr pid gpu state}; list: the communicators
	 * that need attention first, then the largest, RAS_COMMS_MAX of them;
	 * most, least: operations that a rank has launched, absent if the reply
	 * does not have them; behind: the ranks at least; launched: the sum of
	 * most over all communicators that have it. The caller decrefs. */
	json_t *report;
	/* Processes of ranks that answered from one of the local addresses. */
	int64_t pids[RAS_PIDS_MAX];
	size_t pid_count;
	/* Nodes of the largest communicator that come before this one; -1: none
	 * of its ranks is here. */
	int64_t order;
};
#define RAS_COMMS_MAX 8
#define RAS_RANKS_MAX 32 /* most ranks of a list */

/* Start a reply. locals: a set of the addresses of the node, borrowed. */
struct ras_read *ras_read_new(const json_t *locals);
void ras_read_free(struct ras_read *r); /* NULL is allowed */
/* Read bytes as they arrive. -EBADMSG: the reply is malformed; more is ignored.
 */
int ras_read_feed(struct ras_read *r, const char *bytes, size_t len_bytes);
/* End the reply, and write its report to *ret. Return 0, or -EBADMSG with the
 * reason, which has the version of NCCL if known. */
int ras_read_end(struct ras_read *r, struct ras_reply *ret, struct err *err);

#endif
