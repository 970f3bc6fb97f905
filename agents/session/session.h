/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the one connection of an agent, to its collector.
 *
 * It resolves, connects, does the TLS handshake, sends hello, exchanges
 * heartbeats, detects silence, and reconnects automatically after every
 * failure, with full jitter so that ten thousand agents do not connect at once.
 * The owner gets the events up, message and down. Handlers must not free the
 * session.
 */
#ifndef AGENTS_SESSION_SESSION_H
#define AGENTS_SESSION_SESSION_H

#include <event2/event.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "schema/wire.h"

struct session;

struct session_ops {
	/* Add the members that the owner has: inventory, runs, spool. */
	void (*hello)(json_t *msg, void *arg);
	void (*heartbeat)(json_t *msg, void *arg); /* load, spool, alarm */
	void (*up)(const json_t *welcome, void *arg);
	/* Any other message; negative ends the session. */
	int (*message)(enum wire_type type, const json_t *msg, void *arg);
	/* There is space to send again: see session_room. */
	void (*drained)(void *arg);
	/* Only after up; silent_ns: how long ago the last byte came. */
	void (*down)(uint64_t silent_ns, void *arg);
};

/* Return 0 if the certificates of c can be used or requested, else -EINVAL with
 * the file and reason in err. */
int session_files_check(const struct conf *c, const char *name,
    struct err *err);
/* Reads the certificates and starts to connect. NULL, after a line in why,
 * when they cannot be used. ops, arg, c and name outlive the session. */
struct session *session_new(struct event_base *base, const struct conf *c,
    const char *name, const struct session_ops *ops, void *arg,
    struct err *err);
void session_free(struct session *s); /* NULL is allowed */

/* Takes msg. -ENOTCONN while the session is not up. */
int session_send(struct session *s, enum wire_type type, json_t *msg);
/* Record lines as they are, see wire_build_lines. Nothing while down. */
void session_send_lines(struct session *s, enum wire_type type, const char *run,
    const struct strbuf *lines);
int session_is_up(const struct session *s);
/* Return the number of bytes of bulk data that may be queued now; 0 when down.
 * Small messages need not check. */
size_t session_room(const struct session *s);
/* Read the certificates again; they serve from the next connection on. */
void session_reload(struct session *s);

#endif
