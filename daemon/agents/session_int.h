/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_int.h - a connection, from the first byte to the last, as session.c
 * and strangers.c share it.
 */
#ifndef DAEMON_AGENTS_SESSION_INT_H
#define DAEMON_AGENTS_SESSION_INT_H

#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "common/account.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/queue.h"
#include "daemon/agents/session.h"
#include "daemon/agents/log_limit.h"
#include "schema/strict.h"
#include "daemon/agents/tls.h"

/* From the first byte to the end of the hello: two round trips and a
 * signature, with room for a collector that serves 10,000 at once. */
#define SESSION_HELLO_LIMIT_NS (10 * CLK_NS_PER_S)
#define SESSION_WHY_CLOSED     "connection closed"

enum step {
	STEP_SILENT,   /* no whole record yet; no TLS state */
	STEP_WAITING,  /* for its turn at a handshake; none either */
	STEP_STRANGER, /* handshake, then hello */
	STEP_UP,       /* its hello was taken */
	STEP_CLOSING,  /* a refuse is on its way */
	STEP_MAX
};

struct source;

struct session {
	TAILQ_ENTRY(session) link; /* in the list of its step */
	TAILQ_ENTRY(session) turn; /* of its source, while it waits */
	struct source *source;     /* while it waits or is a stranger */
	struct sessions *all;
	enum step step;
	int fd;              /* -1 once bev owns it */
	int in_call;         /* ops or parser are on the stack */
	int dead;            /* to be freed when they are not */
	struct event *first; /* the first record, then a hang-up */
	int wants;           /* bytes of it that it waits for */
	int enrols;          /* shows no certificate, and may say enroll only */
	uint64_t question;   /* of its enroll, which waits for the disk; or 0 */
	struct event *timer; /* limit, later the heartbeat */
	struct bufferevent *bev;
	uint64_t last_ns;
	uint64_t verified_ns;
	uint64_t heartbeat_ns;
	size_t message_bytes;
	size_t shared_bytes; /* of shared frames, since its output was empty */
	/* Of what its messages take: its own until it is known whose it is. */
	struct account own_account, *account;
	struct event *paused; /* until some of it is paid; NULL: never */
	unsigned verified_by; /* reading of the files, of tls_reads */
	int64_t cert_end_unix_s;
	void *arg;
	char addr[INET6_ADDRSTRLEN];
	char node[TLS_NAME_MAX + 1]; /* from the certificate */
};
TAILQ_HEAD(session_list, session);

/* An address that connects: of IPv6 its /64. One that had a session is known,
 * and is kept for as long as the collector runs. */
struct source {
	TAILQ_ENTRY(source) link; /* in turns, while one of it waits */
	struct source *next;      /* of the same bucket */
	uint64_t key;
	int is_known;
	size_t waiting_count, places; /* of its sessions */
	struct session_list waiting;
};
TAILQ_HEAD(source_list, source);
#define SOURCE_BUCKETS 4096

struct sessions {
	struct event_base *base;
	struct session_limits limits;
	const struct session_ops *ops;
	void *ctx;
	SSL_CTX *tls, *enroll; /* enroll may be NULL */
	unsigned tls_reads;
	struct session_list list[STEP_MAX];
	size_t count[STEP_MAX];
	struct event *turns; /* somebody may have his turn */
	struct source *sources[SOURCE_BUCKETS];
	struct source_list sources_waiting[2]; /* the known ones are [1] */
	uint64_t sources_seed;                 /* no peer can choose a bucket */
	size_t known_count;
	unsigned turn_count;
	int held;
	struct strict_lines lines; /* of the message that is being handled */
	uint64_t questions;        /* of those who enrol */
	char *beat;                /* a heartbeat's frame, or NULL */
	long beat_bytes;
	uint64_t beat_ns; /* when it was built */
	struct log_limit once;
	struct sessions_dated dated;
	uint64_t dated_ns; /* of the last one */
};

/* ---- session.c ---- */

void session_step(struct session *s, enum step step);
/* End it now. Whoever is on the stack above may still look at s: it is then
 * freed by the outermost call. */
void session_close(struct session *s, const char *why);
/* The same of a stranger, and told. */
void session_drop(struct session *s, const char *why);
/* The handshake of one whose turn it is: takes s->fd. */
void session_start(struct session *s);
/* Its time is over. */
void session_timer_cb(evutil_socket_t fd, short what, void *arg);

/* ---- strangers.c ---- */

/* Gives waiting strangers their turns: on the next turn of the loop, since the
 * caller may be ending a session, or when it is time to look for those that
 * hold places too long. */
void strangers_turns_soon(struct sessions *ss);
/* s goes from a step to another, STEP_MAX: to none. Before s->step is set. */
void strangers_move(struct session *s, enum step to);
void strangers_init(struct sessions *ss);
void strangers_free(struct sessions *ss);
/* Of ss->turns. */
void strangers_turns_cb(evutil_socket_t fd, short what, void *arg);

#endif
