/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - pass records of the engine (coalmine-probe) through the spool to
 * the collector.
 */
#ifndef AGENTS_ORDERS_RECORDS_H
#define AGENTS_ORDERS_RECORDS_H

#include <stddef.h>

#include "schema/record.h"

/* Calls of run_ops and session_ops; arg is the agent. */

/* Process a line that record_parse has accepted. A numbered record is spooled
 * and sent when there is room; a progress record is sent now or dropped. */
void records_put(const char *run, const struct record_head *head,
    const char *line, size_t len_bytes, void *arg);
/* Send records from the spool while the session has room. */
void records_send(void *arg);

#endif
