/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.c - what this machine is, as far as kernel, drivers and libraries tell
 * it. No MPI is started.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/table.h"
#include "probes/device/device.h"
#include "probes/neighbor/links.h"
#include "probes/topology/local.h"
#include "probes/transport/xccl_lib.h"
#include "probes/verbs/verbs.h"
#include "schema/names_gpu.h"

struct machine_view {
	struct local local;
	struct nvml_gpu nvml[LOCAL_MAX]; /* by GPU */
	struct links links;              /* by number of AMD's driver */
	struct err nvml_err;
};
_Static_assert(LOCAL_MAX <= NVML_GPUS_MAX, "all GPUs in one question");

/* A rate of bytes in GB/s, or nothing. */
static void
topo_rate_cell(struct table *t, double bytes_per_s)
{
	if (bytes_per_s > 0)
		table_cell(t, "%.1f", bytes_per_s / 1e9);
	else
		table_cell(t, "-");
}

static void
topo_number_cell(struct table *t, int number)
{
	if (number >= 0)
		table_cell(t, "%d", number);
	else
		table_cell(t, "-");
}

static void
topo_gpus_print(const struct machine_view *v)
{
	struct table *t = table_new(
	    "gpu|pci|vendor|name|>numa|>slot GB/s|nic|nic proximity");

	for (int i = 0; i < v->local.gpus_count; i++) {
		const struct local_gpu *g = &v->local.gpus[i];
		const char *name = v->nvml[i].name[0] != '\0' ? v->nvml[i].name
							      : g->name;

		table_cell(t, "%d", i);
		table_cell(t, "%s", g->at.pci);
		table_cell(t, "%s", g->vendor);
		table_cell(t, "%s", name[0] != '\0' ? name : "-");
		topo_number_cell(t, g->at.numa);
		topo_rate_cell(t, g->at.link_bytes_per_s);
		if (g->nic < 0) {
			table_cell(t, "-");
			table_cell(t, "-");
			continue;
		}
		table_cell(t, "%s", v->local.nics[g->nic].name);
		table_cell(t, "%s",
		    local_nears[local_near(&g->at, &v->local.nics[g->nic].at)]);
	}
	putchar('\n');
	table_print(t, stdout);
	table_free(t);
}

static void
topo_nics_print(const struct machine_view *v)
{
	struct table *t = table_new("nic|kind|pci|>numa|>GB/s");

	for (int i = 0; i < v->local.nics_count; i++) {
		const struct local_nic *n = &v->local.nics[i];

		table_cell(t, "%s", n->name);
		table_cell(t, "%s", n->kind);
		table_cell(t, "%s", n->at.pci);
		topo_number_cell(t, n->at.numa);
		topo_rate_cell(t, n->bytes_per_s);
	}
	putchar('\n');
	table_print(t, stdout);
	table_free(t);
}

/* Links of the vendor between two GPUs, or how near they are on PCI. */
static void
topo_pairs_print(const struct machine_view *v)
{
	struct strbuf heads = { 0 };
	struct table *t;

	strbuf_addf(&heads, "gpu");
	for (int i = 0; i < v->local.gpus_count; i++)
		strbuf_addf(&heads, "|%d", i);
	t = table_new(heads.text);
	strbuf_clear(&heads);
	for (int a = 0; a < v->local.gpus_count; a++) {
		const struct local_gpu *x = &v->local.gpus[a];

		table_cell(t, "%d", a);
		for (int b = 0; b < v->local.gpus_count; b++) {
			const struct local_gpu *y = &v->local.gpus[b];
			const struct nvml_gpu *n = v->nvml;

			if (a != b && n[a].to[b] > 0)
				table_cell(t, "%d nvlink", n[a].to[b]);
			else if (a != b && n[a].to_switch > 0 &&
			    n[b].to_switch > 0)
				table_cell(t, "%d nvswitch", n[a].to_switch);
			else if (a != b && x->kfd >= 0 && y->kfd >= 0 &&
			    v->links.links[x->kfd][y->kfd] > 0)
				table_cell(t, "%d xgmi",
				    v->links.links[x->kfd][y->kfd]);
			else
				table_cell(t, "%s",
				    local_nears[local_near(&x->at, &y->at)]);
		}
	}
	putchar('\n');
	table_print(t, stdout);
	table_free(t);
}

/* Print the devices that the engine can use here, or why not. */
static void
topo_devices_print(void)
{
	const char *names[1 + NAMES_GPUS] = { "host" };
	struct table *t = table_new("device|>count|reason");
	const struct xccl_lib *lib;
	size_t count = 1;
	struct err err;

	for (size_t i = 0; i < NAMES_GPUS; i++)
		if (names_gpus[i].device != NULL)
			names[count++] = names_gpus[i].device;
	for (size_t i = 0; i < count; i++) {
		const struct device_ops *ops;
		int devices = 0;

		err.text[0] = '\0';
		if (device_find(names[i], &ops, &err) == 0)
			ops->probe(&devices, &err);
		table_cell(t, "%s", names[i]);
		table_cell(t, "%d", devices);
		table_cell(t, "%s", err.text);
	}
	putchar('\n');
	table_print(t, stdout);
	table_free(t);
	for (size_t i = 1; i < count; i++)
		if (xccl_lib_open(names[i], &lib, &err) == 0)
			printf("xccl for %s: %s, version code %d\n", names[i],
			    lib->name, lib->version);
		else
			printf("%s\n", err.text);
}

int
topo_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "root", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	const char *root = "", *pci[LOCAL_MAX]; /* "": this machine */
	struct machine_view v = { 0 };
	char sys[4096];
	struct err err;
	int c, gpus;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'r') {
			log_warnx(
			    "topo: unknown option: expected --root FOLDER");
			return VERBS_USAGE;
		}
		root = optarg;
	}
	if (optind != argc) {
		log_warnx("topo: unexpected argument: expected --root FOLDER");
		return VERBS_USAGE;
	}
	local_read(root, &v.local);
	gpus = v.local.gpus_count;
	for (int i = 0; i < gpus; i++)
		pci[i] = v.local.gpus[i].at.pci;
	/* For another root only its files can be read. */
	if (root[0] == '\0')
		nvml_read(pci, gpus, v.nvml, &v.nvml_err);
	if (str_format(sys, sizeof(sys), "%s/sys", root) >= 0)
		links_machine(sys, &v.links, &err);
	printf("%d NUMA nodes, %d GPUs, %d NICs\n", v.local.numa_nodes, gpus,
	    v.local.nics_count);
	if (gpus > 0)
		topo_gpus_print(&v);
	if (v.local.nics_count > 0)
		topo_nics_print(&v);
	if (gpus > 1)
		topo_pairs_print(&v);
	if (v.nvml_err.text[0] != '\0' && gpus > 0)
		printf("\nnames and NVLinks unavailable: %s\n",
		    v.nvml_err.text);
	if (root[0] == '\0')
		topo_devices_print();
	return 0;
}
