/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - a setting that one file has is a row. They are read again every
 * few minutes, so only small files are opened and no program is run.
 */
#include "agents/sensor/settings.h"

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/sensor/device.h"
#include "agents/sensor/ethtool.h"
#include "agents/sensor/sensor.h"
#include "common/member.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/text.h"

#define PATH_BYTES   1024
#define VALUE_BYTES  256
#define SETTINGS_MAX 400 /* of a node; a hello has a limited size */
#define GIDS_MAX     16  /* of a port; later ones are seldom used */
#define PRIORITIES   8

/* What of a file is the value. */
enum how {
	HOW_LINE,   /* its first line */
	HOW_CHOICE, /* the word in brackets: "always [madvise] never" */
	HOW_EXISTS  /* "loaded" if the folder exists, else "not loaded" */
};

static const struct {
	const char *name, *dir, *file;
	enum how how;
} node_rows[] = {
	{ "numa_balancing", "proc/sys/kernel", "numa_balancing", HOW_LINE },
	{ "zone_reclaim", "proc/sys/vm", "zone_reclaim_mode", HOW_LINE },
	{ "thp", "sys/kernel/mm/transparent_hugepage", "enabled", HOW_CHOICE },
	{ "hugepages_2M", "sys/kernel/mm/hugepages/hugepages-2048kB",
	    "nr_hugepages", HOW_LINE },
	{ "hugepages_1G", "sys/kernel/mm/hugepages/hugepages-1048576kB",
	    "nr_hugepages", HOW_LINE },
	{ "smt", "sys/devices/system/cpu/smt", "control", HOW_LINE },
	{ "no_turbo", "sys/devices/system/cpu/intel_pstate", "no_turbo",
	    HOW_LINE },
	{ "boost", "sys/devices/system/cpu/cpufreq", "boost", HOW_LINE },
	{ "clocksource", "sys/devices/system/clocksource/clocksource0",
	    "current_clocksource", HOW_LINE },
	/* of the first group: identity, DMA or DMA-FQ */
	{ "iommu", "sys/kernel/iommu_groups/0", "type", HOW_LINE },
	{ "tcp_congestion", "proc/sys/net/ipv4", "tcp_congestion_control",
	    HOW_LINE },
	{ "tcp_ecn", "proc/sys/net/ipv4", "tcp_ecn", HOW_LINE },
	{ "nvidia_driver", "sys/module/nvidia", "version", HOW_LINE },
	{ "amdgpu_driver", "sys/module/amdgpu", "version", HOW_LINE },
	{ "mlx5_driver", "sys/module/mlx5_core", "version", HOW_LINE },
	{ "nvidia_peermem", "sys/module", "nvidia_peermem", HOW_EXISTS },
	{ "gdrdrv", "sys/module", "gdrdrv", HOW_EXISTS },
};

/* Options of the kernel's command line; others, such as root=, differ between
 * nodes. */
static const char *const boot_options[] = { "intel_iommu", "amd_iommu", "iommu",
	"pci", "pcie_acs_override", "pcie_aspm", "mitigations", "isolcpus",
	"nohz_full", "nosmt", "idle", "intel_idle.max_cstate",
	"processor.max_cstate", "numa_balancing", "transparent_hugepage" };

/* Libraries whose link "NAME.so.N" ends with the version. */
static const struct {
	const char *name, *link;
} libraries[] = { { "nccl", "libnccl.so.2" }, { "rccl", "librccl.so.1" } };

static const char *const library_dirs[] = { "usr/local/cuda/lib64",
	"usr/local/lib", "usr/lib/x86_64-linux-gnu",
	"usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib", "opt/rocm/lib" };

/* Files below the folder of an RDMA device, or of its port. */
static const struct {
	int is_port;
	const char *name, *dir, *file;
} device_rows[] = {
	{ 0, "firmware", "", "fw_ver" },
	{ 0, "board", "", "board_id" },
	{ 0, "traffic_class", "tc/1", "traffic_class" },
	{ 1, "link_layer", "", "link_layer" },
};

/* Folders with a file for each priority: congestion notification of RoCE, at
 * the receiver and at the sender. */
static const struct {
	const char *name, *dir;
} ecn_rows[] = { { "ecn_receiver", "ecn/roce_np/enable" },
	{ "ecn_sender", "ecn/roce_rp/enable" } };

static void
settings_put(json_t *o, const char *device, const char *name, const char *value)
{
	char key[DEVICE_NAME_BYTES + 64];

	if (value[0] == '\0' || json_object_size(o) >= SETTINGS_MAX)
		return;
	snprintf(key, sizeof(key), "%s%s%s", device,
	    device[0] != '\0' ? " " : "", name);
	json_object_set_new(o, key, text_json(value));
}

static void
settings_put_number(json_t *o, const char *device, const char *name,
    json_int_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, value);
	if (value > 0)
		settings_put(o, device, name, text);
}

static void
settings_put_file(json_t *o, const char *device, const char *name,
    const char *dir, const char *file, enum how how)
{
	char path[PATH_BYTES], line[VALUE_BYTES], *value = line, *end;

	if (how == HOW_EXISTS) {
		if (str_format(path, sizeof(path), "%s/%s", dir, file) >= 0)
			settings_put(o, device, name,
			    access(path, F_OK) == 0 ? "loaded" : "not loaded");
		return;
	}
	if (sysfs_line(dir, file, line, sizeof(line)) < 0)
		return;
	if (how == HOW_CHOICE && (value = strchr(line, '[')) != NULL) {
		value++;
		if ((end = strchr(value, ']')) != NULL)
			*end = '\0';
	}
	settings_put(o, device, name, value != NULL ? value : line);
}

static void
settings_put_boot(json_t *o, const char *root)
{
	char dir[PATH_BYTES], line[4096], name[64], *rest = line, *word;

	if (str_format(dir, sizeof(dir), "%s/proc", root) < 0 ||
	    sysfs_line(dir, "cmdline", line, sizeof(line)) < 0)
		return;
	while ((word = strsep(&rest, " ")) != NULL) {
		char *value = strchr(word, '=');

		if (value != NULL)
			*value++ = '\0';
		for (size_t i = 0; i < ARRAY_LEN(boot_options); i++)
			if (strcmp(word, boot_options[i]) == 0) {
				snprintf(name, sizeof(name), "boot %s", word);
				settings_put(o, "", name,
				    value != NULL ? value : "set");
			}
	}
}

/* The governors of all processors, each once. */
static void
settings_put_governor(json_t *o, const char *root)
{
	char dir[PATH_BYTES], sub[PATH_BYTES], line[64], all[VALUE_BYTES] = "";
	const struct dirent *e;
	size_t len = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/sys/devices/system/cpu/cpufreq", root);
	d = opendir(dir);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, "policy", strlen("policy")) != 0 ||
		    str_format(sub, sizeof(sub), "%s/%s", dir, e->d_name) < 0 ||
		    sysfs_line(sub, "scaling_governor", line, sizeof(line)) <
			0 ||
		    strstr(all, line) != NULL ||
		    len + strlen(line) + 3 > sizeof(all))
			continue;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
		    len > 0 ? ", " : "", line);
	}
	if (d != NULL)
		closedir(d);
	settings_put(o, "", "governor", all);
}

static void
settings_put_libraries(json_t *o, const char *root)
{
	char path[PATH_BYTES], to[PATH_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
		for (size_t k = 0; k < ARRAY_LEN(library_dirs); k++) {
			const char *at;
			ssize_t n = -1;

			if (str_format(path, sizeof(path), "%s/%s/%s", root,
				library_dirs[k], libraries[i].link) >= 0)
				n = readlink(path, to, sizeof(to) - 1);
			if (n <= 0)
				continue;
			to[n] = '\0';
			at = strstr(to, ".so.");
			if (at != NULL)
				settings_put(o, "", libraries[i].name,
				    at + strlen(".so."));
			break;
		}
}

/* Firmware as the driver reports it. */
static void
settings_put_firmware(json_t *o, int fd, const char *nic)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq ifr = { .ifr_data = (void *)&info };

	if (fd < 0 || strlen(nic) >= sizeof(ifr.ifr_name))
		return;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", nic);
	if (ioctl(fd, SIOCETHTOOL, &ifr) < 0)
		return;
	info.fw_version[sizeof(info.fw_version) - 1] = '\0';
	info.fw_version[strcspn(info.fw_version, "\n")] = '\0';
	if (strcmp(info.fw_version, "N/A") != 0)
		settings_put(o, nic, "firmware", info.fw_version);
}

/* "3, 5": the set bits; "none". */
static void
settings_put_bits(json_t *o, const char *device, const char *name,
    json_int_t bits)
{
	char text[64] = "none";
	size_t len = 0;

	for (int i = 0; i < PRIORITIES; i++)
		if (bits >> i & 1)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    "%s%d", len > 0 ? ", " : "", i);
	settings_put(o, device, name, text);
}

static void
settings_put_ecn(json_t *o, const char *nic, const char *dir)
{
	char path[PATH_BYTES], file[8];

	for (size_t i = 0; i < ARRAY_LEN(ecn_rows); i++) {
		json_int_t bits = 0;
		int64_t is_on;
		int known = 0;

		if (str_format(path, sizeof(path), "%s/%s", dir,
			ecn_rows[i].dir) < 0)
			continue;
		for (int k = 0; k < PRIORITIES; k++) {
			snprintf(file, sizeof(file), "%d", k);
			if (sensor_file(path, file, &is_on) < 0)
				continue;
			known = 1;
			bits |= (json_int_t)(is_on != 0) << k;
		}
		if (known)
			settings_put_bits(o, nic, ecn_rows[i].name, bits);
	}
}

/* Which index of the table of addresses (GIDs) has which kind: "0 v1, 1 v2,
 * 3 v2 IPv4". The addresses themselves differ between nodes. */
static void
settings_put_gids(json_t *o, const struct device *d)
{
	static const char none[] = "0000:0000:0000:0000:0000:0000:0000:0000";
	static const char ipv4[] = "0000:0000:0000:0000:0000:ffff:";
	char dir[PATH_BYTES], file[8], gid[64], type[32], all[VALUE_BYTES] = "";
	size_t len = 0;

	if (str_format(dir, sizeof(dir), "%s/gid_attrs/types", d->dir) < 0)
		return;
	for (int i = 0; i < GIDS_MAX && len + 20 < sizeof(all); i++) {
		char path[PATH_BYTES];

		snprintf(file, sizeof(file), "%d", i);
		if (str_format(path, sizeof(path), "%s/gids", d->dir) < 0 ||
		    sysfs_line(path, file, gid, sizeof(gid)) < 0 ||
		    strcmp(gid, none) == 0 ||
		    sysfs_line(dir, file, type, sizeof(type)) < 0)
			continue;
		len += (size_t)snprintf(all + len, sizeof(all) - len,
		    "%s%d %s%s", len > 0 ? ", " : "", i,
		    strcmp(type, "RoCE v2") == 0 ? "v2" : "v1",
		    strncmp(gid, ipv4, strlen(ipv4)) == 0 ? " IPv4" : "");
	}
	settings_put(o, d->label, "gids", all);
}

static void
settings_device_cb(const struct device *d, void *arg)
{
	char path[PATH_BYTES];
	json_t *o = arg;

	/* A virtual function has the settings of its card. */
	if (d->class == DEVICE_CXI || !d->is_hardware ||
	    str_format(path, sizeof(path), "%s/physfn", d->slot) < 0 ||
	    access(path, F_OK) == 0)
		return;
	if (d->class == DEVICE_NET) {
		settings_put_ecn(o, d->name, d->dir);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(device_rows); i++) {
		int is_port = device_rows[i].is_port;

		if ((!is_port && !d->is_first) ||
		    str_format(path, sizeof(path), "%s/%s%s", d->dir,
			is_port ? "" : "../../", device_rows[i].dir) < 0)
			continue;
		settings_put_file(o, is_port ? d->label : d->name,
		    device_rows[i].name, path, device_rows[i].file, HOW_LINE);
	}
	settings_put_gids(o, d);
}

/* What the inventory has of the interfaces, and what only their drivers know:
 * firmware, and the priorities with flow control (PFC). */
static void
settings_put_nics(json_t *o, const char *root, const json_t *nics)
{
	int fd = -1;
	json_t *rows = json_array(), *nic, *row, *counters, *mask;
	char path[PATH_BYTES];
	size_t i;

	if (root[0] == '\0')
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	json_array_foreach (nics, i, nic) {
		const char *name = member_text(nic, "name");

		if (member_text(nic, "port")[0] != '\0' ||
		    strcmp(member_text(nic, "kind"), "virtual") == 0 ||
		    str_format(path, sizeof(path),
			"%s/sys/class/net/%s/device/physfn", root, name) < 0 ||
		    access(path, F_OK) == 0)
			continue;
		settings_put_number(o, name, "mtu", member_int(nic, "mtu"));
		settings_put(o, name, "driver", member_text(nic, "driver"));
		settings_put_firmware(o, fd, name);
		(void)sensor_row(rows, name);
	}
	if (fd >= 0)
		close(fd);
	if (root[0] == '\0' && json_array_size(rows) > 0)
		ethtool_read(rows);
	json_array_foreach (rows, i, row) {
		counters = json_object_get(row, "counters");
		mask = json_object_get(counters, "pfc_enabled");
		if (mask != NULL)
			settings_put_bits(o, member_text(row, "nic"), "pfc",
			    json_integer_value(mask));
	}
	json_decref(rows);
}

json_t *
settings_read(const char *root, const json_t *inventory)
{
	json_t *o = json_object(), *mpi;
	char dir[PATH_BYTES], name[64];
	size_t i;

	settings_put(o, "", "kernel", member_text(inventory, "kernel"));
	settings_put_number(o, "", "cores", member_int(inventory, "cores"));
	for (i = 0; i < ARRAY_LEN(node_rows); i++)
		if (str_format(dir, sizeof(dir), "%s/%s", root,
			node_rows[i].dir) >= 0)
			settings_put_file(o, "", node_rows[i].name, dir,
			    node_rows[i].file, node_rows[i].how);
	if (json_object_get(o, "iommu") == NULL)
		settings_put(o, "", "iommu", "off");
	settings_put_governor(o, root);
	settings_put_boot(o, root);
	settings_put_libraries(o, root);
	settings_put(o, "", "ucx", member_text(inventory, "ucx"));
	member_foreach (inventory, "mpi", i, mpi) {
		snprintf(name, sizeof(name), "mpi %.40s",
		    member_text(mpi, "name"));
		settings_put(o, "", name, member_text(mpi, "version"));
	}
	settings_put_nics(o, root, json_object_get(inventory, "nics"));
	device_walk(root, settings_device_cb, o);
	return o;
}
