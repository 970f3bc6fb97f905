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

/* Time limit from the first byte to the end of the hello: two round trips and a
 * signature, with room for a collector that serves 10,000 at once. */
#define SESSION_HELLO_LIMIT_NS (10 * CLK_NS_PER_S)
#define SESSION_WHY_CLOSED     "connection closed"

enum step {
	STEP_SILENT,   /* no complete TLS record yet; no TLS state */
	STEP_WAITING,  /* waits for its turn at a handshake; no TLS state */
	STEP_STRANGER, /* handshake, then hello */
	STEP_UP,       /* its hello was accepted */
	STEP_CLOSING,  /* a refuse is being sent */
	STEP_MAX
};

struct source;

/* A connection. */
struct session {
	TAILQ_ENTRY(session) link; /* in the list of its step */
	TAILQ_ENTRY(session)
	turn;                  /* in its source's list while it waits */
	struct source *source; /* while it waits or is a stranger */
	struct sessions *all;
	enum step step;
	int fd;              /* -1 once bev owns it */
	int in_call;         /* 1: a call of ops or the parser is active */
	int dead;            /* 1: free it when that call returns */
	struct event *first; /* waits for the first record, then a disconnect */
	int wants;           /* bytes of the first TLS record to wait for */
	int enrols;          /* 1: no certificate; it may send only enroll */
	uint64_t question;   /* its enroll request that is pending; or 0 */
	struct event *timer; /* time limit of its step; then the heartbeat */
	struct bufferevent *bev;
	uint64_t last_ns;      /* time of the last bytes from the peer */
	uint64_t verified_ns;  /* time of the last check of its certificate */
	uint64_t heartbeat_ns; /* interval of heartbeats */
	size_t message_bytes;  /* size of the message that is being handled */
	size_t shared_bytes;   /* bytes of shared frames since its output was
				  empty */
	/* Account of the time that its messages take; own_account until the
	 * node is known. */
	struct account own_account, *account;
	/* Timer: pause until its debt is paid; NULL: never. */
	struct event *paused;
	unsigned verified_by; /* tls_reads at its last verification */
	int64_t cert_end_unix_s;
	void *arg; /* pointer of the caller: session_set_arg */
	char addr[INET6_ADDRSTRLEN];
	char node[TLS_NAME_MAX + 1]; /* name in the certificate */
};
TAILQ_HEAD(session_list, session);

/* An address from which peers connect; of IPv6 its /64 network. An address that
 * had a session is known, and is kept until the collector ends. Sources take
 * turns, so that one of them cannot occupy all handshakes. */
struct source {
	TAILQ_ENTRY(source) link; /* while one of its sessions waits */
	struct source *next;      /* next source in the same bucket */
	uint64_t key;             /* from the address */
	int is_known;
	/* Number of its sessions in STEP_WAITING and in STEP_STRANGER. */
	size_t waiting_count, places;
	struct session_list waiting;
};
TAILQ_HEAD(source_list, source);
#define SOURCE_BUCKETS 4096

/* All connections. */
struct sessions {
	struct event_base *base;
	struct session_limits limits;
	const struct session_ops *ops;
	void *ctx;
	SSL_CTX *tls, *enroll; /* enroll may be NULL */
	unsigned tls_reads;    /* how often tls was set */
	struct session_list list[STEP_MAX];
	size_t count[STEP_MAX];
	struct event *turns; /* timer: start waiting handshakes */
	struct source *sources[SOURCE_BUCKETS];
	struct source_list sources_waiting[2]; /* the known ones are [1] */
	uint64_t sources_seed;                 /* unpredictable buckets */
	size_t known_count;                    /* number of known sources */
	unsigned turn_count; /* turns so far; some go to unknown sources */
	int held;            /* see sessions_hold */
	struct strict_lines lines; /* records of the message being handled */
	uint64_t questions;        /* number of the last enroll request */
	char *beat;                /* a heartbeat's frame, or NULL */
	long beat_bytes;
	uint64_t beat_ns;      /* time when beat was built */
	struct log_limit once; /* for sessions_complain */
	struct sessions_dated dated;
	uint64_t dated_ns; /* time of the last failure in dated */
};

/* ---- session.c ---- */

void session_step(struct session *s, enum step step);
/* End a session now. Callers on the stack may still use s: the outermost call
 * frees it. */
void session_close(struct session *s, const char *why);
/* End a connection that has no session yet, and log why. */
void session_drop(struct session *s, const char *why);
/* Start the handshake of a connection whose turn it is: takes s->fd. */
void session_start(struct session *s);
/* Called by the timer of a session: the time limit of its step has passed, or a
 * heartbeat is due. */
void session_timer_cb(evutil_socket_t fd, short what, void *arg);

#endif
