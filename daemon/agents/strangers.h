/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers.h - connections without a session: which of them may start a
 * handshake.
 */
#ifndef DAEMON_AGENTS_STRANGERS_H
#define DAEMON_AGENTS_STRANGERS_H

#include <event2/event.h>

#include "daemon/agents/session_int.h"

/* Schedule handshakes of waiting connections: on the next turn of the loop,
 * since the caller may be ending a session, or when handshakes that take too
 * long are to be ended. */
void strangers_turns_soon(struct sessions *ss);
/* Account for a change of step, STEP_MAX: s is removed. Call it before s->step
 * is set. */
void strangers_move(struct session *s, enum step to);
void strangers_init(struct sessions *ss);
void strangers_free(struct sessions *ss);
/* Callback of ss->turns. */
void strangers_turns_cb(evutil_socket_t fd, short what, void *arg);

#endif
