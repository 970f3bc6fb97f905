/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cluster/topo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/hostlist.h"
#include "common/xalloc.h"

#define V6_BITS_MAX 64 /* a subnet of IPv6 */

struct topo {
	unsigned prefix_bits;
	json_t *leaf_of; /* node: leaf */
};

/* "leaf1 n[001-040]"; '#' begins a comment. Changes line. */
static int
line_read(struct topo *t, char *line, struct err *err)
{
	char *save, *leaf, *nodes;
	struct hostlist hl;
	int rc;

	line[strcspn(line, "#\r\n")] = '\0';
	leaf = strtok_r(line, " \t", &save);
	if (leaf == NULL)
		return 0;
	nodes = strtok_r(NULL, " \t", &save);
	if (nodes == NULL || strtok_r(NULL, " \t", &save) != NULL ||
	    strlen(leaf) >= TOPO_LEAF_MAX || hostlist_name_check(leaf) < 0)
		return err_set(err, -EINVAL,
		    "expected LEAF NODES, as \"leaf1 n[001-040]\"");
	rc = hostlist_parse(nodes, &hl, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < hl.count; i++) {
		const json_t *old = json_object_get(t->leaf_of, hl.names[i]);

		if (old != NULL)
			rc = err_set(err, -EINVAL, "%.64s is on leaf %.64s too",
			    hl.names[i], json_string_value(old));
		json_object_set_new(t->leaf_of, hl.names[i], json_string(leaf));
	}
	hostlist_clear(&hl);
	return rc;
}

int
topo_load(const char *path, unsigned prefix_bits, struct topo **ret,
    struct err *err)
{
	struct topo *t = xcalloc(1, sizeof(*t));
	char *line = NULL;
	struct err reason;
	size_t cap = 0;
	int lineno = 0, rc = 0;
	FILE *fp = NULL;

	t->prefix_bits = prefix_bits;
	t->leaf_of = json_object();
	if (path[0] != '\0')
		rc = file_open(path, &fp, err);
	while (rc == 0 && fp != NULL && getline(&line, &cap, fp) != -1) {
		lineno++;
		rc = line_read(t, line, &reason);
		if (rc < 0)
			err_say(err, "%s:%d: %s", path, lineno, reason.text);
	}
	free(line);
	if (fp != NULL)
		fclose(fp);
	if (rc < 0)
		topo_free(t);
	else
		*ret = t;
	return rc;
}

void
topo_free(struct topo *t)
{
	if (t == NULL)
		return;
	json_decref(t->leaf_of);
	free(t);
}

void
topo_leaf(const struct topo *t, const char *node, const char *addr,
    char ret[TOPO_LEAF_MAX])
{
	const json_t *named = json_object_get(t->leaf_of, node);
	unsigned bits = t->prefix_bits;
	char text[INET6_ADDRSTRLEN];
	uint8_t raw[16];
	int family = AF_INET;

	ret[0] = '\0';
	if (named != NULL) {
		snprintf(ret, TOPO_LEAF_MAX, "%s", json_string_value(named));
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
