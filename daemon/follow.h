/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - a collector that waits: it keeps a copy of another one's store,
 * as new as the last second, and takes over when it is told to.
 *
 * In collector.state_dir: "copy" says whose copy there is and in which folder,
 * "term" how often it was taken over.
 */
#ifndef DAEMON_FOLLOW_H
#define DAEMON_FOLLOW_H

#include "daemon/settings.h"

/* What a start is to be: 1 a copy, 0 a collector, -EINVAL with why. */
int follow_check(const struct settings *s, struct err *err);
/* Copy until a signal ends it. 0, or -errno that was logged. */
int follow_run(const struct settings *s);
/* Make the copy this machine's store, of a term that is newer than that of
 * whoever was copied. err: what was done, or why not. */
int follow_takeover(const struct settings *s, struct err *err);
/* 1 where none has been taken over. */
uint64_t follow_term(const char *state_dir);

/* Whom a standby of a database waits for; begins as zeros. */
struct follow_leader {
	struct store *store;
	char mark[128];     /* of STORE_LEADER */
	uint64_t mark_ns;   /* since when it has been the same */
	int asked, is_over; /* for longer than its lease */
	int is_free;        /* nobody leads */
};
/* Several times a second: 1 when somebody has to. */
int follow_leader_look(struct follow_leader *f, struct store *store);

#endif
