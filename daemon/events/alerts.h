/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alerts.h - alerts as events. An alert is sent at once, repeated after four
 * hours, and sent as resolved at its end.
 */
#ifndef DAEMON_EVENTS_ALERTS_H
#define DAEMON_EVENTS_ALERTS_H

#include <stdint.h>

struct alerts;
struct events;

#define ALERTS_MAX 1000 /* more alerts than this are one outage */

/* A current problem. */
struct alert_seen {
	const char *name;     /* CoalmineNodeOutlier */
	const char *severity; /* warning or critical */
	const char *kind;     /* of the subject: node, leaf ...; a label */
	const char *subject;
	const char *summary;
	const char *text;  /* may change while it fires */
	const char *place; /* after the page's #, or "" */
};

/* page: address of the collector's page for links, or "". cluster: its name,
 * or "". events and cluster outlive the result. */
struct alerts *alerts_new(struct events *events, const char *page,
    const char *cluster);
void alerts_free(struct alerts *a); /* NULL is allowed */
/* A turn is alerts_see for each current problem, then alerts_end, which sends:
 * a new alert fires; one that was not seen in this turn is resolved; a
 * continuing one is repeated. */
void alerts_see(struct alerts *a, const struct alert_seen *s,
    uint64_t now_unix_ns);
void alerts_end(struct alerts *a, uint64_t now_unix_ns);

#endif
