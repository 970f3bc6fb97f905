/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_agent.c - the rows: states of an agent.
 */
#include "schema/names_agent.h"

const char *const names_agent_states[AGENT_STATE_MAX] = { "ok", "late", "lost",
	"busy", "maintenance" };
