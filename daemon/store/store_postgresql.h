/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgresql.h - the engine of the plugin postgresql: connections and
 * their pipeline of statements.
 */
#ifndef DAEMON_STORE_STORE_POSTGRESQL_H
#define DAEMON_STORE_STORE_POSTGRESQL_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/store/store_sql.h"

#define PG_PARAMS 48

/* A parameter as sent. Numbers are sent as text: the server knows the type of
 * the column. */
struct pg_param {
	const char *bytes; /* NULL: an SQL NULL */
	int len_bytes, is_binary;
	Oid type; /* as bound; NULL has the type of a text */
	void *given;
	char number[32];
};

/* A statement. */
struct pg_stmt {
	struct sql_stmt sql;
	char *text;                       /* as sent to the server */
	unsigned char map[PG_PARAMS];     /* see pg_translate */
	int params;                       /* number of parameters */
	struct pg_param param[PG_PARAMS]; /* indexed from 1 */
	char name[24]; /* name of the prepared statement and of its cursor */
	unsigned runs; /* how often it was run */
	/* struct pg.life when it was prepared; 0: not prepared. */
	unsigned prepared;
	int open;              /* 1: its cursor is open */
	PGresult *rows;        /* rows that its cursor has fetched */
	int row;               /* the current row of rows */
	unsigned long decoded; /* bit mask: columns already decoded to bytes */
};

/* A statement in the pipeline, and where its result is stored. */
struct pg_wait {
	struct sql_outcome *outcome; /* or NULL */
	PGresult **rows;             /* or NULL */
	struct pg_stmt *prepares;    /* or NULL */
};

/* A connection. */
struct pg {
	struct sql sql;
	enum sql_role role;
	char *url, *schema, *who, *authorities;
	uint64_t lease_ns;
	PGconn *conn;  /* NULL: not connected */
	unsigned life; /* number of connections so far, this one included */
	int pid;       /* id of the server's process, current or last */
	struct err error;
	int wake_fd; /* eventfd: set by an interrupt */
	const uint64_t *deadline_ns;
	uint64_t give_up_ns; /* timeout of the awaited result */
	int cancelled;       /* 1: the server was requested to cancel */

	struct pg_wait *waits; /* in the order of statements */
	size_t wait_count, wait_cap;
	int failed;         /* -errno of the first failure, for flush */
	int in_transaction; /* 1: between begin and commit or rollback */
	/* Number of open cursors; without begin they have a transaction of
	 * their own. */
	unsigned cursors;

	int64_t term, batch; /* values in table leader, while active */
	int in_doubt; /* 1: the result of the commit of batch is unknown */
	int64_t day;  /* day since 1970 for which pg_day made partitions */
	struct sql_space space;
	uint64_t space_ns; /* when space was measured */
};

/* The class of the advisory lock, an oid. */
#define PG_LOCK_CLASS "1129138510"
#define PG_SCHEMA                                                              \
	"(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"

/* Set err to a message of the server, as one line. */
void pg_complain(struct err *err, const char *before, const char *said);
/* Run statements without parameters, outside of a pipeline: all of them or
 * none, unless they begin a transaction themselves. ret: NULL, or a buffer for
 * the first value of the last row, "" if there are no rows or it is NULL. */
#define PG_TEXT 256
int pg_exec(struct pg *s, const char *sql, char ret[PG_TEXT]);
/* Run statements after a fence. */
int pg_exec_fenced(struct pg *s, const char *sql);
/* Create a connected struct pg. */
int pg_open(const struct store_options *o, enum sql_role role, struct pg **ret,
    struct err *err);

/* The server infers types of parameters, except for a cursor's. */
enum pg_how { SEND_ONCE, SEND_NAMED, SEND_CURSOR };
/* Send a statement into the pipeline; st: its parameters, or NULL. */
int pg_send(struct pg *s, const char *sql, const struct pg_stmt *st,
    enum pg_how how, const struct pg_wait *w);
int pg_send_text(struct pg *s, const char *sql);
/* Format the first statement of every transaction: if the term has changed it
 * fails, and nothing after it is executed. */
void pg_fence(struct pg *s, char ret[128]);
/* Wait for the results of all statements in the pipeline. Return -ENOTCONN, or
 * 0 whether or not the statements succeeded. */
int pg_settle(struct pg *s);

#endif
