/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/collective/compose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "probes/pattern/builders.h"
#include "probes/collective/tune.h"

/* "2,2,3" into factors; *ret_product is what they make, 0 if they make no
 * sense. */
static void
factors(const char *text, struct compose_shape *shape, uint64_t *ret_product)
{
	size_t count = 0;
	char **words = str_list_parse(text, &count);
	uint64_t product = words != NULL && count > 0 &&
	    count <= COMPOSE_LEVELS_MAX;
	int64_t x;

	for (uint32_t i = 0; product > 0 && i < count; i++) {
		int rc = str_to_int(words[i], 1, PLAN_RANKS_MAX, &x);

		product = rc < 0 ? 0 : product * (uint64_t)x;
		if (product == 0 || product > PLAN_RANKS_MAX)
			product = 0;
		else
			shape->factors[i] = (uint32_t)x;
	}
	shape->levels = (uint32_t)count;
	str_list_free(words);
	*ret_product = product;
}

/* The product must be the number of ranks, or gives it when nobody else did.
 */
static int
hierarchy(const struct conf *c, const char *section, uint32_t *ranks,
    struct compose_shape *shape, struct err *err)
{
	const char *text = conf_string(c, section, "hierarchy");
	uint64_t product = 0;

	if (strcmp(text, "flat") == 0) {
		*ranks = *ranks > 0 ? *ranks : 2;
		shape->levels = 1;
		shape->factors[0] = *ranks;
		return 0;
	}
	if (strcmp(text, "auto") == 0)
		return tune_auto(c, section, *ranks, shape->factors,
		    &shape->levels, err);
	factors(text, shape, &product);
	if (*ranks == 0)
		*ranks = (uint32_t)product;
	if (product == 0 || product != *ranks)
		return pattern_refuse(c, section, "hierarchy", err,
		    "flat, auto, or up to %d factors with commas whose product "
		    "is "
		    "the number of ranks%s%.0u",
		    COMPOSE_LEVELS_MAX, *ranks > 0 ? ", " : "", *ranks);
	return 0;
}

/* "1, 2, 3, 4, 6 or 12": what divides n. */
static int
refuse_divisor(const struct conf *c, const char *section, const char *key,
    uint32_t n, struct err *err)
{
	char text[200] = "";
	size_t len = 0;

	for (uint32_t d = 1; d <= n && len < sizeof(text) - 12; d++)
		if (n % d == 0)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    " %u", d);
	return pattern_refuse(c, section, key, err,
	    "a divisor of %u, the ranks:%s", n, text);
}

static int
shape_options(const struct conf *c, const char *section, uint32_t *ranks,
    struct compose_shape *shape, struct err *err)
{
	int rc = hierarchy(c, section, ranks, shape, err);

	if (rc == 0)
		rc = pattern_vias(c, section, shape->levels, shape->vias, err);
	if (rc < 0)
		return rc;
	shape->stripe = (uint32_t)conf_int(c, section, "stripe");
	shape->ring = (uint32_t)conf_int(c, section, "ring");
	shape->depth = (uint32_t)conf_int(c, section, "depth");
	shape->lean = conf_bool(c, section, "lean");
	shape->type = (enum plan_type)plan_type_find(
	    conf_string(c, section, "type"));
	shape->op = (enum plan_op)plan_op_find(conf_string(c, section, "op"));
	if (*ranks % shape->stripe != 0)
		return refuse_divisor(c, section, "stripe", *ranks, err);
	if (*ranks % shape->ring != 0)
		return refuse_divisor(c, section, "ring", *ranks, err);
	return 0;
}

int
compose_options(const struct conf *c, const char *section, uint32_t *ranks,
    struct compose_shape *ret, struct err *err)
{
	uint32_t asked = (uint32_t)conf_int(c, section, "ranks");

	if (asked != 0 && *ranks != 0 && asked != *ranks)
		return pattern_refuse(c, section, "ranks", err,
		    "0 or %u, as many as there are", *ranks);
	if (asked != 0)
		*ranks = asked;
	return shape_options(c, section, ranks, ret, err);
}
