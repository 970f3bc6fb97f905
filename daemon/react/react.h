/* SPDX-License-Identifier: Apache-2.0 */
/*
 * react.h - the action when the verdict of a node becomes bad, and its undo
 * when the verdict is cleared. The default is to do nothing.
 *
 *   command      a command of the site, with its arguments in the environment
 *   slurm-drain  scontrol, with a reason of REACT_MARK and the verdict. A node
 *                that is drained, down or reserved for another reason is
 *                skipped. A node is resumed only if its reason has our mark and
 *                our setting records the drain.
 *
 * Options limit the number of nodes and the share of the cluster in an hour.
 * With dry_run the action is only logged. All actions are in the event log
 * (kind "reaction"). They run one at a time; an action that exceeds a limit is
 * retried when the limits permit it.
 */
#ifndef DAEMON_REACT_REACT_H
#define DAEMON_REACT_REACT_H

#include <jansson.h>
#include <stddef.h>

#include "common/clk.h"
#include "daemon/slurm/slurm.h"

#define REACT_MARK "coalmine:"

/* The value of reaction.action that needs option reaction.command. */
#define REACT_COMMAND "command"

struct conf;

/* The options: section reaction of coalmine.conf(5). */
struct react_options {
	const char *action; /* value of reaction.action */
	int dry_run;
	int undo;
	const char *command; /* command line for the shell */
	struct slurm_site slurm;
	int nodes_per_hour;
	double share_per_hour; /* share of all nodes, rounded up */
};
/* Read section reaction. Texts live as long as c. */
void react_options_read(const struct conf *c, struct react_options *ret);

struct event_base;
struct react;
struct roster;
struct store;

/* Return the reactions, which the caller frees. o's text and store must outlive
 * them. */
struct react *react_new(struct event_base *base, struct store *store,
    const struct react_options *o);
void react_free(struct react *r); /* NULL is allowed */
/* Set the nodes; Slurm may use other domains for them: common/hostname.h. */
void react_roster_set(struct react *r, const struct roster *roster);
/* Load actions that were not undone from the answer of STORE_SETTINGS. */
void react_load(struct react *r, const json_t *settings);
/* Start or undo the action for a node whose verdict has become bad (react_bad,
 * with its text) or ok (react_well). Callers do not report warn and unknown,
 * which change nothing. */
void react_bad(struct react *r, const char *node, const char *text);
void react_well(struct react *r, const char *node);
/* Start actions that are due; call it periodically. nodes: the number of nodes
 * in the cluster. */
void react_tick(struct react *r, size_t nodes);

#endif
