/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - this node's part in the mesh: it answers echo requests of other
 * nodes and sends requests to the targets that the collector names, epoch by
 * epoch.
 *
 * An epoch is the time between two orders of the collector, which number it.
 * An order begins an epoch and closes the previous one, whose report is sent
 * immediately. While the collector is unreachable, the last order stays in
 * force.
 */
#ifndef AGENTS_MESH_MESH_H
#define AGENTS_MESH_MESH_H

#include <event2/event.h>
#include <jansson.h>

#include "common/conf.h"
#include "schema/wire.h"

struct mesh;

/* Send msg to the collector; takes msg. A negative result: it was not sent. */
typedef int mesh_send_cb(enum wire_type type, json_t *msg, void *arg);

/* Return the mesh of this node, which the caller frees. c must outlive it.
 * cores: number of cores of this node. */
struct mesh *mesh_new(struct event_base *base, const struct conf *c, int cores,
    mesh_send_cb *send, void *arg);
void mesh_free(struct mesh *m); /* NULL is allowed */
/* Process a mesh message of the collector. Return 0, or -EPROTO for contents
 * that no correct collector sends. An order that fails on this node is answered
 * with the reason. */
int mesh_order(struct mesh *m, const json_t *msg);

#endif
