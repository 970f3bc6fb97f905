/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defaults.h - the judge's options as coalmine.conf(5) has them by default.
 */
#ifndef TESTS_SIM_VERDICT_DEFAULTS_H
#define TESTS_SIM_VERDICT_DEFAULTS_H

#include <assert.h>
#include <stddef.h>

#include "daemon/diagnosis/stats/judge.h"
#include "schema/options.h"

static inline const struct judge_options *
judge_defaults(void)
{
	static struct judge_options o;
	struct conf *c;
	struct err err;
	int rc;

	if (o.votes != 0)
		return &o;
	rc = conf_parse(options_find("coalmined"), "defaults", "", &c, &err);
	assert(rc == 0);
	(void)rc;
	judge_options_read(c, &o);
	conf_free(c);
	return &o;
}

#endif
