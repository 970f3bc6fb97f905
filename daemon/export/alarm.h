/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.h - tells webhooks what Prometheus' alerts would say, for sites
 * without Prometheus: suspects, agents lost, what the collector complains of.
 */
#ifndef DAEMON_EXPORT_ALARM_H
#define DAEMON_EXPORT_ALARM_H

#include <stddef.h>

#include "common/err.h"

struct alarm;
struct view;

/* urls: with commas between; "" is none, and *ret NULL. page: address of the
 * page for links, or "". -EINVAL and why. view outlives it. */
int alarm_open(const char *urls, const char *page, struct view *view,
    struct alarm **ret, struct err *err);
/* Now and then: look, and tell what has changed. NULL is allowed. */
void alarm_tick(struct alarm *a);
void alarm_close(struct alarm *a); /* NULL is allowed */

#endif
