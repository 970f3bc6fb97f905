/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_agent.h - the states of an agent as the collector sees it.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_AGENT_H
#define SCHEMA_NAMES_AGENT_H

/* The state of an agent. */
enum agent_state {
	AGENT_OK,   /* connected, and its last message is recent */
	AGENT_LATE, /* its message is overdue, or its session just ended */
	AGENT_LOST, /* no message for longer than the collector tolerates */
	AGENT_BUSY, /* connected; it reports that it is not idle */
	AGENT_MAINTENANCE, /* set by an order, connected or not */
	AGENT_STATE_MAX
};
extern const char *const names_agent_states[AGENT_STATE_MAX]; /* the words */

#endif
