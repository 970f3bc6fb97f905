/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileged.h - the actions of the broker for the network process, by the
 * broker's own configuration.
 */
#ifndef AGENTS_RUN_PRIVILEGED_H
#define AGENTS_RUN_PRIVILEGED_H

#include "agents/agent.h"
#include "agents/process/broker.h"

/* arg: the agent */
extern const struct broker_ops privileged_ops;

/* Set the keeper, the user, the limits and the cgroup leaf of child spec->id of
 * spec->run. leaf: room for its path. */
void privileged_spec(const struct agent *ag, struct child_spec *spec,
    char *leaf, size_t cap_bytes);

#endif
