/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - every key of every configuration file, as rows.
 *
 * The rows feed the parsers, the shipped files in etc/, coalctl's help and the
 * manual pages.
 */
#ifndef SCHEMA_OPTIONS_H
#define SCHEMA_OPTIONS_H

#include "common/conf.h"
#include "common/err.h"

extern const struct conf_row options_campaign[]; /* etc/campaigns/NAME.conf */
extern const struct conf_row options_daemon[];   /* coalmined.conf */
extern const struct conf_row options_agent[];    /* coalmine-agent.conf */

extern const struct conf_row options_probe[]; /* probes.d/NAME.conf */
extern const struct conf_row options_scan[];  /* --KEY VALUE of coalmine-scan */

/* By file kind, "campaign", "coalmined", "coalmine-agent", "probe", "plan",
 * "machine" or "scan"; NULL if none. */
const struct conf_row *options_find(const char *kind);

/* The rows of a campaign's section [slurm], which srun has as options of the
 * same names: the first for NULL, else the next; NULL after the last. */
const struct conf_row *options_slurm(const struct conf_row *row);

/* 1 when a campaign runs canaries and congestors: it says so, or has no plan.
 * 1 when it has a section that is a plan. */
int options_runs_canaries(const struct conf *c);
int options_runs_plans(const struct conf *c);
/* Return 1 for the name of a probe that is a plan; its section has the same
 * name. */
int options_is_plan(const char *name);

/* What single rows cannot say: canary tests twice, mixes without share, a
 * background campaign with congestors, a window without schedule ... 0, or
 * -EINVAL with "file:line: ..." in why. */
int options_campaign_check(const struct conf *c, struct err *err);

/* ---- patterns.c: the options of the probes that are plans, as rows ----
 *
 * A section is a probe. The same rows read "name=value" on a command line and
 * a section of a campaign file.
 */

/* The tail of the rows of a campaign, which may hold them all: a section for
 * each probe that is a plan, and last [measure], which is for all of them. */
extern const struct conf_row *const options_patterns;

#endif
