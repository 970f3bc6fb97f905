/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.h - the networks of nodes and runs.
 */
#ifndef DAEMON_RUN_NETWORKS_H
#define DAEMON_RUN_NETWORKS_H

#include <jansson.h>
#include <stddef.h>

struct node;
struct node;
struct roster;
struct run;
struct run_node;

/* Choose the networks that all nodes of the run share: r->networks. */
void networks_choose(struct run *r);
/* Return interfaces of a node for its ranks, separated by commas; "": the MPI
 * chooses. The caller frees. */
char *networks_nics(const struct run *r, const struct run_node *rn);
/* Return the interfaces if their names are the same on all nodes, else "". For
 * launchers that give all ranks one environment. The caller frees. */
char *networks_nics_same(const struct run *r);
/* Return 1 with a text if several networks qualify and no option selects one.
 */
int networks_undecided(const struct run *r, char *ret, size_t cap_bytes);
/* Return the only node of the run with this address, or NULL. */
const struct node *networks_node(const struct run *r, const char *addr);
/* Write an IPv4 or IPv6 address at which a node's ranks are reachable: in a
 * network that the nodes share or, without such a network, the address of its
 * session; "": none. */
void networks_addr(const struct run *r, const struct node *n, int is_v6,
    char ret[64]);
/* Return the networks that all nodes which are up share, as texts,
 * one of those on the same interfaces: a new reference. */
json_t *networks_shared(const struct roster *roster);
/* Return addresses that several nodes have in a network with other addresses:
 * {"10.1.2.3": {"node1": "eth0", ...}}, a new reference. */
json_t *networks_repeated(const struct roster *roster);
/* Return 1 if mpi.net or rails of the node decide which network its ranks use.
 */
int networks_is_decided(const struct node *n);

#endif
