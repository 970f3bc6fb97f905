/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_agent.h - states of an agent as the collector sees it.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum; stored words do not change.
 */
#ifndef SCHEMA_NAMES_AGENT_H
#define SCHEMA_NAMES_AGENT_H

/* States of an agent as the collector sees it. */
enum agent_state {
	AGENT_OK,
	AGENT_LATE,
	AGENT_LOST,
	AGENT_BUSY,
	AGENT_MAINTENANCE, /* by an order, whether connected or not */
	AGENT_STATE_MAX
};
extern const char *const names_agent_states[AGENT_STATE_MAX];

#endif
