/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.h - --where and --sort of every list.
 */
#ifndef CTL_LIB_ARRANGE_H
#define CTL_LIB_ARRANGE_H

#include <jansson.h>

#include "common/err.h"
#include "ctl/lib/opts.h"

/* Keep of an array what --where selects, in the order of --sort. 0, or -EINVAL
 * where no row has a member of that name. Another value than an array is not
 * changed. */
int arrange_list(const struct opts *opts, json_t *list, struct err *err);
/* Check --where and --sort by their form, before a request is made: 0 or
 * -EINVAL. */
int arrange_check(const struct opts *opts, struct err *err);

#endif
