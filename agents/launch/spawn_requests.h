/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn_requests.h - what the launcher of a run here wants started on other
 * nodes.
 *
 * Every coalmine-arsh keeps one connection to us: it sends {"argv": [...]} with
 * the host first, and hears {"state": "running"}, then {"state": "exited",
 * "status": N}, or {"state": "failed", "text": "..."}. Closing it ends the
 * arsh, too.
 */
#ifndef AGENTS_LAUNCH_SPAWN_REQUESTS_H
#define AGENTS_LAUNCH_SPAWN_REQUESTS_H

#include <event2/event.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct spawn_requests;

/* A new request: id counts from 1; argv is an array of strings, without the
 * host, and is the callee's to incref. Negative refuses it. */
typedef int spawn_requests_new_cb(int64_t id, const char *host, json_t *argv,
    void *arg);

/* Only processes of user uid may ask, a few times for each node of the run.
 * NULL after a line in the log. */
struct spawn_requests *spawn_requests_open(struct event_base *base,
    const char *path, uid_t uid, int64_t gid, size_t node_count,
    spawn_requests_new_cb *cb, void *arg);
void spawn_requests_close(struct spawn_requests *a); /* NULL is allowed */
/* The state of a request, as on the wire: running, failed, exited; ids that are
 * gone are ignored. */
void spawn_requests_state(struct spawn_requests *a, int64_t id,
    const char *state, int64_t status, const char *text);

#endif
