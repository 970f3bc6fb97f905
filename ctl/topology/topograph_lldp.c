/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topograph_lldp.c - two formats of JSON: Topograph's instances with the
 * switches above each, and lldpctl's neighbours of the ports of one node.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "ctl/topology/formats.h"

/* Return NULL with the line of the error if it is not JSON. */
static json_t *
topograph_lldp_text_parse(const char *text, const char *name, struct err *err)
{
	json_error_t error;
	json_t *o = json_loads(text, 0, &error);

	if (o == NULL)
		/* The parser's text may quote several lines of the file. */
		err_say(err, "%s:%d: %.*s", name, error.line,
		    (int)strcspn(error.text, "\n"), error.text);
	return o;
}

/* ---- Topograph ---- */

/* A layer that Topograph does not know. */
static int
topograph_lldp_is_empty(const json_t *layer)
{
	return layer == NULL || json_is_null(layer) ||
	    (json_is_string(layer) && json_string_length(layer) == 0);
}

/* {id, network_layers: [LEAF, SPINE, ...]}; done has the pairs of switches
 * that were linked. */
static int
topograph_lldp_instance_add(struct fabric *f, const json_t *o, json_t *done,
    struct err *err)
{
	const json_t *layers = json_object_get(o, "network_layers"), *layer;
	char lower[TOPOLOGY_NAME_MAX] = "", name[TOPOLOGY_NAME_MAX];
	struct fabric_port p = { .host = member_text(o, "id"),
		.to = name,
		.name = "",
		.rail = -1 };
	int rc = 0;
	size_t i;

	if (layers == NULL || json_is_null(layers) ||
	    (json_is_array(layers) &&
		topograph_lldp_is_empty(json_array_get(layers, 0))))
		return fabric_skip(f, "instances skipped, not placed", err,
		    "%.60s", p.host);
	if (!json_is_array(layers) || hostlist_name_check(p.host) < 0)
		return err_set(err, -EINVAL,
		    "expected {\"id\": NODE, \"network_layers\": [LEAF, "
		    "...]}");
	json_array_foreach (layers, i, layer) {
		const char *text = json_string_value(layer);
		char pair[2 * TOPOLOGY_NAME_MAX];

		if (topograph_lldp_is_empty(layer))
			return fabric_skip(f,
			    "instances of which upper layers are unknown", err,
			    "%.60s", p.host);
		fabric_name(text == NULL ? "" : text,
		    text == NULL ? 0 : strlen(text), name);
		if (name[0] == '\0')
			return err_set(err, -EINVAL,
			    "network_layers[%zu] is not a switch's name", i);
		snprintf(pair, sizeof(pair), "%s %s", lower, name);
		if (i == 0)
			rc = fabric_add_port(f, &p, err);
		else if (json_object_get(done, pair) == NULL)
			rc = fabric_add_trunk(f, lower, name, 0, err);
		if (rc < 0)
			return rc;
		if (i > 0)
			json_object_set_new(done, pair, json_true());
		memcpy(lower, name, sizeof(lower));
	}
	return 0;
}

int
import_topograph(struct fabric *f, char *text, const char *name,
    struct err *err)
{
	json_t *root = topograph_lldp_text_parse(text, name, err), *done, *one;
	const json_t *list = json_object_get(root, "instances");
	struct err reason;
	int rc = 0;
	size_t i;

	if (root == NULL)
		return -EINVAL;
	f->tree = 1;
	done = json_object();
	if (!json_is_array(list))
		rc = err_set(err, -EINVAL,
		    "%s: expected {\"instances\": [...]}", name);
	json_array_foreach (list, i, one) {
		rc = topograph_lldp_instance_add(f, one, done, &reason);
		if (rc == -EINVAL)
			err_say(&reason, "instances[%zu]: %s", i, reason.text);
		rc = fabric_skip_refused(f, rc,
		    "instances skipped, not understood", &reason);
		if (rc < 0) {
			err_say(err, "%s: %s", name, reason.text);
			break;
		}
	}
	json_decref(done);
	json_decref(root);
	return rc;
}

/* ---- LLDP ---- */

/* A neighbour with a capability other than Station is a switch; so is one that
 * sends no capabilities. */
static int
topograph_lldp_is_switch(const json_t *chassis)
{
	const json_t *all = json_object_get(chassis, "capability"), *one;
	size_t i;

	if (json_is_object(all))
		return member_bool(all, "enabled") &&
		    strcmp(member_text(all, "type"), "Station") != 0;
	if (json_array_size(all) == 0)
		return 1;
	json_array_foreach (all, i, one)
		if (member_bool(one, "enabled") &&
		    strcmp(member_text(one, "type"), "Station") != 0)
			return 1;
	return 0;
}

/* The chassis of a neighbour: {NAME: {id, ...}}, or {id, ...} of one that
 * sends no name. */
struct neighbour {
	const json_t *about;
	char id[40];                  /* "": unknown */
	char name[TOPOLOGY_NAME_MAX]; /* "": unknown */
};

/* The identifier of a switch is its management address, else its MAC: some
 * switches send the MAC of the port, so that the address is the better one. */
static void
topograph_lldp_id_of(const json_t *about, char *ret, size_t cap_bytes)
{
	const json_t *ip = json_object_get(about, "mgmt-ip");
	const json_t *id = json_object_get(about, "id");
	const char *text;
	size_t n;

	ip = json_is_array(ip) ? json_array_get(ip, 0) : ip;
	text = json_string_value(ip);
	if (text == NULL && strcmp(member_text(id, "type"), "mac") == 0)
		text = member_text_or(id, "value", NULL);
	n = (size_t)snprintf(ret, cap_bytes, "lldp-");
	for (; text != NULL && *text != '\0' && n + 1 < cap_bytes; text++)
		if (isalnum((unsigned char)*text))
			ret[n++] = *text;
	ret[n > 5 ? n : 0] = '\0';
}

static void
topograph_lldp_neighbour_read(const json_t *o, struct neighbour *ret)
{
	json_t *chassis = json_object_get(o, "chassis");
	void *first = json_object_iter(chassis);
	const char *name = NULL;

	*ret = (struct neighbour){ .about = chassis };
	if (json_object_get(chassis, "id") != NULL) {
		name = member_text_or(json_object_get(chassis, "id"), "value",
		    NULL);
	} else if (first != NULL) {
		ret->about = json_object_iter_value(first);
		name = json_object_iter_key(first);
	}
	if (name == NULL)
		return;
	fabric_name(name, strlen(name), ret->name);
	topograph_lldp_id_of(ret->about, ret->id, sizeof(ret->id));
}

/* {"eth0": {...}, ...}, or [{"eth0": {...}}, ...]. */
static size_t
topograph_lldp_objects(const json_t *list)
{
	return json_is_array(list) ? json_array_size(list)
				   : (size_t)json_is_object(list);
}

static json_t *
topograph_lldp_object(const json_t *list, size_t i)
{
	return json_is_array(list) ? json_array_get(list, i) : (json_t *)list;
}

static const json_t *
topograph_lldp_interfaces(const json_t *root)
{
	return json_object_get(json_object_get(root, "lldp"), "interface");
}

void
import_lldp_scan(struct fabric *f, const char *text)
{
	json_t *root = json_loads(text, 0, NULL), *o;
	const json_t *list = topograph_lldp_interfaces(root);
	struct neighbour n;
	const char *port;

	for (size_t i = 0; i < topograph_lldp_objects(list); i++)
		json_object_foreach (topograph_lldp_object(list, i), port, o) {
			topograph_lldp_neighbour_read(o, &n);
			if (n.id[0] != '\0' && n.name[0] != '\0')
				fabric_declare(f, n.id, n.name);
		}
	json_decref(root);
}

/* Add a neighbour to the switches of its port: ports has those of each. */
static int
topograph_lldp_neighbour_add(struct fabric *f, json_t *ports, const char *port,
    const json_t *o, struct err *err)
{
	json_t *of = json_object_get(ports, port), *one;
	struct neighbour n;
	size_t i;

	topograph_lldp_neighbour_read(o, &n);
	if (n.name[0] == '\0' || port[0] == '\0' ||
	    strlen(port) >= FABRIC_PORT_MAX)
		return fabric_skip(f, "ports skipped, not understood", err,
		    "port \"%.40s\": expected {\"chassis\": {SWITCH: {...}}}",
		    port);
	if (!topograph_lldp_is_switch(n.about)) {
		f->stations++;
		return 0;
	}
	if (n.id[0] != '\0')
		fabric_declared_name(f, n.id, n.name);
	/* before the choice among the switches of this port */
	if (fabric_is_skipped(f, n.name)) {
		f->left_out++;
		return 0;
	}
	if (of == NULL) {
		of = json_array();
		json_object_set_new(ports, port, of);
	}
	json_array_foreach (of, i, one)
		if (strcmp(json_string_value(one), n.name) == 0)
			return 0; /* by another protocol */
	json_array_append_new(of, json_string(n.name));
	return 0;
}

/* "port eth0: leaf1, not leaf2" */
static int
topograph_lldp_several_name(struct fabric *f, const char *port, const char *to,
    const json_t *of, struct err *err)
{
	struct strbuf others = { 0 };
	json_t *one;
	size_t i;
	int rc;

	json_array_foreach ((json_t *)of, i, one)
		if (strcmp(json_string_value(one), to) != 0)
			strbuf_addf(&others, "%s%s",
			    others.text == NULL ? "" : ", ",
			    json_string_value(one));
	rc = fabric_skip(f, "ports with several switches, only one is used",
	    err, "port %s: %s, not %s", port, to, others.text);
	strbuf_clear(&others);
	return rc;
}

/* One cable for each port. Of a bond, some kernels give every port the
 * neighbours of all: the ports with the fewest switches choose first, each one
 * that no other port has. */
static int
topograph_lldp_ports_add(struct fabric *f, const char *host, json_t *ports,
    struct err *err)
{
	json_t *taken = json_object(), *of, *one;
	const char *port, *to;
	size_t most = 0, i;
	int rc = 0;

	json_object_foreach (ports, port, of)
		most = json_array_size(of) > most ? json_array_size(of) : most;
	for (size_t n = 1; rc == 0 && n <= most; n++)
		json_object_foreach (ports, port, of) {
			struct fabric_port p = { host, NULL, port, -1, 0, 0 };

			if (rc < 0 || json_array_size(of) != n)
				continue;
			to = json_string_value(json_array_get(of, 0));
			json_array_foreach (of, i, one) {
				p.to = json_string_value(one);
				if (json_object_get(taken, p.to) == NULL) {
					to = p.to;
					break;
				}
			}
			json_object_set_new(taken, to, json_true());
			p.to = to;
			if (n > 1)
				rc = topograph_lldp_several_name(f, port, to,
				    of, err);
			if (rc == 0)
				rc = fabric_add_port(f, &p, err);
		}
	json_decref(taken);
	return rc;
}

/* All neighbours of a node. */
static int
topograph_lldp_node_add(struct fabric *f, const char *host, const json_t *list,
    struct err *err)
{
	json_t *ports = json_object(), *o;
	const char *port;
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < topograph_lldp_objects(list); i++)
		json_object_foreach (topograph_lldp_object(list, i), port, o) {
			count++;
			if (rc == 0)
				rc = topograph_lldp_neighbour_add(f, ports,
				    port, o, err);
		}
	if (count == 0)
		rc = fabric_skip(f, "nodes without a neighbour", err, "%s", "");
	if (rc == 0)
		rc = topograph_lldp_ports_add(f, host, ports, err);
	json_decref(ports);
	return rc;
}

int
import_lldp(struct fabric *f, char *text, const char *name, struct err *err)
{
	const char *slash = strrchr(name, '/');
	char host[HOSTLIST_NAME_MAX + 1];
	json_error_t error;
	json_t *root = json_loads(text, 0, &error);
	const json_t *lldp = json_object_get(root, "lldp"), *list;
	struct err reason = { .text = "" };
	int rc;

	if (root == NULL) {
		f->line = error.line;
		rc = fabric_skip(f, "files skipped, not JSON", &reason, "%.*s",
		    (int)strcspn(error.text, "\n"), error.text);
		if (rc < 0)
			err_say(err, "%s:%d: %s", name, error.line,
			    reason.text);
		return rc;
	}
	slash = slash == NULL ? name : slash + 1;
	rc = str_format(host, sizeof(host), "%.*s",
	    (int)(strlen(slash) > 5 ? strlen(slash) - 5 : 0), slash);
	if (rc < 0 || strcmp(slash + strlen(host), ".json") != 0 ||
	    hostlist_name_check(host) < 0)
		err_say(&reason,
		    "the file must have the name of its node, NODE.json");
	list = topograph_lldp_interfaces(root);
	if (reason.text[0] != '\0')
		;
	else if (json_is_array(lldp) && json_array_size(lldp) > 0)
		err_say(&reason,
		    "this is lldpctl -f json0: give lldpctl -f json");
	else if (!json_is_object(lldp) && !json_is_array(lldp) &&
	    !json_is_null(lldp))
		err_say(&reason,
		    "expected {\"lldp\": {\"interface\": ...}}, as lldpctl -f "
		    "json has it");
	rc = reason.text[0] == '\0'
	    ? topograph_lldp_node_add(f, host, list, &reason)
	    : -EINVAL;
	if (rc < 0)
		err_say(err, "%s: %s", name, reason.text);
	json_decref(root);
	return rc;
}
