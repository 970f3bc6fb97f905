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
	char *
	    *rails; /* ports of a host, rail by rail; other ports are skipped */
	char **skip; /* hosts, switches and HOST:PORT to skip */
	int strict;  /* fabric_skip refuses */
};

/* A host's port. */
struct fabric_port {
	const char *host, *to; /* the switch */
	const char *name;      /* ""; not told */
	int rail;              /* below 0: not told */
	double gbps;           /* 0: not told */
	uint64_t guid;         /* 0: not told */
};

struct fabric {
	const struct fabric_choice *choice;
	int tree;               /* add_trunk gets the lower switch first */
	struct topology *names; /* hosts and switches */
	struct fabric_link *links;
	struct fabric_trunk *trunks;
	uint8_t *is_skipped; /* by switch: it was named so */
	uint32_t *others;    /* by switch: skipped links of hosts */
	size_t link_count, trunk_count;
	/* what fabric_sort has skipped */
	size_t left_out; /* links of hosts */
	size_t
	    stations; /* neighbours that LLDP reports as not being switches */
	size_t sideward; /* links between switches of one tier */
	size_t lone;     /* switches that lead to no host */
	json_t *guids;   /* "0x...": [host, leaf, port] of those that are in */
	/* the place of the reader: file and line, 0 for the whole file */
	const char *file;
	int line;
	char *const *paths; /* all files of the import, or NULL */
	json_t *included;   /* the files that these include */
	json_t *skipped;    /* kind: {count, places}, see fabric_skip */
	json_t *ids;        /* names of switches by identifier */
	json_t *names_used; /* how many identifiers have a name */
	json_t *owners;     /* of ibnetdiscover's descriptions: the one card
			     * that has it, "" for several */
	json_t *seen;       /* ports that were read, by identifier */
};

struct fabric *fabric_new(const struct fabric_choice *choice);
void fabric_free(struct fabric *f); /* NULL is allowed */
/* Return -EINVAL for an invalid name, -E2BIG for too many. */
int fabric_add_port(struct fabric *f, const struct fabric_port *port,
    struct err *err);
/* 1 when the site leaves out the switch with this name. */
int fabric_is_skipped(const struct fabric *f, const char *name);
int fabric_add_trunk(struct fabric *f, const char *lower, const char *upper,
    double gbps, struct err *err);
/* Count a link of a host that is in no topology, so that its switch is not
 * taken for one above the leaves. */
int fabric_add_other(struct fabric *f, const char *to, struct err *err);
/* 1 when the port of the device with this identifier was read before, in any
 * file. */
int fabric_is_seen(struct fabric *f, const char *id, long port);
/* Remember that the switch with this identifier is called so. */
void fabric_declare(struct fabric *f, const char *id, const char *name);
/* The name of a declared switch; of several with one name, in all files, each
 * has its identifier too. -ENOENT: it is not declared. */
int fabric_declared_name(const struct fabric *f, const char *id,
    char ret[TOPOLOGY_NAME_MAX]);
/* Count something that is skipped, and keep file and line of the first few of
 * its kind: 0; -EINVAL with the reason if the choice is
 * strict. */
int fabric_skip(struct fabric *f, const char *kind, struct err *err,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same for a refusal with rc -EINVAL and err; another rc is
 * returned as it is. */
int fabric_skip_refused(struct fabric *f, int rc, const char *kind,
    struct err *err);
/* "KIND: COUNT: PLACE; PLACE; ..." of each kind, a line each; the caller
 * frees. */
char *fabric_skipped_text(const json_t *skipped);
/* -EINVAL: no host is left, or one is on two leaves by one rail. */
int fabric_sort(struct fabric *f, struct topology **ret, struct err *err);
/* A name out of a description: what no name may have becomes '_'. */
void fabric_name(const char *text, size_t len, char ret[TOPOLOGY_NAME_MAX]);

#endif
