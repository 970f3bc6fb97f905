/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - the outbox: the sinks, their positions, and pages of the store's
 * events for their threads.
 *
 * A page is read when the thread has none. So an unreachable sink costs one
 * page of memory, and the store keeps the rest.
 */
#include "daemon/events/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/plugin.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/events/sink_int.h"

#define SINKS_MAX   16
#define PAGE_ROWS   200
#define POSITION_NS CLK_NS_PER_S /* minimum interval of storing a position */

/* A sink, for the loop. */
struct feed {
	struct events *all;
	struct sink *sink;
	char name[100]; /* "nats n1:4222" */
	char *to;
	char key[120]; /* of the setting with its position */
	const char *only;
	int asking;           /* a page is on its way */
	int begun;            /* its position is known */
	int64_t read_id;      /* the last one passed to the thread */
	int64_t stored_id;    /* the stored position */
	uint64_t stored_ns;   /* and since when */
	uint64_t looked_rows; /* rows of the store when nothing was new */
};

struct events {
	struct store *store;
	char *source;
	uint64_t keep_ns, behind_ns;
	struct feed feeds[SINKS_MAX];
	size_t count;
	int loaded;
};

/* The options that define sinks. */
static const struct feed_row {
	const char *section, *key, *kind;
	const struct sink_ops *ops; /* NULL: a plugin */
	int each;         /* each address of the list is a separate sink */
	const char *only; /* the only kind of events that it gets */
} feed_rows[] = {
	{ "alerts", "webhook", "alerts", &sink_alerts, 1, "alert" },
	{ "events", "webhook", "webhook", &sink_webhook, 1, NULL },
	{ "events", "nats", "nats", NULL, 0, NULL },
	{ "events", "kafka", "kafka", NULL, 0, NULL },
};

/* Write the kind and the first host: a user before "@" and a path after "/"
 * stay private. Names are unique, and stay when other sinks change. */
static void
events_feed_name(struct feed *f, const char *kind, const char *to)
{
	const char *host = strstr(to, "://"), *at;
	size_t len;

	host = host == NULL ? to : host + 3;
	len = strcspn(host, "/,?#");
	at = memrchr(host, '@', len); /* a password may have one */
	if (at != NULL) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	str_format(f->name, sizeof(f->name), "%s %.*s", kind,
	    (int)(len > 70 ? 70 : len), host);
	for (const struct feed *o = f->all->feeds; o < f; o++)
		if (strcmp(o->name, f->name) == 0)
			str_format(f->name, sizeof(f->name), "%s %08lx", kind,
			    crc32(0, (const Bytef *)to, (uInt)strlen(to)));
	str_format(f->key, sizeof(f->key), "events/%s", f->name);
}

static int
events_feed_open(struct events *e, const struct conf *c,
    const struct feed_row *row, const char *to, struct err *err)
{
	const struct sink_ops *ops = row->ops;
	struct feed *f = &e->feeds[e->count];
	struct err reason = { 0 };
	struct sink_start start;
	char plugin[40];
	int rc = 0;

	if (e->count == SINKS_MAX)
		return err_set(err, -EINVAL, "%s: more than %d sinks",
		    conf_where(c, row->section, row->key), SINKS_MAX);
	*f = (struct feed){ .all = e,
		.only = row->only,
		.looked_rows = UINT64_MAX };
	events_feed_name(f, row->kind, to);
	if (ops == NULL) {
		str_format(plugin, sizeof(plugin), "sink-%s", row->kind);
		ops = plugin_find(plugin, SINK_ENTRY, SINK_ABI, &reason);
		rc = ops == NULL || ops->ops_bytes != sizeof(*ops) ? -ENOENT
								   : 0;
	}
	if (rc == 0) {
		f->to = xstrdup(to);
		start = (struct sink_start){ .ops = ops,
			.name = f->name,
			.source = e->source,
			.only = row->only,
			.keep_ns = e->keep_ns,
			.options = { .to = f->to,
			    .topic = conf_string(c, "events", "topic"),
			    .ca = conf_string(c, "events", "ca"),
			    .cert = conf_string(c, "events", "cert"),
			    .key = conf_string(c, "events", "key"),
			    .credentials = conf_string(c, "events",
				"nats_credentials"),
			    .properties = conf_string(c, "events",
				"kafka_properties"),
			    .page = conf_string(c, "alerts", "page") } };
		rc = sink_open(&start, &f->sink, &reason);
	}
	if (rc < 0) {
		free(f->to);
		return err_set(err, rc, "%s: %s.%s: %s",
		    conf_where(c, row->section, row->key), row->section,
		    row->key, reason.text);
	}
	e->count++;
	return 0;
}

static int
events_feeds_open(struct events *e, const struct conf *c, struct err *err)
{
	int rc = 0;

	for (const struct feed_row *row = feed_rows;
	     rc == 0 && row < feed_rows + ARRAY_LEN(feed_rows); row++) {
		const char *text = conf_string(c, row->section, row->key);
		size_t count = 0;
		char **list;

		if (!row->each) {
			if (text[0] != '\0')
				rc = events_feed_open(e, c, row, text, err);
			continue;
		}
		list = str_list_parse(text, &count);
		for (size_t i = 0; rc == 0 && i < count; i++)
			rc = events_feed_open(e, c, row, list[i], err);
		str_list_free(list);
	}
	return rc;
}

int
events_open(const struct conf *c, struct store *st, struct events **ret,
    struct err *err)
{
	const char *source = conf_string(c, "events", "source");
	const char *cluster = conf_string(c, "cluster", "name");
	struct events *e = xcalloc(1, sizeof(*e));
	char host[256] = "";
	int rc;

	(void)gethostname(host, sizeof(host) - 1);
	e->store = st;
	e->source = source[0] != '\0'
	    ? xstrdup(source)
	    : xasprintf("/coalmine/%s", cluster[0] != '\0' ? cluster : host);
	e->keep_ns = conf_span_ns(c, "events", "keep");
	e->behind_ns = conf_span_ns(c, "events", "behind");
	rc = events_feeds_open(e, c, err);
	if (rc < 0 || e->count == 0) {
		events_stop(e);
		events_free(e);
		e = NULL;
	}
	*ret = e;
	return rc;
}

/* A new sink does not get events from before it was configured. */
static void
events_newest_cb(int status, json_t *rows, void *arg)
{
	struct feed *f = arg;
	char text[32];

	f->asking = 0;
	if (status == 0 && f->sink != NULL) {
		f->begun = 1;
		f->read_id = f->stored_id = member_int(json_array_get(rows, 0),
		    "id");
		sink_position_set(f->sink, f->read_id);
		str_format(text, sizeof(text), "%lld", (long long)f->read_id);
		store_put_setting(f->all->store, f->key, text, NULL, NULL);
	}
	json_decref(rows);
}

static void
events_page_cb(int status, json_t *rows, void *arg)
{
	struct feed *f = arg;
	size_t count = json_array_size(rows);

	f->asking = 0;
	if (status < 0 || count == 0 || f->sink == NULL) {
		if (status < 0) /* it is requested again */
			f->looked_rows = UINT64_MAX;
		json_decref(rows);
		return;
	}
	f->looked_rows = UINT64_MAX; /* there may be more */
	f->read_id = member_int(json_array_get(rows, count - 1), "id");
	sink_give(f->sink, rows);
}

static void
events_feed_ask(struct feed *f, uint64_t rows_total)
{
	json_t *args;

	if (f->asking || !sink_has_room(f->sink))
		return;
	if (!f->begun) {
		args = json_pack("{s:i}", "limit", 1);
		store_ask(f->all->store, STORE_EVENTS, args, events_newest_cb,
		    f);
	} else if (rows_total != f->looked_rows) {
		args = json_pack("{s:I, s:i, s:i, s:s*}", "after_id",
		    (json_int_t)f->read_id, "limit", PAGE_ROWS, "body", 1,
		    "kind", f->only);
		f->looked_rows = rows_total;
		store_ask(f->all->store, STORE_EVENTS, args, events_page_cb, f);
	} else {
		return;
	}
	f->asking = 1;
	json_decref(args);
}

static void
events_position_store(struct feed *f, int64_t id)
{
	char text[32];

	if (!f->begun || id == f->stored_id)
		return;
	f->stored_id = id;
	f->stored_ns = clk_ns();
	str_format(text, sizeof(text), "%lld", (long long)id);
	store_put_setting(f->all->store, f->key, text, NULL, NULL);
}

void
events_load(struct events *e, const json_t *settings)
{
	if (e == NULL)
		return;
	for (struct feed *f = e->feeds; f < e->feeds + e->count; f++) {
		const char *text = member_text(settings, f->key);

		if (str_to_int(text, 0, INT64_MAX, &f->read_id) == 0) {
			f->begun = 1;
			f->stored_id = f->read_id;
			sink_position_set(f->sink, f->read_id);
		}
		events_feed_ask(f, 0);
	}
	e->loaded = 1;
}

void
events_tick(struct events *e)
{
	uint64_t now_ns = clk_ns();
	struct store_health health;

	if (e == NULL || !e->loaded)
		return;
	store_health(e->store, &health);
	for (struct feed *f = e->feeds; f < e->feeds + e->count; f++) {
		if (now_ns - f->stored_ns >= POSITION_NS)
			events_position_store(f, sink_position(f->sink));
		events_feed_ask(f, health.rows_total);
	}
}

/* The sink that waits for the store's answer. */
struct telling {
	struct events *all;
	json_t *row;
};

static void
events_told_cb(int status, json_t *result, void *arg)
{
	struct telling *t = arg;
	struct events *e = t->all;

	json_decref(result);
	for (size_t i = 0; status < 0 && i < e->count; i++)
		if (e->feeds[i].sink != NULL)
			sink_give_unstored(e->feeds[i].sink,
			    json_deep_copy(t->row));
	json_decref(t->row);
	free(t);
}

void
events_tell(struct events *e, const struct store_event *event)
{
	struct telling *t;

	if (e == NULL)
		return;
	t = xcalloc(1, sizeof(*t));
	t->all = e;
	t->row = json_pack("{s:s, s:o, s:o, s:I, s:O*}", "kind", event->kind,
	    "subject", text_json(event->subject), "text",
	    text_json(event->text), "at_unix_ns", (json_int_t)clk_unix_ns(),
	    "body", (json_t *)(uintptr_t)event->body);
	store_tell(e->store, event, events_told_cb, t);
}

size_t
events_count(const struct events *e)
{
	return e == NULL ? 0 : e->count;
}

void
events_look(struct events *e, size_t at, struct events_sink *ret)
{
	sink_look(e->feeds[at].sink, ret);
}

uint64_t
events_behind_ns(const struct events *e)
{
	return e->behind_ns;
}

void
events_stop(struct events *e)
{
	if (e == NULL)
		return;
	for (struct feed *f = e->feeds; f < e->feeds + e->count; f++) {
		struct sink *s = f->sink;

		f->sink = NULL; /* answers of the store arrive later */
		events_position_store(f, sink_close(s));
	}
}

void
events_free(struct events *e)
{
	if (e == NULL)
		return;
	for (struct feed *f = e->feeds; f < e->feeds + e->count; f++)
		free(f->to);
	free(e->source);
	free(e);
}
