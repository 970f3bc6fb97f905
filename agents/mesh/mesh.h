/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - this node's part in the mesh: it answers echo requests of other
 * nodes and sends requests to the targets that the collector names, epoch by
 * epoch.
 *
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

/* Send msg to the collector; takes msg. Negative: it was not sent. */
typedef int mesh_send_cb(enum wire_type type, json_t *msg, void *arg);

/* c outlives the mesh; cores: of this node. */
struct mesh *mesh_new(struct event_base *base, const struct conf *c, int cores,
    mesh_send_cb *send, void *arg);
void mesh_free(struct mesh *m); /* NULL is allowed */
/* Handle a mesh message. Return -EPROTO for contents that no correct collector
 * sends. An order that fails here is answered with the reason. */
int mesh_order(struct mesh *m, const json_t *msg);

#endif
