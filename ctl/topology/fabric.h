/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - hosts, switches and the links among them as a foreign file says
 * them, in any order and without tiers; fabric_sort makes a topology of them.
 */
#ifndef CTL_TOPOLOGY_FABRIC_H
#define CTL_TOPOLOGY_FABRIC_H

#include <stdint.h>

#include "schema/topology.h"

#define FABRIC_PORT_MAX 64 /* bytes of a port's name, with the NUL */

/* Lists of globs (fnmatch(3)) that end with NULL, or NULL. */
struct fabric_choice {
	char **rails; /* ports of a host, rail by rail; others are left out */
	char **skip;  /* hosts, switches and HOST:PORT that are left out */
};

/* What is told of a host's port. */
struct fabric_port {
	const char *host, *to; /* the switch */
	const char *name;      /* ""; not told */
	int rail;              /* below 0: not told */
	double gbps;           /* 0: not told */
	uint64_t guid;         /* 0: not told */
};

struct fabric {
	const struct fabric_choice *choice;
	int tree;               /* add_trunk is told the lower one first */
	struct topology *names; /* hosts and switches */
	struct fabric_link *links;
	struct fabric_trunk *trunks;
	uint8_t *is_skipped; /* by switch: it was named so */
	uint32_t *others;    /* by switch: links of hosts that are left out */
	size_t link_count, trunk_count;
	/* what fabric_sort has left out */
	size_t left_out; /* links of hosts */
	size_t stations; /* neighbours that say they are no switch */
	size_t sideward; /* links between switches of one tier */
	size_t lone;     /* switches that lead to no host */
	json_t *guids;   /* "0x...": [host, leaf, port] of those that are in */
};

struct fabric *fabric_new(const struct fabric_choice *choice);
void fabric_free(struct fabric *f); /* NULL is allowed */
/* -EINVAL or -E2BIG for names that are none, and for too many. */
int fabric_add_port(struct fabric *f, const struct fabric_port *port,
    struct err *err);
int fabric_add_trunk(struct fabric *f, const char *lower, const char *upper,
    double gbps, struct err *err);
/* -EINVAL: no host is left, or one is on two leaves by one rail. */
int fabric_sort(struct fabric *f, struct topology **ret, struct err *err);
/* A name out of a description: what no name may have becomes '_'. */
void fabric_name(const char *text, size_t len, char ret[TOPOLOGY_NAME_MAX]);

#endif
