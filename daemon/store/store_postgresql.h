/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgresql.h - what the files of the plugin postgresql share: the
 * engine (store_postgresql.c), its statements and what makes a schema of a
 * server's database ours to write (store_postgresql_lead.c).
 */
#ifndef DAEMON_STORE_STORE_POSTGRESQL_H
#define DAEMON_STORE_STORE_POSTGRESQL_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/store/store_sql.h"

#define PG_PARAMS 48

/* A parameter as it goes out. Numbers go as text: the server knows what type
 * its column has. */
struct pg_param {
	const char *bytes; /* NULL: null */
	int len_bytes, is_binary;
	Oid type; /* as it was bound; null is taken for a text */
	void *given;
	char number[32];
};

struct pg_stmt {
	struct sql_stmt sql;
	char *text; /* as the server has it */
	unsigned char map[PG_PARAMS];
	int params;
	struct pg_param param[PG_PARAMS]; /* from 1 */
	char name[24]; /* of it prepared, and of its cursor */
	unsigned runs;
	unsigned prepared; /* in that life of the connection; 0: not */
	int open;          /* its cursor */
	PGresult *rows;    /* of its cursor */
	int row;
	unsigned long decoded; /* columns of the row whose bytes are no text */
};

/* A statement that is on its way, and where its answer goes. */
struct pg_wait {
	struct sql_outcome *outcome; /* or NULL */
	PGresult **rows;             /* or NULL */
	struct pg_stmt *prepares;    /* or NULL */
};

struct pg {
	struct sql sql;
	enum sql_role role;
	char *url, *schema, *who, *authorities;
	uint64_t lease_ns;
	PGconn *conn;  /* NULL: away */
	unsigned life; /* of the connection */
	int pid;       /* of the server's process that it has or had */
	struct err error;
	int wake_fd; /* eventfd: interrupted */
	const uint64_t *deadline_ns;
	uint64_t give_up_ns; /* limit of the answer that is awaited */
	int cancelled;       /* it was asked to end */

	struct pg_wait *waits; /* in the order of statements */
	size_t wait_count, wait_cap;
	int failed;         /* -errno of the first failure, for flush */
	int in_transaction; /* of begin */
	unsigned cursors; /* open ones, beside it in a transaction of theirs */

	int64_t term, batch; /* in table leader, while we lead */
	int in_doubt;        /* the commit of batch was not answered */
	int64_t day;         /* since 1970, whose partitions are there */
	struct sql_space space;
	uint64_t space_ns; /* when it was looked at */
};

/* An oid. */
#define PG_LOCK_CLASS "1129138510"
#define PG_SCHEMA                                                              \
	"(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"

/* What was said, as one line. */
void pg_complain(struct err *err, const char *before, const char *said);
/* Statements without parameters, outside of a pipeline: all of them or none,
 * where they do not begin a transaction themselves. ret: NULL, or for the first
 * value of the last row, "" where there is none or it is NULL. */
#define PG_TEXT 256
int pg_exec(struct pg *s, const char *sql, char ret[PG_TEXT]);
/* Its own fence before it. */
int pg_exec_fenced(struct pg *s, const char *sql);
/* A new one, connected. */
int pg_open(const struct store_options *o, enum sql_role role, struct pg **ret,
    struct err *err);

/* The server infers types of parameters, but for those of a cursor. */
enum pg_how { SEND_ONCE, SEND_NAMED, SEND_CURSOR };
/* Into the pipeline; st: its parameters, too, or NULL. */
int pg_send(struct pg *s, const char *sql, const struct pg_stmt *st,
    enum pg_how how, const struct pg_wait *w);
int pg_send_text(struct pg *s, const char *sql);
/* In every transaction the first: one of another term fails, and nothing that
 * follows is done. */
void pg_fence(struct pg *s, char ret[128]);
/* All that is on its way has arrived. -ENOTCONN, or 0 whatever the statements
 * did. */
int pg_settle(struct pg *s);

/* store_postgresql_stmt.c: the calls of the waist. */

int pg_stmt_prepare(struct sql *db, const char *sql, struct sql_stmt **ret);
void pg_stmt_finalize(struct sql_stmt *q);
void pg_stmt_bind(struct sql_stmt *q, int at, const struct sql_value *v);
int pg_stmt_run(struct sql_stmt *q, struct sql_outcome *ret);
int pg_stmt_step(struct sql_stmt *q);
void pg_stmt_column(struct sql_stmt *q, int at, struct sql_value *ret);
void pg_stmt_reset(struct sql_stmt *q);

/* store_postgresql_lead.c */

/* Connect, and see that server, role and schema will do. */
int pg_connect(struct pg *s, struct err *err);
int pg_prepare(const struct store_options *o, const struct embed *steps,
    struct err *err);
/* Become the one who writes, or be it again on a new connection: then 1 when
 * the batch in doubt had been committed. -EBUSY: another one is; -EPERM:
 * another one has been since. */
int pg_lead(struct pg *s, struct err *err);
/* Is it still the one? */
int pg_leads(struct sql *db, uint64_t *ret_term);
/* The partitions of that day, whose runs have ids from day << 32 on. */
int pg_day(struct sql *db, uint64_t unix_ns);
int pg_renumber(struct sql *db, const char *table);
int pg_drop_old(struct sql *db, uint64_t before_unix_ns);
/* A statement of the waist as this server has it, and of each parameter there
 * which one it is here, or 0. NULL: of a step, which names types. The caller
 * frees. */
char *pg_translate(const char *sql, unsigned char ret_map[PG_PARAMS]);

#endif
