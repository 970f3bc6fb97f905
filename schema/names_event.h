/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_event.h - kinds of events.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum; stored words do not change.
 */
#ifndef SCHEMA_NAMES_EVENT_H
#define SCHEMA_NAMES_EVENT_H

/* Kinds of events, as option --kind and the store's events have them. */
#define NAMES_EVENTS     "agent|alarm|alert|job|link|order|reaction|run|verdict"
#define NAMES_EVENTS_MAX 9
struct event_row {
	const char *name;
	const char *text;
};
extern const struct event_row names_events[NAMES_EVENTS_MAX];

#endif
