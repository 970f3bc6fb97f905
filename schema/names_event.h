/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_event.h - the kinds of events.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_EVENT_H
#define SCHEMA_NAMES_EVENT_H

/* The kinds of events, as option --kind of coalctl accepts them and as the
 * events in the store have them. */
#define NAMES_EVENTS                                                           \
	"agent|alarm|alert|job|link|order|reaction|run|setting|verdict"
#define NAMES_EVENTS_MAX 10
/* A kind of events. */
struct event_row {
	const char *name; /* "agent" */
	const char *text; /* a sentence for manuals and help */
};
extern const struct event_row names_events[NAMES_EVENTS_MAX];

#endif
