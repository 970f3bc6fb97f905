/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what happened, told to the site's bus: CloudEvents by webhook,
 * NATS or Kafka, and alerts to Alertmanager's webhooks.
 *
 * The store's events are the outbox: written in the transaction of what they
 * tell, read in their order by each sink, whose position is kept in the store.
 * Each event reaches each sink at least once, with the same id each time, or
 * is counted as refused or expired. Everything here is called by the loop.
 */
#ifndef DAEMON_EVENTS_EVENTS_H
#define DAEMON_EVENTS_EVENTS_H

#include <jansson.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "daemon/store/store.h"

struct events;

/* Of one sink, for metrics and diagnoses. */
struct events_sink {
	char name[100]; /* "nats n1:4222", without what is secret */
	uint64_t sent, refused, expired, failures; /* since the start */
	uint64_t oldest_unix_ns; /* of what waits; 0: nothing does */
	char error[200];         /* "" while it takes what it is sent */
};

/* *ret is NULL where the configuration names no sink. err names the option that
 * is wrong, or the plugin that is not there. */
int events_open(const struct conf *c, struct store *st, struct events **ret,
    struct err *err);
/* All of these allow NULL. */
/* Positions, out of STORE_SETTINGS. Before, nothing is sent. */
void events_load(struct events *e, const json_t *settings);
void events_tick(struct events *e);
/* Stored and sent; sent all the same, once, where the store takes no writes:
 * that is what it may tell. */
void events_tell(struct events *e, const struct store_event *event);
size_t events_count(const struct events *e);
void events_look(struct events *e, size_t at, struct events_sink *ret);
/* Longer than this, and a sink is behind. */
uint64_t events_behind_ns(const struct events *e);
/* Threads end, positions are stored; then the store may be closed. */
void events_stop(struct events *e);
void events_free(struct events *e);

#endif
