/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.c - the networks on which the ranks of a run can reach each other,
 * from the interfaces that their agents report.
 *
 * An MPI tries every interface that it finds, and waits for minutes on one
 * without a connection. An address of several nodes belongs to a bridge of
 * containers or virtual machines, which is a different network on each node.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/run/networks.h"
#include "common/member.h"
#include "common/str.h"
#include "daemon/run/run_int.h"
#include "schema/mesh.h"

#define NETWORKS_MAX 16

/* Parse the address of "10.1.2.3/16", and write its network, "10.1.0.0/16". */
static int
networks_parse(const char *text, char addr[64], char ret_net[80])
{
	size_t len = strcspn(text, "/");
	struct mesh_net net;

	if (len >= 64 || text[len] != '/' || mesh_net_parse(text, &net) < 0)
		return -1;
	snprintf(addr, 64, "%.*s", (int)len, text);
	mesh_net_format(&net, ret_net, 80);
	return 0;
}

/* Return 1 for an interface that an MPI may use. */
static int
networks_is_usable(const json_t *nic)
{
	return strcmp(member_text(nic, "state"), "down") != 0 &&
	    json_object_get(nic, "port") == NULL &&
	    json_object_get(nic, "unfit") == NULL;
}

/* Count the nodes of each address. */
static json_t *
networks_count(const struct roster *roster)
{
	json_t *counts = json_object(), *nic, *v;
	char addr[64], net[80];
	size_t k, j;

	for (size_t i = 0; i < roster_ids(roster); i++) {
		const struct node *n = roster_by_id(roster, i);

		if (n == NULL)
			continue;
		member_foreach (n->inventory, "nics", k, nic)
			member_foreach (nic, "nets", j, v)
				if (json_is_string(v) &&
				    networks_parse(json_string_value(v), addr,
					net) == 0)
					json_object_set_new(counts, addr,
					    json_integer(
						member_int(counts, addr) + 1));
	}
	return counts;
}

/* Return a node's networks that others could share: {"10.1.0.0/16":
 * "eth0,eth1"}. */
static json_t *
networks_of(const struct node *n, const json_t *counts)
{
	json_t *o = json_object(), *nic, *v;
	char addr[64], net[80], names[300];
	size_t k, j;

	member_foreach (n->inventory, "nics", k, nic) {
		if (!networks_is_usable(nic))
			continue;
		member_foreach (nic, "nets", j, v) {
			const char *had;

			if (!json_is_string(v) ||
			    networks_parse(json_string_value(v), addr, net) <
				0 ||
			    member_int(counts, addr) > 1)
				continue;
			had = member_text(o, net);
			snprintf(names, sizeof(names), "%.200s%s%.64s", had,
			    had[0] == '\0' ? "" : ",",
			    member_text(nic, "name"));
			json_object_set_new(o, net, json_string(names));
		}
	}
	return o;
}

/* Return the interface of the node's session, for nodes without a shared
 * network: routers are between the nodes, and this interface is reachable
 * through them. */
static const char *
networks_session_nic(const struct node *n)
{
	json_t *nic, *v;
	size_t k, j;

	member_foreach (n->inventory, "nics", k, nic)
		member_foreach (nic, "addrs", j, v)
			if (n->addr != NULL && json_is_string(v) &&
			    strcmp(json_string_value(v), n->addr) == 0)
				return member_text(nic, "name");
	return "";
}

/* Remove networks from shared that own lacks; the first call copies own. */
static void
networks_keep(json_t **shared, const json_t *own)
{
	json_t *names;
	const char *net;
	void *next;

	if (*shared == NULL)
		*shared = json_copy((json_t *)(uintptr_t)own);
	json_object_foreach_safe(*shared, next, net, names)
	{
		if (json_object_get(own, net) == NULL)
			json_object_del(*shared, net);
	}
}

/* Return the first networks as texts; takes shared. */
static json_t *
networks_list(json_t *shared)
{
	json_t *list = json_array(), *names;
	const char *net;

	json_object_foreach (shared, net, names)
		if (json_array_size(list) < NETWORKS_MAX)
			json_array_append_new(list, json_string(net));
	json_decref(shared);
	return list;
}

json_t *
networks_shared(const struct roster *roster)
{
	json_t *counts = networks_count(roster), *shared = NULL;

	for (size_t i = 0; i < roster_ids(roster); i++) {
		const struct node *n = roster_by_id(roster, i);
		json_t *own = n != NULL && roster_is_up(n)
		    ? networks_of(n, counts)
		    : NULL;

		if (own != NULL)
			networks_keep(&shared, own);
		json_decref(own);
	}
	json_decref(counts);
	return networks_list(shared);
}

int
networks_is_decided(const struct node *n)
{
	return member_bool(n->inventory, "mpi_net") ||
	    json_array_size(json_object_get(n->inventory, "rails")) > 0;
}

void
networks_choose(struct run *r)
{
	json_t *counts = networks_count(r->all->roster);
	json_t *shared = NULL;

	for (size_t i = 0; i < r->node_count; i++) {
		struct run_node *rn = &r->nodes[i];

		json_decref(rn->networks);
		rn->networks = networks_of(rn->node, counts);
		networks_keep(&shared, rn->networks);
	}
	json_decref(r->networks);
	r->networks = networks_list(shared);
	json_decref(counts);
}

char *
networks_nics(const struct run *r, const struct run_node *rn)
{
	struct strbuf sb = { 0 };
	json_t *net;
	size_t i;

	strbuf_add(&sb, "", 0);
	if (r->node_count < 2)
		return sb.text;
	json_array_foreach (r->networks, i, net)
		strbuf_addf(&sb, "%s%s", i == 0 ? "" : ",",
		    member_text(rn->networks, json_string_value(net)));
	if (i == 0)
		strbuf_addf(&sb, "%s", networks_session_nic(rn->node));
	return sb.text;
}

char *
networks_nics_same(const struct run *r)
{
	char *first = networks_nics(r, &r->nodes[0]);

	for (size_t i = 1; i < r->node_count; i++) {
		char *own = networks_nics(r, &r->nodes[i]);

		if (strcmp(own, first) != 0)
			first[0] = '\0';
		free(own);
	}
	return first;
}

int
networks_undecided(const struct run *r, char *ret, size_t cap_bytes)
{
	size_t count = json_array_size(r->networks), len, i;
	json_t *net;

	if (count < 2 || r->node_count < 2 ||
	    networks_is_decided(run_head(r)) ||
	    conf_string(r->conf, "mpi", "devices")[0] != '\0')
		return 0;
	len = (size_t)snprintf(ret, cap_bytes,
	    "its nodes share %zu networks: ", count);
	json_array_foreach (r->networks, i, net)
		if (len + 100 < cap_bytes)
			len += (size_t)snprintf(ret + len, cap_bytes - len,
			    "%s%s", i == 0 ? "" : ", ", json_string_value(net));
	snprintf(ret + len, cap_bytes - len,
	    "; mpi.net of the agents decides which one ranks use");
	return 1;
}
