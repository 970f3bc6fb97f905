/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective.h - objectives, their error budgets and burn rates. Pure: no clock,
 * no store, no names.
 *
 * An objective requires that a share of all measured node-hours in a window is
 * good. The other node-hours are its error budget. The burn rate is the share
 * of bad node-hours over the share that the objective permits: at 1 the budget
 * lasts for exactly one window.
 */
#ifndef DAEMON_OBJECTIVE_OBJECTIVE_H
#define DAEMON_OBJECTIVE_OBJECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define OBJECTIVE_MAX        16
#define OBJECTIVE_NAME_BYTES 32

/* The parts of a cluster that an objective covers. */
enum objective_class {
	OBJECTIVE_NODE,
	OBJECTIVE_LEAF,
	/* Any set of nodes of one leaf: a collective of large messages is as
	 * fast as the slowest of its nodes. */
	OBJECTIVE_COLLECTIVE,
	OBJECTIVE_CLASS_MAX
};
extern const char *const objective_classes[OBJECTIVE_CLASS_MAX];

/* The reference of a share. */
enum objective_basis {
	OBJECTIVE_PEERS,
	OBJECTIVE_PROMISE,
	OBJECTIVE_BASIS_MAX
};
extern const char *const objective_bases[OBJECTIVE_BASIS_MAX];

struct objective {
	char name[OBJECTIVE_NAME_BYTES];
	enum objective_class of;
	double share;  /* least share of the expected bandwidth; less is bad */
	double target; /* share of node-hours that must be good, below 1 */
	uint64_t window_ns;
	enum objective_basis basis;
	unsigned set_nodes; /* nodes of a collective; 0: another class */
};

/* Parse rows "NAME CLASS SHARE TARGET WINDOW [promise]", separated by commas,
 * for example "links node 95% 99.5% 30d". Return their number, or -EINVAL with
 * the reason in err. */
int objective_parse(const char *rows, struct objective ret[OBJECTIVE_MAX],
    struct err *err);

/* Return the share of all sets of set_nodes nodes of a leaf that have no slow
 * node. set_nodes is at most nodes. */
double objective_sets_good(unsigned set_nodes, unsigned nodes, unsigned slow);

/* The alerts. Each has a long window and a short one of a twelfth of it. The
 * short window ends the alert soon after the fault. */
enum objective_alert {
	OBJECTIVE_FAST,    /* spends 2 % of the budget in 1/720 of the window */
	OBJECTIVE_SLOW,    /* spends 5 % of the budget in 1/120 of the window */
	OBJECTIVE_LASTING, /* spends 10 % of the budget in 1/10 of the window */
	OBJECTIVE_ALERT_MAX
};
extern const char *const objective_alerts[OBJECTIVE_ALERT_MAX];

struct objective_burn {
	uint64_t long_ns, short_ns;
	double long_rate, short_rate; /* NAN: nothing was measured */
	double limit;
	int fires;
};

struct objective_state {
	/* Hours of the window in which something was measured, and how many
	 * are needed before the state is known. */
	double measured_hours, needed_hours;
	int is_known;
	double good_hours, bad_hours; /* node-hours in the window */
	double good;   /* share of good node-hours; NAN: not known */
	double budget; /* share that is left, below 0 if it is overspent; NAN */
	struct objective_burn burn[OBJECTIVE_ALERT_MAX];
};

/* The node-hours of one objective, in rings of fixed size. */
struct objective_tally;
/* o outlives the tally. */
struct objective_tally *objective_tally_new(const struct objective *o);
void objective_tally_free(struct objective_tally *t); /* NULL is allowed */
/* Add a time in which these numbers of nodes were good and bad. Times do not
 * overlap, and later ones are added later. */
void objective_tally_add(struct objective_tally *t, uint64_t from_unix_ns,
    uint64_t to_unix_ns, double good, double bad);
/* Compute the state at a time. Windows of alerts are at least as long as the
 * interval of measurements, gap_ns (0: unknown). fires: as of the last
 * objective_tally_judge. */
void objective_tally_state(const struct objective_tally *t, uint64_t gap_ns,
    uint64_t now_unix_ns, struct objective_state *ret);
/* Decide which alerts fire; return the state. An alert starts when both rates
 * have reached its limit, and ends when one of them is a fifth below it.
 * Missing data neither starts nor ends it. */
void objective_tally_judge(struct objective_tally *t, uint64_t gap_ns,
    uint64_t now_unix_ns, struct objective_state *ret);

#endif
