/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asks.h - what the launcher of a run here wants started on other nodes.
 *
 * Every coalmine-arsh holds one line to us: it sends {"argv": [...]} with the
 * host first, and hears {"state": "running"}, then {"state": "exited",
 * "status": N}, or {"state": "failed", "text": "..."}. Closing the line ends
 * the arsh, too.
 */
#ifndef AGENTS_ASKS_H
#define AGENTS_ASKS_H

#include <event2/event.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct asks;

/* A new wish: id counts from 1; argv is an array of strings, without the
 * host, and is the callee's to incref. Negative refuses it. */
typedef int asks_new_cb(int64_t id, const char *host, json_t *argv, void *arg);

/* Only processes of user uid may ask. NULL after a line in the log. */
struct asks *asks_open(struct event_base *base, const char *path, uid_t uid,
    int64_t gid, asks_new_cb *cb, void *arg);
void asks_close(struct asks *a); /* NULL is allowed */
/* What became of a wish; ids that are gone are ignored. state as on the wire:
 * running, failed, exited. */
void asks_state(struct asks *a, int64_t id, const char *state, int64_t status,
    const char *text);

#endif
