/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - start campaigns when they are due, and record starts that
 * failed.
 *
 * "schedule/NAME" = on|off (by order) and "due/NAME" (the next start) are
 * settings in the store, so both survive a restart: a start that was due while
 * no collector was active is recorded as missed.
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

/* Return a scheduler, which the caller frees. All arguments must outlive it. */
struct scheduler *scheduler_new(struct campaigns *campaigns, struct runs *runs,
    struct store *store);
void scheduler_free(struct scheduler *a); /* NULL is allowed */
/* Load the settings from the answer of STORE_SETTINGS. */
void scheduler_load(struct scheduler *a, const json_t *settings);
/* Show the starts that the active collector has planned; for a standby, after
 * scheduler_load. */
void scheduler_mirror(struct scheduler *a);
/* Start campaigns that are due; call it about once a second. */
void scheduler_tick(struct scheduler *a, uint64_t now_unix_ns);
/* Scan the campaign files now. */
void scheduler_reload(struct scheduler *a);
/* Enable or disable the schedule of a campaign, by order. */
void scheduler_enable(struct scheduler *a, const struct campaign *c,
    int enabled);
/* Return 1 if the schedule of a campaign is enabled, 0 if not. */
int scheduler_is_enabled(const struct scheduler *a, const struct campaign *c);

#endif
