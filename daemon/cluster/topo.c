/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.c - the leaf of a node, from the file if it has the node, else from the
 * bits of the node's address.
 */
#include "daemon/cluster/topo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/xalloc.h"

#define V6_BITS_MAX 64 /* a subnet of IPv6 */

struct topo {
	unsigned prefix_bits;
	struct topology *file;
};

int
topo_load(const char *path, unsigned prefix_bits, struct topo **ret,
    struct err *err)
{
	struct topology *file = NULL;
	char *text = NULL;
	size_t len;
	int rc = 0;

	if (path[0] != '\0')
		rc = file_read(path, TOPOLOGY_FILE_MAX, &text, &len, err);
	if (rc == 0 && text != NULL)
		rc = topology_read(text, path, &file, err);
	free(text);
	if (rc < 0)
		return rc;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->prefix_bits = prefix_bits;
	(*ret)->file = file != NULL ? file : topology_new();
	return 0;
}

void
topo_free(struct topo *t)
{
	if (t == NULL)
		return;
	topology_free(t->file);
	free(t);
}

const struct topology *
topo_file(const struct topo *t)
{
	return t->file;
}

void
topo_leaf(const struct topo *t, const char *node, int is_alone,
    const char *addr, char ret[TOPO_LEAF_MAX])
{
	uint32_t named = is_alone ? topology_find_host(t->file, node)
				  : topology_find_node(t->file, node);
	unsigned bits = t->prefix_bits;
	char text[INET6_ADDRSTRLEN];
	uint8_t raw[16];
	int family = AF_INET;

	ret[0] = '\0';
	if (named != TOPOLOGY_NONE) {
		snprintf(ret, TOPO_LEAF_MAX, "%s",
		    t->file->switches[topology_first_link(t->file, named)->leaf]
			.name);
		return;
	}
	if (addr == NULL)
		return;
	if (inet_pton(AF_INET, addr, raw) != 1) {
		if (inet_pton(AF_INET6, addr, raw) != 1)
			return;
		family = AF_INET6;
		bits = 4 * bits < V6_BITS_MAX ? 4 * bits : V6_BITS_MAX;
	}
	for (unsigned i = 0; i < sizeof(raw); i++)
		if (bits < 8 * (i + 1))
			raw[i] &= (uint8_t)(0xff00u >>
			    (bits > 8 * i ? bits - 8 * i : 0));
	inet_ntop(family, raw, text, sizeof(text));
	snprintf(ret, TOPO_LEAF_MAX, "%s/%u", text, bits);
}
