/* SPDX-License-Identifier: Apache-2.0 */
/*
 * react.h - what is done about a node that is judged bad, and undone when it
 * is well again. By default nothing.
 *
 *   command      a line of the site, told by its environment
 *   slurm-drain  scontrol, with a reason that begins with REACT_MARK and the
 *                verdict. A node that is drained, down or reserved for another
 *                reason is left alone, and only what bears our mark and stands
 *                in our memory is resumed.
 *
 * No more than a number of nodes and a share of the cluster in an hour. With
 * dry_run it is only said what would be done. All of it goes to the event log
 * (kind "reaction"). One thing at a time; what is held back is tried again
 * when the limits allow.
 */
#ifndef DAEMON_REACT_REACT_H
#define DAEMON_REACT_REACT_H

#include <jansson.h>
#include <stddef.h>

#include "common/clk.h"
#include "daemon/slurm/slurm.h"

#define REACT_MARK "coalmine:"

/* Of reaction.action: the one that has an option of its own. */
#define REACT_COMMAND "command"

struct conf;

struct react_options {
	const char *action; /* of reaction.action */
	int dry_run;
	int undo;
	const char *command; /* for the shell */
	struct slurm_site slurm;
	int nodes_per_hour;
	double share_per_hour; /* of all nodes, rounded up */
};
/* Read section reaction. Texts live as long as c. */
void react_options_read(const struct conf *c, struct react_options *ret);

struct event_base;
struct react;
struct roster;
struct store;

/* o's text and store outlive it. */
struct react *react_new(struct event_base *base, struct store *store,
    const struct react_options *o);
void react_free(struct react *r); /* NULL is allowed */
/* The nodes, to which Slurm may give other domains: common/hostname.h. */
void react_roster_set(struct react *r, const struct roster *roster);
/* What STORE_SETTINGS answered: what was done and not undone. */
void react_load(struct react *r, const json_t *settings);
/* A node has become bad, or well. text: why, in words. What is neither
 * (warn, unknown) changes nothing and is not passed on. */
void react_bad(struct react *r, const char *node, const char *text);
void react_well(struct react *r, const char *node);
/* Now and then; nodes: how many the cluster has. */
void react_tick(struct react *r, size_t nodes);

#endif
