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
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "schema/mesh.h"

#define NETWORKS_MAX 16

/* Parse the address of "10.1.2.3/16", and write its network, "10.1.0.0/16". An
 * address that a host gives itself, such as that of the port to its management
 * controller, is in no network. */
static int
networks_parse(const char *text, char addr[64], char ret_net[80])
{
	static const char itself[] = "169.254.";
	size_t len = strcspn(text, "/");
	struct mesh_net net;

	if (len >= 64 || text[len] != '/' || mesh_net_parse(text, &net) < 0 ||
	    strncmp(text, itself, strlen(itself)) == 0)
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

/* Return the member key of an object, an object that is made if it is missing.
 */
static json_t *
networks_member(json_t *o, const char *key)
{
	json_t *ret = json_object_get(o, key);

	if (ret == NULL) {
		ret = json_object();
		json_object_set_new(o, key, ret);
	}
	return ret;
}

/* Return the interface of each address on the nodes that are up:
 * {"10.1.0.0/16":
 * {"10.1.2.3": {"node1": "eth0"}}}. */
static json_t *
networks_places(const struct roster *roster)
{
	json_t *places = json_object(), *nic, *v;
	char addr[64], net[80];
	size_t k, j;

	for (size_t i = 0; i < roster_ids(roster); i++) {
		const struct node *n = roster_by_id(roster, i);

		if (n == NULL || !roster_is_up(n))
			continue;
		member_foreach (n->inventory, "nics", k, nic)
			member_foreach (nic, "nets", j, v)
				if (json_is_string(v) &&
				    networks_parse(json_string_value(v), addr,
					net) == 0)
					json_object_set(
					    networks_member(
						networks_member(places, net),
						addr),
					    n->name,
					    json_object_get(nic, "name"));
	}
	return places;
}

static int
networks_is_repeated(const json_t *places, const char *net, const char *addr)
{
	return json_object_size(
		   json_object_get(json_object_get(places, net), addr)) > 1;
}

/* Append the names that the list lacks; both are separated by commas. */
static void
networks_names_add(struct strbuf *list, const char *names)
{
	for (; *names != '\0'; names += *names == ',') {
		size_t len = strcspn(names, ",");
		const char *at = list->text, *end = NULL;

		for (; at != NULL && *at != '\0'; at = end + (*end == ',')) {
			end = at + strcspn(at, ",");
			if ((size_t)(end - at) == len &&
			    strncmp(at, names, len) == 0)
				break;
		}
		if (at == NULL || *at == '\0')
			strbuf_addf(list, "%s%.*s",
			    list->len_bytes == 0 ? "" : ",", (int)len, names);
		names += len;
	}
}

/* Return a node's networks that others could share: {"10.1.0.0/16":
 * "eth0,eth1"}. */
static json_t *
networks_of(const struct node *n, const json_t *places)
{
	json_t *o = json_object(), *nic, *v;
	char addr[64], net[80];
	size_t k, j;

	member_foreach (n->inventory, "nics", k, nic) {
		if (!networks_is_usable(nic))
			continue;
		member_foreach (nic, "nets", j, v) {
			struct strbuf names = { 0 };

			if (!json_is_string(v) ||
			    networks_parse(json_string_value(v), addr, net) <
				0 ||
			    networks_is_repeated(places, net, addr))
				continue;
			strbuf_addf(&names, "%s", member_text(o, net));
			networks_names_add(&names, member_text(nic, "name"));
			json_object_set_new(o, net, text_json(names.text));
			strbuf_clear(&names);
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

static int
networks_has(const struct node *n, const char *addr)
{
	json_t *nic, *v;
	size_t k, j;

	if (n->addr != NULL && strcmp(n->addr, addr) == 0)
		return 1;
	member_foreach (n->inventory, "nics", k, nic)
		member_foreach (nic, "addrs", j, v)
			if (json_is_string(v) &&
			    strcmp(json_string_value(v), addr) == 0)
				return 1;
	return 0;
}

const struct node *
networks_node(const struct run *r, const char *addr)
{
	const struct node *found = NULL;

	for (size_t i = 0; i < r->node_count; i++) {
		if (!networks_has(r->nodes[i].node, addr))
			continue;
		if (found != NULL)
			return NULL; /* of a bridge on every host */
		found = r->nodes[i].node;
	}
	return found;
}

void
networks_addr(const struct run *r, const struct node *n, int is_v6,
    char ret[64])
{
	char addr[64], net[80];
	json_t *nic, *v, *shared;
	size_t k, j, m;

	ret[0] = '\0';
	if (json_array_size(r->networks) == 0 && n->addr != NULL &&
	    (strchr(n->addr, ':') != NULL) == is_v6)
		snprintf(ret, 64, "%s", n->addr);
	member_foreach (n->inventory, "nics", k, nic)
		member_foreach (nic, "nets", j, v) {
			if (!json_is_string(v) ||
			    networks_parse(json_string_value(v), addr, net) <
				0 ||
			    (strchr(addr, ':') != NULL) != is_v6 ||
			    networks_node(r, addr) != n)
				continue;
			json_array_foreach (r->networks, m, shared)
				if (strcmp(json_string_value(shared), net) == 0)
					snprintf(ret, 64, "%s", addr);
		}
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

/* Return the networks of the list that differ in interfaces, of which own has
 * those of each node: an interface may have an IPv4 and an IPv6 address. */
static json_t *
networks_choices(const json_t *list, json_t *const *own, size_t count)
{
	json_t *choices = json_array(), *net, *other;
	size_t i, j, k;

	json_array_foreach ((json_t *)(uintptr_t)list, i, net) {
		int is_other = 1;

		json_array_foreach (choices, j, other) {
			for (k = 0; k < count; k++)
				if (strcmp(member_text(own[k],
					       json_string_value(net)),
					member_text(own[k],
					    json_string_value(other))) != 0)
					break;
			is_other &= k < count;
		}
		if (is_other)
			json_array_append(choices, net);
	}
	return choices;
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
	json_t *places = networks_places(roster), *shared = NULL, *list, *ret;
	json_t **own = xcalloc(roster_ids(roster) + 1, sizeof(json_t *));
	size_t count = 0;

	for (size_t i = 0; i < roster_ids(roster); i++) {
		const struct node *n = roster_by_id(roster, i);

		if (n == NULL || !roster_is_up(n))
			continue;
		own[count] = networks_of(n, places);
		networks_keep(&shared, own[count++]);
	}
	list = networks_list(shared);
	ret = networks_choices(list, own, count);
	for (size_t i = 0; i < count; i++)
		json_decref(own[i]);
	free(own);
	json_decref(list);
	json_decref(places);
	return ret;
}

json_t *
networks_repeated(const struct roster *roster)
{
	json_t *places = networks_places(roster), *ret = json_object();
	json_t *addrs, *nodes;
	const char *net, *addr;

	json_object_foreach (places, net, addrs)
		json_object_foreach (addrs, addr, nodes)
			if (json_object_size(nodes) > 1 &&
			    json_object_size(addrs) > 1)
				json_object_set(ret, addr, nodes);
	json_decref(places);
	return ret;
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
	json_t *places = networks_places(r->all->roster);
	json_t *shared = NULL;

	for (size_t i = 0; i < r->node_count; i++) {
		struct run_node *rn = &r->nodes[i];

		json_decref(rn->networks);
		rn->networks = networks_of(rn->node, places);
		networks_keep(&shared, rn->networks);
	}
	json_decref(r->networks);
	r->networks = networks_list(shared);
	json_decref(places);
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
		networks_names_add(&sb,
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
	json_t **own = xcalloc(r->node_count + 1, sizeof(json_t *));
	json_t *choices, *net;
	size_t count, len, i;

	for (i = 0; i < r->node_count; i++)
		own[i] = r->nodes[i].networks;
	choices = networks_choices(r->networks, own, r->node_count);
	free(own);
	count = json_array_size(choices);
	if (count < 2 || r->node_count < 2 ||
	    networks_is_decided(run_head(r)) ||
	    conf_string(r->conf, "mpi", "devices")[0] != '\0') {
		json_decref(choices);
		return 0;
	}
	len = (size_t)snprintf(ret, cap_bytes,
	    "its nodes share %zu networks: ", count);
	json_array_foreach (choices, i, net)
		if (len + 100 < cap_bytes)
			len += (size_t)snprintf(ret + len, cap_bytes - len,
			    "%s%s", i == 0 ? "" : ", ", json_string_value(net));
	snprintf(ret + len, cap_bytes - len,
	    "; mpi.net of the agents selects the network that ranks use");
	json_decref(choices);
	return 1;
}
