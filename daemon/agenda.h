/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agenda.h - starts campaigns when they are due, and says so when it could
 * not.
 *
 * "schedule/NAME" = on|off (by order) and "due/NAME" (the next start) are
 * settings in the store, so both survive a restart: a start that fell into a
 * time without a collector is recorded as missed.
 */
#ifndef DAEMON_AGENDA_H
#define DAEMON_AGENDA_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/campaign.h"

struct agenda;
struct runs;
struct store;

struct agenda *agenda_new(struct campaigns *campaigns, struct runs *runs,
    struct store *store);
void agenda_free(struct agenda *a); /* NULL is allowed */
/* What STORE_SETTINGS answered. */
void agenda_load(struct agenda *a, const json_t *settings);
/* About once a second. */
void agenda_tick(struct agenda *a, uint64_t now_unix_ns);
/* Look at the files now. */
void agenda_reload(struct agenda *a);
/* By order, on or off. */
void agenda_enable(struct agenda *a, const struct campaign *c, int enabled);
int agenda_is_enabled(const struct agenda *a, const struct campaign *c);

#endif
