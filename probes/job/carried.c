/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carried.c - counters of devices and connections, and whether they speak for
 * the fabric that was wanted.
 */
#include "probes/job/carried.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

#define WORD_BYTES 4 /* port_xmit_data counts words */

/* The libraries that are a fabric. */
static const struct {
	const char *fabric;
	const char *libraries[6];
} fabrics[] = {
	{ "tcp", { "ob1", "ucx", "ofi", "nemesis", "sock", NULL } },
	{ "ucx", { "ucx", NULL } },
	{ "ofi", { "ofi", NULL } },
	{ "psm", { "psm2", "psm", "ofi", NULL } },
	{ "cray", { "ofi", NULL } },
};

static int
carried_number_read(const char *path, uint64_t *ret)
{
	FILE *fp = fopen(path, "re");
	unsigned long long value;
	int n;

	if (fp == NULL)
		return 0;
	n = fscanf(fp, "%llu", &value);
	fclose(fp);
	if (n == 1)
		*ret = value;
	return n == 1;
}

/* Read the bytes sent by network interfaces: the ninth number after a name.
 * /sys may be of another network namespace, /proc/self is not. */
static size_t
carried_interfaces_read(const char *root, struct carried_device *ret)
{
	char path[400], line[512], *name, *colon;
	unsigned long long bytes;
	size_t count = 0;
	FILE *fp;

	snprintf(path, sizeof(path), "%s/proc/self/net/dev", root);
	fp = fopen(path, "re");
	while (fp != NULL && fgets(line, sizeof(line), fp) != NULL) {
		name = line + strspn(line, " ");
		colon = strchr(name, ':');
		if (colon == NULL || count == CARRIED_DEVICES_MAX)
			continue;
		*colon = '\0';
		if (strcmp(name, "lo") == 0 ||
		    sscanf(colon + 1, "%*u %*u %*u %*u %*u %*u %*u %*u %llu",
			&bytes) != 1 ||
		    str_format(ret[count].name, sizeof(ret->name), "%s", name) <
			0)
			continue;
		ret[count].out_bytes = bytes;
		ret[count++].rdma = 0;
	}
	if (fp != NULL)
		fclose(fp);
	return count;
}

static int
carried_is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

size_t
carried_devices_read(const char *root,
    struct carried_device ret[CARRIED_DEVICES_MAX])
{
	size_t count = carried_interfaces_read(root, ret);
	struct dirent **names = NULL, **ports;
	char top[400], path[1200];
	int n, k;

	snprintf(top, sizeof(top), "%s/sys/class/infiniband", root);
	n = scandir(top, &names, carried_is_visible, alphasort);
	for (int i = 0; i < n; free(names[i++])) {
		snprintf(path, sizeof(path), "%s/%s/ports", top,
		    names[i]->d_name);
		ports = NULL;
		k = scandir(path, &ports, carried_is_visible, alphasort);
		for (int p = 0; p < k; free(ports[p++])) {
			struct carried_device *d = &ret[count];

			snprintf(path, sizeof(path),
			    "%s/%s/ports/%s/counters/port_xmit_data", top,
			    names[i]->d_name, ports[p]->d_name);
			if (count == CARRIED_DEVICES_MAX ||
			    str_format(d->name, sizeof(d->name), "%s:%s",
				names[i]->d_name, ports[p]->d_name) < 0 ||
			    !carried_number_read(path, &d->out_bytes))
				continue;
			d->out_bytes *= WORD_BYTES;
			d->rdma = 1;
			count++;
		}
		free(ports);
	}
	free(names);
	return count;
}

void
carried_devices_used(const struct carried_device *before, size_t before_count,
    const struct carried_device *now, size_t count, uint64_t share, char *ret,
    size_t cap_bytes)
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < before_count; k++)
			if (strcmp(before[k].name, now[i].name) == 0 &&
			    now[i].out_bytes >= before[k].out_bytes + share &&
			    len + strlen(now[i].name) + 2 <= cap_bytes)
				len += (size_t)snprintf(ret + len,
				    cap_bytes - len, "%s%s", len > 0 ? "," : "",
				    now[i].name);
}

void
carried_library(const char *version, char *ret, size_t cap_bytes)
{
	const char *at = strstr(version, "MPICH Device:");
	size_t len;

	ret[0] = '\0';
	if (at != NULL)
		at = strchr(at + strlen("MPICH Device:"), ':');
	if (at == NULL)
		return;
	len = strcspn(++at, " \t\r\n");
	if (len < cap_bytes)
		snprintf(ret, cap_bytes, "%.*s", (int)len, at);
}

const char *
carried_transport(const struct carried *c)
{
	if (c->wanted_bytes == 0)
		return NULL;
	/* TCP over an RDMA device moves both counters. */
	if (c->tcp_bytes >= c->wanted_bytes / 2)
		return "tcp";
	return c->rdma_bytes >= c->wanted_bytes / 2 ? "rdma" : NULL;
}

/* "mlx5_0:1" is one of "mlx5_0,mlx5_1". */
static int
carried_is_one_of(const char *device, const char *wanted)
{
	size_t count = 0, len;
	char **list = str_list_parse(wanted, &count);
	int found = 0;

	for (size_t i = 0; i < count; i++) {
		len = strlen(list[i]);
		found |= strncmp(device, list[i], len) == 0 &&
		    (device[len] == '\0' || device[len] == ':');
	}
	str_list_free(list);
	return found;
}

int
carried_wrong(const struct carried *c, const char *fabric, const char *devices,
    struct err *err)
{
	size_t count = 0;
	int found = 0;
	char **list;

	for (size_t i = 0; i < ARRAY_LEN(fabrics); i++) {
		if (strcmp(fabrics[i].fabric, fabric) != 0 ||
		    c->library[0] == '\0')
			continue;
		for (size_t k = 0; fabrics[i].libraries[k] != NULL; k++)
			found |= strcmp(fabrics[i].libraries[k], c->library) ==
			    0;
		if (!found)
			return err_set(err, 1,
			    "fabric = %s was required, but this MPI used %s",
			    fabric, c->library);
	}
	if (strcmp(fabric, "tcp") == 0 && c->wanted_bytes > 0 &&
	    (c->transport == NULL || strcmp(c->transport, "tcp") != 0))
		return err_set(err, 1,
		    "fabric = tcp was required, but of %llu bytes between "
		    "nodes TCP carried %llu",
		    (unsigned long long)c->wanted_bytes,
		    (unsigned long long)c->tcp_bytes);
	if (devices[0] == '\0' || c->devices[0] == '\0')
		return 0;
	found = 0;
	list = str_list_parse(c->devices, &count);
	for (size_t i = 0; i < count; i++)
		found |= carried_is_one_of(list[i], devices);
	str_list_free(list);
	if (found)
		return 0;
	return err_set(err, 1,
	    "devices = %.100s were required, but %.100s carried the bytes",
	    devices, c->devices);
}

json_t *
carried_json(const struct carried *c, const char *fabric)
{
	json_t *o = json_pack("{s:s}", "wanted", fabric), *list;
	size_t count = 0;
	char **names;

	if (c->library[0] != '\0')
		json_object_set_new(o, "library", json_string(c->library));
	if (c->transport != NULL)
		json_object_set_new(o, "transport", json_string(c->transport));
	if (c->devices[0] != '\0') {
		list = json_array();
		names = str_list_parse(c->devices, &count);
		for (size_t i = 0; i < count; i++)
			json_array_append_new(list, json_string(names[i]));
		str_list_free(names);
		json_object_set_new(o, "devices", list);
	}
	if (c->wanted_bytes > 0) {
		json_object_set_new(o, "wanted_bytes",
		    json_integer((json_int_t)c->wanted_bytes));
		json_object_set_new(o, "seen_bytes",
		    json_integer((json_int_t)(c->transport != NULL &&
				strcmp(c->transport, "rdma") == 0
			    ? c->rdma_bytes
			    : c->tcp_bytes)));
	}
	return o;
}
