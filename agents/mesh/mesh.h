/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - this node's part in the mesh: it answers others' echo requests and
 * asks the targets that the collector names, epoch by epoch.
 *
 * An order begins an epoch and closes the one before, whose report is sent at
 * once. While the collector is away, the last order goes on being followed.
 */
#ifndef AGENTS_MESH_MESH_H
#define AGENTS_MESH_MESH_H

#include <jansson.h>

#include "agents/agent.h"

struct mesh;

struct mesh *mesh_new(struct agent *ag);
void mesh_free(struct mesh *m); /* NULL is allowed */
/* A mesh message. -EPROTO when no sane collector sends it; what cannot be
 * done here is answered. */
int mesh_order(struct mesh *m, const json_t *msg);

#endif
