/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgresql.c - the engine of a database server, a plugin. The
 * statements of a batch are sent in a pipeline, so that a batch takes three
 * round trips and not three thousand. Rows are read through a cursor, page by
 * page.
 */
#include "daemon/store/store_postgresql.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/store/store.h"
#include "daemon/store/store_postgresql_lead.h"
#include "daemon/store/store_postgresql_stmt.h"

#define SILENCE_NS    (60 * CLK_NS_PER_S) /* timeout of the server */
#define CANCEL_NS     (5 * CLK_NS_PER_S)  /* timeout after a cancel */
#define SPACE_LOOK_NS (60 * CLK_NS_PER_S)

static struct pg *
store_postgresql_pg_of(struct sql *db)
{
	return (struct pg *)db;
}

void
pg_complain(struct err *err, const char *before, const char *said)
{
	int len = (int)strcspn(said, "\n");

	err_say(err, "%s%.*s", before, len, said);
}

/* sqlstate NULL: the connection is lost. */
static int
store_postgresql_errno_of(const char *sqlstate)
{
	static const struct {
		const char *begins;
		int error;
	} rows[] = {
		{ "22", EPROTO },      /* data: the row is invalid */
		{ "23", EPROTO },      /* constraint */
		{ "08", ENOTCONN },    /* connection */
		{ "25006", ENOTCONN }, /* it became a standby */
		{ "26000", EINVAL },   /* not prepared here */
		{ "42P05", EINVAL },   /* prepared by another client */
		{ "42501", EACCES },
		{ "53100", ENOSPC },
		{ "53200", ENOMEM },
		{ "53300", ENOTCONN },
		{ "54", EPROTO }, /* a limit, for example of a key's length */
		{ "55P03", EBUSY },
		{ "57014", ETIMEDOUT },
		{ "57P", ENOTCONN },
		{ "XX001", EBADMSG },
		{ "XX002", EBADMSG },
	};

	if (sqlstate == NULL)
		return -ENOTCONN;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strncmp(sqlstate, rows[i].begins, strlen(rows[i].begins)) ==
		    0)
			return -rows[i].error;
	return -EIO;
}

/* Close the connection; the results of statements in the pipeline are lost. */
static int
store_postgresql_lose(struct pg *s, const char *why)
{
	if (why != NULL)
		pg_complain(&s->error, "", why);
	for (size_t i = 0; i < s->wait_count; i++)
		if (s->waits[i].outcome != NULL)
			s->waits[i].outcome->status = -ENOTCONN;
	s->wait_count = 0;
	s->in_transaction = 0;
	s->cursors = 0;
	s->failed = s->failed < 0 ? s->failed : -ENOTCONN;
	PQfinish(s->conn);
	s->conn = NULL;
	return -ENOTCONN;
}

/* Wait for input from the server, and cancel the statement after an interrupt
 * or at the deadline. -ENOTCONN: the server does not answer, and the connection
 * is closed. */
static int
store_postgresql_listen_once(struct pg *s)
{
	struct pollfd fds[] = { { PQsocket(s->conn), POLLIN, 0 },
		{ s->wake_fd, POLLIN, 0 } };
	uint64_t now_ns = clk_ns(), until_ns = s->give_up_ns, woken;
	uint64_t deadline_ns = s->deadline_ns != NULL ? *s->deadline_ns : 0;
	int unsent = PQflush(s->conn);
	char said[256];

	if (unsent < 0)
		return store_postgresql_lose(s, PQerrorMessage(s->conn));
	if (unsent > 0)
		fds[0].events |= POLLOUT;
	if (now_ns > s->give_up_ns)
		return store_postgresql_lose(s,
		    "timeout: the database server does not answer");
	if (!s->cancelled && deadline_ns != 0 && deadline_ns < until_ns)
		until_ns = deadline_ns;
	if (poll(fds, s->cancelled ? 1 : 2,
		until_ns > now_ns
		    ? (int)((until_ns - now_ns) / CLK_NS_PER_MS) + 1
		    : 0) < 0 &&
	    errno != EINTR)
		return store_postgresql_lose(s, strerror(errno));
	if (fds[0].revents != 0 && !PQconsumeInput(s->conn))
		return store_postgresql_lose(s, PQerrorMessage(s->conn));
	if (!s->cancelled &&
	    (fds[1].revents != 0 ||
		(deadline_ns != 0 && clk_ns() > deadline_ns))) {
		PGcancel *cancel = PQgetCancel(s->conn);

		if (fds[1].revents != 0 &&
		    read(s->wake_fd, &woken, sizeof(woken)) < 0)
			woken = 0; /* another thread has read it */
		PQcancel(cancel, said, sizeof(said));
		PQfreeCancel(cancel);
		s->cancelled = 1;
		s->give_up_ns = clk_ns() + CANCEL_NS;
	}
	return 0;
}

/* Return NULL: no more results of this statement, or the connection is lost. */
static PGresult *
store_postgresql_next_result(struct pg *s)
{
	while (s->conn != NULL && PQisBusy(s->conn))
		(void)store_postgresql_listen_once(s);
	if (s->conn == NULL)
		return NULL;
	s->give_up_ns = clk_ns() + (s->cancelled ? CANCEL_NS : SILENCE_NS);
	return PQgetResult(s->conn);
}

static void
store_postgresql_waiting(struct pg *s)
{
	s->cancelled = 0;
	s->give_up_ns = clk_ns() + SILENCE_NS;
}

/* Return the status of a statement. Only the first error is kept: later ones
 * are its consequence. */
static int
store_postgresql_status_of(struct pg *s, const PGresult *r)
{
	const char *sqlstate;
	int rc;

	switch (PQresultStatus(r)) {
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
	case PGRES_EMPTY_QUERY:
		return 0;
	case PGRES_PIPELINE_ABORTED:
		return -ECANCELED;
	default:
		break;
	}
	sqlstate = PQresultErrorField(r, PG_DIAG_SQLSTATE);
	rc = store_postgresql_errno_of(sqlstate);
	if (s->failed < 0)
		return rc;
	s->failed = rc;
	pg_complain(&s->error, "", PQresultErrorMessage(r));
	if (sqlstate == NULL)
		return rc;
	pg_complain(&s->error, "",
	    PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY));
	if (strcmp(sqlstate, "22012") == 0 && s->role == SQL_WRITER) {
		rc = s->failed = -EPERM; /* the fence failed */
		err_say(&s->error, "another collector has taken over");
	} else if (rc == -EINVAL) {
		err_say(&s->error,
		    "a connection pool before the database server gives one "
		    "session to several clients: set its pool_mode = session");
	}
	return rc;
}

static void
store_postgresql_wait_end(struct pg *s, const struct pg_wait *w)
{
	PGresult *r = store_postgresql_next_result(s), *more;
	int status = r != NULL ? store_postgresql_status_of(s, r) : -ENOTCONN;

	if (w->outcome != NULL)
		*w->outcome = (struct sql_outcome){ status,
			r != NULL ? strtoll(PQcmdTuples(r), NULL, 10) : 0 };
	if (status < 0 && w->prepares != NULL)
		w->prepares->prepared = 0;
	if (w->rows != NULL && status == 0)
		*w->rows = r;
	else
		PQclear(r);
	while ((more = store_postgresql_next_result(s)) != NULL)
		PQclear(more);
}

int
pg_settle(struct pg *s)
{
	size_t count = s->wait_count;

	if (s->conn == NULL)
		return -ENOTCONN;
	if (count == 0)
		return 0;
	store_postgresql_waiting(s);
	if (!PQpipelineSync(s->conn))
		return store_postgresql_lose(s, PQerrorMessage(s->conn));
	for (size_t i = 0; i < count && s->conn != NULL; i++)
		store_postgresql_wait_end(s, &s->waits[i]);
	PQclear(store_postgresql_next_result(s)); /* of the sync */
	s->wait_count = 0;
	if (s->conn != NULL && PQstatus(s->conn) == CONNECTION_BAD)
		return store_postgresql_lose(s,
		    s->failed < 0 ? NULL : PQerrorMessage(s->conn));
	/* A server that shuts down reports it only once. */
	if (s->conn != NULL && s->failed == -ENOTCONN)
		return store_postgresql_lose(s, NULL);
	return s->conn == NULL ? -ENOTCONN : 0;
}

static int
store_postgresql_away(struct pg *s)
{
	if (s->error.text[0] == '\0')
		err_say(&s->error, "not connected to the database server");
	return -ENOTCONN;
}

int
pg_send(struct pg *s, const char *sql, const struct pg_stmt *st,
    enum pg_how how, const struct pg_wait *w)
{
	const char *values[PG_PARAMS];
	Oid types[PG_PARAMS];
	int lens[PG_PARAMS], formats[PG_PARAMS], ok;
	int n = st != NULL ? st->params : 0;

	if (s->conn == NULL)
		return store_postgresql_away(s);
	for (int i = 0; i < n; i++) {
		const struct pg_param *p = &st->param[i + 1];

		values[i] = p->bytes;
		lens[i] = p->len_bytes;
		formats[i] = p->is_binary;
		types[i] = p->type;
	}
	if (w->prepares != NULL)
		ok = PQsendPrepare(s->conn, w->prepares->name, sql, 0, NULL);
	else if (how == SEND_NAMED)
		ok = PQsendQueryPrepared(s->conn, st->name, n, values, lens,
		    formats, 0);
	else
		ok = PQsendQueryParams(s->conn, sql, n,
		    how == SEND_CURSOR ? types : NULL, values, lens, formats,
		    0);
	if (!ok)
		return store_postgresql_lose(s, PQerrorMessage(s->conn));
	if (s->wait_count == s->wait_cap) {
		s->wait_cap = s->wait_cap * 2 + 64;
		s->waits = xreallocarray(s->waits, s->wait_cap,
		    sizeof(*s->waits));
	}
	s->waits[s->wait_count++] = *w;
	return 0;
}

int
pg_send_text(struct pg *s, const char *sql)
{
	return pg_send(s, sql, NULL, SEND_ONCE, &(struct pg_wait){ 0 });
}

void
pg_fence(struct pg *s, char ret[128])
{
	snprintf(ret, 128,
	    "UPDATE leader SET batch = %lld / (term = %lld)::integer",
	    (long long)++s->batch, (long long)s->term);
}

int
pg_exec(struct pg *s, const char *sql, char ret[PG_TEXT])
{
	PGresult *r;
	int rc = pg_settle(s), was = s->failed;

	if (rc < 0)
		return store_postgresql_away(s);
	s->failed = 0;
	store_postgresql_waiting(s);
	if ((PQpipelineStatus(s->conn) != PQ_PIPELINE_OFF &&
		!PQexitPipelineMode(s->conn)) ||
	    !PQsendQuery(s->conn, sql))
		return store_postgresql_lose(s, PQerrorMessage(s->conn));
	if (ret != NULL)
		ret[0] = '\0';
	while ((r = store_postgresql_next_result(s)) != NULL) {
		(void)store_postgresql_status_of(s, r);
		if (ret != NULL && PQntuples(r) > 0)
			snprintf(ret, PG_TEXT, "%s", PQgetvalue(r, 0, 0));
		PQclear(r);
	}
	rc = s->failed;
	if (s->conn == NULL)
		return -ENOTCONN;
	if (rc == -ENOTCONN || PQstatus(s->conn) == CONNECTION_BAD)
		return store_postgresql_lose(s, NULL);
	s->failed = was;
	if (!PQenterPipelineMode(s->conn))
		return store_postgresql_lose(s, PQerrorMessage(s->conn));
	return rc;
}

int
pg_exec_fenced(struct pg *s, const char *sql)
{
	char fence[128], *all;
	int rc;

	pg_fence(s, fence);
	all = xasprintf("%s; %s", fence, sql);
	rc = pg_exec(s, all, NULL);
	free(all);
	return rc;
}

static void
store_postgresql_engine_close(struct sql *db)
{
	struct pg *s = store_postgresql_pg_of(db);

	PQfinish(s->conn);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	free(s->waits);
	free(s->url);
	free(s->schema);
	free(s->who);
	free(s->authorities);
	free(s);
}

int
pg_open(const struct store_options *o, enum sql_role role, struct pg **ret,
    struct err *err)
{
	extern const struct sql_engine sql_postgresql;
	struct pg *s = xcalloc(1, sizeof(*s));
	int rc;

	s->sql.engine = &sql_postgresql;
	s->role = role;
	s->url = xstrdup(o->url);
	s->schema = xstrdup(o->schema);
	s->who = xstrdup(o->who != NULL ? o->who : "");
	s->lease_ns = o->lease_ns;
	s->authorities = xstrdup(o->authorities != NULL ? o->authorities : "");
	s->space = (struct sql_space){ 0, UINT64_MAX, UINT64_MAX };
	s->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = s->wake_fd < 0 ? err_set(err, -errno, "cannot create an eventfd")
			    : pg_connect(s, err);
	if (rc == 0)
		*ret = s;
	else
		store_postgresql_engine_close(&s->sql);
	return rc;
}

static int
store_postgresql_engine_open(const struct store_options *o, enum sql_role role,
    struct sql **ret, struct err *err)
{
	struct pg *s;
	int rc = pg_open(o, role, &s, err);

	if (rc == 0 && role == SQL_WRITER) {
		rc = pg_lead(s, err);
		if (rc < 0)
			store_postgresql_engine_close(&s->sql);
	}
	if (rc == 0)
		*ret = &s->sql;
	return rc;
}

/* A connection that the server has closed in the meantime is only detected by
 * reading. */
static int
store_postgresql_is_connected(struct pg *s)
{
	struct pollfd fd = { s->conn != NULL ? PQsocket(s->conn) : -1, POLLIN,
		0 };

	/* Read the server's last messages up to the end. */
	while (s->conn != NULL && poll(&fd, 1, 0) > 0)
		if (!PQconsumeInput(s->conn) ||
		    PQstatus(s->conn) == CONNECTION_BAD)
			(void)store_postgresql_lose(s, PQerrorMessage(s->conn));
	return s->conn != NULL;
}

static int
store_postgresql_engine_ready(struct sql *db)
{
	struct pg *s = store_postgresql_pg_of(db);
	uint64_t woken;
	int rc = 0;

	while (read(s->wake_fd, &woken, sizeof(woken)) > 0)
		continue; /* interrupts of statements that have ended */
	s->failed = 0;
	if (store_postgresql_is_connected(s))
		return 0;
	rc = pg_connect(s, &s->error);
	if (rc == 0 && s->role == SQL_WRITER)
		rc = pg_lead(s, &s->error);
	if (rc < 0 && s->conn != NULL)
		(void)store_postgresql_lose(s, NULL);
	s->failed = 0;
	return rc;
}

static const char *
store_postgresql_engine_error(struct sql *db)
{
	return store_postgresql_pg_of(db)->error.text;
}

static void
store_postgresql_engine_interrupt(struct sql *db)
{
	uint64_t one = 1;

	if (write(store_postgresql_pg_of(db)->wake_fd, &one, sizeof(one)) < 0)
		return; /* it is already set */
}

static void
store_postgresql_engine_set_deadline(struct sql *db,
    const uint64_t *deadline_ns)
{
	store_postgresql_pg_of(db)->deadline_ns = deadline_ns;
}

static int
store_postgresql_engine_begin(struct sql *db, int synced)
{
	struct pg *s = store_postgresql_pg_of(db);
	int rc = store_postgresql_is_connected(s)
	    ? 0
	    : store_postgresql_engine_ready(db);
	char fence[128];

	if (rc >= 0)
		rc = pg_day(db, clk_unix_ns());
	if (rc < 0)
		return rc;
	s->failed = 0;
	rc = pg_send_text(s, "BEGIN");
	if (rc == 0 && !synced)
		rc = pg_send_text(s, "SET LOCAL synchronous_commit = off");
	pg_fence(s, fence);
	if (rc == 0)
		rc = pg_send_text(s, fence);
	s->in_transaction = rc == 0;
	return rc;
}

/* The server answers COMMIT of a failed transaction with ROLLBACK. */
static int
store_postgresql_engine_commit(struct sql *db)
{
	struct pg *s = store_postgresql_pg_of(db);
	PGresult *r = NULL;
	int rc = pg_send(s, "COMMIT", NULL, SEND_ONCE,
	    &(struct pg_wait){ .rows = &r });

	if (rc == 0) {
		s->in_doubt = 1;
		rc = pg_settle(s);
	}
	if (rc == 0)
		rc = s->failed;
	if (rc == 0 && (r == NULL || strcmp(PQcmdStatus(r), "COMMIT") != 0))
		rc = err_set(&s->error, -EIO,
		    "the database server rolled the transaction back");
	if (rc != -ENOTCONN)
		s->in_doubt = 0;
	PQclear(r);
	s->in_transaction = 0;
	s->failed = 0;
	return rc;
}

static void
store_postgresql_engine_rollback(struct sql *db)
{
	struct pg *s = store_postgresql_pg_of(db);

	if (s->in_transaction && pg_send_text(s, "ROLLBACK") == 0)
		(void)pg_settle(s);
	s->day = 0; /* the partition may have been created in it */
	/* The rollback may have been cancelled, too. */
	if (s->conn != NULL && PQtransactionStatus(s->conn) != PQTRANS_IDLE)
		(void)store_postgresql_lose(s, NULL);
	s->in_transaction = 0;
	s->failed = 0;
}

static int
store_postgresql_engine_exec(struct sql *db, const char *sql)
{
	struct pg *s = store_postgresql_pg_of(db);

	return s->in_transaction || s->role != SQL_WRITER
	    ? pg_exec(s, sql, NULL)
	    : pg_exec_fenced(s, sql);
}

static int
store_postgresql_engine_flush(struct sql *db)
{
	struct pg *s = store_postgresql_pg_of(db);
	int rc = pg_settle(s);

	if (rc == 0)
		rc = s->failed;
	s->failed = 0;
	return rc < 0 && s->conn == NULL ? store_postgresql_away(s) : rc;
}

static void
store_postgresql_engine_space(struct sql *db, struct sql_space *ret)
{
	struct pg *s = store_postgresql_pg_of(db);
	uint64_t now_ns = clk_ns();
	char bytes[PG_TEXT];

	if (s->conn != NULL && !s->in_transaction && s->cursors == 0 &&
	    (s->space_ns == 0 || now_ns - s->space_ns > SPACE_LOOK_NS)) {
		s->space_ns = now_ns;
		if (pg_exec(s,
			"SELECT sum(pg_total_relation_size(oid)) FROM"
			" pg_class WHERE relkind = 'r' AND relnamespace ="
			" " PG_SCHEMA,
			bytes) == 0)
			s->space.db_bytes = strtoull(bytes, NULL, 10);
	}
	*ret = s->space;
}

static int
store_postgresql_engine_tidy(struct sql *db, int deleted)
{
	(void)db;
	(void)deleted;
	return 0; /* the server does this automatically */
}

/* The session that holds the lock, and the time of its last request: a session
 * that responds, or waits for its server, is alive. */
#define MARK                                                                   \
	"(SELECT l.pid || ' ' || CASE WHEN a.state <> 'active' OR"             \
	" a.wait_event_type = 'Client' THEN a.state_change ELSE"               \
	" clock_timestamp() END FROM pg_locks AS l LEFT JOIN"                  \
	" pg_stat_activity AS a ON a.pid = l.pid WHERE l.locktype ="           \
	" 'advisory' AND l.granted AND l.classid = " PG_LOCK_CLASS             \
	" AND l.objid = " PG_SCHEMA " AND l.database = (SELECT oid FROM"       \
	" pg_database WHERE datname = current_database()))"

const struct sql_engine sql_postgresql = {
	.abi = SQL_ABI,
	.name = "postgresql",
	.check =
	    "WITH wrong AS (SELECT 'run ' || run || ': ' || records ||"
	    " ' records are counted, ' || n || ' are there' AS text"
	    " FROM (SELECT run.run, run.records, (SELECT count(*)"
	    " FROM record WHERE run_id = run.id) AS n FROM run) AS counted"
	    " WHERE records <> n LIMIT 10) SELECT text FROM wrong"
	    " UNION ALL SELECT 'ok' WHERE NOT EXISTS (SELECT 1 FROM wrong)",
	/* A collector of an older version has no lease. */
	.leader = "SELECT who, term, COALESCE(CAST(to_jsonb(leader) ->>"
		  " 'lease_ns' AS BIGINT), 0), " MARK " FROM leader",
	.depose = "SELECT pg_terminate_backend(CAST(split_part(mark, ' ', 1)"
		  " AS INTEGER)) FROM (SELECT " MARK " AS mark) AS leads"
		  " WHERE mark = ?1",
	/* Each cluster has published a text in its schema. The server shows the
	 * time of a session's last request only to roles with sufficient
	 * rights. */
	.clusters =
	    "SELECT string_agg(format('SELECT %L, COALESCE(CAST("
	    "to_jsonb(l) ->> ''lease_ns'' AS BIGINT), 0), CAST(%L AS BIGINT),"
	    " value FROM %I.leader AS l JOIN %I.setting AS s ON s.key ="
	    " ''" STORE_TOLD "'' ', nspname, silent_ns, nspname, nspname),"
	    " ' UNION ALL ' ORDER BY nspname) FROM (SELECT n.nspname,"
	    " CASE WHEN k.pid IS NULL THEN -1 WHEN a.state <> 'active' OR"
	    " a.wait_event_type = 'Client' THEN CAST(1e9 * GREATEST(0, extract("
	    "epoch FROM clock_timestamp() - a.state_change)) AS BIGINT) ELSE 0"
	    " END AS silent_ns FROM pg_namespace AS n JOIN pg_class AS l ON"
	    " l.relnamespace = n.oid AND l.relname = 'leader' JOIN pg_class AS"
	    " s ON s.relnamespace = n.oid AND s.relname = 'setting' LEFT JOIN"
	    " pg_locks AS k ON k.locktype = 'advisory' AND k.granted AND"
	    " k.classid = " PG_LOCK_CLASS " AND k.objid = n.oid AND k.database"
	    " = (SELECT oid FROM pg_database WHERE datname ="
	    " current_database()) LEFT JOIN pg_stat_activity AS a ON a.pid ="
	    " k.pid WHERE l.relkind = 'r' AND s.relkind = 'r' AND"
	    " n.nspname ~ '^[a-z][a-z0-9_]*$' AND"
	    " has_schema_privilege(n.oid, 'USAGE') AND"
	    " has_table_privilege(l.oid, 'SELECT') AND"
	    " has_table_privilege(s.oid, 'SELECT')) AS schemas",
	.prepare = pg_prepare,
	.open = store_postgresql_engine_open,
	.close = store_postgresql_engine_close,
	.ready = store_postgresql_engine_ready,
	.lead = pg_leads,
	.error = store_postgresql_engine_error,
	.interrupt = store_postgresql_engine_interrupt,
	.set_deadline = store_postgresql_engine_set_deadline,
	.begin = store_postgresql_engine_begin,
	.commit = store_postgresql_engine_commit,
	.rollback = store_postgresql_engine_rollback,
	.exec = store_postgresql_engine_exec,
	.prepare_stmt = pg_stmt_prepare,
	.finalize = pg_stmt_finalize,
	.bind = pg_stmt_bind,
	.run = pg_stmt_run,
	.flush = store_postgresql_engine_flush,
	.step = pg_stmt_step,
	.column = pg_stmt_column,
	.reset = pg_stmt_reset,
	.space = store_postgresql_engine_space,
	.tidy = store_postgresql_engine_tidy,
	.day = pg_day,
	.renumber = pg_renumber,
	.drop_old = pg_drop_old,
};

const struct sql_engine *coalmine_store_entry(int abi);

const struct sql_engine *
coalmine_store_entry(int abi)
{
	return abi == SQL_ABI ? &sql_postgresql : NULL;
}
