/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.c - the variables that tell each library which NIC to use are rows; the
 * other names of a NIC are read from sysfs.
 */
#include "schema/rails.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "common/sysfs.h"

#define PORTS_MAX 4 /* of an RDMA device; most have one or two */

/* UCX with tcp alone finds no transport on an RDMA device. NCCL matches
 * interface names by prefix unless '=' is before them, and bootstraps over
 * sockets even if an RDMA device without an address carries the data; for such
 * a rail the variable is not set. */
const struct rail_variable rail_variables[] = {
	{ "UCX_NET_DEVICES", "auto,ucx", RAIL_RDMA_OR_NETDEV, "" },
	{ "UCX_NET_DEVICES", "tcp", RAIL_NETDEV, "" },
	{ "OMPI_MCA_btl_tcp_if_include", "auto,tcp", RAIL_NETDEV, "" },
	{ "FI_TCP_IFACE", "auto,tcp,ofi", RAIL_NETDEV, "" },
	{ "FI_CXI_DEVICE_NAME", "auto,ofi,cray", RAIL_CXI, "" },
	{ "NCCL_IB_HCA", "auto,ucx,ofi", RAIL_RDMA, "=" },
	{ "NCCL_SOCKET_IFNAME", "auto,ucx,ofi,cray", RAIL_NETDEV_ALONE, "=" },
	{ "NCCL_SOCKET_IFNAME", "tcp", RAIL_NETDEV, "=" },
	{ 0 },
};

/* Find the first file of a folder by name, or the one with that dev_port; "" if
 * not found. */
static void
rails_first_in(const char *dir, int dev_port, char ret[RAIL_NAME_BYTES])
{
	struct dirent **list = NULL;
	char path[800];
	int n = scandir(dir, &list, NULL, alphasort);
	int64_t port;

	ret[0] = '\0';
	for (int i = 0; i < n; free(list[i++])) {
		if (list[i]->d_name[0] == '.')
			continue;
		if (ret[0] == '\0')
			(void)str_format(ret, RAIL_NAME_BYTES, "%s",
			    list[i]->d_name);
		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (dev_port >= 0 && sysfs_int(path, "dev_port", &port) == 0 &&
		    port == dev_port)
			(void)str_format(ret, RAIL_NAME_BYTES, "%s",
			    list[i]->d_name);
	}
	free(list);
}

/* A folder of sysfs: /sys/class/CLASS/NAME/REST. */
static int
rails_sys_path(char ret[400], const char *root, const char *class,
    const char *name, const char *rest)
{
	return strchr(name, '/') == NULL && name[0] != '.' &&
	    str_format(ret, 400, "%s/sys/class/%s/%s/%s", root, class, name,
		rest) >= 0 &&
	    access(ret, F_OK) == 0;
}

void
rail_find(const char *root, const char *name, struct rail *ret)
{
	char path[400], device[RAIL_NAME_BYTES], port[RAIL_NAME_BYTES];
	size_t len = strcspn(name, ":");

	memset(ret, 0, sizeof(*ret));
	if (str_format(device, sizeof(device), "%.*s", (int)len, name) < 0)
		return;
	if (rails_sys_path(path, root, "infiniband", device, "ports")) {
		rails_first_in(path, -1, port);
		if (name[len] == ':')
			(void)str_format(port, sizeof(port), "%s",
			    name + len + 1);
		(void)str_format(ret->rdma, sizeof(ret->rdma), "%s:%s", device,
		    port);
		if (rails_sys_path(path, root, "infiniband", device,
			"device/net"))
			rails_first_in(path, atoi(port) - 1, ret->netdev);
		return;
	}
	if (rails_sys_path(path, root, "cxi", device, "")) {
		strcpy(ret->cxi, device);
		if (rails_sys_path(path, root, "cxi", device, "device/net"))
			rails_first_in(path, -1, ret->netdev);
		return;
	}
	(void)str_format(ret->netdev, sizeof(ret->netdev), "%s", name);
	if (rails_sys_path(path, root, "net", name, "device/cxi"))
		rails_first_in(path, -1, ret->cxi);
	if (rails_sys_path(path, root, "net", name, "device/infiniband"))
		rails_first_in(path, -1, device);
	else
		return;
	/* which of its ports: that with this interface */
	for (int i = 1; i <= PORTS_MAX; i++) {
		char netdev[RAIL_NAME_BYTES], rest[32];

		snprintf(rest, sizeof(rest), "ports/%d", i);
		if (!rails_sys_path(path, root, "infiniband", device, rest) ||
		    !rails_sys_path(path, root, "infiniband", device,
			"device/net"))
			continue;
		rails_first_in(path, i - 1, netdev);
		if (ret->rdma[0] == '\0' && strcmp(netdev, name) == 0)
			(void)str_format(ret->rdma, sizeof(ret->rdma), "%s:%d",
			    device, i);
	}
}

static const char *
rails_form_of(const struct rail *r, enum rail_form form)
{
	switch (form) {
	case RAIL_RDMA:
		return r->rdma;
	case RAIL_RDMA_OR_NETDEV:
		return r->rdma[0] != '\0' ? r->rdma : r->netdev;
	case RAIL_CXI:
		return r->cxi;
	case RAIL_NETDEV_ALONE:
		return r->rdma[0] != '\0' ? "" : r->netdev;
	case RAIL_NETDEV:
	default:
		return r->netdev;
	}
}

static int
rails_is_for(const struct rail_variable *v, const char *fabric)
{
	size_t len = strlen(fabric);

	for (const char *at = v->fabrics; *at != '\0';
	     at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		if (strcspn(at, ",") == len && strncmp(at, fabric, len) == 0)
			return 1;
	return 0;
}

char *
rail_value(const struct rail_variable *v, const char *root, const char *fabric,
    const char *list)
{
	struct strbuf sb = { 0 };
	size_t count = 0;
	char **names = rails_is_for(v, fabric) ? str_list_parse(list, &count)
					       : NULL;

	for (size_t i = 0; i < count; i++) {
		struct rail r;
		const char *text;

		rail_find(root, names[i], &r);
		text = rails_form_of(&r, v->form);
		if (text[0] != '\0')
			strbuf_addf(&sb, "%s%s",
			    sb.text == NULL ? v->prefix : ",", text);
	}
	str_list_free(names);
	return sb.text;
}

char *
rail_names(const char *root, const char *list)
{
	struct strbuf sb = { 0 };
	size_t count = 0;
	char **names = str_list_parse(list, &count);

	strbuf_addf(&sb, "%s", list);
	for (size_t i = 0; i < count; i++) {
		struct rail r;

		rail_find(root, names[i], &r);
		if (r.rdma[0] != '\0' && strcmp(r.rdma, names[i]) != 0)
			strbuf_addf(&sb, ",%s", r.rdma);
		if (r.netdev[0] != '\0' && strcmp(r.netdev, names[i]) != 0)
			strbuf_addf(&sb, ",%s", r.netdev);
	}
	str_list_free(names);
	return sb.text;
}

int
rail_is_chosen(const struct conf *c)
{
	static const struct {
		const char *key, *prefix;
	} lists[] = { { "env", "" }, { "mca", MPI_SETTINGS_MCA } };
	char full[MPI_SETTING_NAME_BYTES + 16];
	struct mpi_setting s;
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *at = conf_string(c, "mpi", lists[i].key);

		while (mpi_settings_next(&at, &s, &err) > 0) {
			snprintf(full, sizeof(full), "%s%s", lists[i].prefix,
			    s.name);
			for (const struct rail_variable *v = rail_variables;
			     v->name != NULL; v++)
				if (strcmp(v->name, full) == 0)
					return 1;
		}
	}
	return 0;
}
