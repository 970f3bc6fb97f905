/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgresql_lead.c - assign a schema in a server's database to one
 * collector: checks the server, migrates the schema, and finds the active
 * collector; creates partitions, one per day.
 *
 * The active collector holds an advisory lock while its connection lives, and
 * has a term. The lock excludes others. Every transaction checks the term,
 * since a lock may be lost without its owner noticing.
 */
#include "daemon/store/store_postgresql_lead.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/embed.h"
#include "daemon/store/store.h"
#include "daemon/store/store_postgresql.h"

#define VERSION_MIN   140000
#define DAY_S         (24 * 3600)
#define CLOCK_APART_S 30
/* A session whose client has disconnected takes a moment to end. */
#define LOCK_TRIES    30
#define LOCK_PAUSE_NS (100 * CLK_NS_PER_MS)
#define LOCK          PG_LOCK_CLASS ", " PG_SCHEMA "::integer"

/* Part of a server's message, and advice. */
static const struct {
	const char *says, *advice;
} advices[] = {
	{ "session is read-only",
	    "the server is a standby: set store.url to the primary, or to all "
	    "servers separated by commas" },
	{ "statement pooling",
	    "set pool_mode = session in the connection pool" },
	{ "authentication failed",
	    "write the password into a file and name that file with passfile= "
	    "in store.url" },
	{ "no password supplied",
	    "write the password into a file and name that file with passfile= "
	    "in store.url" },
	{ "role \"", "create the role: createuser NAME" },
	{ "database \"",
	    "create the database: createdb --encoding UTF8 --owner ROLE NAME" },
	{ "pg_hba.conf",
	    "allow this role from this host in the server's pg_hba.conf" },
	{ "connection to server",
	    "check that the server is running, and that its listen_addresses "
	    "includes this address" },
};

/* said may be err's text. */
static int
store_postgresql_lead_refuse(struct err *err, int rc, const char *said)
{
	struct err copy;

	pg_complain(&copy, "store.url: ", said);
	for (size_t i = 0; i < ARRAY_LEN(advices); i++)
		if (strstr(said, advices[i].says) != NULL)
			return err_set(err, rc, "%.300s; %s", copy.text,
			    advices[i].advice);
	if (err != NULL)
		*err = copy;
	return rc;
}

static void
store_postgresql_lead_notice_cb(void *arg, const char *text)
{
	(void)arg;
	(void)text; /* libpq would print it */
}

/* Check the server itself. */
static int
store_postgresql_lead_server_check(struct pg *s, struct err *err)
{
	const char *encoding = PQparameterStatus(s->conn, "server_encoding");
	int version = PQserverVersion(s->conn);

	if (version < VERSION_MIN)
		return err_set(err, -ENOTSUP,
		    "store.url: the server is PostgreSQL %d: expected at least "
		    "PostgreSQL %d",
		    version / 10000, VERSION_MIN / 10000);
	if (encoding == NULL || strcmp(encoding, "UTF8") != 0)
		return err_set(err, -ENOTSUP,
		    "store.url: the database has encoding %.40s: expected "
		    "UTF8; create one with createdb --encoding UTF8 --template "
		    "template0",
		    encoding != NULL ? encoding : "unknown");
	return 0;
}

int
pg_connect(struct pg *s, struct err *err)
{
	/* Options in the URL have priority: they come later. */
	const char *const names[] = { "connect_timeout", "keepalives_idle",
		"keepalives_interval", "keepalives_count", "tcp_user_timeout",
		"target_session_attrs", "fallback_application_name", "dbname",
		"client_encoding", NULL };
	const char *const values[] = { "5", "10", "5", "3", "20000",
		"read-write", "coalmined", s->url, "UTF8", NULL };
	char *schema, *sql;
	int rc = 0;

	s->conn = PQconnectdbParams(names, values, 1);
	if (PQstatus(s->conn) != CONNECTION_OK)
		rc = store_postgresql_lead_refuse(err, -ENOTCONN,
		    PQerrorMessage(s->conn));
	if (rc == 0)
		rc = store_postgresql_lead_server_check(s, err);
	if (rc < 0) {
		PQfinish(s->conn);
		s->conn = NULL;
		return rc;
	}
	s->life++;
	PQsetNoticeProcessor(s->conn, store_postgresql_lead_notice_cb, NULL);
	PQsetnonblocking(s->conn, 1);
	schema = PQescapeIdentifier(s->conn, s->schema, strlen(s->schema));
	/* The server must notice that this host has lost power, since its
	 * session holds the lock of the schema. */
	sql = xasprintf("SET search_path TO %s; SET jit TO off;"
			" SET tcp_keepalives_idle TO 10;"
			" SET tcp_keepalives_interval TO 5;"
			" SET tcp_keepalives_count TO 3;"
			" SET bytea_output TO hex; SET extra_float_digits TO 1;"
			" SET default_transaction_read_only TO %s",
	    schema, s->role == SQL_READER ? "on" : "off");
	rc = pg_exec(s, sql, NULL);
	free(sql);
	PQfreemem(schema);
	if (rc < 0)
		return store_postgresql_lead_refuse(err, rc, s->error.text);
	/* The server's default compression takes a quarter of its time for a
	 * row of some KiB; a server built without lz4 keeps it. */
	if (pg_exec(s, "SET default_toast_compression TO lz4", NULL) < 0)
		s->error.text[0] = '\0';
	return s->conn != NULL
	    ? 0
	    : err_set(err, -ENOTCONN,
		  "store.url: the database server closed the connection");
}

/* If collectors with different clocks take turns, days and times are out of
 * order. */
static int
store_postgresql_lead_clock_check(struct pg *s, struct err *err)
{
	char got[PG_TEXT];
	int rc = pg_exec(s, "SELECT extract(epoch FROM clock_timestamp())",
	    got);
	double apart_s;

	if (rc < 0)
		return store_postgresql_lead_refuse(err, rc, s->error.text);
	apart_s = strtod(got, NULL) - (double)clk_unix_ns() / 1e9;
	if (s->lease_ns == 0 || fabs(apart_s) <= CLOCK_APART_S)
		return 0;
	return err_set(err, -EINVAL,
	    "store.url: the clock of the database server is %.0f s %s the "
	    "clock of this host: expected at most %d s; synchronize both with "
	    "NTP",
	    fabs(apart_s), apart_s > 0 ? "ahead of" : "behind", CLOCK_APART_S);
}

/* Get the server's process for this session, which only this client uses. */
static int
store_postgresql_lead_pid_get(struct pg *s, int *ret)
{
	char pid[PG_TEXT];
	int rc = pg_exec(s, "SELECT pg_backend_pid()", pid);

	if (rc == 0)
		*ret = atoi(pid);
	return rc;
}

/* Two connections at the same time have two sessions, unless a pool shares one
 * session between them. */
static int
store_postgresql_lead_pool_check(struct pg *s, const struct store_options *o,
    struct err *err)
{
	struct pg *second;
	int first_pid = 0, second_pid = 0, rc;

	rc = store_postgresql_lead_pid_get(s, &first_pid);
	if (rc == 0)
		rc = pg_exec(s, "BEGIN; ROLLBACK", NULL);
	if (rc < 0)
		return store_postgresql_lead_refuse(err, rc, s->error.text);
	rc = pg_open(o, SQL_READER, &second, err);
	if (rc < 0)
		return rc;
	rc = store_postgresql_lead_pid_get(second, &second_pid);
	second->sql.engine->close(&second->sql);
	if (rc == 0 && first_pid == second_pid)
		return err_set(err, -EINVAL,
		    "store.url: a connection pool before the database server "
		    "gives one session to several clients: set its pool_mode = "
		    "session");
	return rc;
}

/* Refuse to share a schema with a collector of another cluster, which has no
 * authority in common with this one. The digests are hexadecimal. */
static int
store_postgresql_lead_cluster_check(struct pg *s, struct err *err)
{
	char got[PG_TEXT], *sql;
	int rc;

	if (s->lease_ns == 0 || s->authorities[0] == '\0')
		return 0;
	sql = xasprintf("SELECT count(*) FROM leader WHERE COALESCE("
			"to_jsonb(leader) ->> 'authorities', '') <> '' AND NOT"
			" string_to_array(to_jsonb(leader) ->> 'authorities',"
			" ' ') && string_to_array('%s', ' ')",
	    s->authorities);
	rc = pg_exec(s, sql, got);
	free(sql);
	if (rc < 0)
		return store_postgresql_lead_refuse(err, rc, s->error.text);
	if (strcmp(got, "0") == 0)
		return 0;
	return err_set(err, -EEXIST,
	    "store.url: schema %.60s is of another cluster, whose tls.ca has "
	    "no certificate in common with this one's: each cluster needs a "
	    "separate store.schema; if all of tls.ca was replaced: UPDATE "
	    "leader SET authorities = ''",
	    s->schema);
}

/* Get the lock: only one collector writes a schema. A session of a collector
 * that has ended may exist for another moment, and our own, after a lost
 * connection, for longer. A collector with a lease continues as a standby and
 * tries again later. */
static int
store_postgresql_lead_lock(struct pg *s, struct err *err)
{
	int tries = s->lease_ns > 0 && s->pid == 0 ? 1 : LOCK_TRIES;
	char got[PG_TEXT] = "", sql[480], who[PG_TEXT] = "";
	int rc = 0;

	for (int i = 0; i < tries; i++) {
		if (s->pid != 0) {
			snprintf(sql, sizeof(sql),
			    "SELECT pg_terminate_backend(pid) FROM pg_locks"
			    " WHERE locktype = 'advisory' AND classid ="
			    " " PG_LOCK_CLASS " AND objid = " PG_SCHEMA
			    " AND database = (SELECT oid FROM pg_database"
			    " WHERE datname = current_database())"
			    " AND pid = %d AND pid <> pg_backend_pid()",
			    s->pid);
			(void)pg_exec(s, sql, NULL);
		}
		rc = pg_exec(s, "SELECT pg_try_advisory_lock(" LOCK ")", got);
		if (rc < 0)
			return store_postgresql_lead_refuse(err, rc,
			    s->error.text);
		if (got[0] == 't')
			return store_postgresql_lead_pid_get(s, &s->pid);
		clk_sleep_ns(LOCK_PAUSE_NS);
	}
	(void)pg_exec(s,
	    "SELECT CASE WHEN who = '' THEN 'that is becoming active,' ELSE "
	    "who "
	    "END"
	    " || ' since ' || date_trunc('second', since) FROM leader",
	    who);
	/* If no collector has been active yet, the owner of the lock is
	 * becoming active. */
	(void)pg_exec(s,
	    "SELECT who = '' OR (to_jsonb(leader) ->> 'lease_ns')::bigint > 0"
	    " FROM leader",
	    got);
	rc = store_postgresql_lead_cluster_check(s, err);
	if (rc < 0)
		return rc;
	if (s->lease_ns > 0 && got[0] == 't')
		return err_set(err, -EBUSY,
		    "collector %.100s already writes to schema %.60s", who,
		    s->schema);
	return err_set(err, -EEXIST,
	    "store.url: another collector (%.100s) already writes to schema "
	    "%.60s: each cluster needs a separate store.schema; for standby "
	    "collectors set store.lease on all collectors of the cluster",
	    who, s->schema);
}

/* The lock belongs to this session: if the session answers and the term is
 * unchanged, this collector is active. */
int
pg_leads(struct sql *db, uint64_t *ret_term)
{
	struct pg *s = (struct pg *)db;
	char got[PG_TEXT];
	int rc = pg_exec(s, "SELECT term FROM leader", got);

	if (rc == 0 && s->term != strtoll(got, NULL, 10))
		rc = err_set(&s->error, -EPERM,
		    "another collector has taken over");
	if (rc == 0 && ret_term != NULL)
		*ret_term = (uint64_t)s->term;
	return rc;
}

int
pg_lead(struct pg *s, struct err *err)
{
	char got[PG_TEXT], *sql, *who;
	int rc = s->term != 0 ? pg_leads(&s->sql, NULL) : 0;

	if (rc == 0)
		rc = store_postgresql_lead_lock(s, err);
	if (rc == 0 && s->term != 0)
		rc = pg_leads(&s->sql, NULL);
	if (rc < 0) {
		if (rc == -EPERM)
			*err = s->error;
		return rc;
	}
	s->day = 0;
	if (s->term == 0) {
		who = PQescapeLiteral(s->conn, s->who, strlen(s->who));
		sql = xasprintf("UPDATE leader SET term = term + 1,"
				" since = now(), who = %s, lease_ns = %llu,"
				" authorities = '%s' RETURNING term",
		    who, (unsigned long long)s->lease_ns, s->authorities);
		PQfreemem(who);
		rc = pg_exec(s, sql, got);
		free(sql);
		s->term = strtoll(got, NULL, 10);
	}
	if (rc == 0)
		rc = pg_exec(s, "SELECT batch FROM leader", got);
	if (rc < 0)
		return store_postgresql_lead_refuse(err, rc, s->error.text);
	rc = s->in_doubt && s->batch == strtoll(got, NULL, 10);
	s->in_doubt = 0;
	s->batch = strtoll(got, NULL, 10);
	return rc;
}

static const struct {
	const char *from, *to;
} types[] = {
	{ "INTEGER PRIMARY KEY AUTOINCREMENT",
	    "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY" },
	{ "INTEGER", "BIGINT" }, { "REAL", "DOUBLE PRECISION" },
	{ "BLOB", "BYTEA" },
	{ "TEXT", "TEXT COLLATE \"C\"" }, /* sorted as in SQLite */
};

/* Translate one word of a step, or one character. Returns the rest. */
static const char *
store_postgresql_lead_type_translate(const char *p, struct strbuf *to)
{
	size_t len = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		size_t from_len = strlen(types[i].from);

		if (strncmp(p, types[i].from, from_len) == 0 &&
		    from_len >= len) {
			strbuf_addf(to, "%s", types[i].to);
			return p + from_len;
		}
	}
	strbuf_add(to, p, len > 0 ? len : 1);
	return p + (len > 0 ? len : 1);
}

char *
pg_translate(const char *sql, unsigned char ret_map[PG_PARAMS])
{
	static const char own[] = "-- postgresql:", foreign[] = "-- sqlite";
	struct strbuf to = { 0 };
	int params = 0, line_begins = 1;
	const char *p = sql;

	strbuf_add(&to, "", 0);
	while (*p != '\0') {
		size_t line = strcspn(p, "\n"), n;

		if (line_begins && line >= sizeof(foreign) - 1 &&
		    strncmp(p + line - (sizeof(foreign) - 1), foreign,
			sizeof(foreign) - 1) == 0) {
			p += line;
			continue;
		}
		line_begins = *p == '\n';
		if (strncmp(p, own, sizeof(own) - 1) == 0) {
			p += sizeof(own) - 1;
		} else if (p[0] == '-' && p[1] == '-') {
			p += line;
		} else if (*p == '\'') {
			n = strcspn(p + 1, "'") + 2;
			strbuf_add(&to, p, n);
			p += n;
		} else if (ret_map == NULL) {
			p = store_postgresql_lead_type_translate(p, &to);
		} else if (*p == '?') {
			n = strtoul(p + 1, (char **)(uintptr_t)&p, 10);
			if (n >= PG_PARAMS)
				break; /* no such statement exists */
			if (ret_map[n] == 0)
				ret_map[n] = (unsigned char)++params;
			strbuf_addf(&to, "$%d", ret_map[n]);
		} else {
			strbuf_add(&to, p++, 1);
		}
	}
	return to.text;
}

/* The schema must be empty or have the store's tables. */
static int
store_postgresql_lead_schema_check(struct pg *s, struct err *err)
{
	char got[PG_TEXT];
	int rc = pg_exec(s, "SELECT count(current_schema())", got);

	if (rc == 0 && got[0] == '0') {
		char *name = PQescapeIdentifier(s->conn, s->schema,
		    strlen(s->schema));
		char *sql = xasprintf("CREATE SCHEMA %s", name);

		rc = pg_exec(s, sql, NULL);
		if (rc == -EACCES)
			err_say(err,
			    "store.url: role %.60s may not make schema %.60s: "
			    "an administrator does so with CREATE SCHEMA "
			    "%.60s AUTHORIZATION %.60s",
			    PQuser(s->conn), s->schema, name, PQuser(s->conn));
		free(sql);
		PQfreemem(name);
		if (rc == -EACCES)
			return rc;
	}
	if (rc == 0)
		rc = pg_exec(s,
		    "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p')"
		    " AND relnamespace = " PG_SCHEMA
		    " AND to_regclass('leader') IS NULL",
		    got);
	if (rc == 0 && got[0] != '0')
		return err_set(err, -EEXIST,
		    "store.url: schema %.60s has tables of another program: "
		    "set store.schema to another schema",
		    s->schema);
	return rc < 0 ? store_postgresql_lead_refuse(err, rc, s->error.text)
		      : 0;
}

static int
store_postgresql_lead_migrate(struct pg *s, const struct embed *steps,
    struct err *err)
{
	char got[PG_TEXT];
	int version, newest = 0, rc;

	rc = pg_exec(s, "SELECT version FROM leader", got);
	if (rc < 0)
		return store_postgresql_lead_refuse(err, rc, s->error.text);
	version = atoi(got);
	while (steps[newest].name != NULL)
		newest++;
	if (version > newest)
		return err_set(err, -ENOTSUP,
		    "store.url: schema %.60s has version %d, but this program "
		    "supports versions up to %d: install the newer program",
		    s->schema, version, newest);
	for (int i = version; rc == 0 && i < newest; i++) {
		char *step = pg_translate((const char *)steps[i].bytes, NULL);
		char *sql = xasprintf("%s; UPDATE leader SET version = %d",
		    step, i + 1);

		rc = pg_exec(s, sql, NULL);
		if (rc < 0)
			err_say(err, "store.url: step %s: %.300s",
			    steps[i].name, s->error.text);
		free(sql);
		free(step);
	}
	return rc;
}

/* Create views of all clusters in the database, with the columns that all of
 * them have. */
static void
store_postgresql_lead_all_views(struct pg *s, struct err *err)
{
	static const char sql[] =
	    "DO $$DECLARE made record; BEGIN"
	    " PERFORM pg_advisory_xact_lock(" PG_LOCK_CLASS ", 0);"
	    " IF to_regnamespace('coalmine_all') IS NULL THEN"
	    " CREATE SCHEMA coalmine_all; END IF;"
	    " FOR made IN WITH c AS (SELECT n.nspname, v.relname, v.oid FROM"
	    " pg_namespace AS n JOIN pg_class AS l ON l.relnamespace = n.oid"
	    " AND l.relname = 'leader' AND l.relkind = 'r' JOIN pg_class AS v"
	    " ON v.relnamespace = n.oid AND v.relkind = 'v' WHERE"
	    " has_schema_privilege(n.oid, 'USAGE') AND"
	    " has_table_privilege(v.oid, 'SELECT')), lists AS (SELECT relname,"
	    " string_agg(quote_ident(attname), ', ' ORDER BY at) AS list FROM"
	    " (SELECT relname, attname, min(attnum) AS at FROM c JOIN"
	    " pg_attribute ON attrelid = c.oid AND attnum > 0 GROUP BY 1, 2"
	    " HAVING count(*) = (SELECT count(*) FROM c AS d WHERE d.relname ="
	    " c.relname)) AS shared GROUP BY 1) SELECT relname, string_agg("
	    "format('SELECT %L::text AS cluster, %s FROM %I.%I', nspname,"
	    " list, nspname, relname), ' UNION ALL ' ORDER BY nspname) AS"
	    " query FROM c JOIN lists USING (relname) GROUP BY 1 LOOP"
	    " BEGIN EXECUTE format('CREATE OR REPLACE VIEW coalmine_all.%I AS"
	    " %s', made.relname, made.query);"
	    " EXCEPTION WHEN invalid_table_definition THEN"
	    " EXECUTE format('DROP VIEW coalmine_all.%I', made.relname);"
	    " EXECUTE format('CREATE VIEW coalmine_all.%I AS %s', made.relname,"
	    " made.query); END; END LOOP; END$$";
	int rc = pg_exec(s, sql, NULL);

	/* A role may have rights only for its own schema. */
	if (rc < 0 && rc != -EACCES)
		err_say(err,
		    "store.url: cannot create the views of all clusters "
		    "(coalmine_all): %.300s",
		    s->error.text);
}

int
pg_prepare(const struct store_options *o, const struct embed *steps,
    struct err *err)
{
	struct pg *s;
	int rc = pg_open(o, SQL_WRITER, &s, err);

	if (rc < 0)
		return rc;
	rc = store_postgresql_lead_pool_check(s, o, err);
	if (rc == 0)
		rc = store_postgresql_lead_clock_check(s, err);
	if (rc == 0)
		rc = store_postgresql_lead_schema_check(s, err);
	if (rc == 0)
		rc = store_postgresql_lead_lock(s, err);
	if (rc == 0 &&
	    pg_exec(s,
		"CREATE TABLE IF NOT EXISTS leader (version INTEGER NOT NULL,"
		" term BIGINT NOT NULL, batch BIGINT NOT NULL,"
		" since TIMESTAMPTZ NOT NULL DEFAULT now(),"
		" who TEXT NOT NULL DEFAULT '') WITH (fillfactor = 20);"
		"INSERT INTO leader (version, term, batch) SELECT 0, 0, 0"
		" WHERE NOT EXISTS (SELECT 1 FROM leader);"
		"DO $$BEGIN IF NOT EXISTS (SELECT 1 FROM pg_attribute WHERE"
		" attrelid = 'leader'::regclass AND attname = 'authorities') "
		"THEN"
		" ALTER TABLE leader ADD COLUMN IF NOT EXISTS lease_ns BIGINT"
		" NOT NULL DEFAULT 0, ADD COLUMN authorities TEXT NOT NULL"
		" DEFAULT ''; END IF; END$$",
		NULL) < 0)
		rc = store_postgresql_lead_refuse(err, -EACCES, s->error.text);
	if (rc == 0)
		rc = store_postgresql_lead_cluster_check(s, err);
	if (rc == 0)
		rc = store_postgresql_lead_migrate(s, steps, err);
	if (rc == 0 && o->cluster != NULL && o->cluster[0] != '\0')
		store_postgresql_lead_all_views(s, err);
	s->sql.engine->close(&s->sql);
	return rc;
}

static const char *const parted[] = { "record", "counters" };

/* A table is created complete and then attached, so that it waits for no
 * reader. */
int
pg_day(struct sql *db, uint64_t unix_ns)
{
	struct pg *s = (struct pg *)db;
	time_t at_s = (time_t)(unix_ns / CLK_NS_PER_S);
	long long day = at_s / DAY_S;
	char sql[512], got[PG_TEXT], name[16];
	struct tm tm;
	int rc = 0;

	if (day == s->day)
		return 0;
	strftime(name, sizeof(name), "%Y%m%d", gmtime_r(&at_s, &tm));
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(parted); i++) {
		const char *t = parted[i];

		snprintf(sql, sizeof(sql), "SELECT to_regclass('%s_%s')", t,
		    name);
		rc = pg_exec(s, sql, got);
		snprintf(sql, sizeof(sql),
		    "CREATE TABLE %s_%s (LIKE %s INCLUDING ALL);"
		    "ALTER TABLE %s ATTACH PARTITION %s_%s FOR VALUES FROM"
		    " (%lld) TO (%lld)",
		    t, name, t, t, t, name, day << 32, (day + 1) << 32);
		if (rc == 0 && got[0] == '\0')
			rc = pg_exec_fenced(s, sql);
	}
	snprintf(sql, sizeof(sql), "SET coalmine.day = '%lld'", day);
	if (rc == 0)
		rc = pg_exec(s, sql, NULL);
	if (rc == 0)
		s->day = day;
	return rc;
}

int
pg_renumber(struct sql *db, const char *table)
{
	char sql[160];

	snprintf(sql, sizeof(sql),
	    "SELECT setval(pg_get_serial_sequence('%s', 'id'), max(id))"
	    " FROM %s",
	    table, table);
	return pg_exec((struct pg *)db, sql, NULL);
}

/* Drop days whose runs are all past their retention. Waits at most 1 s for
 * readers that hold a lock. */
int
pg_drop_old(struct sql *db, uint64_t before_unix_ns)
{
	struct pg *s = (struct pg *)db;
	char sql[900], name[PG_TEXT];
	struct tm tm = { 0 };
	long long day;
	int rc;

	snprintf(sql, sizeof(sql),
	    "SELECT right(name, 8) FROM (SELECT c.relname AS name,"
	    " (to_date(right(c.relname, 8), 'YYYYMMDD') -"
	    " date '1970-01-01')::bigint AS day FROM pg_inherits AS i JOIN"
	    " pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent ="
	    " 'record'::regclass) AS days WHERE day < %lld AND NOT EXISTS"
	    " (SELECT 1 FROM run WHERE id >= day << 32 AND id < (day + 1) << 32"
	    " AND (final = 0 OR created_unix_ns >= %lld))"
	    " ORDER BY day LIMIT 1",
	    (long long)(before_unix_ns / CLK_NS_PER_S / DAY_S),
	    (long long)before_unix_ns);
	rc = pg_exec(s, sql, name);
	if (rc < 0 || strptime(name, "%Y%m%d", &tm) == NULL)
		return rc;
	day = timegm(&tm) / DAY_S;
	snprintf(sql, sizeof(sql),
	    "SET LOCAL lock_timeout = '1s';"
	    "DROP TABLE record_%s, counters_%s;"
	    "DELETE FROM run WHERE id >= %lld AND id < %lld",
	    name, name, day << 32, (day + 1) << 32);
	rc = pg_exec_fenced(s, sql);
	return rc == 0 ? 1 : rc == -EBUSY ? 0 : rc;
}
