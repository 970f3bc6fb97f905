/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox over a real store, with sinks that fail on demand: every event
 * once and in order, despite failures and restarts; events that can never be
 * sent are dropped and counted; events that the store rejects are still sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/events/events.c"
#include "daemon/events/sink.c"
#include "schema/options.h"
#include "tests/unit/daemon/store/store_fix.h"

/* Requests to the fake webhook, and its behaviour. */
static struct {
	pthread_mutex_t lock;
	json_t *got; /* events, parsed */
	int fails;   /* this many of the next calls fail */
	size_t most; /* events that a call accepts before it fails */
} hook = { .lock = PTHREAD_MUTEX_INITIALIZER };
static json_t *alerts_got;

static int
hook_open(const struct sink_options *o, void **ret, struct err *err)
{
	if (strstr(o->to, "bad") != NULL)
		return err_set(err, -EINVAL, "bad address");
	*ret = &hook;
	return 0;
}

static int
hook_send(void *sink, const struct sink_event *events, size_t count,
    size_t *ret_taken, struct err *err)
{
	int rc = 0;

	(void)sink;
	pthread_mutex_lock(&hook.lock);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		json_t *o = json_loads(events[i].text, 0, NULL);

		assert_non_null(o);
		assert_string_equal(events[i].id, member_text(o, "id"));
		if (strcmp(events[i].subject, "poison") == 0)
			rc = err_set(err, -EPROTO, "never");
		else if (hook.fails > 0 && i == hook.most)
			rc = err_set(err, -EIO, "away");
		if (rc == 0)
			json_array_append(hook.got, o);
		*ret_taken += rc == 0;
		json_decref(o);
	}
	hook.fails -= rc == -EIO;
	pthread_mutex_unlock(&hook.lock);
	return rc;
}

static void
hook_close(void *sink)
{
	(void)sink;
}

static int
hook_alerts_send(void *sink, const struct sink_event *events, size_t count,
    size_t *ret_taken, struct err *err)
{
	(void)sink;
	(void)err;
	pthread_mutex_lock(&hook.lock);
	for (size_t i = 0; i < count; i++)
		json_array_append(alerts_got,
		    (json_t *)(uintptr_t)events[i].body);
	*ret_taken = count;
	pthread_mutex_unlock(&hook.lock);
	return 0;
}

const struct sink_ops sink_webhook = { SINK_ABI, sizeof(struct sink_ops),
	"webhook", hook_open, hook_send, hook_close };
const struct sink_ops sink_alerts = { SINK_ABI, sizeof(struct sink_ops),
	"alerts", hook_open, hook_alerts_send, hook_close };

/* A collector with two sinks. */
struct site {
	struct fix f;
	struct conf *conf;
	struct events *events;
};

static int
got_count(void)
{
	int n;

	pthread_mutex_lock(&hook.lock);
	n = (int)json_array_size(hook.got);
	pthread_mutex_unlock(&hook.lock);
	return n;
}

/* Run the loop, and the outbox, until this many have arrived. */
static void
site_wait(struct site *s, int want)
{
	struct timeval slice = { .tv_usec = 10000 };
	uint64_t end_ns = clk_ns() + WAIT_NS;

	while (got_count() < want && clk_ns() < end_ns) {
		events_tick(s->events);
		event_base_loopexit(s->f.base, &slice);
		event_base_dispatch(s->f.base);
	}
	assert_int_equal(got_count(), want);
}

/* Wait until its positions are known: later events are sent. */
static void
site_begin(struct site *s)
{
	struct timeval slice = { .tv_usec = 10000 };
	struct err err;
	json_t *settings;

	fix_open(&s->f);
	assert_int_equal(events_open(s->conf, s->f.st, &s->events, &err), 0);
	settings = fix_ask(&s->f, STORE_SETTINGS, json_object(), 0);
	events_load(s->events, settings);
	json_decref(settings);
	for (size_t i = 0; i < s->events->count; i++)
		while (!s->events->feeds[i].begun) {
			events_tick(s->events);
			event_base_loopexit(s->f.base, &slice);
			event_base_dispatch(s->f.base);
		}
}

static void
site_end(struct site *s)
{
	events_stop(s->events);
	store_close(s->f.st);
	events_free(s->events);
	s->f.st = NULL;
	s->events = NULL;
}

static int
setup(void **state)
{
	struct site *s = xcalloc(1, sizeof(*s));
	struct err err;

	fix_folder(&s->f);
	assert_int_equal(conf_parse(options_daemon, "test",
			     "[events]\nwebhook = http://u:secret@h:80/p?t=1\n"
			     "[cluster]\nname = a\n"
			     "[alerts]\nwebhook = http://am:9093/\n",
			     &s->conf, &err),
	    0);
	hook.got = json_array();
	alerts_got = json_array();
	hook.fails = 0;
	*state = s;
	return 0;
}

static int
teardown(void **state)
{
	struct site *s = *state;

	if (s->events != NULL)
		site_end(s);
	fix_close(&s->f);
	conf_free(s->conf);
	json_decref(hook.got);
	json_decref(alerts_got);
	free(s);
	return 0;
}

static void
assert_in_order(int first, int count)
{
	char subject[24];

	for (int i = 0; i < count; i++) {
		snprintf(subject, sizeof(subject), "n%d", first + i);
		assert_string_equal(member_text(json_array_get(hook.got,
						    (size_t)i),
					"subject"),
		    subject);
	}
}

static void
put_events(struct site *s, int first, int count)
{
	char subject[24];

	for (int i = first; i < first + count; i++) {
		snprintf(subject, sizeof(subject), "n%d", i);
		store_put_event(s->f.st, "agent", subject, "is lost");
	}
}

static void
test_once_and_in_order(void **state)
{
	struct site *s = *state;
	struct events_sink look;
	json_t *o;

	site_begin(s);
	hook.fails = 2;
	hook.most = 7;
	put_events(s, 0, 450);
	site_wait(s, 450);
	assert_in_order(0, 450);
	assert_int_equal(hook.fails, 0);
	events_look(s->events, 1, &look);
	assert_string_equal(look.name, "webhook h:80"); /* no secret */
	assert_int_equal(look.sent, 450);
	assert_int_equal(look.failures, 2);
	assert_string_equal(look.error, "");
	o = json_array_get(hook.got, 0);
	assert_string_equal(member_text(o, "specversion"), "1.0");
	assert_string_equal(member_text(o, "source"), "/coalmine/a");
	assert_string_equal(member_text(o, "type"), "coalmine.agent");
	assert_string_equal(member_text(json_object_get(o, "data"), "message"),
	    "is lost");
	assert_int_equal(json_array_size(alerts_got), 0);
}

/* After a clean end no event is sent twice, and no event of the time between is
 * lost. */
static void
test_positions_last(void **state)
{
	struct site *s = *state;

	fix_open(&s->f);
	put_events(s, 1000, 5); /* before the sink was configured */
	store_close(s->f.st);
	site_begin(s);
	put_events(s, 0, 10);
	site_wait(s, 10);
	site_end(s);
	fix_open(&s->f);
	put_events(s, 10, 10); /* the bus was not configured */
	store_close(s->f.st);
	site_begin(s);
	put_events(s, 20, 5);
	site_wait(s, 25);
	assert_in_order(0, 25);
}

/* A sink that is away at the end: the rest comes after the start. */
static void
test_ends_while_away(void **state)
{
	struct site *s = *state;
	struct events_sink look;

	site_begin(s);
	hook.fails = INT_MAX;
	hook.most = 3;
	put_events(s, 0, 10);
	site_wait(s, 3);
	do
		events_look(s->events, 1, &look);
	while (look.error[0] == '\0');
	assert_string_equal(look.error, "away");
	assert_true(look.oldest_unix_ns != 0);
	site_end(s);
	hook.fails = 0;
	site_begin(s);
	site_wait(s, 10);
	assert_in_order(0, 10);
}

static uint64_t
tomorrow(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * CLK_NS_PER_S + DAY_NS;
}

static void
test_left_out(void **state)
{
	struct site *s = *state;
	struct events_sink look;

	site_begin(s);
	put_events(s, 0, 3);
	store_put_event(s->f.st, "agent", "poison", "");
	put_events(s, 3, 3);
	site_wait(s, 6);
	assert_in_order(0, 6);
	events_look(s->events, 1, &look);
	assert_int_equal(look.refused, 1);
	assert_int_equal(look.expired, 0);
	s->events->feeds[1].sink->start.keep_ns = 3600 * CLK_NS_PER_S;
	/* A step of the clock does not age what waits. */
	clk_set_source(NULL, tomorrow);
	sink_give(s->events->feeds[1].sink,
	    json_pack("[{s:i,s:I,s:s,s:s}]", "id", 7, "at_unix_ns",
		(json_int_t)(clk_unix_ns() - DAY_NS), "kind", "run", "subject",
		"n6"));
	site_wait(s, 7);
	clk_set_source(NULL, NULL);
	/* A page of yesterday's, and one of now. */
	sink_give(s->events->feeds[1].sink,
	    json_pack("[{s:i,s:I,s:s,s:s}, {s:i,s:I,s:s,s:s}]", "id", 8,
		"at_unix_ns", (json_int_t)(clk_unix_ns() - DAY_NS), "kind",
		"run", "subject", "old", "id", 9, "at_unix_ns",
		(json_int_t)clk_unix_ns(), "kind", "run", "subject", "n7"));
	site_wait(s, 8);
	assert_in_order(0, 8);
	events_look(s->events, 1, &look);
	assert_int_equal(look.expired, 1);
}

/* Alerts are sent to Alertmanager too; also while the store is broken. */
static void
test_alerts(void **state)
{
	struct site *s = *state;
	json_t *body = json_pack("{s:s}", "status", "firing");
	struct store_event e = { "alert", "n0", "firing", body };
	struct telling *t;

	site_begin(s);
	events_tell(s->events, &e);
	site_wait(s, 1);
	t = xcalloc(1, sizeof(*t));
	t->all = s->events;
	t->row = json_pack("{s:s, s:s, s:s, s:I, s:O}", "kind", "alert",
	    "subject", "n1", "text", "", "at_unix_ns",
	    (json_int_t)clk_unix_ns(), "body", body);
	events_told_cb(-ENOSPC, NULL, t);
	site_wait(s, 2);
	assert_in_order(0, 2);
	/* It moves no position. */
	put_events(s, 2, 1);
	site_wait(s, 3);
	site_end(s);
	assert_int_equal(json_array_size(alerts_got), 2);
	assert_string_equal(member_text(json_array_get(alerts_got, 1),
				"status"),
	    "firing");
	json_decref(body);
}

static void
test_refused_at_start(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "[events]\nwebhook = http://bad/\n", "bad address" },
		{ "[events]\nnats = n1\n", "coalmine-sink-nats" },
	};
	struct site *s = *state;

	fix_open(&s->f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct events *e = (struct events *)s;
		struct conf *c;
		struct err err;

		assert_int_equal(conf_parse(options_daemon, "test",
				     rows[i].text, &c, &err),
		    0);
		assert_true(events_open(c, s->f.st, &e, &err) < 0);
		assert_null(e);
		assert_non_null(strstr(err.text, rows[i].want));
		assert_non_null(strstr(err.text, "test:2"));
		conf_free(c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once_and_in_order, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_positions_last, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_ends_while_away, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alerts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_at_start, setup,
		    teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
