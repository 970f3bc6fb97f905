/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.c - the library is found by its loaded components and its own
 * version text; what carries its bytes is seen, not asked: by counters around
 * an exchange of known size.
 */
#include "probes/job/fabric.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/job/carried.h"
#include "probes/job/control.h"

/* Bytes that each node sends: above the libraries' eager limits, and few enough
 * for a link that is nearly dead. */
#define RING_BYTES  (256 << 10)
#define NAMES_BYTES 128 /* of a node's devices */

/* On every rank, once it has been found. */
static int counts, counts_tcp, counts_rdma;
static char demanded[16];

/* Look for "/mca_pml_ob1.so" or the like among the loaded libraries. */
static int
fabric_loaded_cb(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	return strstr(info->dlpi_name, arg) != NULL;
}

static int
fabric_is_loaded(const char *framework, const char *component)
{
	char name[64];

	snprintf(name, sizeof(name), "/mca_%s_%s", framework, component);
	return dl_iterate_phdr(fabric_loaded_cb, name);
}

/* Open MPI closes the components that it does not choose, and their variables
 * go with them. Where components are libraries, those that are loaded say the
 * same: MPI_T would load all of them again, for a quarter of a second. */
static int
fabric_has_component(const char *framework, const char *component)
{
	int index, name_bytes = 0, text_bytes = 0, cvars = 0, pvars, parts;
	char name[64];

	if (fabric_is_loaded("pml", ""))
		return fabric_is_loaded(framework, component);
	snprintf(name, sizeof(name), "ompi_%s_%s", framework, component);
	return MPI_T_category_get_index(name, &index) == MPI_SUCCESS &&
	    MPI_T_category_get_info(index, NULL, &name_bytes, NULL, &text_bytes,
		&cvars, &pvars, &parts) == MPI_SUCCESS &&
	    cvars > 0;
}

static void
fabric_library_find(char *ret, size_t cap_bytes)
{
	static const struct {
		const char *framework, *component;
	} rows[] = { { "pml", "ucx" }, { "pml", "ob1" }, { "mtl", "ofi" },
		{ "mtl", "psm2" }, { "mtl", "psm" } };
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	const char *found = "";
	int level, len, cm, asks;

	MPI_DO(MPI_Get_library_version(version, &len));
	carried_library(version, ret, cap_bytes);
	if (ret[0] != '\0' || strncmp(version, "Open MPI", 8) != 0)
		return;
	asks = !fabric_is_loaded("pml", "");
	if (asks && MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS)
		return;
	/* the pml cm hands everything to one mtl */
	cm = fabric_has_component("pml", "cm");
	for (size_t i = 0; i < ARRAY_LEN(rows) && found[0] == '\0'; i++)
		if ((strcmp(rows[i].framework, "mtl") == 0) == cm &&
		    fabric_has_component(rows[i].framework, rows[i].component))
			found = rows[i].component;
	if (asks)
		MPI_T_finalize();
	snprintf(ret, cap_bytes, "%s", found);
}

static uint64_t
fabric_tcp_bytes(void)
{
	struct nic_tcp tcp;

	nic_tcp_read(&tcp);
	return tcp.sent_bytes;
}

static uint64_t
fabric_rdma_bytes(const struct carried_device *list, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += list[i].rdma ? list[i].out_bytes : 0;
	return sum;
}

/* The first ranks of nodes, in a ring. */
static void
fabric_ring_pass(MPI_Comm ring)
{
	char *out = xcalloc(1, RING_BYTES), *in = xcalloc(1, RING_BYTES);
	MPI_Request reqs[2];
	int rank, size;

	MPI_DO(MPI_Comm_rank(ring, &rank));
	MPI_DO(MPI_Comm_size(ring, &size));
	MPI_DO(MPI_Irecv(in, RING_BYTES, MPI_CHAR, (rank + size - 1) % size, 0,
	    ring, &reqs[0]));
	MPI_DO(MPI_Isend(out, RING_BYTES, MPI_CHAR, (rank + 1) % size, 0, ring,
	    &reqs[1]));
	control_wait(&reqs[0]);
	control_wait(&reqs[1]);
	control_barrier(ring); /* all of it has arrived */
	free(out);
	free(in);
}

/* Each device once, at the ring's first rank. */
static void
fabric_names_gather(MPI_Comm ring, int size, char *mine, char *ret,
    size_t cap_bytes)
{
	char(*all)[NAMES_BYTES] = xcalloc((size_t)size, sizeof(*all));
	size_t count, len = 0;
	MPI_Request req;
	char **list;

	MPI_DO(MPI_Igather(mine, NAMES_BYTES, MPI_CHAR, all, NAMES_BYTES,
	    MPI_CHAR, 0, ring, &req));
	control_wait(&req);
	ret[0] = '\0';
	for (int i = 0; i < size; i++) {
		list = str_list_parse(all[i], &count);
		for (size_t k = 0; list != NULL && k < count; k++) {
			const char *at = strstr(ret, list[k]);
			size_t n = strlen(list[k]);

			while (at != NULL &&
			    ((at > ret && at[-1] != ',') ||
				(at[n] != ',' && at[n] != '\0')))
				at = strstr(at + 1, list[k]);
			if (at == NULL && len + n + 2 <= cap_bytes)
				len += (size_t)snprintf(ret + len,
				    cap_bytes - len, "%s%s", len > 0 ? "," : "",
				    list[k]);
		}
		str_list_free(list);
	}
	free(all);
}

static void
fabric_ring_measure(const struct world *w, MPI_Comm ring, struct carried *ret)
{
	struct carried_device *list = xcalloc(2 * CARRIED_DEVICES_MAX,
	    sizeof(*list));
	struct carried_device *now = list + CARRIED_DEVICES_MAX;
	size_t before_count, count;
	char names[NAMES_BYTES] = "";
	unsigned long long sums[2];
	uint64_t tcp, rdma, after[2];
	MPI_Request req;

	control_barrier(ring); /* connections are there */
	before_count = carried_devices_read("", list);
	tcp = fabric_tcp_bytes();
	rdma = fabric_rdma_bytes(list, before_count);
	control_barrier(ring);
	fabric_ring_pass(ring);
	count = carried_devices_read("", now);
	carried_devices_used(list, before_count, now, count, RING_BYTES / 4,
	    names, sizeof(names));
	/* A connection or a device may have ended meanwhile, with its count. */
	after[0] = fabric_tcp_bytes();
	after[1] = fabric_rdma_bytes(now, count);
	sums[0] = after[0] > tcp ? after[0] - tcp : 0;
	sums[1] = after[1] > rdma ? after[1] - rdma : 0;
	free(list);
	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, sums, 2, MPI_UNSIGNED_LONG_LONG,
	    MPI_SUM, ring, &req));
	control_wait(&req);
	ret->tcp_bytes = sums[0];
	ret->rdma_bytes = sums[1];
	ret->wanted_bytes = (uint64_t)w->nodes * RING_BYTES;
	fabric_names_gather(ring, w->nodes, names, ret->devices,
	    sizeof(ret->devices));
}

static const char *
fabric_asked(const char *variable, const struct conf *c, const char *key)
{
	const char *text = getenv(variable);

	if (text != NULL)
		return text;
	return c == NULL ? "" : conf_string(c, "mpi", key);
}

int
fabric_open(const struct world *w, const struct conf *c, json_t **ret,
    struct err *err)
{
	const char *fabric = fabric_asked("COALMINE_FABRIC", c, "fabric");
	const char *devices = fabric_asked("COALMINE_DEVICES", c, "devices");
	struct carried seen = { 0 };
	struct {
		int tcp, rdma, wrong;
		char fabric[16];
	} told = { 0 };
	MPI_Request req;
	int alone = w->size == w->nodes; /* every rank on its node */
	MPI_Comm ring = w->control;

	if (!alone)
		MPI_DO(MPI_Comm_split(w->control,
		    w->local == 0 ? 0 : MPI_UNDEFINED, w->rank, &ring));
	/* of all ranks alike */
	if (w->rank == 0)
		fabric_library_find(seen.library, sizeof(seen.library));
	if (ring != MPI_COMM_NULL) {
		if (w->nodes > 1)
			fabric_ring_measure(w, ring, &seen);
		if (!alone)
			MPI_DO(MPI_Comm_free(&ring));
	}
	if (w->rank == 0) {
		seen.transport = carried_transport(&seen);
		snprintf(told.fabric, sizeof(told.fabric), "%s",
		    fabric[0] == '\0' ? "auto" : fabric);
		told.tcp = seen.transport != NULL &&
		    strcmp(seen.transport, "tcp") == 0;
		told.rdma = seen.transport != NULL && !told.tcp;
		told.wrong = carried_wrong(&seen, fabric, devices, err);
		*ret = carried_json(&seen, fabric[0] == '\0' ? "auto" : fabric);
		if (told.wrong) {
			json_object_set_new(*ret, "verdict",
			    json_string("bad"));
			json_object_set_new(*ret, "text",
			    json_string(err->text));
		}
	}
	MPI_DO(MPI_Ibcast(&told, sizeof(told), MPI_CHAR, 0, w->control, &req));
	control_wait(&req);
	snprintf(demanded, sizeof(demanded), "%s", told.fabric);
	counts = told.tcp || told.rdma;
	counts_tcp = told.tcp;
	counts_rdma = told.rdma && w->local == 0;
	return told.wrong ? -ENOTSUP : 0;
}

double
fabric_sent_bytes(void)
{
	struct carried_device *list;
	double bytes = 0;

	if (counts_tcp)
		return (double)fabric_tcp_bytes();
	if (!counts_rdma)
		return 0;
	list = xcalloc(CARRIED_DEVICES_MAX, sizeof(*list));
	bytes = (double)fabric_rdma_bytes(list, carried_devices_read("", list));
	free(list);
	return bytes;
}

json_t *
fabric_carried(double seen_bytes, double wanted_bytes)
{
	json_t *o;

	if (!counts)
		return NULL;
	o = json_pack("{s:I}", "seen_bytes", (json_int_t)seen_bytes);
	if (wanted_bytes > 0)
		json_object_set_new(o, "wanted_bytes",
		    json_integer((json_int_t)wanted_bytes));
	if (strcmp(demanded, "auto") == 0 || seen_bytes >= wanted_bytes / 2)
		return o;
	json_object_set_new(o, "verdict", json_string("bad"));
	json_object_set_new(o, "text",
	    json_sprintf("fabric = %s was required, but of %.0f bytes between "
			 "nodes it carried %.0f",
		demanded, wanted_bytes, seen_bytes));
	return o;
}
