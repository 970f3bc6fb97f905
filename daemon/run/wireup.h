/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wireup.h - the ranks of a run that the agents start: order their start, and
 * pass the data between nodes by which they connect.
 */
#ifndef DAEMON_RUN_WIREUP_H
#define DAEMON_RUN_WIREUP_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"

struct node;
struct run;

/* Order the start of the ranks on all nodes of the run. wireup_free frees the
 * state. */
void wireup_start(struct run *r);
void wireup_free(struct run *r);
/* Process a launched or exited message of a node whose agent started ranks.
 * Return 0. */
int wireup_launched(struct run *r, struct node *n, const json_t *msg);
int wireup_exited(struct run *r, struct node *n, const json_t *msg);
/* Process a fence or modex message of a node. Return 0, or -EPROTO with err for
 * contents that no correct agent sends. */
int wireup_fence(struct run *r, struct node *n, const json_t *msg,
    struct err *err);
int wireup_modex(struct run *r, struct node *n, const json_t *msg,
    struct err *err);
/* Repeat the requests that a node may have missed, after it has reconnected. */
void wireup_hello(struct run *r, const struct node *n);
/* Write the state: "24 of 24 ranks started, 20 of 24 connected; waiting for
 * n7". */
void wireup_text(const struct run *r, char *ret, size_t cap_bytes);

#endif
