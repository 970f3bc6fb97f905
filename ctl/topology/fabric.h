/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - hosts, switches and the links between them, as a file in another
 * format has them: in any order and without tiers. fabric_sort makes a topology
 * of them.
 */
#ifndef CTL_TOPOLOGY_FABRIC_H
#define CTL_TOPOLOGY_FABRIC_H

#include <stdint.h>

#include "schema/topology.h"

#define FABRIC_PORT_MAX 64 /* bytes of a port's name, with the NUL */

/* The selection of the user. Lists of patterns (fnmatch(3)) end with NULL, or
 * are NULL. */
struct fabric_choice {
	/* Ports of a host, rail by rail; other ports are skipped. */
	char **rails;
	char **skip; /* hosts, switches and HOST:PORT to skip */
	int strict;  /* 1: fabric_skip fails instead of skipping */
};

/* A port of a host. */
struct fabric_port {
	/* The host, and the switch to which the port leads. */
	const char *host, *to;
	const char *name; /* "": unknown */
	int rail;         /* negative: unknown */
	double gbps;      /* rate in Gbit/s; 0: unknown */
	uint64_t guid;    /* 0: unknown */
};

/* The fabric under construction. */
struct fabric {
	const struct fabric_choice *choice;
	int tree;               /* 1: add_trunk gets the lower switch first */
	struct topology *names; /* hosts and switches */
	struct fabric_link *links;
	struct fabric_trunk *trunks;
	uint8_t *is_skipped; /* by switch: 1: fabric_choice.skip names it */
	uint32_t *others;    /* by switch: skipped links of hosts */
	size_t link_count, trunk_count;
	/* Counts of what fabric_sort has skipped: */
	size_t left_out; /* number of links of hosts */
	/* Neighbours that LLDP reports as not being switches. */
	size_t stations;
	size_t sideward; /* links between switches of one tier */
	size_t lone;     /* switches that lead to no host */
	/* "0x...": [host, leaf, port] of ports in the topology. */
	json_t *guids;
	/* The position of the reader: file, and line; 0: the whole file. */
	const char *file;
	int line;
	char *const *paths; /* all files of the import, or NULL */
	json_t *included;   /* the files that the files of paths include */
	json_t *skipped;    /* kind: {count, places}, see fabric_skip */
	json_t *ids;        /* names of switches by identifier */
	json_t *names_used; /* how many identifiers have a name */
	/* The card with each description in ibnetdiscover's output; "": several
	 * cards have this description. */
	json_t *owners;
	json_t *seen; /* ports that were read, by identifier */
};

/* Return an empty fabric, which the caller frees. choice must live as long. */
struct fabric *fabric_new(const struct fabric_choice *choice);
void fabric_free(struct fabric *f); /* NULL is allowed */
/* Add a port of a host. Return 0; -EINVAL for an invalid name; -E2BIG if there
 * are too many. err has the reason. */
int fabric_add_port(struct fabric *f, const struct fabric_port *port,
    struct err *err);
/* Return 1 if fabric_choice.skip names this switch, 0 if not. */
int fabric_is_skipped(const struct fabric *f, const char *name);
/* Add a link between two switches. The result is as for fabric_add_port. */
int fabric_add_trunk(struct fabric *f, const char *lower, const char *upper,
    double gbps, struct err *err);
/* Count a link of a host that is not in the topology, so that its switch is not
 * taken for one above the leaves. The result is as for fabric_add_port. */
int fabric_add_other(struct fabric *f, const char *to, struct err *err);
/* Return 1 if this port of the device with this identifier was read before, in
 * any file; 0 if not. The call marks it as read. */
int fabric_is_seen(struct fabric *f, const char *id, long port);
/* Declare the name of the switch with this identifier. */
void fabric_declare(struct fabric *f, const char *id, const char *name);
/* Get the name of a declared switch. If several switches have the same name, in
 * any file, each name also gets the identifier. Return 0, or -ENOENT if it is
 * not declared. */
int fabric_declared_name(const struct fabric *f, const char *id,
    char ret[TOPOLOGY_NAME_MAX]);
/* Count something that is skipped (printf format), and keep file and line of
 * the first few of its kind. Return 0; or -EINVAL with the reason in err if the
 * choice is strict. */
int fabric_skip(struct fabric *f, const char *kind, struct err *err,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Count what is skipped as fabric_skip does, for a failure with rc -EINVAL and
 * its reason in err; another rc is returned unchanged. */
int fabric_skip_refused(struct fabric *f, int rc, const char *kind,
    struct err *err);
/* Return a line "KIND: COUNT: PLACE; PLACE; ..." for each kind; the caller
 * frees the text. */
char *fabric_skipped_text(const json_t *skipped);
/* Make the topology, which the caller frees. Return 0, or -EINVAL with err if
 * no host remains, or a host is on two leaves by one rail. */
int fabric_sort(struct fabric *f, struct topology **ret, struct err *err);
/* Write a name from a description: characters that are invalid in names become
 * '_'. */
void fabric_name(const char *text, size_t len, char ret[TOPOLOGY_NAME_MAX]);

#endif
