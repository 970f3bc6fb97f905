/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.c - the state of each node in the diagnosis, and the numbers of leaves.
 */
#include "daemon/diagnosis/node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"

struct diagnosis_node *
diagnosis_node(struct diagnosis *d, const struct node *n)
{
	if (n->id >= d->node_count) {
		size_t want = n->id + n->id / 2 + 16;

		d->nodes = xreallocarray(d->nodes, want, sizeof(*d->nodes));
		for (; d->node_count < want; d->node_count++) {
			struct diagnosis_node *fresh = &d->nodes[d->node_count];

			*fresh = (struct diagnosis_node){ .wait_ratio = NAN,
				.reported = VERDICT_MAX };
			for (int i = 0; i < CANARY_MAX; i++)
				fresh->z[i] = NAN;
		}
	}
	return &d->nodes[n->id];
}

const struct diagnosis_node *
node_known(const struct diagnosis *d, const struct node *n)
{
	return n->id < d->node_count ? &d->nodes[n->id] : NULL;
}

uint32_t
diagnosis_leaf(struct diagnosis *d, const char *leaf)
{
	const json_t *at = json_object_get(d->leaf_index, leaf);

	if (leaf[0] == '\0')
		return SCORE_NO_LEAF;
	if (at != NULL)
		return (uint32_t)json_integer_value(at);
	d->leaves = xreallocarray(d->leaves, d->leaf_count + (size_t)1,
	    sizeof(*d->leaves));
	snprintf(d->leaves[d->leaf_count], sizeof(*d->leaves), "%s", leaf);
	json_object_set_new(d->leaf_index, leaf,
	    json_integer((json_int_t)d->leaf_count));
	return d->leaf_count++;
}

unsigned
node_missed(const struct diagnosis_node *cn)
{
	return cn->missed[0] + cn->missed[1];
}

int
diagnosis_is_new_boot(const struct node *n, const struct diagnosis_node *cn)
{
	return n->boot != NULL && cn->boot != NULL &&
	    strcmp(n->boot, cn->boot) != 0;
}

void
diagnosis_heard(struct diagnosis *d, const struct node *n)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);

	cn->heard_ns = clk_ns();
	cn->partners = cn->slow_partners = 0; /* until a row has them */
	cn->wait_ratio = NAN;
	if (cn->boot == NULL && n->boot != NULL)
		cn->boot = xstrdup(n->boot);
}

void
diagnosis_node_free(struct diagnosis *d)
{
	for (size_t i = 0; i < d->node_count; i++) {
		free(d->nodes[i].boot);
		free(d->nodes[i].trouble);
		free(d->nodes[i].rates);
		json_decref(d->nodes[i].ports);
	}
	free(d->nodes);
	json_decref(d->leaf_index);
	free(d->leaves);
}
