/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_file.h - the collector's verdict on this node, in a file in run_dir
 * that health checks on the node read: {node verdict text at_unix_ns fresh_ms}.
 */
#ifndef AGENTS_ORDERS_VERDICT_FILE_H
#define AGENTS_ORDERS_VERDICT_FILE_H

#include <jansson.h>

#include "agents/agent.h"

/* Write the verdict of a standing message. Return 0, or -EPROTO for an invalid
 * message. A file that cannot be written is logged once; the old one
 * expires. */
int verdict_file_put(struct agent *ag, const json_t *msg);

#endif
