/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.c - describe a node from sysfs, /proc and the MPIs' own --version;
 * unreadable items are omitted.
 */
#include "agents/sensor/inventory.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agents/launch/mpi_impl.h"
#include "agents/process/child.h"
#include "agents/process/strvec.h"
#include "agents/sensor/device.h"
#include "agents/sensor/sensor.h"
#include "agents/sensor/settings.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/text.h"
#include "schema/mesh.h"
#include "schema/names_gpu.h"
#include "schema/rails.h"

#define PATH_BYTES       1024
#define MBIT             1000000LL
#define GPU_MAX          64
#define VERSION_LIMIT_MS 3000
#define KEEPER_LOOKS     100 /* of 10 ms */
/* A node of containers has a device for each; ours come first or have an
 * address. */
#define NIC_MAX 256

static void
inventory_put_text(json_t *o, const char *key, const char *text)
{
	if (text[0] != '\0')
		json_object_set_new(o, key, text_json(text));
}

static void
inventory_put_file(json_t *o, const char *key, const char *dir,
    const char *file, int64_t least)
{
	int64_t value;

	if (sensor_file(dir, file, &value) == 0 && value >= least)
		json_object_set_new(o, key, json_integer(value));
}

/* The name that a link in sysfs ends with, as a driver. */
static void
inventory_put_link(json_t *o, const char *key, const char *dir,
    const char *link)
{
	char path[PATH_BYTES], to[PATH_BYTES];
	char *slash;
	ssize_t n;

	if (str_format(path, sizeof(path), "%s/%s", dir, link) < 0)
		return;
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		return;
	to[n] = '\0';
	slash = strrchr(to, '/');
	inventory_put_text(o, key, slash != NULL ? slash + 1 : to);
}

/* CPUs in a list as "0-3,8". */
static int64_t
inventory_cpus_count(const char *list)
{
	int64_t count = 0, lo, hi;
	char *end;

	while (*list >= '0' && *list <= '9') {
		lo = hi = strtol(list, &end, 10);
		if (*end == '-')
			hi = strtol(end + 1, &end, 10);
		count += hi >= lo ? hi - lo + 1 : 0;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

/* "MemTotal:  123 kB" of /proc/meminfo, or a line of a NUMA node's. */
static void
inventory_put_memory(json_t *o, const char *path)
{
	char line[200], *at;
	int64_t kib = -1;
	FILE *fp = fopen(path, "re");

	while (fp != NULL && kib < 0 && fgets(line, sizeof(line), fp) != NULL) {
		at = strstr(line, "MemTotal:");
		if (at != NULL)
			kib = strtoll(at + strlen("MemTotal:"), NULL, 10);
	}
	if (fp == NULL || ferror(fp))
		log_warn("inventory: cannot read %s", path);
	if (fp != NULL)
		fclose(fp);
	if (kib > 0)
		json_object_set_new(o, "memory_bytes",
		    json_integer(kib * 1024));
}

/* "model name : ..." of /proc/cpuinfo; not all architectures have it. */
static void
inventory_put_cpu(json_t *o, const char *path)
{
	char line[200], *at = NULL;
	FILE *fp = fopen(path, "re");

	while (
	    fp != NULL && at == NULL && fgets(line, sizeof(line), fp) != NULL)
		if (strncmp(line, "model name", strlen("model name")) == 0)
			at = strchr(line, ':');
	if (fp == NULL || ferror(fp))
		log_warn("inventory: cannot read %s", path);
	if (fp != NULL)
		fclose(fp);
	if (at == NULL)
		return;
	at += 1 + strspn(at + 1, " \t");
	at[strcspn(at, "\n")] = '\0';
	inventory_put_text(o, "cpu", at);
}

/* What kind of card it is: the PCI ids of its vendor and device, "15b3:1021".
 */
static void
inventory_put_model(json_t *o, const char *device)
{
	char vendor[16], id[16];

	sysfs_line(device, "vendor", vendor, sizeof(vendor));
	sysfs_line(device, "device", id, sizeof(id));
	if (strncmp(vendor, "0x", 2) == 0 && strncmp(id, "0x", 2) == 0)
		json_object_set_new(o, "model",
		    json_sprintf("%s:%s", vendor + 2, id + 2));
}

static void
inventory_numa_add(const char *top, const char *name, json_t *list)
{
	char dir[PATH_BYTES], path[PATH_BYTES], cpus[1024];
	json_t *o;
	int64_t n;

	if (str_to_int(name + strlen("node"), 0, 65535, &n) < 0 ||
	    str_format(dir, sizeof(dir), "%s/%s", top, name) < 0 ||
	    str_format(path, sizeof(path), "%s/meminfo", dir) < 0)
		return;
	o = json_pack("{s:I}", "node", (json_int_t)n);
	sysfs_line(dir, "cpulist", cpus, sizeof(cpus));
	inventory_put_text(o, "cpus", cpus);
	inventory_put_memory(o, path);
	json_array_append_new(list, o);
}

/* Write the trained transfers per second over all lanes of a card, "16.0 GT/s
 * PCIe" times "16"; the same as text, "gen 4 x16"; and the card's maximum. */
static void
inventory_put_pcie(json_t *o, const char *device)
{
	static const char *const files[][3] = {
		{ "pcie", "current_link_speed", "current_link_width" },
		{ "pcie_max", "max_link_speed", "max_link_width" },
	};
	static const double gens[] = { 2.5, 5, 8, 16, 32, 64, 128 };

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char speed[64];
		int64_t lanes = 0;
		double gts;
		size_t gen = 0;

		sysfs_line(device, files[i][1], speed, sizeof(speed));
		gts = atof(speed);
		if (sensor_file(device, files[i][2], &lanes) < 0 ||
		    lanes <= 0 || lanes > 64 || !(gts > 0))
			continue;
		while (gen < ARRAY_LEN(gens) - 1 && gens[gen] < gts)
			gen++;
		json_object_set_new(o, files[i][0],
		    json_sprintf("gen %zu x%d", gen + 1, (int)lanes));
		if (i == 0)
			json_object_set_new(o, "pcie_bps",
			    json_integer((json_int_t)(gts * 1e9) * lanes));
	}
}

/* A module is reported from this far below its temperature limit on, in
 * thousandths of a degree. Further below, a member that changes with each
 * reading would renew the inventory of every node all the time. */
#define MODULE_BELOW 5000

/* Drivers name the sensors of modules "Module0". */
static void
inventory_put_module(json_t *o, const char *device)
{
	static const char *const limits[] = { "crit", "max" };
	char pattern[PATH_BYTES + 32], text[32], file[32];
	int64_t now, limit;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/hwmon/hwmon*/temp*_label",
	    device);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *dir = found.gl_pathv[i], *name = strrchr(dir, '/');
		int number = atoi(name + strlen("/temp"));

		*name = '\0';
		snprintf(file, sizeof(file), "temp%d_label", number);
		sysfs_line(dir, file, text, sizeof(text));
		snprintf(file, sizeof(file), "temp%d_input", number);
		if (strncasecmp(text, "module", 6) != 0 ||
		    sensor_file(dir, file, &now) < 0)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(limits); k++) {
			snprintf(file, sizeof(file), "temp%d_%s", number,
			    limits[k]);
			if (sensor_file(dir, file, &limit) < 0 || limit <= 0)
				continue;
			if (now > limit - MODULE_BELOW) {
				json_object_set_new(o, "module_c",
				    json_integer(now / 1000));
				json_object_set_new(o, "module_limit_c",
				    json_integer(limit / 1000));
			}
			break;
		}
	}
	globfree(&found);
}

static void
inventory_nic_add(const char *top, const char *name, json_t *list)
{
	char dir[PATH_BYTES], device[PATH_BYTES], state[32];
	int64_t mbit, type = 0;
	int is_device;
	json_t *o;

	if (strcmp(name, "lo") == 0 || json_array_size(list) >= NIC_MAX ||
	    str_format(dir, sizeof(dir), "%s/%s", top, name) < 0 ||
	    str_format(device, sizeof(device), "%s/device", dir) < 0)
		return;
	is_device = access(device, F_OK) == 0;
	sysfs_line(dir, "operstate", state, sizeof(state));
	if (!is_device && strcmp(state, "up") != 0)
		return; /* leftovers of tunnels and the like */
	sensor_file(dir, "type", &type);
	o = json_pack("{s:s, s:s, s:s, s:[]}", "name", name, "kind",
	    type == ARPHRD_INFINIBAND ? "infiniband"
		: is_device           ? "ethernet"
				      : "virtual",
	    "state", state, "addrs");
	inventory_put_file(o, "mtu", dir, "mtu", 1);
	if (sensor_file(dir, "speed", &mbit) == 0 && mbit > 0)
		json_object_set_new(o, "speed_bps", json_integer(mbit * MBIT));
	inventory_put_file(o, "numa_node", device, "numa_node", 0);
	inventory_put_link(o, "driver", device, "driver");
	inventory_put_model(o, device);
	inventory_put_pcie(o, device);
	inventory_put_module(o, device);
	json_array_append_new(list, o);
}

/* The port's own identifier, the second half of its first address:
 * "fe80:0000:0000:0000:0002:c903:0012:3457". */
static void
inventory_put_guid(json_t *o, const char *dir)
{
	char gid[64], guid[20];
	unsigned p[4];

	sysfs_line(dir, "gids/0", gid, sizeof(gid));
	if (strlen(gid) != 39 ||
	    sscanf(gid + 20, "%4x:%4x:%4x:%4x", &p[0], &p[1], &p[2], &p[3]) !=
		4)
		return;
	snprintf(guid, sizeof(guid), "0x%04x%04x%04x%04x", p[0], p[1], p[2],
	    p[3]);
	inventory_put_text(o, "guid", guid);
}

static void
inventory_rdma_cb(const struct device *d, void *arg)
{
	char state[64];
	const char *blank;
	json_t *list = arg, *o;

	if (d->class != DEVICE_RDMA)
		return;
	sysfs_line(d->dir, "state", state, sizeof(state)); /* "4: ACTIVE" */
	blank = strchr(state, ' ');
	o = json_pack("{s:s, s:s, s:s, s:[]}", "kind", "infiniband", "state",
	    blank != NULL ? blank + 1 : state, "port", d->port, "addrs");
	inventory_put_text(o, "name", d->name);
	inventory_put_guid(o, d->dir);
	inventory_put_file(o, "numa_node", d->slot, "numa_node", 0);
	inventory_put_pcie(o, d->slot);
	if (device_rate_bps(d) > 0)
		json_object_set_new(o, "speed_bps",
		    json_integer((json_int_t)device_rate_bps(d)));
	json_array_append_new(list, o);
}

/* The vital product data of adapters that connect to NVSwitches only, as on
 * HGX B200 and B300, say so. Only root may read them. */
static void
inventory_nvswitch_cb(const struct device *d, void *arg)
{
	static const char mark[] = "SW_MNG";
	static char data[32768]; /* no longer one is possible */
	char path[DEVICE_PATH_BYTES + 8];
	json_t *list = arg;
	size_t len;
	FILE *fp;

	if (d->class != DEVICE_RDMA || !d->is_first ||
	    json_array_size(list) >= NIC_MAX)
		return;
	snprintf(path, sizeof(path), "%s/vpd", d->slot);
	fp = fopen(path, "rbe");
	if (fp == NULL)
		return;
	len = fread(data, 1, sizeof(data), fp);
	fclose(fp);
	if (memmem(data, len, mark, strlen(mark)) != NULL)
		json_array_append_new(list, text_json(d->name));
}

static int
inventory_has_text(const json_t *list, const char *text)
{
	json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (strcmp(json_string_value(one), text) == 0)
			return 1;
	return 0;
}

static void
inventory_gpu_add(const char *top, const char *name, json_t *list)
{
	char dir[PATH_BYTES], class[16], vendor[16];
	const char *maker;
	json_t *o;

	if (str_format(dir, sizeof(dir), "%s/%s", top, name) < 0)
		return;
	sysfs_line(dir, "class", class, sizeof(class));
	sysfs_line(dir, "vendor", vendor, sizeof(vendor));
	maker = names_gpu_vendor(class, vendor);
	if (maker == NULL || json_array_size(list) >= GPU_MAX)
		return;
	o = json_pack("{s:s, s:s}", "pci", name, "vendor", maker);
	inventory_put_file(o, "numa_node", dir, "numa_node", 0);
	inventory_put_link(o, "driver", dir, "driver");
	inventory_put_model(o, dir);
	inventory_put_pcie(o, dir);
	json_array_append_new(list, o);
}

/* The address with the length of its network, and why an MPI should not use
 * this interface. */
static void
inventory_net_add(json_t *nic, const struct ifaddrs *ifa, const char *addr)
{
	const struct sockaddr *mask = ifa->ifa_netmask;
	const uint8_t *bytes = NULL;
	char text[INET6_ADDRSTRLEN + 16];
	size_t len = 0;
	int bits = 0;

	if (ifa->ifa_flags & IFF_POINTOPOINT)
		json_object_set_new(nic, "unfit",
		    json_string("point-to-point"));
	if (mask != NULL && ifa->ifa_addr->sa_family == AF_INET) {
		bytes = (const void *)&(
		    (const struct sockaddr_in *)(const void *)mask)
			    ->sin_addr;
		len = 4;
	} else if (mask != NULL) {
		bytes = (const void *)&(
		    (const struct sockaddr_in6 *)(const void *)mask)
			    ->sin6_addr;
		len = 16;
	}
	for (size_t i = 0; i < len; i++)
		bits += __builtin_popcount(bytes[i]);
	if (bits == 0)
		return;
	snprintf(text, sizeof(text), "%.*s/%d", INET6_ADDRSTRLEN, addr, bits);
	if (json_object_get(nic, "nets") == NULL)
		json_object_set_new(nic, "nets", json_array());
	json_array_append_new(json_object_get(nic, "nets"), text_json(text));
}

/* Append the address to the NIC that has it. */
static void
inventory_addr_add(json_t *nics, const struct ifaddrs *ifa)
{
	char text[INET6_ADDRSTRLEN];
	const void *in = NULL;
	json_t *o = NULL;
	size_t i;

	if (ifa->ifa_addr == NULL || (ifa->ifa_flags & IFF_LOOPBACK))
		return;
	if (ifa->ifa_addr->sa_family == AF_INET)
		in = &((struct sockaddr_in *)(void *)ifa->ifa_addr)->sin_addr;
	if (ifa->ifa_addr->sa_family == AF_INET6) {
		in = &((struct sockaddr_in6 *)(void *)ifa->ifa_addr)->sin6_addr;
		if (IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)in))
			return;
	}
	if (in == NULL ||
	    inet_ntop(ifa->ifa_addr->sa_family, in, text, sizeof(text)) == NULL)
		return;
	json_array_foreach (nics, i, o)
		if (strcmp(member_text_or(o, "name", NULL), ifa->ifa_name) == 0)
			break;
	if (o == NULL || i == json_array_size(nics)) {
		if (i >= NIC_MAX)
			return;
		/* a bridge without carrier, say: MPI would use it */
		o = json_pack("{s:s, s:s, s:s, s:[]}", "name", ifa->ifa_name,
		    "kind", "virtual", "state", "down", "addrs");
		json_array_append_new(nics, o);
	}
	json_array_append_new(json_object_get(o, "addrs"), text_json(text));
	inventory_net_add(o, ifa, text);
}

/* Find the word after mark, up to the next blank; "": mark is not in text. */
static void
inventory_version_find(const char *text, const char *mark, char *ret,
    size_t cap_bytes)
{
	const char *at = strstr(text, mark);
	size_t len;

	ret[0] = '\0';
	if (at == NULL)
		return;
	at += strlen(mark);
	at += strspn(at, " \t");
	len = strcspn(at, " \t\n");
	if (len < cap_bytes) {
		memcpy(ret, at, len);
		ret[len] = '\0';
	}
}

/* The keeper ends all that is left of the program, which may hang in a file
 * system. */
static void
inventory_version_reap(pid_t pid)
{
	int rc = 0;

	for (int i = 0; i < KEEPER_LOOKS && rc == 0; i++) {
		rc = (int)waitpid(pid, NULL, WNOHANG);
		if (rc == 0)
			poll(NULL, 0, 10);
	}
	if (rc == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* Run "path flag" as argv0, by the keeper and as the user that launchers
 * have, for at most three seconds, and copy what follows mark up to the next
 * blank; "" when it does not say. */
static void
inventory_version_ask(const struct child_spec *as, const char *path,
    const char *argv0, const char *flag, const char *mark, char *ret,
    size_t cap_bytes)
{
	struct strvec argv = { 0 };
	char *env[] = { (char *)"PATH=/usr/bin:/bin", (char *)"LC_ALL=C",
		(char *)"HOME=/nonexistent", NULL };
	uint64_t end_ns = clk_ns() + VERSION_LIMIT_MS * CLK_NS_PER_MS;
	posix_spawn_file_actions_t fa;
	char text[2048];
	size_t len = 0;
	int fds[2], control[2], rc;
	ssize_t n = 1;
	pid_t pid;

	ret[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0) {
		log_warn("cannot read the version of %s", path);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0) {
		log_warn("cannot read the version of %s", path);
		close(fds[0]);
		close(fds[1]);
		return;
	}
	strvec_add(&argv, "coalmine-keeper");
	strvec_add(&argv, "--control=0");
	strvec_add(&argv, "--deadline-ms=%d", VERSION_LIMIT_MS);
	strvec_add(&argv, "--grace-ms=0");
	if (as->uid >= 0) {
		strvec_add(&argv, "--uid=%lld", (long long)as->uid);
		strvec_add(&argv, "--gid=%lld", (long long)as->gid);
	}
	strvec_add(&argv, "%s", path);
	strvec_add(&argv, "%s", argv0);
	strvec_add(&argv, "%s", flag);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, control[1], 0);
	posix_spawn_file_actions_adddup2(&fa, fds[1], 1);
	posix_spawn_file_actions_adddup2(&fa, fds[1], 2);
	rc = posix_spawn(&pid, as->keeper, &fa, NULL, argv.list, env);
	posix_spawn_file_actions_destroy(&fa);
	strvec_clear(&argv);
	close(fds[1]);
	close(control[1]);
	/* Up to the end of file or of the time. */
	while (
	    rc == 0 && n > 0 && len < sizeof(text) - 1 && clk_ns() < end_ns) {
		struct pollfd p = { fds[0], POLLIN, 0 };
		int ms = (int)((end_ns - clk_ns()) / CLK_NS_PER_MS);

		if (poll(&p, 1, ms) <= 0)
			break;
		n = read(fds[0], text + len, sizeof(text) - 1 - len);
		if (n > 0)
			len += (size_t)n;
	}
	close(fds[0]);
	close(control[0]);
	if (rc != 0) {
		log_warnx("cannot read the version of %s: %s: %s", path,
		    as->keeper, strerror(rc));
		return;
	}
	inventory_version_reap(pid);
	text[len] = '\0';
	inventory_version_find(text, mark, ret, cap_bytes);
}

static void
inventory_mpi_add(const struct mpi_impl_mpi *mpi, const struct conf *c,
    const struct child_spec *as, json_t *list)
{
	char launcher[4096], engine[4096], version[32];
	struct err err;
	json_t *o;

	if (mpi_impl_path(mpi, c, engine, sizeof(engine), &err) < 0)
		return;
	if (mpi_impl_launcher(mpi, c, launcher, sizeof(launcher)) < 0)
		launcher[0] = '\0';
	o = json_pack("{s:s, s:s, s:s}", "name", mpi->name, "launcher",
	    launcher, "engine", engine);
	if (launcher[0] != '\0') {
		inventory_version_ask(as, launcher, mpi->argv0, "--version",
		    mpi->version_mark, version, sizeof(version));
		inventory_put_text(o, "version", version);
	}
	json_array_append_new(list, o);
}

/* UCX, which Open MPI and MPICH use, of the distribution. */
static void
inventory_put_ucx(json_t *o, const struct child_spec *as)
{
	static const char path[] = "/usr/bin/ucx_info";
	/* of 1.12 and later, and of earlier ones */
	static const char *const marks[] = { "Library version:",
		"UCT version=" };
	char version[32] = "";

	for (size_t i = 0; i < ARRAY_LEN(marks) && version[0] == '\0' &&
	     access(path, X_OK) == 0;
	     i++)
		inventory_version_ask(as, path, "ucx_info", "-v", marks[i],
		    version, sizeof(version));
	inventory_put_text(o, "ucx", version);
}

/* A list of what each finds in the entries of root/dir whose names start with
 * prefix, in the order of names. */
static json_t *
inventory_list_of(const char *root, const char *dir, const char *prefix,
    void (*each)(const char *dir, const char *name, json_t *list))
{
	json_t *list = json_array();
	struct dirent **names = NULL;
	char path[PATH_BYTES];
	int n = -1;

	errno = ENOENT;
	if (str_format(path, sizeof(path), "%s/%s", root, dir) >= 0)
		n = scandir(path, &names, NULL, versionsort);
	if (n < 0 && errno != ENOENT)
		log_warn("inventory: cannot list %s", path);
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.' &&
		    strncmp(names[i]->d_name, prefix, strlen(prefix)) == 0)
			each(path, names[i]->d_name, list);
		free(names[i]);
	}
	free(names);
	return list;
}

json_t *
inventory_nics(const char *root)
{
	json_t *nics = inventory_list_of(root, "sys/class/net", "",
	    inventory_nic_add);
	json_t *rdma = json_array();
	struct ifaddrs *all;

	device_walk(root, inventory_rdma_cb, rdma);

	if (root[0] == '\0' && getifaddrs(&all) < 0) {
		log_warn("inventory: cannot read the addresses of interfaces");
	} else if (root[0] == '\0') {
		for (struct ifaddrs *ifa = all; ifa != NULL;
		     ifa = ifa->ifa_next)
			inventory_addr_add(nics, ifa);
		freeifaddrs(all);
	}
	json_array_extend(nics, rdma);
	json_decref(rdma);
	return nics;
}

/* Those of a fabric; a port of RoCE may be that of anything, and one that leads
 * to NVSwitches carries no bytes of jobs. */
static char *
inventory_rails_guess(const char *root, const json_t *nics,
    const json_t *nvswitch_nics)
{
	struct strbuf sb = { 0 };
	char dir[PATH_BYTES], layer[32];
	const json_t *nic;
	struct rail r;
	size_t i;

	json_array_foreach (nics, i, nic) {
		const char *name = member_text(nic, "name");
		const char *port = member_text(nic, "port");
		int is_ib = 0;

		snprintf(dir, sizeof(dir),
		    "%s/sys/class/infiniband/%s/ports/%s", root, name, port);
		if (port[0] != '\0') {
			sysfs_line(dir, "link_layer", layer, sizeof(layer));
			is_ib = strcmp(layer, "InfiniBand") == 0 &&
			    strcmp(member_text(nic, "state"), "ACTIVE") == 0 &&
			    !inventory_has_text(nvswitch_nics, name);
		}
		rail_find(root, name, &r);
		if (is_ib)
			strbuf_addf(&sb, "%s%s%s%s", sb.text == NULL ? "" : ",",
			    name, strcmp(port, "1") == 0 ? "" : ":",
			    strcmp(port, "1") == 0 ? "" : port);
		else if (port[0] == '\0' && r.cxi[0] != '\0' &&
		    strcmp(member_text(nic, "state"), "up") == 0)
			strbuf_addf(&sb, "%s%s", sb.text == NULL ? "" : ",",
			    name);
	}
	return sb.text;
}

static void
inventory_put_rails(json_t *o, const char *root, const struct conf *c)
{
	const char *said = conf_string(c, "mpi", "nics");
	json_t *list = json_array(), *seen = json_object();
	char *guess = said[0] != '\0' || rail_is_chosen(c)
	    ? NULL
	    : inventory_rails_guess(root, json_object_get(o, "nics"),
		  json_object_get(o, "nvswitch_nics"));
	size_t count = 0;
	char **names = str_list_parse(guess != NULL ? guess
		: rail_is_chosen(c)                 ? ""
						    : said,
	    &count);

	for (size_t i = 0; i < count; i++) {
		struct rail r;

		rail_find(root, names[i], &r);
		if (json_object_get(seen, names[i]) == NULL)
			json_array_append_new(list,
			    json_pack("{s:o, s:o}", "name", text_json(names[i]),
				"netdev", text_json(r.netdev)));
		json_object_set_new(seen, names[i], json_true());
	}
	str_list_free(names);
	free(guess);
	json_decref(seen);
	if (json_array_size(list) > 0)
		json_object_set(o, "rails", list);
	json_decref(list);
}

json_t *
inventory_read(const char *root, const struct conf *c,
    const struct child_spec *as)
{
	json_t *o = json_object();
	json_t *mpis = json_array(), *nvswitch_nics = json_array();
	char path[PATH_BYTES], cpus[1024];
	struct utsname un;

	if (root[0] == '\0' && uname(&un) == 0) {
		inventory_put_text(o, "hostname", un.nodename);
		inventory_put_text(o, "kernel", un.release);
	}
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu", root);
	sysfs_line(path, "online", cpus, sizeof(cpus));
	if (inventory_cpus_count(cpus) > 0)
		json_object_set_new(o, "cores",
		    json_integer(inventory_cpus_count(cpus)));
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	inventory_put_cpu(o, path);
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	inventory_put_memory(o, path);
	for (size_t i = 0; root[0] == '\0' && mpi_impl_at(i) != NULL; i++)
		inventory_mpi_add(mpi_impl_at(i), c, as, mpis);
	json_object_set_new(o, "numa",
	    inventory_list_of(root, "sys/devices/system/node", "node",
		inventory_numa_add));
	json_object_set_new(o, "nics", inventory_nics(root));
	device_walk(root, inventory_nvswitch_cb, nvswitch_nics);
	if (json_array_size(nvswitch_nics) > 0)
		json_object_set(o, "nvswitch_nics", nvswitch_nics);
	json_decref(nvswitch_nics);
	inventory_put_rails(o, root, c);
	if (conf_string(c, "mpi", "net")[0] != '\0')
		json_object_set_new(o, "mpi_net", json_true());
	json_object_set_new(o, "gpus",
	    inventory_list_of(root, "sys/bus/pci/devices", "",
		inventory_gpu_add));
	json_object_set_new(o, "mpi", mpis);
	if (root[0] == '\0' && as != NULL)
		inventory_put_ucx(o, as);
	json_object_set_new(o, "settings", settings_read(root, o));
	json_object_set_new(o, "mesh_bytes", json_integer(MESH_LARGE_MAX));
	json_object_set_new(o, "links", json_true());
	json_object_set_new(o, "certificates", json_true());
	json_object_set_new(o, "starts", json_true());
	json_object_set_new(o, "one_way", json_true());
	json_object_set_new(o, "incast", json_true());
	json_object_set_new(o, "large_rounds", json_true());
	json_object_set_new(o, "children_uid",
	    json_integer(
		as != NULL && as->uid >= 0 ? as->uid : (int64_t)geteuid()));
	return o;
}
