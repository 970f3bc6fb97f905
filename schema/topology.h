/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the switches of a cluster: the leaf of each node by rail, and
 * the uplinks of switches. The file that the collector reads has one leaf or
 * switch per line:
 *
 *     leaf1 n[001-040] rail=0 gbps=200 pod=pod1 up=spine[1-4]*2@400
 *     spine1 - pod=pod1 up=core[1-2]
 *
 * "-" means no nodes. up lists the switches above, the number of links to each
 * and the rate of one; it may be repeated, and so may a switch, with the nodes
 * of another rail. '#' begins a comment.
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
#define TOPOLOGY_LINKS_MAX    1048576 /* of nodes; of switches, as many */
#define TOPOLOGY_COUNT_MAX    4096    /* links between two switches */
#define TOPOLOGY_GBPS_MAX     100000.0
#define TOPOLOGY_FILE_MAX     67108864 /* bytes of any file that says it */

#define TOPOLOGY_NONE UINT32_MAX

struct topology_node {
	char *name;
	uint32_t last; /* of its links; TOPOLOGY_NONE */
};

struct topology_switch {
	char *name;
	char *pod; /* NULL: none */
};

/* Of a node to its leaf. */
struct topology_link {
	uint32_t node, leaf;
	uint32_t previous; /* of the same node; TOPOLOGY_NONE */
	int rail;
	double gbps; /* 0: not known */
};

/* Of a switch to one above it. */
struct topology_up {
	uint32_t lower, upper;
	uint32_t count;
	double gbps; /* of one; 0: not known */
};

struct topology {
	struct topology_node *nodes;
	struct topology_switch *switches;
	struct topology_link *links;
	struct topology_up *ups;
	size_t node_count, switch_count, link_count, up_count;
	json_t *node_index, *switch_index; /* name: number */
	struct hostname_set *hosts;
};

struct topology *topology_new(void);
void topology_free(struct topology *t); /* NULL is allowed */

/* The number of a name, which is added if need be; -EINVAL for one that is
 * none, -E2BIG for one too many. */
int topology_add_node(struct topology *t, const char *name, uint32_t *ret,
    struct err *err);
int topology_add_switch(struct topology *t, const char *name, uint32_t *ret,
    struct err *err);
/* -EINVAL: the node is on another leaf by that rail. */
int topology_add_link(struct topology *t, const struct topology_link *link,
    struct err *err);
/* More links between the same two switches add up. */
int topology_add_up(struct topology *t, const struct topology_up *up,
    struct err *err);

/* A file's text, changed; its name is for errors, "NAME:LINE: ...". -EINVAL or
 * -E2BIG. */
int topology_read(char *text, const char *name, struct topology **ret,
    struct err *err);
/* Return the same as text, independent of the order of the input; the caller
 * frees. */
char *topology_write(const struct topology *t);

/* Return TOPOLOGY_NONE if the name is unknown. */
uint32_t topology_find_node(const struct topology *t, const char *name);
/* The node that another program calls name, perhaps with another domain: see
 * common/hostname.h. */
uint32_t topology_find_host(const struct topology *t, const char *name);
uint32_t topology_find_switch(const struct topology *t, const char *name);
/* Return the switches above one as a hostlist, which the caller frees; NULL
 * without any. */
char *topology_above(const struct topology *t, uint32_t at);
/* The link of a node with the lowest rail, or NULL. */
const struct topology_link *topology_first_link(const struct topology *t,
    uint32_t node);
/* Return the tier of every switch: leaves are 1, the switches above them 2, and
 * so on. The caller frees. */
int *topology_tiers(const struct topology *t);

#endif
