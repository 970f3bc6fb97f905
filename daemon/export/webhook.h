/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook.h - posts JSON to addresses outside from a thread of its own, so that
 * one that is slow or away never holds the loop.
 */
#ifndef DAEMON_EXPORT_WEBHOOK_H
#define DAEMON_EXPORT_WEBHOOK_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"

struct webhook;

/* urls: http:// or https://, ended by NULL; the caller keeps them. -EINVAL and
 * why for one that is neither. */
int webhook_open(char *const *urls, struct webhook **ret, struct err *err);
/* Takes message. When too many wait, the oldest is dropped and logged. */
void webhook_post(struct webhook *w, json_t *message);
/* What waits is dropped; at most a request's time-out. NULL is allowed. */
void webhook_close(struct webhook *w);

#endif
