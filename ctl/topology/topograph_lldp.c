/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topograph_lldp.c - two formats of JSON: Topograph's instances with the
 * switches above each, and lldpctl's neighbours of the ports of one node.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "ctl/topology/formats.h"

/* NULL, and where it is no JSON. */
static json_t *
topograph_lldp_text_parse(const char *text, const char *name, struct err *err)
{
	json_error_t error;
	json_t *o = json_loads(text, 0, &error);

	if (o == NULL)
		/* What it quotes of the file may go on in a next line. */
		err_say(err, "%s:%d: %.*s", name, error.line,
		    (int)strcspn(error.text, "\n"), error.text);
	return o;
}

/* ---- Topograph ---- */

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

	if (json_array_size(layers) == 0)
		return err_set(err, -EINVAL,
		    "expected {\"id\": NODE, \"network_layers\": [LEAF, "
		    "...]}");
	json_array_foreach (layers, i, layer) {
		const char *text = json_string_value(layer);
		char pair[2 * TOPOLOGY_NAME_MAX];

		if (text == NULL || text[0] == '\0')
			return err_set(err, -EINVAL,
			    "network_layers[%zu] is no name of a switch", i);
		fabric_name(text, strlen(text), name);
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
		if (rc < 0) {
			err_say(err, "%s: instances[%zu]: %s", name, i,
			    reason.text);
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

/* {PORT: {chassis: {NAME: {...}}}}, or {chassis: {id: {value}}} for a neighbour
 * that sends no name. */
static int
topograph_lldp_neighbour_add(struct fabric *f, const char *host,
    const json_t *ports, struct err *err)
{
	const char *port, *name;
	char to[TOPOLOGY_NAME_MAX];
	json_t *o, *about;
	int rc = 0;

	json_object_foreach ((json_t *)ports, port, o) {
		json_t *chassis = json_object_get(o, "chassis");
		struct fabric_port p = { .host = host,
			.to = to,
			.name = port,
			.rail = -1 };

		name = NULL;
		if (json_object_get(chassis, "id") != NULL) {
			about = chassis;
			name = member_text_or(json_object_get(chassis, "id"),
			    "value", NULL);
		} else {
			void *first = json_object_iter(chassis);

			about = first != NULL ? json_object_iter_value(first)
					      : NULL;
			if (first != NULL)
				name = json_object_iter_key(first);
		}
		if (name == NULL || strlen(port) >= FABRIC_PORT_MAX)
			return err_set(err, -EINVAL,
			    "port \"%.40s\": expected {\"chassis\": {SWITCH: "
			    "{...}}}",
			    port);
		if (!topograph_lldp_is_switch(about)) {
			f->stations++;
			continue;
		}
		fabric_name(name, strlen(name), to);
		rc = fabric_add_port(f, &p, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int
import_lldp(struct fabric *f, char *text, const char *name, struct err *err)
{
	const char *slash = strrchr(name, '/');
	char host[HOSTLIST_NAME_MAX + 1];
	json_t *root = topograph_lldp_text_parse(text, name, err), *list, *one;
	struct err reason = { .text = "" };
	int rc;
	size_t i;

	if (root == NULL)
		return -EINVAL;
	slash = slash == NULL ? name : slash + 1;
	rc = str_format(host, sizeof(host), "%.*s",
	    (int)(strlen(slash) > 5 ? strlen(slash) - 5 : 0), slash);
	if (rc < 0 || strcmp(slash + strlen(host), ".json") != 0 ||
	    hostlist_name_check(host) < 0)
		err_say(&reason,
		    "the file's name has to be that of its node, NODE.json");
	list = json_object_get(json_object_get(root, "lldp"), "interface");
	if (list == NULL && reason.text[0] == '\0')
		err_say(&reason,
		    "expected {\"lldp\": {\"interface\": ...}}, as lldpctl -f "
		    "json has it");
	rc = reason.text[0] == '\0' ? 0 : -EINVAL;
	if (rc == 0 && json_is_object(list))
		rc = topograph_lldp_neighbour_add(f, host, list, &reason);
	json_array_foreach (list, i, one)
		if (rc == 0)
			rc = topograph_lldp_neighbour_add(f, host, one,
			    &reason);
	if (rc < 0)
		err_say(err, "%s: %s", name, reason.text);
	json_decref(root);
	return rc;
}
