/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.c - the wiring of a node from a file, a shipped one, or the kernel, and
 * which devices share a package by it.
 */
#include "probes/neighbor/links.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"
#include "probes/pattern/numbers.h"

/* Breadth first from every device, along links in their direction. */
static void
links_hops(struct links *l)
{
	uint32_t n = l->devices, queue[LINKS_DEVICES_MAX];

	for (uint32_t from = 0; from < n; from++) {
		uint16_t *hops = l->hops[from];
		uint32_t head = 0, tail = 0;

		for (uint32_t i = 0; i < n; i++)
			hops[i] = (uint16_t)n;
		hops[from] = 0;
		queue[tail++] = from;
		while (head < tail) {
			uint32_t at = queue[head++];

			for (uint32_t i = 0; i < n; i++) {
				if (l->links[at][i] == 0 || hops[i] < n)
					continue;
				hops[i] = (uint16_t)(hops[at] + 1);
				queue[tail++] = i;
			}
		}
	}
}

/* The device that at has that many links to, both ways; at where there is
 * none, LINKS_DEVICES_MAX where there are several. */
static uint32_t
links_partner(const struct links *l, uint32_t at, uint16_t count)
{
	uint32_t found = at;

	for (uint32_t i = 0; i < l->devices; i++) {
		if (i == at || l->links[at][i] != count ||
		    l->links[i][at] != count)
			continue;
		if (found != at)
			return LINKS_DEVICES_MAX;
		found = i;
	}
	return found;
}

/* The numbers of devices depend on the devices that a job may see, but the
 * wiring does not: the two devices of a package have the most links, and one
 * whose partner is hidden is alone. If that is ambiguous, the numbers
 * decide. */
static void
links_mates(struct links *l)
{
	uint16_t most = 1;
	uint32_t pairs = 0, unclear = 0;

	for (uint32_t i = 0; i < l->devices; i++)
		for (uint32_t k = 0; k < l->devices; k++)
			if (l->links[i][k] > most)
				most = l->links[i][k];
	for (uint32_t i = 0; i < l->devices; i++) {
		l->mate[i] = links_partner(l, i, most);
		unclear |= l->mate[i] == LINKS_DEVICES_MAX;
		pairs += l->mate[i] != i;
	}
	if (!unclear && pairs > 0)
		return;
	for (uint32_t i = 0; i < l->devices; i++)
		l->mate[i] = (i ^ 1) < l->devices ? i ^ 1 : i;
}

int
links_parse(const char *name, const char *text, size_t len_bytes,
    struct links *ret, struct err *err)
{
	struct numbers n = { .name = name,
		.max = LINKS_NUMBER_MAX,
		.most = 2 * LINKS_DEVICES_MAX * LINKS_DEVICES_MAX,
		.err = err };
	size_t columns, rows;
	int rc = numbers_read(&n, text, len_bytes);

	rows = n.rows_count;
	columns = rows > 0 ? numbers_columns(&n, 0) : 0;
	if (rc == 0 && columns == 0)
		rc = numbers_refuse(&n, n.line > 0 ? n.line : 1,
		    "no numbers: expected a matrix of links");
	if (rc == 0 && columns > LINKS_DEVICES_MAX)
		rc = numbers_refuse(&n, n.lines[0],
		    "%zu devices: expected at most %d", columns,
		    LINKS_DEVICES_MAX);
	for (size_t i = 1; rc == 0 && i < rows; i++)
		if (numbers_columns(&n, i) != columns)
			rc = numbers_refuse(&n, n.lines[i],
			    "%zu numbers: expected the same as on line %ld, "
			    "%zu",
			    numbers_columns(&n, i), n.lines[0], columns);
	if (rc == 0 && rows != columns && rows != 2 * columns)
		rc = numbers_refuse(&n, n.lines[rows - 1],
		    "%zu lines of %zu numbers: expected a square matrix, or "
		    "two of them",
		    rows, columns);
	for (size_t i = 0; rc == 0 && i < rows; i++)
		if (n.all[i * columns + i % columns] != 0)
			rc = numbers_refuse(&n, n.lines[i],
			    "device %zu to itself: expected 0", i % columns);
	if (rc == 0) {
		memset(ret, 0, sizeof(*ret));
		ret->devices = (uint32_t)columns;
		for (size_t i = 0; i < columns * columns; i++)
			ret->links[i / columns][i % columns] = (uint16_t)
								   n.all[i];
		links_hops(ret);
		for (size_t i = columns * columns; i < n.count; i++)
			ret->hops[i / columns - columns][i % columns] =
			    (uint16_t)n.all[i];
		links_mates(ret);
	}
	numbers_clear(&n);
	return rc;
}

int
links_load(const char *path, struct links *ret, struct err *err)
{
	size_t len = 0;
	char *text = NULL;
	int rc = file_read(path, NUMBERS_FILE_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	rc = links_parse(path, text, len, ret, err);
	free(text);
	return rc;
}

int
links_shipped(const char *name, struct links *ret)
{
	struct err err;

	for (const struct shipped *f = links_files; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return links_parse(name, f->text, strlen(f->text), ret,
			    &err);
	return -ENOENT;
}

void
links_none(uint32_t devices, struct links *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->devices = devices;
	links_hops(ret);
	links_mates(ret);
}

/*
 * The files of AMD's Linux driver,
 * class/kfd/kfd/topology/nodes/N/{properties,io_links/M/properties}. The weight
 * of a path is useless: it is equal for all paths over XGMI. The bandwidths are
 * meaningful: the minimal one is of a single link, the maximal one of all
 * parallel links.
 */
#define NODES_MAX 256
#define XGMI      11 /* HSA_IOLINK_TYPE_XGMI */
#define KFD       "class/kfd/kfd/topology/nodes"
#define NO_DEVICE UINT32_MAX

struct kfd {
	char root[PATH_MAX / 4];
	uint32_t device[NODES_MAX]; /* by node, or NO_DEVICE */
	struct links *links;
};

/* The number behind key in a file of lines "key number"; -1: none. */
static int64_t
links_property(const char *path, const char *key)
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
links_node_path(const struct kfd *k, uint32_t node, const char *rest, char *ret,
    size_t cap_bytes)
{
	return str_format(ret, cap_bytes, "%s/" KFD "/%u/%s", k->root, node,
	    rest);
}

static void
links_node_links_read(struct kfd *k, uint32_t node)
{
	char folder[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (links_node_path(k, node, "io_links", folder, sizeof(folder)) < 0)
		return;
	dir = opendir(folder);
	if (dir == NULL)
		return;
	for (entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		int64_t from, to, least, most;

		if (entry->d_name[0] == '.' ||
		    str_format(path, sizeof(path), "%s/%s/properties", folder,
			entry->d_name) < 0)
			continue;
		from = links_property(path, "node_from");
		to = links_property(path, "node_to");
		least = links_property(path, "min_bandwidth");
		most = links_property(path, "max_bandwidth");
		if (links_property(path, "type") != XGMI || from < 0 ||
		    from >= NODES_MAX || to < 0 || to >= NODES_MAX ||
		    from == to || least <= 0 || most < least ||
		    most / least > LINKS_NUMBER_MAX ||
		    k->device[from] == NO_DEVICE || k->device[to] == NO_DEVICE)
			continue;
		k->links->links[k->device[from]][k->device[to]] =
		    (uint16_t)(most / least);
	}
	closedir(dir);
}

int
links_machine(const char *root, struct links *ret, struct err *err)
{
	struct links l = { 0 };
	struct kfd k = { .links = &l };
	char path[PATH_MAX];

	snprintf(k.root, sizeof(k.root), "%s", root);
	/* devices are nodes that compute on SIMDs, numbered as they come */
	for (uint32_t i = 0; i < NODES_MAX; i++) {
		k.device[i] = NO_DEVICE;
		if (l.devices < LINKS_DEVICES_MAX &&
		    links_node_path(&k, i, "properties", path, sizeof(path)) >=
			0 &&
		    links_property(path, "simd_count") > 0)
			k.device[i] = l.devices++;
	}
	if (l.devices == 0)
		return err_set(err, -ENODEV,
		    "%.200s/" KFD ": no AMD device reports its links", root);
	for (uint32_t i = 0; i < NODES_MAX; i++)
		if (k.device[i] != NO_DEVICE)
			links_node_links_read(&k, i);
	links_hops(&l);
	links_mates(&l);
	*ret = l;
	return 0;
}
