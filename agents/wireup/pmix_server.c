/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmix_server.c - coalmine-pmix: the PMIx server of one node's ranks of a run,
 * for Open MPI and other users of PMIx.
 *
 * It is a separate program and not a part of the agent: libpmix parses the
 * ranks' messages as the probes' user, and a site's MPI brings its own libpmix
 * by LD_LIBRARY_PATH. It starts no processes. Over one socket it gives the
 * agent the environment of each rank and exchanges data with other nodes;
 * messages are "VERB A B LENGTH\n" and LENGTH bytes:
 *
 *   to the agent    env RANK 0      NAME=value, each with its NUL
 *                   join RANK 0     a rank has connected
 *                   fence ID 0      data of the node's ranks for all
 *                   modex RANK 0    request for the data of that rank
 *                   have RANK 0     data of a rank of this node
 *                   abort RANK CODE the reason as text
 *                   failed 0 0      the reason why this server failed
 *   from the agent  fence ID 0      the parts of all nodes
 *                   have RANK 0     as above, of another node
 *                   modex RANK 0    as above, of this node
 *
 * The end of the socket is the end of the run here.
 */
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/process/child.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/xalloc.h"

#define BYTES_MAX (64 * 1024 * 1024)
#define ARGS      7

struct waiter {
	TAILQ_ENTRY(waiter) next;
	pmix_rank_t rank;
	pmix_modex_cbfunc_t cb;
	void *arg;
};

TAILQ_HEAD(waiters, waiter);

static struct {
	pthread_mutex_t lock; /* of the socket's output and of what follows */
	pthread_cond_t done;  /* operation */
	int operation;        /* 0: under way, 1: done, -1: failed */
	struct waiters fences, modexes;
	int fence_id;
	uint32_t size;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER };

static void
pmix_server_write(const void *bytes, size_t len)
{
	ssize_t n;

	for (; len > 0; bytes = (const char *)bytes + n, len -= (size_t)n) {
		n = send(CHILD_PASS_FD, bytes, len, MSG_NOSIGNAL);
		if (n < 0)
			_exit(1); /* the agent is gone */
	}
}

static void
pmix_server_say(const char *verb, long a, long b, const void *bytes, size_t len)
{
	char head[80];
	int n = snprintf(head, sizeof(head), "%s %ld %ld %zu\n", verb, a, b,
	    len);

	pthread_mutex_lock(&server.lock);
	pmix_server_write(head, (size_t)n);
	pmix_server_write(bytes, len);
	pthread_mutex_unlock(&server.lock);
}

static void
pmix_server_fail(const char *what, pmix_status_t rc)
{
	char text[200];
	int n = snprintf(text, sizeof(text), "%s: %s: %s", PMIx_Get_version(),
	    what, PMIx_Error_string(rc));

	pmix_server_say("failed", 0, 0, text, (size_t)n);
	_exit(1);
}

static void
pmix_server_await(struct waiters *list, pmix_rank_t rank,
    pmix_modex_cbfunc_t cb, void *arg)
{
	struct waiter *w = xcalloc(1, sizeof(*w));

	w->rank = rank;
	w->cb = cb;
	w->arg = arg;
	TAILQ_INSERT_TAIL(list, w, next);
}

/* ---- calls of libpmix, from its own thread ---- */

/* Fences are of all ranks of the run: a probe makes no others. */
static pmix_status_t
pmix_server_fence(const pmix_proc_t procs[], size_t count,
    const pmix_info_t info[], size_t info_count, char *data, size_t len,
    pmix_modex_cbfunc_t cb, void *arg)
{
	int id;

	(void)info;
	(void)info_count;
	if (!(count == 1 && procs[0].rank == PMIX_RANK_WILDCARD) &&
	    count != server.size)
		return PMIX_ERR_NOT_SUPPORTED;
	pthread_mutex_lock(&server.lock);
	id = ++server.fence_id;
	pmix_server_await(&server.fences, (pmix_rank_t)id, cb, arg);
	pthread_mutex_unlock(&server.lock);
	pmix_server_say("fence", id, 0, data, len);
	return PMIX_SUCCESS;
}

static pmix_status_t
pmix_server_modex(const pmix_proc_t *proc, const pmix_info_t info[],
    size_t info_count, pmix_modex_cbfunc_t cb, void *arg)
{
	(void)info;
	(void)info_count;
	pthread_mutex_lock(&server.lock);
	pmix_server_await(&server.modexes, proc->rank, cb, arg);
	pthread_mutex_unlock(&server.lock);
	pmix_server_say("modex", (long)proc->rank, 0, "", 0);
	return PMIX_SUCCESS;
}

static pmix_status_t
pmix_server_abort(const pmix_proc_t *proc, void *object, int status,
    const char message[], pmix_proc_t procs[], size_t count,
    pmix_op_cbfunc_t cb, void *arg)
{
	(void)object;
	(void)procs;
	(void)count;
	(void)cb;
	(void)arg;
	/* Open MPI passes "N/A" if the rank called MPI_Abort. */
	if (message == NULL || strcmp(message, "N/A") == 0)
		message = "";
	pmix_server_say("abort", (long)proc->rank, status, message,
	    strlen(message));
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t
pmix_server_joined(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cb,
    void *arg)
{
	(void)object;
	(void)cb;
	(void)arg;
	pmix_server_say("join", (long)proc->rank, 0, "", 0);
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t
pmix_server_left(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cb,
    void *arg)
{
	(void)proc;
	(void)object;
	(void)cb;
	(void)arg;
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t calls = {
	.client_connected = pmix_server_joined,
	.client_finalized = pmix_server_left,
	.abort = pmix_server_abort,
	.fence_nb = pmix_server_fence,
	.direct_modex = pmix_server_modex,
};

static void
pmix_server_had(pmix_status_t rc, char *data, size_t len, void *arg)
{
	long rank = (long)(intptr_t)arg;

	pmix_server_say("have", rank, 0, data, rc == PMIX_SUCCESS ? len : 0);
}

static void
pmix_server_did(pmix_status_t rc, void *arg)
{
	(void)arg;
	pthread_mutex_lock(&server.lock);
	server.operation = rc == PMIX_SUCCESS ? 1 : -1;
	pthread_cond_signal(&server.done);
	pthread_mutex_unlock(&server.lock);
}

/* ---- registration ---- */

/* rc: the result of the call that will call pmix_server_did. */
static void
pmix_server_wait(const char *what, pmix_status_t rc)
{
	if (rc == PMIX_OPERATION_SUCCEEDED)
		return;
	if (rc != PMIX_SUCCESS)
		pmix_server_fail(what, rc);
	pthread_mutex_lock(&server.lock);
	while (server.operation == 0)
		pthread_cond_wait(&server.done, &server.lock);
	rc = server.operation == 1 ? PMIX_SUCCESS : PMIX_ERROR;
	server.operation = 0;
	pthread_mutex_unlock(&server.lock);
	if (rc != PMIX_SUCCESS)
		pmix_server_fail(what, rc);
}

struct info_list {
	pmix_info_t *list;
	size_t count;
};

static void
pmix_server_put(struct info_list *l, const char *key, const void *value,
    pmix_data_type_t type)
{
	PMIX_INFO_LOAD(&l->list[l->count], key, value, type);
	l->count++;
}

/* The ranks of a run on this node. */
struct node_ranks {
	const char *run, *dir, *host;
	uint32_t first, local, size;
};

/* Nodes other than this one have no names here: ranks do not look for any, and
 * a list of ten thousand would be sent to as many nodes. */
static void
pmix_server_maps(const struct node_ranks *n, struct info_list *l)
{
	struct strbuf nodes = { 0 }, ranks = { 0 };
	char *node_map = NULL, *rank_map = NULL;
	pmix_status_t rc;

	for (uint32_t r = 0; r < n->size; r++) {
		uint32_t node = r / n->local;

		if (r % n->local == 0 && r == n->first)
			strbuf_addf(&nodes, "%s%s", r == 0 ? "" : ",", n->host);
		else if (r % n->local == 0)
			strbuf_addf(&nodes, "%snode-%u", r == 0 ? "" : ",",
			    node);
		strbuf_addf(&ranks, "%s%u",
		    r == 0                  ? ""
			: r % n->local == 0 ? ";"
					    : ",",
		    r);
	}
	rc = PMIx_generate_regex(nodes.text, &node_map);
	if (rc == PMIX_SUCCESS)
		rc = PMIx_generate_ppn(ranks.text, &rank_map);
	if (rc != PMIX_SUCCESS)
		pmix_server_fail("maps", rc);
	pmix_server_put(l, PMIX_NODE_MAP, node_map, PMIX_REGEX);
	pmix_server_put(l, PMIX_PROC_MAP, rank_map, PMIX_REGEX);
	strbuf_clear(&nodes);
	strbuf_clear(&ranks);
}

static void
pmix_server_rank(const struct node_ranks *n, uint32_t local,
    struct info_list *l)
{
	pmix_rank_t rank = n->first + local;
	uint16_t here = (uint16_t)local;
	uint32_t node = n->first / n->local, app = 0;
	pmix_data_array_t *array;
	struct info_list own = { 0 };

	PMIX_DATA_ARRAY_CREATE(array, 7, PMIX_INFO);
	own.list = array->array;
	pmix_server_put(&own, PMIX_RANK, &rank, PMIX_PROC_RANK);
	pmix_server_put(&own, PMIX_LOCAL_RANK, &here, PMIX_UINT16);
	pmix_server_put(&own, PMIX_NODE_RANK, &here, PMIX_UINT16);
	pmix_server_put(&own, PMIX_NODEID, &node, PMIX_UINT32);
	pmix_server_put(&own, PMIX_APPNUM, &app, PMIX_UINT32);
	pmix_server_put(&own, PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
	pmix_server_put(&own, PMIX_HOSTNAME, n->host, PMIX_STRING);
	PMIX_LOAD_KEY(l->list[l->count].key, PMIX_PROC_DATA);
	l->list[l->count].value.type = PMIX_DATA_ARRAY;
	l->list[l->count].value.data.darray = array;
	l->count++;
}

static void
pmix_server_register(const struct node_ranks *n, const char *nspace)
{
	uint32_t nodes = n->size / n->local;
	struct strbuf peers = { 0 };
	pmix_rank_t leader = n->first;
	struct info_list l = { 0 };

	PMIX_INFO_CREATE(l.list, 14 + n->local);
	for (uint32_t i = 0; i < n->local; i++)
		strbuf_addf(&peers, "%s%u", i == 0 ? "" : ",", n->first + i);
	pmix_server_put(&l, PMIX_UNIV_SIZE, &n->size, PMIX_UINT32);
	pmix_server_put(&l, PMIX_JOB_SIZE, &n->size, PMIX_UINT32);
	pmix_server_put(&l, PMIX_MAX_PROCS, &n->size, PMIX_UINT32);
	pmix_server_put(&l, PMIX_APP_SIZE, &n->size, PMIX_UINT32);
	pmix_server_put(&l, PMIX_LOCAL_SIZE, &n->local, PMIX_UINT32);
	pmix_server_put(&l, PMIX_NODE_SIZE, &n->local, PMIX_UINT32);
	pmix_server_put(&l, PMIX_NUM_NODES, &nodes, PMIX_UINT32);
	pmix_server_put(&l, PMIX_JOBID, nspace, PMIX_STRING);
	pmix_server_put(&l, PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
	pmix_server_put(&l, PMIX_LOCAL_PEERS, peers.text, PMIX_STRING);
	pmix_server_put(&l, PMIX_TMPDIR, n->dir, PMIX_STRING);
	pmix_server_put(&l, PMIX_NSDIR, n->dir, PMIX_STRING);
	pmix_server_maps(n, &l);
	for (uint32_t i = 0; i < n->local; i++)
		pmix_server_rank(n, i, &l);
	pmix_server_wait("register_nspace",
	    PMIx_server_register_nspace(nspace, (int)n->local, l.list, l.count,
		pmix_server_did, NULL));
	strbuf_clear(&peers);
}

/* Send one rank's environment; the agent adds the rank's own variables. */
static void
pmix_server_env(const pmix_proc_t *proc)
{
	struct strbuf text = { 0 };
	char **env = NULL;
	pmix_status_t rc;

	pmix_server_wait("register_client",
	    PMIx_server_register_client(proc, getuid(), getgid(), NULL,
		pmix_server_did, NULL));
	rc = PMIx_server_setup_fork(proc, &env);
	if (rc != PMIX_SUCCESS)
		pmix_server_fail("setup_fork", rc);
	for (char **e = env; e != NULL && *e != NULL; e++)
		strbuf_add(&text, *e, strlen(*e) + 1);
	pmix_server_say("env", (long)proc->rank, 0, text.text, text.len_bytes);
	strbuf_clear(&text);
}

/* ---- messages of the agent ---- */

static int
pmix_server_read(void *into, size_t len)
{
	ssize_t n;

	for (; len > 0; into = (char *)into + n, len -= (size_t)n) {
		n = read(CHILD_PASS_FD, into, len);
		if (n <= 0)
			return -1;
	}
	return 0;
}

static void
pmix_server_release(void *bytes)
{
	free(bytes);
}

static struct waiter *
pmix_server_next(struct waiters *list, pmix_rank_t rank)
{
	struct waiter *w;

	pthread_mutex_lock(&server.lock);
	TAILQ_FOREACH (w, list, next)
		if (w->rank == rank)
			break;
	if (w != NULL)
		TAILQ_REMOVE(list, w, next);
	pthread_mutex_unlock(&server.lock);
	return w;
}

/* What came for all that wait for it; each takes a copy. */
static void
pmix_server_bring(int is_fence, pmix_rank_t rank, const char *bytes, size_t len)
{
	struct waiter *w;
	char *copy;

	while (
	    (w = pmix_server_next(is_fence ? &server.fences : &server.modexes,
		 rank)) != NULL) {
		copy = xcalloc(1, len + 1);
		memcpy(copy, bytes, len);
		w->cb(len > 0 || is_fence ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND,
		    copy, len, w->arg, pmix_server_release, copy);
		free(w);
	}
}

static int
pmix_server_message(const char *nspace)
{
	char line[80], verb[16], *bytes;
	size_t at = 0, len;
	long a, b;

	do
		if (pmix_server_read(&line[at], 1) < 0)
			return -1;
	while (line[at] != '\n' && ++at < sizeof(line) - 1);
	line[at] = '\0';
	if (sscanf(line, "%15s %ld %ld %zu", verb, &a, &b, &len) != 4 ||
	    len > BYTES_MAX)
		return -1;
	bytes = xcalloc(1, len + 1);
	if (pmix_server_read(bytes, len) < 0)
		return -1;
	if (strcmp(verb, "modex") == 0) {
		pmix_proc_t proc;
		pmix_status_t rc;

		PMIX_PROC_LOAD(&proc, nspace, (pmix_rank_t)a);
		rc = PMIx_server_dmodex_request(&proc, pmix_server_had,
		    (void *)(intptr_t)a);
		if (rc != PMIX_SUCCESS)
			pmix_server_had(rc, NULL, 0, (void *)(intptr_t)a);
	} else {
		pmix_server_bring(strcmp(verb, "fence") == 0, (pmix_rank_t)a,
		    bytes, len);
	}
	free(bytes);
	return 0;
}

int
main(int argc, char **argv)
{
	struct node_ranks n = { 0 };
	pmix_nspace_t nspace;
	pmix_info_t *info;
	pmix_status_t rc;
	int64_t first, local, size;

	if (argc != ARGS || str_to_int(argv[4], 0, INT32_MAX, &first) < 0 ||
	    str_to_int(argv[5], 1, 65535, &local) < 0 ||
	    str_to_int(argv[6], local, INT32_MAX, &size) < 0) {
		fprintf(stderr,
		    "usage: coalmine-pmix RUN DIRECTORY HOST FIRST-RANK "
		    "LOCAL-RANKS SIZE\nFor internal use: the agent starts this "
		    "program.\n");
		return 3;
	}
	n = (struct node_ranks){ argv[1], argv[2], argv[3], (uint32_t)first,
		(uint32_t)local, (uint32_t)size };
	server.size = n.size;
	TAILQ_INIT(&server.fences);
	TAILQ_INIT(&server.modexes);
	PMIX_INFO_CREATE(info, 3);
	PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, n.dir, PMIX_STRING);
	PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, n.dir, PMIX_STRING);
	PMIX_INFO_LOAD(&info[2], PMIX_HOSTNAME, n.host, PMIX_STRING);
	rc = PMIx_server_init(&calls, info, 3);
	if (rc != PMIX_SUCCESS)
		pmix_server_fail("server_init", rc);
	snprintf(nspace, sizeof(nspace), "coalmine.%s", n.run);
	pmix_server_register(&n, nspace);
	for (uint32_t i = 0; i < n.local; i++) {
		pmix_proc_t proc;

		PMIX_PROC_LOAD(&proc, nspace, n.first + i);
		pmix_server_env(&proc);
	}
	while (pmix_server_message(nspace) == 0)
		;
	PMIx_server_finalize();
	return 0;
}
