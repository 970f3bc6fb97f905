/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_event.c - the rows: kinds of events.
 */
#include "schema/names_event.h"

const struct event_row names_events[NAMES_EVENTS_MAX] = {
	{ "agent", "an agent has a new state, or a certificate" },
	{ "alarm", "the collector or an agent reports a problem" },
	{ "alert", "an alert starts, continues or is resolved" },
	{ "job",
	    "a user's job does not progress or lags, or ranks of the job do "
	    "not answer NCCL, or the job progresses again" },
	{ "link", "a link of a node went down or up, or a GPU failed" },
	{ "order", "a user gave an order through the API" },
	{ "reaction",
	    "a node was taken out of service, or returned to service" },
	{ "run", "a run has a new state" },
	{ "setting", "a setting or version of a node has changed" },
	{ "verdict", "a verdict changed" },
};
