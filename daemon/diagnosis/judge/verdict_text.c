/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_text.c - the sentence of a verdict: the slow subject, its reference,
 * the effect, the number of rounds, and the result of a confirmation run.
 */
#include "daemon/diagnosis/judge/verdict_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "schema/names_probe.h"

/* An effect of a factor of two or more is printed as a factor. */
#define FACTOR_FROM 0.6931471805599453

const struct port_fact_row verdict_text_ports[PORT_FACT_MAX] = {
	[PORT_RATE] = { "speed_bps", "now_bps", "rated_bps", VERDICT_BAD, 1, 0,
	    1e9, "runs at", " Gbit/s",
	    "the earlier value of this port or the value of most nodes of "
	    "its leaf" },
	[PORT_PCIE] = { "pcie_bps", "pcie_bps", "usual_pcie_bps", VERDICT_WARN,
	    1, 0, 1e9, "has a PCIe link of", " Gbit/s",
	    "the earlier value of this port or the value of most nodes of "
	    "its leaf" },
	[PORT_MTU] = { "mtu", "mtu", "usual_mtu", VERDICT_WARN, 0, 0, 1,
	    "has an MTU of", " bytes", "the value of most nodes of its leaf" },
	[PORT_NUMA] = { "numa_node", "numa_node", "usual_numa_node",
	    VERDICT_WARN, 0, 1, 1, "is at NUMA node", "",
	    "as on most nodes of its leaf" },
};

enum what
verdict_text_what_found(enum confirm_finding finding)
{
	static const enum what what[CONFIRM_MAX] = {
		[CONFIRM_NODE] = WHAT_NODE,
		[CONFIRM_LEAF] = WHAT_LEAF,
		[CONFIRM_LINK] = WHAT_LINK,
		[CONFIRM_UNCLEAR] = WHAT_UNDETERMINED,
		[CONFIRM_BETWEEN] = WHAT_LINK,
	};

	return what[finding];
}

/* "28 %" slower, or "9.8 times". */
static void
verdict_text_slower(double effect, int is_rate, char ret[24])
{
	if (effect >= FACTOR_FROM)
		snprintf(ret, 24, "%.1f times", exp(fmin(effect, 30)));
	else
		snprintf(ret, 24, "%.0f %%",
		    100 * (is_rate ? 1 - exp(-effect) : exp(effect) - 1));
}

static void __attribute__((format(printf, 2, 3)))
verdict_text_add(char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, VERDICT_TEXT_MAX - len, fmt, ap);
	va_end(ap);
}

static void
verdict_text_add_whom(const struct verdict_evidence *c, char *text)
{
	if (c->what == WHAT_LEAF || c->what == WHAT_LINK)
		verdict_text_add(text, " than other leaves");
	else if (c->slow_partners > 0)
		verdict_text_add(text, " than %zu of %zu partners",
		    c->slow_partners, c->partners);
	else
		verdict_text_add(text, " than its peers");
	verdict_text_add(text, " over %" PRIu32 " round%s (%s)", c->rounds,
	    c->rounds == 1 ? "" : "s", c->test);
	if (c->places > 0)
		verdict_text_add(text, "; %zu of its %zu nodes are slow",
		    c->slow_places, c->places);
}

/* Add the result of the confirmation run, unless the first words have it. */
static void
verdict_text_add_pass(const struct verdict_evidence *c, char *text)
{
	static const char *const said[CONFIRM_MAX] = {
		[CONFIRM_CLEARED] =
		    "confirmation run: as fast as its peers now",
		[CONFIRM_NODE] =
		    "confirmation run: the node is slow, not its leaf",
		[CONFIRM_LEAF] = "confirmation run: pairs inside the leaf "
				 "are slow too",
		[CONFIRM_LINK] = "confirmation run: pairs inside the leaf "
				 "are normal, so its uplink is slow",
		[CONFIRM_UNCLEAR] =
		    "confirmation run: undetermined whether the node or a path "
		    "is slow",
		[CONFIRM_BETWEEN] =
		    "confirmation run: pairs inside the leaf are normal, so "
		    "its uplink is slow, or the uplink of the only other "
		    "measured leaf, ",
	};
	/* For a node, and for a leaf. */
	static const char *const ways[CONFIRM_WAY_MAX][2] = {
		[CONFIRM_WAY_UNKNOWN] = { "", "" },
		[CONFIRM_WAY_BOTH] = { "", "" },
		[CONFIRM_WAY_SEND] = { ", only when it sends",
		    ", only for traffic out of the leaf" },
		[CONFIRM_WAY_RECEIVE] = { ", only when it receives",
		    ", only for traffic into the leaf" },
	};
	int is_leaf = c->what == WHAT_LEAF || c->what == WHAT_LINK;
	int is_incast = strcmp(c->test, names_tests[CANARY_INCAST].name) == 0;

	verdict_text_add(text, "; %s%s",
	    !c->passed ? "confirmation run pending"
		: c->what == WHAT_RAIL && c->finding == CONFIRM_NODE
		? "confirmation run over this rail: the node is slow, not "
		  "its leaf"
		: said[c->finding],
	    !c->passed                          ? ""
		: c->finding == CONFIRM_BETWEEN ? c->other
		: is_incast && c->way == CONFIRM_WAY_RECEIVE
		? ", only as receiver of many senders"
		: ways[c->way][is_leaf]);
	if (c->next != NULL && c->next[0] != '\0')
		verdict_text_add(text,
		    !c->passed ? ": %s"
			: c->finding == CONFIRM_UNCLEAR
			? "; next run %s"
			: "; run to find the direction: %s",
		    c->next);
}

static void
verdict_text_write_loss(const struct verdict_evidence *c, char *text)
{
	static const char *const said[CONFIRM_MAX] = {
		[CONFIRM_NODE] =
		    "within its leaf and to other leaves, while its partners "
		    "lose none to other nodes",
		[CONFIRM_LEAF] = "echoes inside the leaf are lost too",
		[CONFIRM_LINK] =
		    "none are lost inside the leaf, so its uplink is faulty",
	};

	double share = loss_of_number(c->effect);

	verdict_text_add(text,
	    "%s%s: %.*f %% or more of its UDP echoes are lost",
	    c->places > 0 ? "leaf " : "", c->subject, share < 0.005 ? 2 : 1,
	    100 * share);
	if (c->places == 0)
		verdict_text_add(text, ", even with its best partners,");
	verdict_text_add(text, " over %" PRIu32 " rounds (%s)", c->rounds,
	    c->test);
	if (c->places > 0)
		verdict_text_add(text, "; %zu of its %zu nodes lose echoes",
		    c->slow_places, c->places);
	if (c->what == WHAT_HOST)
		verdict_text_add(text, "; host contention: %s", c->host);
	else
		verdict_text_add(text, "; %s",
		    c->passed && said[c->finding] != NULL
			? said[c->finding]
			: "undetermined whether the node or a path loses them");
}

/* A node with drift may still be as fast as its peers. */
static void
verdict_text_write_drift(const struct verdict_evidence *c, const char *slower,
    char *text)
{
	int has_rail = c->rail != NULL && c->rail[0] != '\0';

	verdict_text_add(text, "%s%s%s: %s slower than in ", c->subject,
	    has_rail ? ", rail " : "", has_rail ? c->rail : "", slower);
	if (c->past[0] != '\0')
		verdict_text_add(text, "baseline %s", c->past);
	else
		verdict_text_add(text, "its own last weeks");
	verdict_text_add(text,
	    ", relative to its peers, over %" PRIu32 " rounds (%s)", c->rounds,
	    c->test);
}

static void
verdict_text_write_shortfall(const struct verdict_evidence *c, char *text)
{
	verdict_text_add(text,
	    "%s%s: its speed is %.0f %% of the prediction for machine %s",
	    c->places > 0 ? "uplink of leaf " : "", c->subject,
	    100 * exp(-c->effect), c->past);
	if (c->places > 0)
		verdict_text_add(text,
		    ", while pairs inside the leaf are as predicted");
	else if (c->partners > 1)
		verdict_text_add(text, ", with the best of %zu partners",
		    c->partners);
	else
		verdict_text_add(text,
		    "; measured with one partner only, which may be the slow "
		    "one");
}

/* Totals of all looks since the first error. */
static void
verdict_text_add_errors(const struct link_sum *s, char *text)
{
	char span[32];

	clk_span_format(s->span_s * CLK_NS_PER_S, span, sizeof(span));
	verdict_text_add(text, "%s %s has counted %s %" PRIu64 " time%s in %s",
	    strchr(s->port, ':') != NULL ? "GPU" : "port", s->port, s->counter,
	    s->errors, s->errors == 1 ? "" : "s", span);
}

static void
verdict_text_write_hole(const struct verdict_evidence *c, char *text)
{
	const struct hole_place *h = c->hole;
	int inside = 2 * h->holes[0] > h->paths[0];

	if (c->places > 0)
		verdict_text_add(text,
		    "leaf %s: datagrams of %" PRIu32 " bytes are lost on "
		    "%" PRIu32 " of %" PRIu32 " paths to other leaves and on "
		    "%" PRIu32 " of %" PRIu32 " inside",
		    c->subject, h->bytes, h->holes[1], h->paths[1], h->holes[0],
		    h->paths[0]);
	else
		verdict_text_add(text,
		    "%s: datagrams of %" PRIu32 " bytes are lost on %" PRIu32
		    " of %" PRIu32 " paths",
		    c->subject, h->bytes, h->holes[0] + h->holes[1],
		    h->paths[0] + h->paths[1]);
	verdict_text_add(text,
	    " while those of %d bytes arrive: the cause is an MTU below "
	    "%" PRIu32 " on its %s, and no ICMP error was received (%s)",
	    MESH_PACKET_BYTES, h->mtu,
	    c->places == 0 ? "link"
		: inside   ? "switch"
			   : "uplink",
	    c->test);
}

static void
verdict_text_write_slower(const struct verdict_evidence *c, const char *slower,
    char *text)
{
	int is_leaf = c->what == WHAT_LEAF || c->what == WHAT_LINK;
	int has_rail = c->rail != NULL && c->rail[0] != '\0';

	if (c->what == WHAT_HOST && !(c->effect > 0)) {
		verdict_text_add(text,
		    "%s: host contention: %s; its messages are not slower than "
		    "its peers' messages so far",
		    c->subject, c->host);
		return;
	}
	verdict_text_add(text, "%s%s%s%s: %s slower",
	    is_leaf                    ? "leaf "
		: c->what == WHAT_RAIL ? "node "
				       : "",
	    c->subject, has_rail ? ", rail " : "", has_rail ? c->rail : "",
	    slower);
	verdict_text_add_whom(c, text);
	if (c->partners_normal && !is_leaf)
		verdict_text_add(text,
		    "; its partners are normal with other nodes");
	if (c->what == WHAT_HOST)
		verdict_text_add(text, "; host contention, not the network: %s",
		    c->host);
	else
		verdict_text_add_pass(c, text);
	if (c->nic[0] != '\0' && c->nic_drops > 0)
		verdict_text_add(text, "; NIC %s counted drops: %" PRId64,
		    c->nic, c->nic_drops);
	if (c->errors != NULL) {
		verdict_text_add(text, "; its ");
		verdict_text_add_errors(c->errors, text);
	}
}

static void
verdict_text_write_stage(const struct verdict_evidence *c, char *text)
{
	const struct hole_place *h = c->hole;
	int is_one = c->stage->switch_count == 1;

	verdict_text_add(text, "%.100s: ", c->subject);
	if (c->what == WHAT_MTU)
		verdict_text_add(text,
		    "datagrams of %" PRIu32 " bytes are lost", h->bytes);
	else if (h->dead)
		verdict_text_add(text, "no datagram arrives");
	else
		verdict_text_add(text,
		    "%.0f %% of the pairs of nodes on its leaves are slow "
		    "instead of the usual %.0f %%",
		    100 * (c->share + c->effect), 100 * c->share);
	if (h->paths[1] > 0)
		verdict_text_add(text,
		    " on %" PRIu32 " of %" PRIu32 " paths over %s", h->holes[1],
		    h->paths[1], is_one ? "it" : "them");
	verdict_text_add(text, ", equally on all %" PRIu32 " leaves",
	    c->leaves);
	if (c->rounds > 0)
		verdict_text_add(text, ", over %" PRIu32 " rounds", c->rounds);
	verdict_text_add(text, " (%s)", c->test);
	if (c->what == WHAT_MTU)
		verdict_text_add(text,
		    ", while those of %d bytes arrive: the cause is an MTU "
		    "below %" PRIu32 " at ",
		    MESH_PACKET_BYTES, h->mtu);
	else
		verdict_text_add(text, ": the cause is ");
	if (is_one)
		verdict_text_add(text,
		    "this switch, or one of the %" PRIu32 " links to it",
		    c->stage->links);
	else
		verdict_text_add(text,
		    "one of these %zu switches, or one of the %" PRIu32
		    " links to them; measurements cannot distinguish them",
		    c->stage->switch_count, c->stage->links);
}

/* A share of the pairs of a node or leaf is slow, and different ones in each
 * round. */
static void
verdict_text_write_share(const struct verdict_evidence *c, char *text)
{
	if (c->what == WHAT_NODE)
		verdict_text_add(text,
		    "%s: %.0f %% of its pairs are slow instead of the usual "
		    "%.0f %%, different ones in each of %" PRIu32 " rounds "
		    "(%s): the cause is one member of a bond, or one of the "
		    "paths from its port",
		    c->subject, 100 * (c->share + c->effect), 100 * c->share,
		    c->rounds, c->test);
	else
		verdict_text_add(text,
		    "leaf %s: %.0f %% of the pairs of its nodes are slow "
		    "instead of the usual %.0f %%, over %" PRIu32 " rounds "
		    "(%s), but no single node is slow: the cause is one of "
		    "its uplinks, or a switch above it",
		    c->subject, 100 * (c->share + c->effect), 100 * c->share,
		    c->rounds, c->test);
	if (c->partners > 0)
		verdict_text_add(text,
		    "; confirmation run: %zu of %zu pairs are slow",
		    c->slow_partners, c->partners);
	if (!c->passed)
		verdict_text_add(text, "; confirmation run pending");
	if (!c->passed && c->next != NULL && c->next[0] != '\0')
		verdict_text_add(text, ": %s", c->next);
}

/* Add what an operator should check, unless a confirmation run comes first. */
static void
verdict_text_add_step(const struct verdict_evidence *c, char *text)
{
	static const char *const steps[WHAT_MAX] = {
		[WHAT_NODE] = "check its NIC, cable and PCIe slot",
		[WHAT_LEAF] = "check the leaf switch",
		[WHAT_LINK] = "check the uplinks of this leaf",
		[WHAT_HOST] = "check its processes, CPU quota and cooling",
		[WHAT_UNDETERMINED] = "check its port and the uplinks of its "
				      "leaf",
		[WHAT_RAIL] = "check this NIC and its cable",
		[WHAT_DRIFT] = "check what was changed on the node: coalctl "
			       "events --where kind=setting",
		[WHAT_PREDICTION] = "check the cabling and the machine file",
		[WHAT_PORT] = "check its cable, slot and settings",
		[WHAT_INTERMITTENT] = "check its cable and cooling",
		[WHAT_FLEET] = "check which driver, firmware or fabric setting "
			       "was changed",
		[WHAT_LINK_ERRORS] = "check its cable",
		[WHAT_MTU] = "check the MTU of ports and switches",
		[WHAT_STUCK] = "drain it and check its NIC",
		[WHAT_SPINE] = "check the counters of these switches",
	};
	/* Losses name a node even if a path may be the cause. */
	enum what what = c->is_loss && !c->passed && c->what == WHAT_NODE
	    ? WHAT_UNDETERMINED
	    : c->what;
	int is_gpu = c->what == WHAT_LINK_ERRORS &&
	    strchr(c->errors->port, ':') != NULL;
	int is_settled = c->passed &&
	    (c->share > 0 ||
		(c->finding != CONFIRM_CLEARED &&
		    c->finding != CONFIRM_UNCLEAR));
	int is_either = is_settled && c->finding == CONFIRM_BETWEEN;
	int is_judged = c->stage == NULL && !c->is_loss &&
	    c->what < WHAT_DRIFT && c->what != WHAT_HOST;

	if (!is_judged || is_settled)
		verdict_text_add(text, "; %s",
		    is_gpu          ? "check this GPU"
			: is_either ? "check the uplinks of both leaves"
				    : steps[what]);
}

static void
verdict_text_write_what(const struct verdict_evidence *c, char *ret)
{
	const struct port_fact_row *f = &verdict_text_ports[c->fact];
	char slower[24];

	verdict_text_slower(c->effect, c->is_rate, slower);
	if (c->stage != NULL) {
		verdict_text_write_stage(c, ret);
		return;
	}
	if (c->share > 0 && c->what != WHAT_DRIFT) {
		verdict_text_write_share(c, ret);
		return;
	}
	switch (c->what) {
	case WHAT_DRIFT:
		verdict_text_write_drift(c, slower, ret);
		break;
	case WHAT_PORT:
		verdict_text_add(ret,
		    "%s: port %s %s %.4g%s instead of %.4g, %s", c->subject,
		    c->nic, f->is, c->now / f->unit, f->unit_name,
		    c->usual / f->unit, f->as);
		break;
	case WHAT_LINK_ERRORS:
		verdict_text_add(ret, "%s: ", c->subject);
		verdict_text_add_errors(c->errors, ret);
		verdict_text_add(ret,
		    "; the counter increased in %" PRIu32 " of %" PRIu32
		    " readings, counters of other ports in %.2g %%",
		    c->errors->with, c->errors->looks, 100 * c->usual);
		break;
	case WHAT_INTERMITTENT:
		verdict_text_add(ret,
		    "%s: intermittently up to %s slower (%s), %" PRIu32
		    " times or more within a week, but as fast as its peers "
		    "whenever it was measured again",
		    c->subject, slower, c->test, c->rounds);
		break;
	case WHAT_FLEET:
		verdict_text_add(ret,
		    "the fleet (all nodes) is %s slower than in the last "
		    "weeks: %zu of %zu nodes are slower than before, over "
		    "%" PRIu32 " rounds (%s)",
		    slower, c->slow_places, c->places, c->rounds, c->test);
		break;
	case WHAT_MTU:
		verdict_text_write_hole(c, ret);
		break;
	case WHAT_STUCK:
		verdict_text_add(ret,
		    "%s: exchanges with %zu nodes, %.60s and %.60s among them, "
		    "did not end within %.0f s (%s); further runs skip this "
		    "node",
		    c->subject, c->partners, c->whom[0], c->whom[1], c->now,
		    c->test);
		break;
	case WHAT_PREDICTION:
		verdict_text_write_shortfall(c, ret);
		break;
	default:
		if (c->is_loss)
			verdict_text_write_loss(c, ret);
		else
			verdict_text_write_slower(c, slower, ret);
	}
}

void
verdict_text_write(const struct verdict_evidence *c, char ret[VERDICT_TEXT_MAX])
{
	ret[0] = '\0';
	verdict_text_write_what(c, ret);
	verdict_text_add_step(c, ret);
}
