/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.h - send the events that Prometheus' alerts would send, for sites
 * without Prometheus: outliers, lost agents, failed health checks.
 */
#ifndef DAEMON_DIAGS_ALARM_H
#define DAEMON_DIAGS_ALARM_H

struct alarm;
struct api;
struct events;

/* Return NULL without events. page: address of the page for links, or "".
 * events and api outlive the result. */
struct alarm *alarm_open(struct events *events, const char *page,
    struct api *api);
/* Send alerts that have changed; call it periodically. a can be NULL. */
void alarm_tick(struct alarm *a);
void alarm_close(struct alarm *a); /* NULL is allowed */

#endif
