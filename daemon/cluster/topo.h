/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.h - the leaf switch that a node is connected to.
 *
 * It is read from a file (schema/topology.h); if a node has several leaves, the
 * one of its lowest rail is used. Nodes that the file lacks, or all without a
 * file, are grouped by the first bits of their addresses. Pure except for
 * reading the file.
 */
#ifndef DAEMON_CLUSTER_TOPO_H
#define DAEMON_CLUSTER_TOPO_H

#include "common/err.h"
#include "schema/topology.h"

#define TOPO_LEAF_MAX TOPOLOGY_NAME_MAX

struct topo;

/* Load the topology file at path; "": no file. prefix_bits: bits of an IPv4
 * address by which nodes that the file lacks are grouped; for IPv6 four times
 * as many, at most 64; 0: one leaf for all. Return 0 and the topology, which
 * the caller frees; or -EINVAL or -errno with "file:line: ..." in err. */
int topo_load(const char *path, unsigned prefix_bits, struct topo **ret,
    struct err *err);
void topo_free(struct topo *t); /* NULL is allowed */
/* Return the contents of the file; empty without one. */
const struct topology *topo_file(const struct topo *t);
/* Write the leaf's name from the file, or a network like "10.1.2.0/24"; "" if
 * unknown. addr may be NULL. is_alone: no other node has its short name, so the
 * file may use another domain for it (common/hostname.h). */
void topo_leaf(const struct topo *t, const char *node, int is_alone,
    const char *addr, char ret[TOPO_LEAF_MAX]);

#endif
