/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.c - whether a node has the network devices that a campaign demands,
 * by the inventory that its agent has sent.
 */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/member.h"
#include "common/str.h"
#include "daemon/run/run_int.h"

/* A fabric that has devices of its own: how their names begin, or those of the
 * drivers of network interfaces on them. UCX and libfabric are software. */
static const struct {
	const char *fabric, *text;
	const char *prefixes[3];
} fabrics[] = {
	{ "psm", "Omni-Path (hfi1_0)", { "hfi1", "qib", NULL } },
	{ "cray", "Slingshot (cxi0)", { "cxi", NULL } },
};

/* "mlx5_0", or "mlx5_0:1" of its port. */
static int
is_nic(const json_t *nic, const char *device)
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
has_device(const json_t *nics, const char *device)
{
	size_t i;
	json_t *nic;

	json_array_foreach (nics, i, nic)
		if (is_nic(nic, device))
			return 1;
	return 0;
}

static int
has_prefix(const json_t *nics, const char *const *prefixes)
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

/* "; it has eth0, mlx5_0": what one could have asked for. */
static void
say_nics(const json_t *nics, char *ret, size_t cap_bytes)
{
	size_t i, len = 0;
	json_t *nic;

	ret[0] = '\0';
	json_array_foreach (nics, i, nic)
		if (len + 40 < cap_bytes)
			len += (size_t)snprintf(ret + len, cap_bytes - len,
			    "%s%.32s", len == 0 ? "; it has " : ", ",
			    member_text(nic, "name"));
}

int
fabric_lacks(const struct conf *c, const struct node *n, struct err *err)
{
	const json_t *nics = json_object_get(n->inventory, "nics");
	const char *fabric = conf_string(c, "mpi", "fabric");
	size_t count = 0;
	char **list, has[160];
	int lacks = 0;

	if (!json_is_array(nics))
		return 0;
	say_nics(nics, has, sizeof(has));
	for (size_t i = 0; i < ARRAY_LEN(fabrics); i++)
		if (strcmp(fabrics[i].fabric, fabric) == 0 &&
		    !has_prefix(nics, fabrics[i].prefixes))
			return err_set(err, 1,
			    "%s has no device of fabric = %s, %s%s", n->name,
			    fabric, fabrics[i].text, has);
	list = str_list_parse(conf_string(c, "mpi", "devices"), &count);
	for (size_t i = 0; i < count && !lacks; i++) {
		lacks = !has_device(nics, list[i]);
		if (lacks)
			err_say(err, "%s has no network device %.40s%s",
			    n->name, list[i], has);
	}
	str_list_free(list);
	return lacks;
}
