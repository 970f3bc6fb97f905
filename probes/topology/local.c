/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.c - sysfs shows the tree of PCI bridges as the folders of a device: the
 * distance of two devices follows from the part of their path from the host
 * bridge that they share.
 */
#include "probes/topology/local.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/xalloc.h"
#include "schema/names_gpu.h"
#include "probes/topology/machine.h"

#define KFD_NODES_MAX 256
/* LINKS_DEVICES_MAX: links are known of at most this many. */
#define KFD_GPUS_MAX 64

const char *const local_nears[LOCAL_NEAR_MAX] = {
	[LOCAL_SAME] = "same",
	[LOCAL_SWITCH] = "switch",
	[LOCAL_SWITCHES] = "switches",
	[LOCAL_HOST_BRIDGE] = "host-bridge",
	[LOCAL_NUMA] = "numa",
	[LOCAL_SYSTEM] = "system",
};

/* ---- files ---- */

/* The callback for each name in a folder; kind is a NIC's. */
struct visit {
	const char *folder, *kind;
	void (*each)(struct local *l, const struct visit *v, const char *name);
};

/* Every name in a folder, in the order of people. */
static void
local_each_name(const struct visit *v, struct local *l)
{
	char **names = NULL;
	size_t count = 0;
	struct dirent *entry;
	DIR *dir = opendir(v->folder);

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.') {
			names = xmore(names, count, sizeof(*names));
			names[count++] = xstrdup(entry->d_name);
		}
	closedir(dir);
	if (count > 0)
		hostlist_sort((const char **)names, count);
	for (size_t i = 0; i < count; i++) {
		v->each(l, v, names[i]);
		free(names[i]);
	}
	free(names);
}

/* ---- places ---- */

static int
local_is_pci_address(const char *text)
{
	unsigned d, b, s, f;
	int end = 0;

	return sscanf(text, "%8x:%2x:%2x.%1x%n", &d, &b, &s, &f, &end) == 4 &&
	    text[end] == '\0';
}

/* "/pci0000:00/...", wherever a hypervisor's own bus has put it. */
static const char *
local_host_bridge(const char *path)
{
	unsigned domain, bus;
	int end;

	for (; (path = strstr(path, "/pci")) != NULL; path++) {
		end = 0;
		if (sscanf(path, "/pci%8x:%2x%n", &domain, &bus, &end) == 2 &&
		    path[end] == '/')
			return path;
	}
	return NULL;
}

/* A device's folder, by any link. What lies on a PCI device, as one of virtio
 * does, has its place. */
static void
local_place_read(const char *dir, struct local_place *ret)
{
	char real[PATH_MAX], line[64];
	const char *from;
	char *last;
	double gt_per_s;
	int64_t numa;
	int lanes;

	memset(ret, 0, sizeof(*ret));
	ret->numa = -1;
	if (realpath(dir, real) == NULL)
		return;
	from = local_host_bridge(real);
	if (from == NULL)
		return;
	for (last = strrchr(real, '/');
	     last > from && !local_is_pci_address(last + 1);
	     last = strrchr(real, '/'))
		*last = '\0';
	last++;
	if (!local_is_pci_address(last) ||
	    str_format(ret->path, sizeof(ret->path), "%s", from + 1) < 0)
		return;
	str_format(ret->pci, sizeof(ret->pci), "%s", last);
	sysfs_line(real, "numa_node", line, sizeof(line));
	if (str_to_int(line, 0, INT_MAX, &numa) == 0)
		ret->numa = (int)numa;
	sysfs_line(real, "max_link_speed", line, sizeof(line));
	if (sscanf(line, "%lf GT/s", &gt_per_s) != 1)
		return;
	sysfs_line(real, "max_link_width", line, sizeof(line));
	if (sscanf(line, "%d", &lanes) != 1 || lanes <= 0 || lanes > 32)
		return;
	/* after coding: 8 of 10 bits below 8 GT/s, 128 of 130 from there, and
	 * all but some flits' ends from 64 */
	ret->link_bytes_per_s = lanes * gt_per_s * 1e9 / 8 *
	    (gt_per_s < 8           ? 0.8
		    : gt_per_s < 64 ? 128.0 / 130
				    : 242.0 / 256);
}

/* Parts of a path from the host bridge down. */
static int
local_parts(const char *path)
{
	int count = path[0] != '\0';

	for (; *path != '\0'; path++)
		count += *path == '/';
	return count;
}

enum local_near
local_near(const struct local_place *a, const struct local_place *b)
{
	const char *x = a->path, *y = b->path;
	int shared = 0, below_a, below_b;

	/* parts that are the same, from the first */
	for (size_t n = strcspn(x, "/");
	     n > 0 && n == strcspn(y, "/") && memcmp(x, y, n) == 0;
	     n = strcspn(x, "/")) {
		shared++;
		x += n + (x[n] == '/');
		y += n + (y[n] == '/');
	}
	below_a = local_parts(a->path) - shared;
	below_b = local_parts(b->path) - shared;
	if (a->pci[0] == '\0' || b->pci[0] == '\0')
		return LOCAL_SYSTEM;
	if (below_a == 0 && below_b == 0)
		return LOCAL_SAME;
	/* The first part is the host bridge. Below a switch lie its port and
	 * the device. */
	if (shared > 1)
		return below_a <= 2 && below_b <= 2 ? LOCAL_SWITCH
						    : LOCAL_SWITCHES;
	if (shared == 1)
		return LOCAL_HOST_BRIDGE;
	return a->numa >= 0 && a->numa == b->numa ? LOCAL_NUMA : LOCAL_SYSTEM;
}

/* ---- GPUs ---- */

static void
local_gpu_add(struct local *l, const struct visit *v, const char *name)
{
	char dir[PATH_MAX], class[16], vendor[16];
	struct local_gpu *g = &l->gpus[l->gpus_count];
	const char *maker;

	if (l->gpus_count == LOCAL_MAX ||
	    str_format(dir, sizeof(dir), "%s/%s", v->folder, name) < 0)
		return;
	sysfs_line(dir, "class", class, sizeof(class));
	sysfs_line(dir, "vendor", vendor, sizeof(vendor));
	maker = names_gpu_vendor(class, vendor);
	if (maker == NULL)
		return;
	memset(g, 0, sizeof(*g));
	local_place_read(dir, &g->at);
	if (g->at.pci[0] == '\0')
		return;
	g->vendor = maker;
	sysfs_line(dir, "product_name", g->name, sizeof(g->name));
	g->kfd = g->nic = -1;
	l->gpus_count++;
}

/* ---- how AMD's driver numbers them ---- */

/* The number behind key in a file of lines "key number"; -1: none. */
static long long
local_property(const char *path, const char *key)
{
	FILE *fp = fopen(path, "re");
	char line[200], name[100];
	long long found = -1, x;

	while (fp != NULL && found < 0 && fgets(line, sizeof(line), fp) != NULL)
		if (sscanf(line, "%99s %lld", name, &x) == 2 &&
		    strcmp(name, key) == 0)
			found = x;
	if (fp != NULL)
		fclose(fp);
	return found;
}

/* location_id is bus, device and function as PCI packs them. */
static void
local_kfd_read(const char *root, struct local *l)
{
	char path[PATH_MAX], pci[32];
	int number = 0;

	for (int node = 0; node < KFD_NODES_MAX && number < KFD_GPUS_MAX;
	     node++) {
		long long at;

		if (str_format(path, sizeof(path),
			"%s/sys/class/kfd/kfd/topology/nodes/%d/properties",
			root, node) < 0 ||
		    local_property(path, "simd_count") <= 0)
			continue;
		at = local_property(path, "location_id");
		snprintf(pci, sizeof(pci), "%04llx:%02llx:%02llx.%llx",
		    local_property(path, "domain") & 0xffff, at >> 8 & 0xff,
		    at >> 3 & 0x1f, at & 7);
		for (int i = 0; i < l->gpus_count; i++)
			if (strcmp(l->gpus[i].at.pci, pci) == 0)
				l->gpus[i].kfd = number;
		number++;
	}
}

/* ---- NICs ---- */

/* A port's own words: "200 Gb/sec (4X HDR)"; its state "4: ACTIVE". */
static void
local_ib_rate(struct local *l, const struct visit *v, const char *port)
{
	struct local_nic *n = &l->nics[l->nics_count];
	char dir[PATH_MAX], line[64];
	double gbit_per_s;

	if (str_format(dir, sizeof(dir), "%s/%s", v->folder, port) < 0)
		return;
	sysfs_line(dir, "state", line, sizeof(line));
	if (strncmp(line, "4:", 2) != 0)
		return;
	sysfs_line(dir, "rate", line, sizeof(line));
	if (sscanf(line, "%lf Gb/sec", &gbit_per_s) == 1)
		n->bytes_per_s += gbit_per_s * 1e9 / 8;
}

/* The kernel shows one NIC as several devices: the first kind counts. */
static void
local_nic_add(struct local *l, const struct visit *v, const char *name)
{
	struct local_nic *n = &l->nics[l->nics_count];
	char dir[PATH_MAX], device[PATH_MAX], ports[PATH_MAX], line[64];
	int64_t mbit_per_s;

	if (l->nics_count == LOCAL_MAX ||
	    str_format(dir, sizeof(dir), "%s/%s", v->folder, name) < 0 ||
	    str_format(device, sizeof(device), "%s/device", dir) < 0 ||
	    str_format(ports, sizeof(ports), "%s/ports", dir) < 0)
		return;
	memset(n, 0, sizeof(*n));
	local_place_read(device, &n->at);
	if (n->at.pci[0] == '\0')
		return;
	for (int i = 0; i < l->nics_count; i++)
		if (strcmp(l->nics[i].at.pci, n->at.pci) == 0)
			return;
	str_format(n->name, sizeof(n->name), "%s", name);
	str_format(n->kind, sizeof(n->kind), "%s", v->kind);
	if (strcmp(v->kind, "net") != 0) {
		local_each_name(&(struct visit){ ports, NULL, local_ib_rate },
		    l);
	} else {
		sysfs_line(dir, "speed", line, sizeof(line));
		if (str_to_int(line, 1, INT_MAX, &mbit_per_s) == 0)
			n->bytes_per_s = (double)mbit_per_s * 1e6 / 8;
	}
	l->nics_count++;
}

/* Every GPU takes the nearest NIC of the best kind there is; of those equally
 * near the one that has the fewest GPUs so far, and then the first. */
static void
local_bind_nics(struct local *l)
{
	int used[LOCAL_MAX] = { 0 }, is_rated = 0;

	for (int i = 0; i < l->nics_count; i++)
		is_rated |= l->nics[i].bytes_per_s > 0 &&
		    strcmp(l->nics[i].kind, l->nics[0].kind) == 0;
	for (int g = 0; g < l->gpus_count; g++) {
		int best = -1;

		for (int i = 0; i < l->nics_count; i++) {
			enum local_near near, least;

			/* down, or for storage or the host alone */
			if (strcmp(l->nics[i].kind, l->nics[0].kind) != 0 ||
			    (is_rated && l->nics[i].bytes_per_s == 0))
				continue;
			near = local_near(&l->gpus[g].at, &l->nics[i].at);
			least = best < 0
			    ? LOCAL_NEAR_MAX
			    : local_near(&l->gpus[g].at, &l->nics[best].at);
			if (near < least ||
			    (near == least && used[i] < used[best]))
				best = i;
		}
		l->gpus[g].nic = best;
		if (best >= 0)
			used[best]++;
	}
}

static void
local_numa_count(struct local *l, const struct visit *v, const char *name)
{
	(void)v;
	if (strncmp(name, "node", 4) == 0 &&
	    strspn(name + 4, "0123456789") == strlen(name + 4))
		l->numa_nodes++;
}

void
local_read(const char *root, struct local *ret)
{
	static const struct visit folders[] = {
		{ "sys/devices/system/node", NULL, local_numa_count },
		{ "sys/bus/pci/devices", NULL, local_gpu_add },
		{ "sys/class/infiniband", "ib", local_nic_add },
		{ "sys/class/cxi", "cxi", local_nic_add },
		{ "sys/class/net", "net", local_nic_add },
	};
	char folder[PATH_MAX];

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		struct visit v = folders[i];

		v.folder = folder;
		if (str_format(folder, sizeof(folder), "%s/%s", root,
			folders[i].folder) >= 0)
			local_each_name(&v, ret);
	}
	local_kfd_read(root, ret);
	local_bind_nics(ret);
}

/* ---- as a machine, as far as its wiring can be seen without measuring ---- */

#define SOCKETS_MAX 16

/* Sockets that have processors, 1 when the kernel says nothing. */
static uint32_t
local_sockets_count(const char *root)
{
	char path[400];
	uint32_t seen = 0, count = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu", root);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char text[32];
		int64_t socket;

		if (strncmp(entry->d_name, "cpu", 3) != 0)
			continue;
		snprintf(path, sizeof(path),
		    "%s/sys/devices/system/cpu/%.40s/topology", root,
		    entry->d_name);
		sysfs_line(path, "physical_package_id", text, sizeof(text));
		if (str_to_int(text, 0, SOCKETS_MAX - 1, &socket) == 0)
			seen |= 1U << socket;
	}
	if (dir != NULL)
		closedir(dir);
	for (; seen != 0; seen &= seen - 1)
		count++;
	return count > 0 ? count : 1;
}

/* Links of one kind between all pairs of a group. */
static void
local_pair_add(struct strbuf *pairs, uint32_t a, uint32_t b, unsigned count)
{
	strbuf_addf(pairs, "%s%u-%u*%u", pairs->len_bytes > 0 ? "," : "", a, b,
	    count);
}

static void
local_kind_add(struct strbuf *to, const char *kind, int rate,
    struct strbuf *pairs)
{
	if (pairs->len_bytes > 0)
		strbuf_addf(to, "[%s]\nrate = %d\npairs = %s\n", kind, rate,
		    pairs->text);
	strbuf_clear(pairs);
}

/* The GPU of a rank; NULL: it is not seen. */
static const struct local_gpu *
local_gpu_of(const struct local *l, const struct machine_gpus *gpus,
    uint32_t rank)
{
	if (gpus->pci == NULL)
		return (int)rank < l->gpus_count ? &l->gpus[rank] : NULL;
	for (int i = 0; i < l->gpus_count; i++)
		if (strcmp(l->gpus[i].at.pci, gpus->pci[rank]) == 0)
			return &l->gpus[i];
	return NULL;
}

/* GPUs with links of their vendor are nearest, then those of one PCI switch,
 * then those of one socket. The rates set here only express this order. */
static void
local_gpus_add(const struct local *l, const struct machine_gpus *gpus,
    uint32_t ranks, struct strbuf *sb)
{
	struct strbuf linked = { 0 }, near = { 0 }, far = { 0 };

	for (uint32_t a = 0; a < ranks; a++)
		for (uint32_t b = a + 1; b < ranks; b++) {
			const struct local_gpu *x = local_gpu_of(l, gpus, a);
			const struct local_gpu *y = local_gpu_of(l, gpus, b);
			enum local_near how = x != NULL && y != NULL
			    ? local_near(&x->at, &y->at)
			    : LOCAL_SYSTEM;
			unsigned links = gpus->links != NULL
			    ? gpus->links[(size_t)a * ranks + b]
			    : 0;

			if (links > 0)
				local_pair_add(&linked, a, b, links);
			else if (how <= LOCAL_SWITCHES)
				local_pair_add(&near, a, b, 1);
			else if (how <= LOCAL_NUMA)
				local_pair_add(&far, a, b, 1);
		}
	local_kind_add(sb, "nvlink", 4, &linked);
	local_kind_add(sb, "pcie", 2, &near);
	local_kind_add(sb, "bus", 1, &far);
}

/* Ranks are dealt to sockets in blocks. */
int
machine_discover(const char *root, uint32_t ranks,
    const struct machine_gpus *gpus, struct machine **ret)
{
	struct local *l = xcalloc(1, sizeof(*l));
	struct err err;
	struct strbuf sb = { 0 }, near = { 0 };
	uint32_t sockets, each;
	int rc = -ERANGE;

	local_read(root, l);
	if (ranks < 1 || ranks > 256)
		goto out;
	if (gpus != NULL && gpus->pci == NULL && l->gpus_count < (int)ranks)
		gpus = NULL;
	strbuf_addf(&sb, "[node]\ndevices = %u\n", ranks);
	sockets = gpus != NULL ? 1 : local_sockets_count(root);
	each = ranks % sockets == 0 ? ranks / sockets : ranks;
	strbuf_addf(&sb, "hosts = %u\n", each == ranks ? 1 : sockets);
	if (gpus != NULL)
		local_gpus_add(l, gpus, ranks, &sb);
	for (uint32_t a = 0; gpus == NULL && each < ranks && a < ranks; a++)
		for (uint32_t b = a + 1; b < ranks; b++)
			if (b / each == a / each)
				local_pair_add(&near, a, b, 1);
	local_kind_add(&sb, "bus", 1, &near);
	rc = machine_parse("this machine", sb.text, ret, &err);
	if (rc == 0)
		(*ret)->unrated = 1;
out:
	strbuf_clear(&sb);
	free(l);
	return rc;
}
