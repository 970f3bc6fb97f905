/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links_kfd.c - links as the Linux driver of AMD devices tells them:
 * class/kfd/kfd/topology/nodes/N/{properties,io_links/M/properties}.
 *
 * The weight of a way is no use: it is the same for all ways over XGMI. Its
 * bandwidths are: the minimal one is that of a single link, the maximal one
 * that of all links side by side.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "probes/neighbor/links.h"

#define NODES_MAX 256
#define XGMI      11 /* HSA_IOLINK_TYPE_XGMI */
#define FOLDER    "class/kfd/kfd/topology/nodes"
#define NO_DEVICE UINT32_MAX

struct kfd {
	char root[PATH_MAX / 4];
	uint32_t device[NODES_MAX]; /* by node, or NO_DEVICE */
	struct links *links;
};

/* The number behind key in a file of lines "key number"; -1: none. */
static int64_t
property(const char *path, const char *key)
{
	FILE *fp = fopen(path, "re");
	char line[200], name[100];
	int64_t found = -1;
	long long x;

	if (fp == NULL)
		return -1;
	while (found < 0 && fgets(line, sizeof(line), fp) != NULL)
		if (sscanf(line, "%99s %lld", name, &x) == 2 &&
		    strcmp(name, key) == 0)
			found = x;
	fclose(fp);
	return found;
}

static int
node_path(const struct kfd *k, uint32_t node, const char *rest, char *ret,
    size_t cap_bytes)
{
	return str_format(ret, cap_bytes, "%s/" FOLDER "/%u/%s", k->root, node,
	    rest);
}

/* Devices are nodes that compute on SIMDs, numbered as they come. */
static void
devices_find(struct kfd *k)
{
	char path[PATH_MAX];

	for (uint32_t i = 0; i < NODES_MAX; i++) {
		k->device[i] = NO_DEVICE;
		if (k->links->devices == LINKS_DEVICES_MAX ||
		    node_path(k, i, "properties", path, sizeof(path)) < 0 ||
		    property(path, "simd_count") <= 0)
			continue;
		k->device[i] = k->links->devices++;
	}
}

static void
link_read(struct kfd *k, const char *path)
{
	int64_t from = property(path, "node_from");
	int64_t to = property(path, "node_to");
	int64_t least = property(path, "min_bandwidth");
	int64_t most = property(path, "max_bandwidth");

	if (property(path, "type") != XGMI || from < 0 || from >= NODES_MAX ||
	    to < 0 || to >= NODES_MAX || from == to || least <= 0 ||
	    most < least || most / least > LINKS_NUMBER_MAX ||
	    k->device[from] == NO_DEVICE || k->device[to] == NO_DEVICE)
		return;
	k->links->links[k->device[from]][k->device[to]] = (uint16_t)(most /
	    least);
}

static void
node_links_read(struct kfd *k, uint32_t node)
{
	char folder[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (node_path(k, node, "io_links", folder, sizeof(folder)) < 0)
		return;
	dir = opendir(folder);
	if (dir == NULL)
		return;
	for (entry = readdir(dir); entry != NULL; entry = readdir(dir))
		if (entry->d_name[0] != '.' &&
		    str_format(path, sizeof(path), "%s/%s/properties", folder,
			entry->d_name) >= 0)
			link_read(k, path);
	closedir(dir);
}

int
links_machine(const char *root, struct links *ret, struct err *err)
{
	struct links l = { 0 };
	struct kfd k = { .links = &l };

	snprintf(k.root, sizeof(k.root), "%s", root);
	devices_find(&k);
	if (l.devices == 0)
		return err_set(err, -ENODEV,
		    "%.200s/" FOLDER ": no AMD device here says how it is "
		    "linked",
		    root);
	for (uint32_t i = 0; i < NODES_MAX; i++)
		if (k.device[i] != NO_DEVICE)
			node_links_read(&k, i);
	links_hops(&l);
	links_mates(&l);
	*ret = l;
	return 0;
}
