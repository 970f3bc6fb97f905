/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standby.h - when a standby collector may become active: it watches the lease
 * of the active collector in the shared database.
 */
#ifndef DAEMON_STANDBY_H
#define DAEMON_STANDBY_H

#include <stdint.h>

struct store;

/* State of a standby that watches the active collector; begins as zeros. */
struct standby {
	struct store *store;
	/* Of STORE_LEADER; changes while the active collector is alive. */
	char mark[128];
	uint64_t mark_ns; /* when it last changed, by clk_ns */
	int asked;        /* 1: an answer is outstanding */
	int is_expired;   /* 1: the mark is older than the lease */
	int is_free;      /* 1: no collector is active */
};

/* Check the lease in the database; call several times a second. Return 1 if no
 * collector is active: the caller has to take over. */
int standby_look(struct standby *s, struct store *store);

#endif
