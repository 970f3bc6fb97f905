/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy.c - which groups of a machine are nearer to each other than to all
 * others.
 */
#include "probes/collective/hierarchy.h"

#include <errno.h>
#include <string.h>

#include "probes/pattern/builders.h"
#include "probes/topology/machine_path.h"

#define SECTION "collective"

/* Ranks of a node in groups of size: inside each, all are nearer to each
 * other than any is to another group. */
static int
hierarchy_near(const struct machine *m, uint32_t count, uint32_t size)
{
	double inside = 1e300, outside = -1;

	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = 0; b < count; b++) {
			double near = machine_nearness(m,
			    machine_rank_vertex(m, a),
			    machine_rank_vertex(m, b));

			if (a / size == b / size && near < inside)
				inside = near;
			if (a / size != b / size && near > outside)
				outside = near;
		}
	return inside > outside;
}

void
hierarchy_add(uint32_t *factors, uint32_t *levels, uint32_t factor)
{
	if (factor > 1 && *levels < COMPOSE_LEVELS_MAX)
		factors[(*levels)++] = factor;
}

void
hierarchy_of(const struct machine *m, uint32_t ranks,
    uint32_t factors[COMPOSE_LEVELS_MAX], uint32_t *ret_levels)
{
	struct machine fit = machine_fit(m, ranks);
	uint32_t nodes = machine_nodes(&fit, ranks), leaf = fit.leaf_nodes;
	uint32_t inside = ranks < fit.ranks ? ranks : fit.ranks;
	uint32_t levels = 0, left;

	if (ranks % inside != 0) { /* the last node is not full */
		inside = 1;
		nodes = ranks;
		leaf = 0;
	}
	if (leaf > 0 && nodes > leaf && nodes % leaf == 0) {
		hierarchy_add(factors, &levels, nodes / leaf);
		nodes = leaf;
	}
	hierarchy_add(factors, &levels, nodes);
	left = inside;
	for (uint32_t size = inside / 2; size > 1; size--)
		if (left % size == 0 && hierarchy_near(&fit, inside, size)) {
			hierarchy_add(factors, &levels, left / size);
			left = size;
		}
	hierarchy_add(factors, &levels, left);
	if (levels == 0)
		factors[levels++] = 1;
	*ret_levels = levels;
}

int
hierarchy_machine(const struct conf *c, const struct pattern_site *site,
    const struct machine **ret, struct machine **ret_own, struct err *err)
{
	const char *name = conf_string(c, SECTION, "machine");
	uint32_t nodes = site->nodes > 0 ? site->nodes : 1;
	const struct machine_gpus in_order = { NULL, NULL };
	const char *device = conf_string(c, "measure", "device");
	struct err text;

	*ret_own = NULL;
	if (name[0] == '\0' && site->machine != NULL) {
		*ret = site->machine;
		return 0;
	}
	if (name[0] != '\0') {
		if (machine_load(name, NULL, 0, ret_own, &text) < 0)
			return err_set(err, -EINVAL, "%s: %s.machine: %s",
			    conf_where(c, SECTION, "machine"), SECTION,
			    text.text);
	} else if (machine_discover("", (site->ranks - 1) / nodes + 1,
		       strcmp(device, "host") != 0 ? &in_order : NULL,
		       ret_own) < 0) {
		return pattern_refuse(c, SECTION, "machine", err,
		    "the name or file of a machine: the local machine has too "
		    "few devices for this many ranks");
	}
	*ret = *ret_own;
	return 0;
}

int
hierarchy_auto(const struct conf *c, const char *section,
    const struct pattern_site *site, struct compose_shape *ret, struct err *err)
{
	const struct machine *m;
	struct machine *own;
	int rc;

	if (site->ranks == 0) {
		pattern_refuse(c, section, "hierarchy", err,
		    "a value other than auto, or a known number of ranks "
		    "(--ranks)");
		return -ENODATA; /* a run says how many */
	}
	rc = hierarchy_machine(c, site, &m, &own, err);
	if (rc < 0)
		return rc;
	hierarchy_of(m, site->ranks, ret->factors, &ret->levels);
	machine_free(own);
	return 0;
}
