/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.h - the agent's reports on this node: inventory, runs and spool in the
 * hello message; load, links and in-band measurements in heartbeats.
 */
#ifndef AGENTS_ORDERS_HELLO_H
#define AGENTS_ORDERS_HELLO_H

#include <jansson.h>

/* Calls of session_ops; arg is the agent. */

/* Add {inventory runs spool} to a hello. */
void hello_put(json_t *msg, void *arg);
/* Add {load spool_bytes host links nics in_band ras alarm busy} to a heartbeat.
 */
void hello_put_heartbeat(json_t *msg, void *arg);

#endif
