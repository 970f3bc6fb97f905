/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - send events to the site: CloudEvents by webhook, NATS or Kafka,
 * and alerts to Alertmanager's webhooks.
 *
 * The store's events are the outbox. An event is written in the same
 * transaction as the change that it reports. Each sink reads them in order, and
 * its position is stored. Each event reaches each sink at least once, with the
 * same id each time, or is counted as refused or expired. Everything here is
 * called by the loop.
 */
#ifndef DAEMON_EVENTS_EVENTS_H
#define DAEMON_EVENTS_EVENTS_H

#include <jansson.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "daemon/store/store.h"

struct events;

/* State of one sink, for metrics and health checks. */
struct events_sink {
	char name[100]; /* "nats n1:4222", without secrets */
	uint64_t sent, refused, expired, failures; /* since the start */
	uint64_t oldest_unix_ns; /* the oldest waiting event; 0: none */
	char error[200];         /* "" if the last attempt succeeded */
};

/* Open the sinks of a configuration; *ret is NULL if it has none. Return 0, or
 * -errno with the invalid option or the missing plugin in err. */
int events_open(const struct conf *c, struct store *st, struct events **ret,
    struct err *err);
/* The functions below allow e NULL. */
/* Load positions from the answer of STORE_SETTINGS; nothing is sent earlier. */
void events_load(struct events *e, const json_t *settings);
/* Pass new events of the store to the sinks; call it periodically. */
void events_tick(struct events *e);
/* Store and send an event. If the store rejects writes, the event is sent once
 * anyway, because it may report just that. */
void events_tell(struct events *e, const struct store_event *event);
/* Return the number of sinks; the state of one of them. */
size_t events_count(const struct events *e);
void events_look(struct events *e, size_t at, struct events_sink *ret);
/* Return the age of a waiting event from which its sink is behind. */
uint64_t events_behind_ns(const struct events *e);
/* End the threads and store the positions; then the store may be closed. */
void events_stop(struct events *e);
void events_free(struct events *e);

#endif
