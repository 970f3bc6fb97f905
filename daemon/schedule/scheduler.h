/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - starts campaigns when they are due, and says so when it
 * could not.
 *
 * "schedule/NAME" = on|off (by order) and "due/NAME" (the next start) are
 * settings in the store, so both survive a restart: a start that fell into a
 * time without a collector is recorded as missed.
 */
#ifndef DAEMON_SCHEDULE_SCHEDULER_H
#define DAEMON_SCHEDULE_SCHEDULER_H

#include <jansson.h>
#include <stdint.h>

struct campaign;
struct campaigns;

struct scheduler;
struct runs;
struct store;

struct scheduler *scheduler_new(struct campaigns *campaigns, struct runs *runs,
    struct store *store);
void scheduler_free(struct scheduler *a); /* NULL is allowed */
/* What STORE_SETTINGS answered. */
void scheduler_load(struct scheduler *a, const json_t *settings);
/* Of a standby, after it: what the one that leads has planned. */
void scheduler_mirror(struct scheduler *a);
/* About once a second. */
void scheduler_tick(struct scheduler *a, uint64_t now_unix_ns);
/* Look at the files now. */
void scheduler_reload(struct scheduler *a);
/* By order, on or off. */
void scheduler_enable(struct scheduler *a, const struct campaign *c,
    int enabled);
int scheduler_is_enabled(const struct scheduler *a, const struct campaign *c);

#endif
