/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tries.h - connections to ports on which ranks of other nodes listen. A port
 * that refuses them, although a rank listens there, is behind a firewall.
 */
#ifndef AGENTS_SENSOR_TRIES_H
#define AGENTS_SENSOR_TRIES_H

#include <stddef.h>

struct event_base;

#define TRIES_LIMIT_S 1   /* then an address without an answer is skipped */
#define TRIES_MAX     256 /* at the same time; others are skipped */

/* Connections of one owner, which outlives them. The owner sets base, cb and
 * arg. cb is called for an address that refused the connection. */
struct tries {
	struct event_base *base;
	void (*cb)(const char *run, const char *addr, int port, void *arg);
	void *arg;
	size_t count; /* open connections */
};

/* Connect to a numeric address for a run, and close the connection at once. cb
 * may be called before this returns. A malformed address is skipped. */
void tries_add(struct tries *t, const char *run, const char *addr, int port);

#endif
