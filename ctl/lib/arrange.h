/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.h - the options --where and --sort of every list.
 */
#ifndef CTL_LIB_ARRANGE_H
#define CTL_LIB_ARRANGE_H

#include <jansson.h>

#include "common/err.h"
#include "ctl/lib/opts.h"

/* Keep the rows of an array that --where selects, in the order of --sort.
 * Return 0, or -EINVAL with err if no row has a member of that name. A value
 * that is not an array is not changed. */
int arrange_list(const struct opts *opts, json_t *list, struct err *err);

#endif
