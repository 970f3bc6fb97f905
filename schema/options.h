/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - every key of every configuration file, as rows.
 *
 * The parsers read the rows. The shipped files in etc/, coalctl's help and the
 * manual pages are generated from them.
 */
#ifndef SCHEMA_OPTIONS_H
#define SCHEMA_OPTIONS_H

#include "common/conf.h"
#include "common/err.h"
#include "schema/names_probe.h"

/* The rows of each kind of file. The last row of each table has a NULL key. */
extern const struct conf_row options_campaign[]; /* etc/campaigns/NAME.conf */
extern const struct conf_row options_daemon[];   /* coalmined.conf */
extern const struct conf_row options_agent[];    /* coalmine-agent.conf */

extern const struct conf_row options_probe[]; /* probes.d/NAME.conf */
/* Options --KEY VALUE of coalmine-scan. */
extern const struct conf_row options_scan[];

/* Return the rows of a kind of file, or NULL if kind is unknown. kind:
 * "campaign", "coalmined", "coalmine-agent", "probe", "plan", "machine",
 * "promise" or "scan". */
const struct conf_row *options_find(const char *kind);

/* Iterate over the rows of section [slurm] of a campaign; srun has an option of
 * the same name for each. row NULL: return the first row; otherwise the row
 * after it. Return NULL after the last. */
const struct conf_row *options_slurm(const struct conf_row *row);

/* Return 1 if the campaign runs canaries and congestors: it has a section of
 * theirs, or it has no plan. Otherwise return 0. */
int options_runs_canaries(const struct conf *c);
/* Return 1 if the list canary.tests has this test, 0 if not. */
int options_has_test(const struct conf *c, enum canary_test test);
/* Return 1 if the campaign has a section of a probe that is a plan, 0 if
 * not. */
int options_runs_plans(const struct conf *c);
/* Return 1 if name is a probe that is a plan, 0 if not. The section of the
 * probe's options has the same name. */
int options_is_plan(const char *name);

#define CAMPAIGN_LEAVES_MAX 16000 /* bytes of congestor.leaves */

/* Check rules that span several rows of a campaign, for example: no canary test
 * twice, no congestors in a background campaign, no window without a schedule.
 * Return 0, or -EINVAL with "FILE:LINE: ..." in err. */
int options_campaign_check(const struct conf *c, struct err *err);
/* Check the rules from number *at on (0: all). Return -EINVAL with err for the
 * first one that the campaign breaks, and the number after it in *at; 0: it
 * breaks no further rule. */
int options_campaign_next(const struct conf *c, size_t *at, struct err *err);

/* ---- patterns.c: the options of the probes that are plans, as rows ----
 *
 * Each section is one probe. The same rows read "name=value" on a command line
 * and a section of a campaign file. */

/* The last rows of options_campaign: a section for each probe that is a plan,
 * and at the end [measure], which applies to all of them. */
extern const struct conf_row *const options_patterns;

#endif
