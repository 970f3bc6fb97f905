/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/pattern/sweep.h"

#include "common/err.h"

#include <errno.h>
#include <stdio.h>

#include "probes/pattern/sizes.h"
#include "probes/pattern/vary.h"

/* In its own size, or in each of a sweep. */
static int
each_size(struct conf *c, const struct pattern *pt, sweep_cb use, void *arg,
    struct err *err)
{
	uint64_t sizes[SIZES_MAX];
	int count, rc;

	rc = sizes_parse(conf_string(c, "measure", "sizes"), sizes, &count,
	    err);
	if (rc == 0 && count == 0)
		use(pt, arg);
	for (int i = 0; rc == 0 && i < count; i++) {
		rc = sizes_set(c, pt->name, sizes[i], err);
		if (rc == 0)
			use(pt, arg);
	}
	return rc;
}

int
sweep_each(struct conf *c, const struct pattern *pt, sweep_cb use, void *arg,
    struct err *err)
{
	const char *text = conf_string(c, "measure", "vary");
	struct vary v;
	int rc = vary_parse(text, &v, err);

	if (rc == 0 && v.section != NULL && pattern_find(v.section) == NULL) {
		err_say(err, "measure.vary = %.80s: there is no probe %.40s",
		    text, v.section);
		rc = -EINVAL;
	}
	if (rc == 0 && !vary_is_of(&v, pt->name))
		rc = each_size(c, pt, use, arg, err);
	for (size_t i = 0; rc == 0 && vary_is_of(&v, pt->name) && i < v.count;
	     i++) {
		rc = conf_set(c, pt->name, v.key, v.values[i], "measure.vary",
		    err);
		if (rc == 0)
			rc = each_size(c, pt, use, arg, err);
	}
	vary_clear(&v);
	return rc;
}
