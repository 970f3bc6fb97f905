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

/* The tail of the rows of a campaign, which may hold them all: a section for
 * each probe that is a plan, and last [measure], which is for all of them. */
extern const struct conf_row *const options_patterns;

#endif
