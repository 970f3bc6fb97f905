/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts_check.h - the checks of values that the rows of options name. A check
 * needs no collector. Each is an opt_check (opts.h). No value is empty.
 */
#ifndef CTL_LIB_OPTS_CHECK_H
#define CTL_LIB_OPTS_CHECK_H

#include "ctl/lib/opts.h"

opt_check opts_check_ago;      /* a duration up to the time since 1970 */
opt_check opts_check_agent;    /* a state of agents */
opt_check opts_check_bytes;    /* a size above 0 */
opt_check opts_check_gbps;     /* a rate of a link */
opt_check opts_check_hosts;    /* a host list */
opt_check opts_check_input;    /* a file that can be read */
opt_check opts_check_machine;  /* the name or the file of a machine */
opt_check opts_check_name;     /* the name of a campaign or cluster */
opt_check opts_check_output;   /* a file that can be written, or "-" */
opt_check opts_check_override; /* a key of campaigns and its value */
opt_check opts_check_part;     /* nodes, a leaf, a switch or an uplink */
opt_check opts_check_patterns; /* patterns separated by commas */
opt_check opts_check_plan;     /* a probe and its options */
opt_check opts_check_run;      /* a state of runs */
opt_check opts_check_san;      /* a DNS name or an address */
opt_check opts_check_share;    /* 5% or 0.05 */
opt_check opts_check_slow;     /* a part and its share */
opt_check opts_check_sort;     /* a member of rows */
opt_check opts_check_span;     /* a duration, in the row's range of ns */
opt_check opts_check_stdin;    /* a file that can be read, or "-" */
opt_check opts_check_text;     /* UTF-8, in the row's limit of bytes */
opt_check opts_check_url;      /* an address of a collector */
opt_check opts_check_where;    /* a clause over rows */
opt_check opts_check_window;   /* times of day */

/* Parse a share as "5%" or "0.05". Return 0, or -EINVAL. */
int opts_share_parse(const char *text, double *ret);

#endif
