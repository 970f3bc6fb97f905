/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the switches of a cluster: the leaf of each node by rail, and
 * the uplinks of each switch. The file that the collector reads has one leaf or
 * one other switch per line:
 *
 *     leaf1 n[001-040] rail=0 gbps=200 pod=pod1 up=spine[1-4]*2@400
 *     spine1 - pod=pod1 up=core[1-2]
 *
 * The second word is the list of nodes below a leaf; "-" means none. gbps is
 * the rate of a node's link in Gbit/s. up lists the switches above, the number
 * of links to each (*2) and the rate of one link in Gbit/s (@400); it can be
 * repeated. A switch can have several lines, each with the nodes of another
 * rail. '#' begins a comment.
 */
#ifndef SCHEMA_TOPOLOGY_H
#define SCHEMA_TOPOLOGY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hostname.h"

#define TOPOLOGY_NAME_MAX     64 /* bytes of a switch's name, with the NUL */
#define TOPOLOGY_SWITCHES_MAX 16384
#define TOPOLOGY_RAILS_MAX    64
/* Links of nodes; switches can have the same number. */
#define TOPOLOGY_LINKS_MAX 1048576
#define TOPOLOGY_COUNT_MAX 4096 /* links between two switches */
#define TOPOLOGY_GBPS_MAX  100000.0
#define TOPOLOGY_FILE_MAX  67108864 /* bytes of any file with a topology */

#define TOPOLOGY_NONE UINT32_MAX /* no node, switch or link */

/* A node. */
struct topology_node {
	char *name;
	uint32_t last; /* number of its newest link, or TOPOLOGY_NONE */
};

/* A switch. */
struct topology_switch {
	char *name;
	char *pod; /* NULL: none */
};

/* A link of a node to its leaf. Nodes, switches and links are numbered from 0
 * in their arrays. */
struct topology_link {
	uint32_t node, leaf;
	uint32_t previous; /* another link of this node, or TOPOLOGY_NONE */
	int rail;
	double gbps; /* rate in Gbit/s; 0: unknown */
};

/* The links of a switch to one switch above it. */
struct topology_up {
	uint32_t lower, upper;
	uint32_t count; /* number of links */
	double gbps;    /* rate of one link in Gbit/s; 0: unknown */
};

/* The whole topology. Readers may read all members; only the functions below
 * change them. */
struct topology {
	struct topology_node *nodes;
	struct topology_switch *switches;
	struct topology_link *links;
	struct topology_up *ups;
	size_t node_count, switch_count, link_count, up_count;
	json_t *node_index, *switch_index; /* name to number */
	/* The nodes' names, for topology_find_host. */
	struct hostname_set *hosts;
};

/* Return an empty topology, which the caller frees. */
struct topology *topology_new(void);
void topology_free(struct topology *t); /* t can be NULL */

/* Return in *ret the number of the node or switch with this name, after adding
 * it if it is new. Return 0; -EINVAL if the name is invalid; -E2BIG if the
 * topology is full. */
int topology_add_node(struct topology *t, const char *name, uint32_t *ret,
    struct err *err);
int topology_add_switch(struct topology *t, const char *name, uint32_t *ret,
    struct err *err);
/* Add a link of a node; the function sets its member previous. Return 0;
 * -EINVAL if the node already has a link on that rail; -E2BIG if there are too
 * many links. */
int topology_add_link(struct topology *t, const struct topology_link *link,
    struct err *err);
/* Add links of a switch to one above it. Links between the same two switches
 * with the same rate are added up. Return 0; -EINVAL if a switch is linked to
 * itself; -E2BIG if there are too many links. */
int topology_add_up(struct topology *t, const struct topology_up *up,
    struct err *err);

/* Parse the text of a topology file; text is changed. name: the file's name,
 * for errors "NAME:LINE: ...". Return 0 and the topology, which the caller
 * frees; or -EINVAL or -E2BIG. */
int topology_read(char *text, const char *name, struct topology **ret,
    struct err *err);
/* Return the topology as the text of a topology file, which the caller frees.
 * The text does not depend on the order in which nodes and links were added. */
char *topology_write(const struct topology *t);

/* Return the number of the node with exactly this name, or TOPOLOGY_NONE. */
uint32_t topology_find_node(const struct topology *t, const char *name);
/* Return the node that another program calls name, perhaps with or without a
 * domain (see common/hostname.h), or TOPOLOGY_NONE. */
uint32_t topology_find_host(const struct topology *t, const char *name);
/* Return the number of the switch with exactly this name, or TOPOLOGY_NONE. */
uint32_t topology_find_switch(const struct topology *t, const char *name);
/* Return the names of the switches above switch `at` as a hostlist, which the
 * caller frees. Return NULL if no switch is above it. */
char *topology_above(const struct topology *t, uint32_t at);
/* Return the link of a node on its lowest rail, or NULL if it has no link. The
 * pointer is valid until a link is added. */
const struct topology_link *topology_first_link(const struct topology *t,
    uint32_t node);
/* Return the tier of every switch, in an array that the caller frees. Leaves
 * have tier 1, the switches above them 2, and so on. */
int *topology_tiers(const struct topology *t);

#endif
