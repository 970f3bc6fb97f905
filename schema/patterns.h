/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns.h - the options of the probes that are plans, as rows.
 *
 * A section is a probe. The same rows read "name=value" on a command line and
 * a section of a campaign file.
 */
#ifndef SCHEMA_PATTERNS_H
#define SCHEMA_PATTERNS_H

#include "schema/options.h"

/* group stripe self sparse collective neighbor multipath allreduce measure: the
 * tail of the rows of a campaign, which may hold them all. */
extern const struct conf_row *const options_patterns;

#endif
