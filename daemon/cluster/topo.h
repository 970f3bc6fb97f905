/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.h - which leaf switch a node hangs on.
 *
 * A file says it (schema/topology.h); of several leaves, that of the lowest
 * rail. A node that the file does not name, or all without a file, is put with
 * those whose address starts with the same bits. Pure but for the reading of
 * the file.
 */
#ifndef DAEMON_CLUSTER_TOPO_H
#define DAEMON_CLUSTER_TOPO_H

#include "common/err.h"
#include "schema/topology.h"

#define TOPO_LEAF_MAX TOPOLOGY_NAME_MAX

struct topo;

/* path "": no file. prefix_bits: of IPv4 addresses; four times as many up to
 * 64 of IPv6; 0: one leaf for all. -EINVAL or -errno with "file:line: ..." in
 * why. */
int topo_load(const char *path, unsigned prefix_bits, struct topo **ret,
    struct err *err);
void topo_free(struct topo *t); /* NULL is allowed */
/* What the file says; empty without one. */
const struct topology *topo_file(const struct topo *t);
/* "10.1.2.0/24" or the file's name; "" when neither tells. addr may be NULL.
 * is_alone: no other node has its short name, so that the file may call it by
 * another domain (common/hostname.h). */
void topo_leaf(const struct topo *t, const char *node, int is_alone,
    const char *addr, char ret[TOPO_LEAF_MAX]);

#endif
