/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.c - list the nodes of each leaf, in the order of the leaves' names.
 */
#include "daemon/run/placement.h"

#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "schema/options.h"

static int
placement_compare(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a;
	const struct node *y = *(const struct node *const *)b;
	int rc = hostlist_compare(x->leaf, y->leaf);

	return rc != 0 ? rc : hostlist_compare(x->name, y->name);
}

/* Add the nodes of a leaf: the first count of nodes. */
static void
placement_add(const struct node *const *nodes, size_t count, struct strbuf *ret)
{
	const char **names = xcalloc(count, sizeof(*names));
	char *list;

	for (size_t i = 0; i < count; i++)
		names[i] = nodes[i]->name;
	list = hostlist_format(names, count);
	strbuf_addf(ret, "%s%s", ret->len_bytes == 0 ? "" : " ", list);
	free(list);
	free(names);
}

void
placement_set(struct run *r)
{
	const struct node **nodes;
	struct strbuf text = { 0 };
	size_t count = 0, to;
	struct err err;

	if (conf_is(r->conf, "congestor", "placement", "random") ||
	    conf_given(r->conf, "congestor", "leaves"))
		return;
	nodes = xcalloc(r->node_count, sizeof(*nodes));
	for (size_t i = 0; i < r->node_count; i++)
		if (r->nodes[i].node->leaf[0] != '\0')
			nodes[count++] = r->nodes[i].node;
	qsort(nodes, count, sizeof(*nodes), placement_compare);
	for (size_t i = 0; i < count; i = to) {
		for (to = i + 1; to < count &&
		     strcmp(nodes[to]->leaf, nodes[i]->leaf) == 0;)
			to++;
		placement_add(nodes + i, to - i, &text);
	}
	if (count > 0 && text.len_bytes <= CAMPAIGN_LEAVES_MAX)
		(void)conf_set(r->conf, "congestor", "leaves", text.text,
		    "topology", &err);
	strbuf_clear(&text);
	free(nodes);
}
