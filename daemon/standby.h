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
	/* The store of the last query; the callback that receives the answer
	 * needs it. */
	struct store *store;
	/* Sign of life of the active collector, from the last answer to the
	 * store query STORE_LEADER: the text changes while the collector is
	 * alive; "": no collector is active. */
	char mark[128];
	uint64_t mark_ns; /* time of the last change of mark, by clk_ns() */
	int asked;        /* 1: waiting for the store's answer */
	/* 1: a collector is active, but its mark has not changed for longer
	 * than its lease; the next query ends its database session. */
	int is_expired;
	int is_free; /* 1: no collector is active: the last mark was "" */
};

/* Check the lease in the database of this store; call several times a second.
 * Return 1 if no collector is active, so that the caller has to become active.
 */
int standby_look(struct standby *s, struct store *store);

#endif
