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

/* Make a row from the answer of diagnosis_shares: {at_unix_ns known slow [{kind
 * subject share spread}]}; nodes that are lost or in maintenance are not known.
 * last: the row before, or NULL. Return a new reference; NULL: the last row
 * still holds. */
json_t *share_rows_make(const json_t *shares, const json_t *last,
    uint64_t now_unix_ns);

#endif
