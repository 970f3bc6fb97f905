/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_rows.h - rows of shares: which nodes and leaves had less bandwidth than
 * their peers from a time on. A row is made when it has new information, and
 * once a day, which limits how far back a search must go.
 */
#ifndef DAEMON_OBJECTIVE_SHARE_ROWS_H
#define DAEMON_OBJECTIVE_SHARE_ROWS_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/objective/promised.h"

/* Make a row from the answer of diagnosis_shares: {at_unix_ns known slow [{kind
 * subject share spread}] promise? {known node leaf?}}; nodes that are lost or
 * in maintenance are not known. promise: the known nodes of the promise, and
 * the rate of the typical node and leaf over the promised rate. p: the promise,
 * or NULL. last: the row before, or NULL. Return a new reference; NULL: the
 * last row still holds. */
json_t *share_rows_make(const json_t *shares, const struct promised *p,
    const json_t *last, uint64_t now_unix_ns);

#endif
