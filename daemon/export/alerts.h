/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alerts.h - which alerts fire, and what has to be told of them, in the words
 * of Alertmanager's webhook (version 4). Pure: times come in as arguments.
 *
 * A turn is alerts_begin, alerts_see for all that is wrong now, alerts_end.
 * One that is seen for the first time fires; one that is not seen any more is
 * resolved; one that goes on is told again after repeat_ns.
 */
#ifndef DAEMON_EXPORT_ALERTS_H
#define DAEMON_EXPORT_ALERTS_H

#include <jansson.h>
#include <stdint.h>

struct alerts;

/* page: address of the collector's page for links, "" for none. */
struct alerts *alerts_new(const char *page, uint64_t repeat_ns);
void alerts_free(struct alerts *a); /* NULL is allowed */

struct alert_seen {
	const char *name;     /* CoalmineNodeOutlier */
	const char *severity; /* warning or critical */
	const char *kind;     /* of the subject: node, leaf ...; a label */
	const char *subject;
	const char *summary;
	const char *text;  /* may change while it fires */
	const char *place; /* behind the page's #, or "" */
};
void alerts_begin(struct alerts *a);
void alerts_see(struct alerts *a, const struct alert_seen *seen,
    uint64_t now_unix_ns);
/* The message to send, or NULL when there is nothing to tell. The caller
 * decrefs. */
json_t *alerts_end(struct alerts *a, uint64_t now_unix_ns);

#endif
