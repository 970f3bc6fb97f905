/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.c - whether a node has the network devices and the test that a
 * campaign demands, by the inventory that its agent has sent; and which rail a
 * run is to use.
 *
 * Rails take turns, a run each, and do not share one run with a rank for each
 * of them: ranks on several rails have to reach each other to begin and to end
 * together, which networks that are apart do not allow; jobs of users lose one
 * core and not eight; and any MPI can be told one NIC for all of its ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/run/fabric.h"
#include "common/err.h"
#include "common/member.h"
#include "common/text.h"
#include "common/str.h"
#include "daemon/run/run_int.h"
#include "schema/names_probe.h"

/* A fabric with its own devices: the prefix of their names, or the drivers of
 * their network interfaces. UCX and libfabric are software. */
static const struct {
	const char *fabric, *text;
	const char *prefixes[3];
} fabrics[] = {
	{ "psm", "Omni-Path (hfi1_0)", { "hfi1", "qib", NULL } },
	{ "cray", "Slingshot (cxi0)", { "cxi", NULL } },
};

/* Match "mlx5_0", or "mlx5_0:1" with its port. */
static int
fabric_is_nic(const json_t *nic, const char *device)
{
	const char *name = member_text(nic, "name");
	const char *port = member_text(nic, "port");
	size_t len = strlen(name);

	if (strncmp(device, name, len) != 0 || len == 0)
		return 0;
	return device[len] == '\0' ||
	    (device[len] == ':' && strcmp(device + len + 1, port) == 0);
}

static int
fabric_has_prefix(const json_t *nics, const char *const *prefixes)
{
	size_t i;
	json_t *nic;

	for (; *prefixes != NULL; prefixes++)
		json_array_foreach (nics, i, nic)
			if (strncmp(member_text(nic, "name"), *prefixes,
				strlen(*prefixes)) == 0 ||
			    strncmp(member_text(nic, "driver"), *prefixes,
				strlen(*prefixes)) == 0)
				return 1;
	return 0;
}

int
fabric_lacks(const struct conf *c, const struct node *n, struct err *err)
{
	const json_t *nics = json_object_get(n->inventory, "nics");
	const char *fabric = conf_string(c, "mpi", "fabric");
	size_t count = 0, len = 0, k;
	json_t *nic;
	char **list, has[160] = "";
	int lacks = 0;

	if (!json_is_array(nics))
		return 0;
	if (!member_bool(n->inventory, "starts"))
		return err_set(err, 1,
		    "the agent on %s is older than this collector and cannot "
		    "start ranks: upgrade the node",
		    n->name);
	if (strstr(conf_string(c, "canary", "tests"),
		names_tests[CANARY_INCAST].name) != NULL &&
	    !member_bool(n->inventory, "incast"))
		return err_set(err, 1,
		    "coalmine-probe on %s is older than test %s and cannot run "
		    "it: upgrade the node",
		    n->name, names_tests[CANARY_INCAST].name);
	if (conf_int(c, "canary", "large_rounds") > 0 &&
	    !member_bool(n->inventory, "large_rounds"))
		return err_set(err, 1,
		    "coalmine-probe on %s is older than canary.large_rounds "
		    "and does not support it: upgrade the node",
		    n->name);
	/* The devices that the campaign could require. */
	json_array_foreach (nics, k, nic)
		if (len + 40 < sizeof(has))
			len += (size_t)snprintf(has + len, sizeof(has) - len,
			    "%s%.32s", len == 0 ? "; it has " : ", ",
			    member_text(nic, "name"));
	for (size_t i = 0; i < ARRAY_LEN(fabrics); i++)
		if (strcmp(fabrics[i].fabric, fabric) == 0 &&
		    !fabric_has_prefix(nics, fabrics[i].prefixes))
			return err_set(err, 1,
			    "%s has no device for mpi.fabric = %s, %s%s",
			    n->name, fabric, fabrics[i].text, has);
	list = str_list_parse(conf_string(c, "mpi", "devices"), &count);
	for (size_t i = 0; i < count && !lacks; i++) {
		/* cxi0 is hsn0 there */
		lacks = roster_rail_find(n, list[i]) < 0;
		json_array_foreach (nics, k, nic)
			lacks = lacks && !fabric_is_nic(nic, list[i]);
		if (lacks)
			err_say(err, "%s has no network device %.40s%s",
			    n->name, list[i], has);
	}
	str_list_free(list);
	return lacks;
}

/* Return an active port of InfiniBand, Omni-Path or Slingshot among the node's
 * rails, or NULL. RoCE is Ethernet, and a rail only if the site configures it.
 */
static const char *
fabric_active_device(const struct node *n)
{
	const json_t *nics = json_object_get(n->inventory, "nics");
	json_t *rail, *nic;
	size_t i, k;

	member_foreach (n->inventory, "rails", i, rail)
		json_array_foreach (nics, k, nic) {
			const char *name = member_text(rail, "name");
			int is_port = json_object_get(nic, "port") != NULL &&
			    strcmp(member_text(nic, "state"), "ACTIVE") == 0;
			int is_cxi = strncmp(member_text(nic, "driver"), "cxi",
					 3) == 0 &&
			    strcmp(member_text(nic, "state"), "up") == 0;

			if ((is_port || is_cxi) && fabric_is_nic(nic, name))
				return member_text(nic, "name");
		}
	return NULL;
}

void
fabric_unused_note(struct run *r, const json_t *carried, char *ret_text,
    size_t cap_bytes)
{
	int is_tcp = strcmp(member_text(carried, "transport"), "tcp") == 0 &&
	    strcmp(member_text(carried, "wanted"), "auto") == 0;
	json_t *unused = r->all->unused;

	ret_text[0] = '\0';
	if (member_text(carried, "transport")[0] == '\0')
		return;
	for (size_t i = 0; i < r->node_count; i++) {
		const struct node *n = r->nodes[i].node;
		const char *device = is_tcp ? fabric_active_device(n) : NULL;

		json_object_del(unused, n->name);
		if (device == NULL)
			continue;
		json_object_set_new(unused, n->name, text_json(device));
		if (ret_text[0] == '\0')
			utf8_format(ret_text, cap_bytes,
			    "measured over TCP although device %.40s of %.60s "
			    "is up",
			    device, n->name);
	}
}

struct turn {
	const char *rail; /* "": as the MPI chooses, for nodes without rails */
	size_t nodes;
};
struct turns {
	struct turn list[ROSTER_RAILS_MAX + 1];
	size_t count, without;
};

static void
fabric_turns_add(struct turns *t, const struct node *n)
{
	struct roster_rail rails[ROSTER_RAILS_MAX];
	size_t has, at;

	if (n == NULL || !roster_is_up(n))
		return;
	has = roster_rails(n, rails);
	t->without += has == 0;
	for (size_t k = 0; k < has; k++) {
		for (at = 0; at < t->count; at++)
			if (strcmp(t->list[at].rail, rails[k].name) == 0)
				break;
		if (at == ROSTER_RAILS_MAX)
			continue;
		if (at == t->count)
			t->list[t->count++] = (struct turn){ rails[k].name, 0 };
		t->list[at].nodes++;
	}
}

/* All rails that enough of its nodes have; the last entry is for nodes without
 * rails. */
static void
fabric_turns_find(const struct run *r, struct turns *t)
{
	size_t least = (size_t)conf_int(r->conf, "campaign", "nodes_min");
	const char *text = conf_string(r->conf, "campaign", "nodes");
	struct hostlist hl = { 0 };
	size_t kept = 0;

	memset(t, 0, sizeof(*t));
	if (strcmp(text, "all") == 0)
		for (size_t i = 0; i < roster_ids(r->all->roster); i++)
			fabric_turns_add(t, roster_by_id(r->all->roster, i));
	else if (hostlist_parse(text, &hl, NULL) == 0)
		for (size_t i = 0; i < hl.count; i++)
			fabric_turns_add(t,
			    roster_find(r->all->roster, hl.names[i]));
	hostlist_clear(&hl);
	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].nodes >= least)
			t->list[kept++] = t->list[i];
	if (t->without > 0)
		t->list[kept++] = (struct turn){ "", t->without };
	t->count = kept;
}

static void
fabric_turn_count(struct run *r, int step)
{
	json_int_t had = member_int(r->all->turns, r->campaign);

	json_object_set_new(r->all->turns, r->campaign,
	    json_integer(had + step));
}

void
fabric_turn(struct run *r)
{
	struct turns turns = { .count = 0 };
	struct conf *c = r->conf;
	const char *rail;
	json_int_t had = member_int(r->all->turns, r->campaign);
	struct err err;

	if (r->turn != TURN_NOT_YET)
		return;
	r->turn = TURN_NONE;
	if (conf_is(c, "mpi", "rails", "turns") &&
	    !conf_given(c, "mpi", "devices"))
		fabric_turns_find(r, &turns);
	conf_unset(c, "mpi", "rails");
	if (turns.count < 2)
		return;
	r->turn = TURN_TAKEN;
	fabric_turn_count(r, 1);
	rail = turns.list[(size_t)had % turns.count].rail;
	if (rail[0] != '\0')
		(void)conf_set(c, "mpi", "devices", rail, "mpi.rails", &err);
}

void
fabric_turn_back(struct run *r)
{
	if (r->turn == TURN_TAKEN)
		fabric_turn_count(r, -1);
	r->turn = TURN_NONE;
}
