/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - MPI begins and ends here; ranks find their nodes, roles and
 * communicators, and each opens a device.
 */

#include "probes/job/world.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/job/affinity.h"
#include "probes/job/control.h"
#include "probes/job/nic.h"
#include "probes/job/roles.h"
#include "probes/transport/xccl.h"
#include "probes/transport/xccl_comm.h"
#include "probes/transport/xccl_lib.h"

#define FINALIZE_LIMIT_S 5

static char log_name[WORLD_NAME_BYTES + 64];
static volatile sig_atomic_t exit_status;

void
world_check(int rc, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len;

	if (rc == MPI_SUCCESS)
		return;
	MPI_Error_string(rc, text, &len);
	fatalx("%.*s failed: %s", (int)strcspn(what, "("), what, text);
}

/* exit() in one rank would leave the others waiting for it. */
static void
world_abort_job(void)
{
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int
world_compare_names(const void *a, const void *b)
{
	return hostlist_compare(a, b);
}

/* At rank 0: the sorted list of different names, and for each rank its node and
 * which of the node's ranks it is. */
static void
world_place(struct world *w, char (*all)[WORLD_NAME_BYTES], int (*ret)[2])
{
	int *seen = xcalloc((size_t)w->size, sizeof(*seen));
	size_t count = (size_t)w->size;

	w->names = xcalloc(count, sizeof(*w->names));
	memcpy(w->names, all, count * sizeof(*all));
	qsort(w->names, count, sizeof(*w->names), world_compare_names);
	for (size_t i = 0; i < count; i++) {
		if (w->nodes > 0 &&
		    strcmp(w->names[w->nodes - 1], w->names[i]) == 0)
			continue;
		if (w->nodes != (int)i)
			memcpy(w->names[w->nodes], w->names[i],
			    sizeof(*w->names));
		w->nodes++;
	}
	for (size_t i = 0; i < count; i++) {
		char(*at)[WORLD_NAME_BYTES] = bsearch(all[i], w->names,
		    (size_t)w->nodes, sizeof(*w->names), world_compare_names);

		ret[i][0] = (int)(at - w->names);
		ret[i][1] = seen[ret[i][0]]++;
	}
	free(seen);
}

/* Only rank 0 gathers all names: a list by rank on every rank would be
 * megabytes on a large machine. Ranks sleep while they wait: with fewer cores
 * than ranks, a polling rank would take the core of the one it waits for. */
static void
world_find_nodes(struct world *w)
{
	MPI_Request req;
	char mine[WORLD_NAME_BYTES] = "", (*all)[WORLD_NAME_BYTES] = NULL;
	const char *fake = getenv("COALMINE_FAKE_NODES");
	char name[MPI_MAX_PROCESSOR_NAME] = "";
	int(*places)[2] = NULL, at[2], len;
	int64_t count = w->size;

	/* For tests on one machine: COALMINE_FAKE_NODES=rank makes every rank a
	 * separate node, a number N distributes the ranks over N nodes. */
	if (fake != NULL && strcmp(fake, "rank") != 0 &&
	    str_to_int(fake, 1, w->size, &count) < 0)
		fatalx("invalid COALMINE_FAKE_NODES=%s: expected rank, or a "
		       "number from 1 to the number of ranks",
		    fake);
	MPI_DO(MPI_Get_processor_name(name, &len));
	if (fake != NULL)
		snprintf(name, sizeof(name), "fake%d", (int)(w->rank % count));
	snprintf(mine, sizeof(mine), "%.*s", WORLD_NAME_BYTES - 1, name);
	if (w->rank == 0) {
		all = xcalloc((size_t)w->size, sizeof(*all));
		places = xcalloc((size_t)w->size, sizeof(*places));
	}
	MPI_DO(MPI_Igather(mine, WORLD_NAME_BYTES, MPI_CHAR, all,
	    WORLD_NAME_BYTES, MPI_CHAR, 0, w->control, &req));
	control_wait(&req);
	if (w->rank == 0)
		world_place(w, all, places);
	MPI_DO(MPI_Iscatter(places, 2, MPI_INT, at, 2, MPI_INT, 0, w->control,
	    &req));
	control_wait(&req);
	MPI_DO(MPI_Ibcast(&w->nodes, 1, MPI_INT, 0, w->control, &req));
	control_wait(&req);
	if (w->rank != 0)
		w->names = xcalloc((size_t)w->nodes, sizeof(*w->names));
	MPI_DO(MPI_Ibcast(w->names, w->nodes * WORLD_NAME_BYTES, MPI_CHAR, 0,
	    w->control, &req));
	control_wait(&req);
	w->node = at[0];
	w->local = at[1];
	free(all);
	free(places);
}

void
world_open(struct world *w, int *argc, char ***argv)
{
	struct err err;

	memset(w, 0, sizeof(*w));
	if (nic_set(&err) < 0)
		fatalx("%s", err.text);
	affinity_set();
	if (MPI_Init(argc, argv) != MPI_SUCCESS)
		fatalx("MPI_Init failed");
	log_set_fatal_hook(world_abort_job);
	MPI_DO(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	MPI_DO(MPI_Comm_dup(MPI_COMM_WORLD, &w->control));
	MPI_DO(MPI_Comm_rank(w->control, &w->rank));
	MPI_DO(MPI_Comm_size(w->control, &w->size));
	w->group = w->slice = w->node_comm = MPI_COMM_NULL;
	world_find_nodes(w);
}

json_t *
world_affinity(const struct world *w)
{
	const char **names = xcalloc((size_t)w->nodes, sizeof(*names));
	struct affinity mine, *all = NULL;
	json_t *list = NULL;
	MPI_Request req;

	affinity_look("", &mine);
	mine.node = w->node;
	mine.local = w->local;
	if (w->rank == 0)
		all = xcalloc((size_t)w->size, sizeof(*all));
	MPI_DO(MPI_Igather(&mine, sizeof(mine), MPI_CHAR, all, sizeof(mine),
	    MPI_CHAR, 0, w->control, &req));
	control_wait(&req);
	for (int i = 0; i < w->nodes; i++)
		names[i] = w->names[i];
	if (w->rank == 0)
		list = affinity_json(all, (size_t)w->size, names);
	free(all);
	free(names);
	return list;
}

int
world_roles(struct world *w, const struct settings *s, int *ret_needed)
{
	const char **names = xcalloc((size_t)w->nodes, sizeof(*names));
	int *order = xcalloc((size_t)w->nodes, sizeof(*order)), rc;
	struct roles_ask ask = { w->nodes, s->kind_count, s->share, s->seed,
		s->kind_shares, s->placement, order };

	for (int i = 0; i < w->nodes; i++)
		names[i] = w->names[i];
	roles_order(names, w->nodes, s->leaves, order);
	free(names);
	w->node_roles = xcalloc((size_t)w->nodes, sizeof(*w->node_roles));
	rc = roles_assign(&ask, w->node_roles);
	free(order);
	if (rc < 0) {
		*ret_needed = roles_needed(&ask);
		return rc;
	}
	snprintf(log_name, sizeof(log_name), "coalmine-probe: rank %d node %s",
	    w->rank, w->names[w->node]);
	log_init(log_name, LOG_LEVEL_INFO);
	w->role = w->node_roles[w->node];
	return 0;
}

void
world_split(struct world *w, const struct settings *s)
{
	int first[CONGESTOR_MAX + 1];

	/* the rank in control of the first rank of every role */
	for (int i = 0; i <= s->kind_count; i++)
		first[i] = w->size;
	first[w->role + 1] = w->rank; /* ROLES_CANARY is -1 */
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, first, s->kind_count + 1, MPI_INT,
	    MPI_MIN, w->control));
	w->canary_root = first[0];
	memcpy(w->kind_root, first + 1, (size_t)s->kind_count * sizeof(*first));
	MPI_DO(MPI_Comm_split(w->control, w->role + 1, w->rank, &w->group));
	MPI_DO(MPI_Comm_split(w->group, w->local, w->rank, &w->slice));
	MPI_DO(MPI_Comm_split(w->group, w->node, w->rank, &w->node_comm));
	MPI_DO(MPI_Comm_set_errhandler(w->slice, MPI_ERRORS_RETURN));
	MPI_DO(MPI_Comm_rank(w->group, &w->group_rank));
	MPI_DO(MPI_Comm_size(w->group, &w->group_size));
	MPI_DO(MPI_Comm_rank(w->slice, &w->slice_rank));
	MPI_DO(MPI_Comm_size(w->slice, &w->slice_size));
	w->stuck_ns = s->stuck_ns;
	w->timeout_ns = s->timeout_ns;
	w->group_nodes = xcalloc((size_t)w->group_size,
	    sizeof(*w->group_nodes));
	MPI_DO(MPI_Allgather(&w->node, 1, MPI_INT, w->group_nodes, 1, MPI_INT,
	    w->group));
}

void
world_part_open(const struct world *w, int number, const struct settings *s,
    struct world *ret)
{
	int needed;

	*ret = *w;
	ret->at = 0;
	ret->group = ret->slice = ret->node_comm = MPI_COMM_NULL;
	ret->node_roles = ret->group_nodes = NULL;
	MPI_DO(MPI_Comm_split(w->control, number < 0 ? MPI_UNDEFINED : number,
	    w->rank, &ret->control));
	if (ret->control == MPI_COMM_NULL)
		return;
	MPI_DO(MPI_Comm_rank(ret->control, &ret->rank));
	MPI_DO(MPI_Comm_size(ret->control, &ret->size));
	if (world_roles(ret, s, &needed) < 0)
		fatalx("a job of one node cannot be divided into canaries and "
		       "congestors");
	world_split(ret, s);
}

static void
world_comms_free(struct world *w)
{
	if (w->group == MPI_COMM_NULL)
		return;
	MPI_Comm_free(&w->node_comm);
	MPI_Comm_free(&w->slice);
	MPI_Comm_free(&w->group);
}

void
world_part_close(struct world *part)
{
	world_comms_free(part);
	if (part->control != MPI_COMM_NULL)
		MPI_Comm_free(&part->control);
	free(part->node_roles);
	free(part->group_nodes);
}

int
world_alone(const struct world *w)
{
	return w->slice_size < 2;
}

static void
world_give_up(int signo)
{
	(void)signo;
	_exit(exit_status);
}

void
world_close(struct world *w, int status)
{
	exit_status = status;
	signal(SIGALRM, world_give_up);
	alarm(FINALIZE_LIMIT_S);
	log_set_fatal_hook(NULL);
	world_comms_free(w);
	MPI_Comm_free(&w->control);
	MPI_Finalize();
	alarm(0);
	free(w->names);
	free(w->node_roles);
	free(w->group_nodes);
}

/* ---- a team, with devices ---- */

struct world_gpu {
	char pci[sizeof(((struct device_facts *)0)->pci)];
	char part[sizeof(((struct device_facts *)0)->part)];
	double rated_per_s; /* see transport_team */
};

/* How many ranks of the machine have this GPU, or this part of one? */
static int
world_gpu_ranks(const struct world_gpu *mine, MPI_Comm machine)
{
	int ranks, count = 0;
	struct world_gpu *all;

	MPI_DO(MPI_Comm_size(machine, &ranks));
	all = xcalloc((size_t)ranks, sizeof(*all));
	MPI_DO(MPI_Allgather(mine, sizeof(*mine), MPI_CHAR, all, sizeof(*mine),
	    MPI_CHAR, machine));
	for (int i = 0; i < ranks; i++)
		count += strcmp(all[i].pci, mine->pci) == 0 &&
		    strcmp(all[i].part, mine->part) == 0;
	free(all);
	return mine->pci[0] == '\0' ? 1 : count;
}

/* The GPUs of all ranks, into tm; collective. 1: this rank's reaches those of
 * all ranks of its node. */
static int
world_gpus_meet(struct transport_team *tm, MPI_Comm machine)
{
	size_t ranks = (size_t)tm->ranks;
	struct device_facts facts = { 0 };
	struct world_gpu mine = { 0 }, *all = xcalloc(ranks, sizeof(*all));
	int reaches = 1;
	struct err err;

	(void)tm->ops->facts(tm->device, &facts);
	memcpy(mine.pci, facts.pci, sizeof(mine.pci));
	memcpy(mine.part, facts.part, sizeof(mine.part));
	tm->gpu_ranks = world_gpu_ranks(&mine, machine);
	mine.rated_per_s = facts.memory_bytes_per_s / 2 / tm->gpu_ranks;
	MPI_DO(MPI_Allgather(&mine, sizeof(mine), MPI_CHAR, all, sizeof(mine),
	    MPI_CHAR, tm->comm));
	tm->pci = xcalloc(ranks, sizeof(*tm->pci));
	tm->rated_per_s = xcalloc(ranks, sizeof(*tm->rated_per_s));
	for (size_t i = 0; i < ranks; i++) {
		memcpy(tm->pci[i], all[i].pci, sizeof(*tm->pci));
		tm->rated_per_s[i] = all[i].rated_per_s;
		if (tm->nodes[i] == tm->nodes[tm->rank] &&
		    tm->ops->ipc_usable(tm->device, all[i].pci, all[i].part,
			&err) < 0)
			reaches = 0;
	}
	free(all);
	return reaches;
}

/* What PLAN_VIA_AUTO becomes; collective. Staging through memory of the host
 * is the last resort: it measures the host, not the GPUs. */
static void
world_choose_vias(struct transport_team *tm, int reaches)
{
	enum { IPC, XCCL, ABLE_MAX };
	int able[ABLE_MAX] = { reaches, !tm->mpi_takes };
	const struct xccl_lib *lib;
	struct err err;

	if (able[XCCL])
		able[XCCL] = xccl_shares_gpu(tm, &err) == 0 &&
		    xccl_lib_open(tm->ops->name, &lib, &err) == 0;
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, able, ABLE_MAX, MPI_INT, MPI_MIN,
	    tm->comm));
	tm->across = able[XCCL] ? PLAN_VIA_XCCL : PLAN_VIA_MPI;
	tm->within = able[IPC] ? PLAN_VIA_IPC : tm->across;
}

/* An MPI that says it takes a device's pointers and does not ends the process
 * when it touches one. The first byte says which of the two it is, after a line
 * that names what to do; rank by rank in a ring. */
static int
world_first_byte(const struct transport_team *tm, struct err *err)
{
	const struct device_ops *ops = tm->ops;
	int next = (tm->rank + 1) % tm->ranks, rc;
	int before = (tm->rank + tm->ranks - 1) % tm->ranks;
	struct device_stream *s = NULL;
	unsigned char *here = NULL;
	char *there = NULL;

	if (tm->rank == 0)
		log_info("testing %s pointers with this MPI; if the job ends "
			 "here, set measure.gpu_aware = no",
		    ops->name);
	rc = ops->alloc(tm->device, 2, (void **)&there);
	if (rc == 0)
		rc = ops->host_alloc(tm->device, 1, (void **)&here);
	if (rc == 0)
		rc = ops->stream_new(tm->device, &s);
	if (rc == 0)
		rc = ops->fill(s, there, tm->rank & 0xff, 1);
	if (rc == 0)
		rc = ops->stream_sync(s);
	if (rc < 0)
		err_say(err, "%s: %.200s", ops->name, ops->error(tm->device));
	if (transport_agree_why(tm, rc, NULL, err) == 0) {
		MPI_DO(MPI_Sendrecv(there, 1, MPI_CHAR, next, 0, there + 1, 1,
		    MPI_CHAR, before, 0, tm->comm, MPI_STATUS_IGNORE));
		rc = ops->copy(s, here, there + 1, 1);
		if (rc == 0)
			rc = ops->stream_sync(s);
		if (rc < 0)
			err_say(err, "%s: %.200s", ops->name,
			    ops->error(tm->device));
		else if (*here != (before & 0xff))
			rc = err_set(err, -ENOTSUP,
			    "this MPI reports support for %s pointers, but a "
			    "byte sent from one arrived corrupted: set "
			    "measure.gpu_aware = no",
			    ops->name);
		rc = transport_agree_why(tm, rc, NULL, err);
	}
	ops->stream_free(s);
	ops->host_free(tm->device, here);
	ops->free(tm->device, there);
	return rc;
}

int
team_open(struct world *w, const char *device, const char *gpu_aware,
    struct transport_team **ret, struct err *err)
{
	struct transport_team *tm = xcalloc(1, sizeof(*tm));
	int *nodes = xcalloc((size_t)w->size, sizeof(*nodes)), count = 0, rc;
	MPI_Comm machine;
	int local, reaches = 0;

	tm->world = w;
	tm->rank = w->rank;
	tm->ranks = w->size;
	MPI_DO(
	    MPI_Allgather(&w->node, 1, MPI_INT, nodes, 1, MPI_INT, w->control));
	tm->nodes = nodes;
	MPI_DO(MPI_Comm_dup(w->control, &tm->comm));
	MPI_DO(MPI_Comm_split(w->control, w->node, w->rank, &tm->node_comm));
	err->text[0] = '\0';
	rc = device_find(device, &tm->ops, err);
	if (rc == 0)
		rc = tm->ops->probe(&count, err);
	/* Made-up nodes have one machine's devices between them. */
	MPI_DO(MPI_Comm_split_type(w->control, MPI_COMM_TYPE_SHARED, w->rank,
	    MPI_INFO_NULL, &machine));
	MPI_DO(MPI_Comm_rank(machine, &local));
	if (rc == 0) {
		rc = tm->ops->open(local % count, &tm->device, err);
		tm->mpi_takes = strcmp(gpu_aware, "yes") == 0 ||
		    (strcmp(gpu_aware, "auto") == 0 &&
			device_taken_by_mpi(device));
	}
	rc = transport_agree_why(tm, rc, NULL, err);
	tm->gpu_ranks = 1;
	if (rc == 0 && !tm->ops->host_access)
		reaches = world_gpus_meet(tm, machine);
	MPI_DO(MPI_Comm_free(&machine));
	/* One way for all: the two cannot meet. */
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &tm->mpi_takes, 1, MPI_INT, MPI_MIN,
	    tm->comm));
	if (rc == 0 && !tm->ops->host_access && tm->mpi_takes)
		rc = world_first_byte(tm, err);
	if (rc == 0 && !tm->ops->host_access)
		world_choose_vias(tm, reaches);
	if (rc < 0) {
		team_close(tm);
		return rc;
	}
	*ret = tm; /* handed over */
	return 0;
}

void
team_close(struct transport_team *tm)
{
	if (tm == NULL)
		return;
	xccl_comms_end(tm);
	if (tm->device != NULL)
		tm->ops->close(tm->device);
	MPI_Comm_free(&tm->node_comm);
	MPI_Comm_free(&tm->comm);
	free((int *)tm->nodes);
	free(tm->pci);
	free(tm->rated_per_s);
	free(tm);
}

int
team_shares_gpu(const struct transport_team *tm, int may, struct err *err)
{
	int rc = 0;

	err->text[0] = '\0';
	if (tm->gpu_ranks > 1 && !may)
		rc = err_set(err, -ENOTSUP,
		    "%d ranks of a node share GPU %s and its bandwidth: start "
		    "one rank per GPU, or set measure.share_gpu = yes",
		    tm->gpu_ranks, tm->pci[tm->rank]);
	return transport_agree_why(tm, rc, NULL, err);
}
