/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the only connection of an agent, to its collector.
 *
 * The session resolves the address, connects, does the TLS handshake, sends
 * hello, exchanges heartbeats and detects silence. It reconnects after every
 * failure, after a random delay (full jitter), so that ten thousand agents do
 * not connect at the same time. The owner gets the events up, message and down.
 * Callbacks must not free the session.
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

/* Callbacks. */
struct session_ops {
	/* Add the members that the owner has to a hello: inventory, runs,
	 * spool. */
	void (*hello)(json_t *msg, void *arg);
	void (*heartbeat)(json_t *msg, void *arg); /* load, spool, alarm */
	void (*up)(const json_t *welcome, void *arg);
	/* Any other message. A negative result ends the session. */
	int (*message)(enum wire_type type, const json_t *msg, void *arg);
	/* There is room to send bulk data again: see session_room. */
	void (*drained)(void *arg);
	/* Called only after up. silent_ns: time since the last byte was
	 * received. */
	void (*down)(uint64_t silent_ns, void *arg);
};

/* Return 0 if the certificates of c can be used or requested, otherwise -EINVAL
 * with the file and the reason in err. */
int session_files_check(const struct conf *c, const char *name,
    struct err *err);
/* Read the certificates and start to connect. ops, arg, c and name must outlive
 * the session. Return NULL with the reason in err if the certificates cannot be
 * used. */
struct session *session_new(struct event_base *base, const struct conf *c,
    const char *name, const struct session_ops *ops, void *arg,
    struct err *err);
void session_free(struct session *s); /* NULL is allowed */

/* Send a message; takes msg. Return 0, or -ENOTCONN while the session is not
 * up. */
int session_send(struct session *s, enum wire_type type, json_t *msg);
/* Send record lines unchanged, see wire_build_lines. Nothing is sent while the
 * session is not up. */
void session_send_lines(struct session *s, enum wire_type type, const char *run,
    const struct strbuf *lines);
/* Return 1 if the session is up, 0 if not. */
int session_is_up(const struct session *s);
/* Return the number of bytes of bulk data that can be queued now; 0 while the
 * session is not up. Small messages need not check it. */
size_t session_room(const struct session *s);
/* Read the certificates again; they are used from the next connection on. */
void session_reload(struct session *s);

#endif
