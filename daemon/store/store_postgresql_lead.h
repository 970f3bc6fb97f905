/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgresql_lead.h - ownership of a schema in a server's database.
 */
#ifndef DAEMON_STORE_STORE_POSTGRESQL_LEAD_H
#define DAEMON_STORE_STORE_POSTGRESQL_LEAD_H

#include <stdint.h>

#include "daemon/store/store_postgresql.h"

/* Connect, and check server, role and schema. */
int pg_connect(struct pg *s, struct err *err);
int pg_prepare(const struct store_options *o, const struct embed *steps,
    struct err *err);
/* Become the active collector, or stay active on a new connection. Return 0; 1
 * if in the latter case the batch in doubt had been committed; -EBUSY: another
 * collector is active; -EPERM: another collector has become active since. */
int pg_lead(struct pg *s, struct err *err);
/* Check that this collector is still active. Return 0 and the term, -EPERM if
 * another collector has taken over, or another error. */
int pg_leads(struct sql *db, uint64_t *ret_term);
/* Create the partitions for the day of unix_ns; runs of that day have ids from
 * day << 32 on. */
int pg_day(struct sql *db, uint64_t unix_ns);
int pg_renumber(struct sql *db, const char *table);
int pg_drop_old(struct sql *db, uint64_t before_unix_ns);
/* Translate a statement for this server. ret_map[N] is the number there of
 * parameter ?N, or 0. ret_map NULL: translate a migration step, which has
 * types. The caller frees. */
char *pg_translate(const char *sql, unsigned char ret_map[PG_PARAMS]);

#endif
