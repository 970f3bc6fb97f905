/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - the interface of a kind of sink: calls that deliver events in order
 * and return how many were accepted. webhook is part of the collector; nats and
 * kafka are plugins, coalmine-sink-NAME.so in the folder of the other helpers,
 * which export one symbol, SINK_ENTRY.
 *
 * A sink's thread makes all calls except open and close. The calls do not retry
 * for long: the thread does, and knows when to end.
 */
#ifndef DAEMON_EVENTS_SINK_H
#define DAEMON_EVENTS_SINK_H

#include <stdatomic.h>
#include <stddef.h>

#include "common/err.h"

#define SINK_ABI   1 /* changes with anything below */
#define SINK_ENTRY "coalmine_sink"

/* Texts live as long as the sink. "": not given. */
struct sink_options {
	const char *to;    /* an address, or several separated by commas */
	const char *topic; /* topic, or the first part of subjects */
	const char *ca, *cert, *key; /* files, PEM */
	const char *credentials;     /* nats: a file */
	const char *properties;      /* kafka: a file */
	const char *page; /* address of the collector's page, for links */
	const atomic_int *stopping; /* calls end soon when it is set */
};

struct json_t;

/* An event to deliver. */
struct sink_event {
	const char *id;      /* does not change when sent again */
	const char *kind;    /* a name in names_events */
	const char *subject; /* a node or run: its events stay in order */
	const char *text;    /* CloudEvents, JSON */
	size_t text_bytes;
	const struct json_t *body; /* or NULL; for sinks of the collector */
};

/* The calls of a kind of sink. */
struct sink_ops {
	int abi;
	size_t ops_bytes;
	const char *name;
	/* Does not connect. err names the invalid option. */
	int (*open)(const struct sink_options *o, void **ret, struct err *err);
	/* *ret_taken: how many events, from the first on, were accepted, also
	 * on failure. Return 0 if all were, else -errno with err: -EPROTO if
	 * the next one is permanently rejected. */
	int (*send)(void *sink, const struct sink_event *events, size_t count,
	    size_t *ret_taken, struct err *err);
	void (*close)(void *sink);
};

/* Entry of a plugin; returns NULL for another ABI. */
typedef const struct sink_ops *sink_entry_fn(int abi);

extern const struct sink_ops sink_webhook; /* one event a request */
extern const struct sink_ops sink_alerts;  /* Alertmanager's webhooks */

/* Content-Type, in every binding. */
#define SINK_CONTENT_TYPE "application/cloudevents+json; charset=UTF-8"

#endif
