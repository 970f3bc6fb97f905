/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.c - the only place that interprets states of Slurm: which ones mean
 * idle, and which flags exclude a run.
 */
#include "daemon/slurm/slurm.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/member.h"
#include "common/hostlist.h"
#include "common/hostname.h"
#include "common/log.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/wire.h"

/* One line: the state of a list of nodes. */
struct row {
	char *state;     /* "idle*"; NULL: a reservation */
	char *partition; /* or the reservation's name */
	char *reason;
};

/* A node of a row; sorted by name. */
struct place {
	char *name;
	size_t row;
};

struct slurm_table {
	struct row *rows;
	size_t row_count;
	struct place *places;
	size_t place_count;
	struct hostname_set *hosts; /* the first of its entries */
};

void
slurm_options_read(const struct conf *c, struct slurm_options *ret)
{
	ret->site.dir = conf_string(c, "slurm", "dir");
	ret->site.conf = conf_string(c, "slurm", "conf");
	ret->idle = conf_bool(c, "slurm", "idle");
}

/* Takes the texts of row. */
static void
slurm_row_add(struct slurm_table *t, struct row row, const char *nodes)
{
	struct hostlist hl = { 0 };

	t->rows = xreallocarray(t->rows, t->row_count + 1, sizeof(t->rows[0]));
	t->rows[t->row_count] = row;
	if (hostlist_parse_max(nodes, SLURM_PLACES_MAX - t->place_count, &hl,
		NULL) == 0)
		for (size_t i = 0; i < hl.count; i++) {
			t->places = xmore(t->places, t->place_count,
			    sizeof(t->places[0]));
			t->places[t->place_count++] = (struct place){
				xstrdup(hl.names[i]), t->row_count
			};
		}
	hostlist_clear(&hl);
	t->row_count++;
}

/* Return the value of " NAME=" in a line of scontrol; the caller frees. */
static char *
slurm_value_of(const char *line, const char *name)
{
	size_t len = strlen(name);
	const char *at = line;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == line || at[-1] == ' ') && at[len] == '=')
			return xstrndup(at + len + 1,
			    strcspn(at + len + 1, " \n"));
		at += len;
	}
	return xstrdup("");
}

static int
slurm_place_compare(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->name,
	    ((const struct place *)b)->name);
}

/* Return the next line of sinfo, its reason without padding; NULL at the end.
 */
static char *
slurm_line_next(char **rest)
{
	char *line = *rest, *end = line;

	if (line == NULL || *line == '\0')
		return NULL;
	for (int i = 0; i < 3; i++) {
		end += strcspn(end, "|\n");
		end += *end == '|';
	}
	if (strnlen(end, SLURM_REASON_BYTES) == SLURM_REASON_BYTES &&
	    end[SLURM_REASON_BYTES] == '\n')
		end += SLURM_REASON_BYTES;
	else
		end += strcspn(end, "\n");
	*rest = *end == '\0' ? NULL : end + 1;
	while (end > line && end[-1] == ' ')
		end--;
	*end = '\0';
	return line;
}

struct slurm_table *
slurm_table_parse(const char *sinfo, const char *reservations)
{
	struct slurm_table *t = xcalloc(1, sizeof(*t));
	char *text = xstrdup(sinfo), *rest = text, *line;

	while ((line = slurm_line_next(&rest)) != NULL) {
		/* STATE|PARTITION|NODES|REASON */
		char *state = strsep(&line, "|");
		char *partition = strsep(&line, "|");
		char *nodes = strsep(&line, "|");

		if (nodes != NULL)
			slurm_row_add(t,
			    (struct row){ xstrdup(state), xstrdup(partition),
				xstrdup(line == NULL ? "" : line) },
			    nodes);
	}
	free(text);
	text = rest = xstrdup(reservations);
	while ((line = strsep(&rest, "\n")) != NULL) {
		struct row row = { .partition = slurm_value_of(line,
				       "ReservationName") };
		char *nodes = slurm_value_of(line, "Nodes");
		char *state = slurm_value_of(line, "State");

		if (row.partition[0] != '\0' && strcmp(state, "ACTIVE") == 0)
			slurm_row_add(t, row, nodes);
		else
			free(row.partition);
		free(nodes);
		free(state);
	}
	free(text);
	if (t->place_count > 0)
		qsort(t->places, t->place_count, sizeof(t->places[0]),
		    slurm_place_compare);
	t->hosts = hostname_set_new();
	for (size_t i = 0; i < t->place_count; i++)
		if (i == 0 ||
		    strcmp(t->places[i - 1].name, t->places[i].name) != 0)
			hostname_set_add(t->hosts, t->places[i].name, i);
	return t;
}

void
slurm_table_free(struct slurm_table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->row_count; i++) {
		free(t->rows[i].state);
		free(t->rows[i].partition);
		free(t->rows[i].reason);
	}
	for (size_t i = 0; i < t->place_count; i++)
		free(t->places[i].name);
	hostname_set_free(t->hosts);
	free(t->rows);
	free(t->places);
	free(t);
}

/* Flags follow the state: * no answer, ~ # % ! power, $ maintenance, @ ^
 * reboot, - planned for another job. Nodes of a reservation are idle for the
 * runs in it. */
static enum slurm_node
slurm_state_judge(const char *state, int in_reservation)
{
	static const struct {
		const char *state;
		enum slurm_node means, inside;
	} words[] = {
		{ "idle", SLURM_IDLE, SLURM_IDLE },
		{ "idle$", SLURM_HELD, SLURM_IDLE },
		{ "idle-", SLURM_HELD, SLURM_HELD },
		{ "idle~", SLURM_HELD, SLURM_HELD },
		{ "idle#", SLURM_HELD, SLURM_HELD },
		{ "reserved", SLURM_HELD, SLURM_IDLE },
		{ "maint", SLURM_HELD, SLURM_IDLE },
		{ "allocated", SLURM_HELD, SLURM_HELD },
		{ "allocated+", SLURM_HELD, SLURM_HELD },
		{ "allocated-", SLURM_HELD, SLURM_HELD },
		{ "allocated$", SLURM_HELD, SLURM_HELD },
		{ "mixed", SLURM_HELD, SLURM_HELD },
		{ "mixed-", SLURM_HELD, SLURM_HELD },
		{ "mixed$", SLURM_HELD, SLURM_HELD },
		{ "completing", SLURM_HELD, SLURM_HELD },
		{ "completing$", SLURM_HELD, SLURM_HELD },
		{ "planned", SLURM_HELD, SLURM_HELD },
		{ "blocked", SLURM_HELD, SLURM_HELD },
	};

	int i = STR_FIND(words, state);

	if (i < 0)
		return SLURM_OUT;
	return in_reservation ? words[i].inside : words[i].means;
}

enum slurm_node
slurm_table_look(const struct slurm_table *t, const char *node, int is_alone,
    const char *partition, const char *reservation, struct err *err)
{
	size_t lo = 0, hi = t->place_count;
	const struct row *row = NULL;
	enum slurm_node is;
	int reserved = 0;

	if (is_alone) {
		size_t at = hostname_set_find(t->hosts, node);

		if (at != HOSTNAME_NONE)
			node = t->places[at].name;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(t->places[mid].name, node) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Return the state from the rows of a node that match partition and
	 * reservation. */
	for (; lo < t->place_count && strcmp(t->places[lo].name, node) == 0;
	     lo++) {
		const struct row *at = &t->rows[t->places[lo].row];

		if (at->state == NULL)
			reserved |= strcmp(at->partition, reservation) == 0;
		else if (partition[0] == '\0' ||
		    strcmp(at->partition, partition) == 0)
			row = at;
	}
	if (row == NULL) {
		err_say(err, "%.60s is not in Slurm%s%.60s", node,
		    partition[0] == '\0' ? "" : "'s partition ", partition);
		return SLURM_OUT;
	}
	if (reservation[0] != '\0' && !reserved) {
		err_say(err, "%.60s is not in Slurm's reservation %.60s", node,
		    reservation);
		return SLURM_OUT;
	}
	is = slurm_state_judge(row->state, reserved);
	if (is != SLURM_IDLE)
		err_say(err, "%.60s is %.20s in Slurm%s%.80s", node, row->state,
		    strcmp(row->reason, "none") == 0 ? "" : ": ",
		    strcmp(row->reason, "none") == 0 ? "" : row->reason);
	return is;
}

struct slurm {
	struct event_base *base;
	struct slurm_options o;
	struct slurm_table *table; /* NULL: never answered */
	uint64_t asked_ns, read_ns;
	char *sinfo; /* its part of the answer, until the other arrives */
	char error[SLURM_TEXT_MAX];
	struct spawned *nodes_child, *job_child;
	char job[80];   /* the run of the current query */
	char waits[80]; /* the run whose turn is next; "": any */
	uint64_t job_ns;
	int64_t job_uid; /* user of the jobs; -1: any */
	json_t *jobs;    /* run: text, state, asked_ns */
};

struct slurm *
slurm_new(struct event_base *base, const struct slurm_options *o)
{
	struct slurm *s = xcalloc(1, sizeof(*s));

	s->base = base;
	s->o = *o;
	s->jobs = json_object();
	return s;
}

void
slurm_free(struct slurm *s)
{
	if (s == NULL)
		return;
	spawn_cancel(s->nodes_child);
	spawn_cancel(s->job_child);
	slurm_table_free(s->table);
	json_decref(s->jobs);
	free(s->sinfo);
	free(s);
}

int
slurm_wants_idle(const struct slurm *s)
{
	return s->o.idle;
}

static void
slurm_line_copy(char *ret, size_t cap_bytes, const char *text)
{
	snprintf(ret, cap_bytes, "%.*s", (int)strcspn(text, "\n"), text);
}

/* Log each new failure once. */
static void
slurm_failed(struct slurm *s, const char *program, int status, const char *out)
{
	char line[SLURM_TEXT_MAX / 2], text[SLURM_TEXT_MAX];

	slurm_line_copy(line, sizeof(line), out);
	snprintf(text, sizeof(text), "%s: exit %d%s%s", program, status,
	    line[0] == '\0' ? "" : ": ", line);
	if (strcmp(text, s->error) != 0)
		log_warnx("slurm: %s", text);
	memcpy(s->error, text, sizeof(s->error));
}

void
slurm_nodes_set(struct slurm *s, const char *sinfo, const char *reservations)
{
	slurm_table_free(s->table);
	s->table = slurm_table_parse(sinfo, reservations);
	s->read_ns = clk_ns();
	s->error[0] = '\0';
}

static void
slurm_reservations_cb(int status, const char *out, void *arg)
{
	struct slurm *s = arg;

	s->nodes_child = NULL;
	if (status == 0)
		slurm_nodes_set(s, s->sinfo, out);
	else
		slurm_failed(s, "scontrol", status, out);
	free(s->sinfo);
	s->sinfo = NULL;
}

/* An answer that was cut off could end within a node's name. */
static void
slurm_sinfo_cb(int status, const char *out, void *arg)
{
	char o[] = "-o", show[] = "show", reservation[] = "reservation";
	char *words[] = { o, show, reservation, NULL };
	struct slurm *s = arg;

	s->nodes_child = NULL;
	if (status != 0 || strlen(out) >= SPAWN_OUT_MAX) {
		slurm_failed(s, "sinfo", status, out);
		return;
	}
	s->sinfo = xstrdup(out);
	s->nodes_child = slurm_call(s->base, &s->o.site, "scontrol", words,
	    slurm_reservations_cb, s);
	if (s->nodes_child != NULL)
		return;
	slurm_failed(s, "scontrol", 127, strerror(errno));
	free(s->sinfo);
	s->sinfo = NULL;
}

void
slurm_nodes_ask(struct slurm *s)
{
	char h[] = "-h", o[] = "-o", format[] = SLURM_SINFO_FORMAT;
	char *words[] = { h, o, format, NULL };
	uint64_t now_ns = clk_ns();

	if (s->base == NULL || s->nodes_child != NULL ||
	    (s->asked_ns != 0 && now_ns - s->asked_ns < SLURM_FRESH_NS))
		return;
	s->asked_ns = now_ns;
	s->nodes_child = slurm_call(s->base, &s->o.site, "sinfo", words,
	    slurm_sinfo_cb, s);
	if (s->nodes_child == NULL)
		slurm_failed(s, "sinfo", 127, strerror(errno));
}

static int
slurm_is_fresh(const struct slurm *s)
{
	return s->table != NULL && clk_ns() - s->read_ns < SLURM_FRESH_NS;
}

int
slurm_nodes_known(const struct slurm *s)
{
	return slurm_is_fresh(s) || s->error[0] != '\0';
}

enum slurm_node
slurm_node_look(const struct slurm *s, const char *node, int is_alone,
    const char *partition, const char *reservation, struct err *err)
{
	if (slurm_is_fresh(s))
		return slurm_table_look(s->table, node, is_alone, partition,
		    reservation, err);
	if (s->error[0] != '\0')
		err_say(err, "Slurm does not report idle nodes: %s", s->error);
	else
		err_say(err, "Slurm has not reported idle nodes yet");
	return SLURM_HELD;
}

/* "ID|STATE|UID|REASON", a line for each job of that name: any user may have
 * some. */
void
slurm_job_set(struct slurm *s, const char *run, int64_t uid, uint64_t asked_ns,
    const char *squeue)
{
	char line[SLURM_TEXT_MAX], text[SLURM_TEXT_MAX + 40] = "";
	const char *id = NULL, *state = NULL;
	char *rest = NULL;

	for (; state == NULL && *squeue != '\0';
	     squeue += strcspn(squeue, "\n"), squeue += *squeue == '\n') {
		const char *owner;
		int64_t n;

		slurm_line_copy(line, sizeof(line), squeue);
		rest = line;
		id = strsep(&rest, "|");
		state = strsep(&rest, "|");
		owner = strsep(&rest, "|");
		if (uid >= 0 &&
		    (owner == NULL ||
			str_to_int(owner, 0, UINT32_MAX, &n) < 0 || n != uid))
			state = NULL;
	}
	if (state != NULL)
		snprintf(text, sizeof(text), "job %s is %s%s%s", id, state,
		    rest == NULL || strcmp(rest, "None") == 0 ? "" : ", ",
		    rest == NULL || strcmp(rest, "None") == 0 ? "" : rest);
	json_object_set_new(s->jobs, run,
	    json_pack("{s:o, s:o, s:I}", "text", text_json(text), "state",
		text_json(state == NULL ? "" : state), "asked_ns",
		(json_int_t)asked_ns));
}

static void
slurm_job_cb(int status, const char *out, void *arg)
{
	char line[SLURM_TEXT_MAX];
	struct slurm *s = arg;

	s->job_child = NULL;
	if (status == 0) {
		slurm_job_set(s, s->job, s->job_uid, s->job_ns, out);
		return;
	}
	slurm_line_copy(line, sizeof(line), out);
	log_warnx("slurm: squeue: exit %d: %s", status, line);
}

void
slurm_job_ask(struct slurm *s, const char *run, int64_t uid)
{
	char h[] = "-h", t[] = "-tall", o[] = "-o", format[] = "%i|%T|%U|%r";
	char name[120], *words[] = { h, t, o, format, name, NULL };
	uint64_t now_ns = clk_ns();

	if (s->base == NULL)
		return;
	/* Callers query runs in the same order each time. So a run that had to
	 * wait is next, unless it is not queried any more. */
	if (s->job_child != NULL || now_ns - s->job_ns < SLURM_JOB_NS ||
	    (s->waits[0] != '\0' && strcmp(s->waits, run) != 0 &&
		now_ns - s->job_ns < 3 * SLURM_JOB_NS)) {
		if (s->waits[0] == '\0' && strcmp(s->job, run) != 0)
			snprintf(s->waits, sizeof(s->waits), "%s", run);
		return;
	}
	s->waits[0] = '\0';
	s->job_ns = now_ns;
	s->job_uid = uid;
	snprintf(s->job, sizeof(s->job), "%s", run);
	snprintf(name, sizeof(name), "--name=" WIRE_JOB_PREFIX "%s", s->job);
	s->job_child = slurm_call(s->base, &s->o.site, "squeue", words,
	    slurm_job_cb, s);
}

static const char *
slurm_job_get(const struct slurm *s, const char *run, const char *key)
{
	return member_text_or(json_object_get(s->jobs, run), key, NULL);
}

const char *
slurm_job_text(const struct slurm *s, const char *run)
{
	const char *text = slurm_job_get(s, run, "text");

	return text == NULL ? "" : text;
}

const char *
slurm_job_state(const struct slurm *s, const char *run, uint64_t since_ns)
{
	json_t *asked_ns = json_object_get(json_object_get(s->jobs, run),
	    "asked_ns");

	if ((uint64_t)json_integer_value(asked_ns) < since_ns)
		return NULL;
	return slurm_job_get(s, run, "state");
}

static void
slurm_ended_cb(int status, const char *out, void *arg)
{
	char line[SLURM_TEXT_MAX];

	(void)arg;
	slurm_line_copy(line, sizeof(line), out);
	if (status != 0)
		log_warnx("slurm: scancel: exit %d: %s", status, line);
}

void
slurm_job_end(struct slurm *s, const char *run)
{
	char name[120], *words[] = { name, NULL };

	json_object_del(s->jobs, run);
	if (s->base == NULL)
		return;
	snprintf(name, sizeof(name), "--name=" WIRE_JOB_PREFIX "%.80s", run);
	if (slurm_call(s->base, &s->o.site, "scancel", words, slurm_ended_cb,
		NULL) == NULL)
		log_warn("slurm: scancel");
}

static char path_env[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
static char locale_env[] = "LC_ALL=C";
static char zone_env[] = "TZ=UTC0";

struct spawned *
slurm_call(struct event_base *base, const struct slurm_site *site,
    const char *program, char *const *words, spawn_cb *cb, void *arg)
{
	char path[4100], conf[4100], *argv[SLURM_WORDS_MAX + 2] = { path };
	char *env[] = { path_env, locale_env, zone_env, conf, NULL };
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", site->dir, program);
	snprintf(conf, sizeof(conf), "SLURM_CONF=%s", site->conf);
	if (site->conf[0] == '\0')
		env[3] = NULL;
	for (i = 0; words[i] != NULL; i++) {
		assert(i < SLURM_WORDS_MAX);
		argv[i + 1] = words[i];
	}
	return spawn_start(base, argv, env, cb, arg);
}
