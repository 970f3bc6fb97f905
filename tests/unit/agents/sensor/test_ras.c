/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ras.c - readings of a RAS port over sockets: a server that answers, one
 * that accepts and is silent, one that sends garbage without end; in the
 * agent's network namespace and in another one.
 */
#include "agents/sensor/ras.c"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "common/member.h"

#define HEAD "SERVER PROTOCOL 2\nOK\n"
#define VER  "NCCL version 2.28.9 compiled with CUDA 13.0\n"
#define TEXT HEAD VER "Errors\n======\n\nWarnings\n"
#define JSON                                                                   \
	HEAD "OK\n{\"nccl_version\":\"2.28.9\",\"communicators\":[{\"hash\":"  \
	     "\"0x1\",\"size\":1,\"ranks\":[{\"rank\":0,\"host\":\"127.0.0."   \
	     "1\","                                                            \
	     "\"pid\":%d,\"nvml_dev\":0,\"status\":{},\"collective_counts\":{" \
	     "\"AllReduce\":5}}],\"missing_ranks\":[]}]}"
#define LIMIT_MS 20000

enum serve { SERVE_JSON, SERVE_SILENT_ONCE, SERVE_GARBAGE, SERVE_LATER };

static pid_t server;
static uint16_t port;

/* The child: one connection after another. */
static void
serve(int fd, enum serve how)
{
	static const char garbage[4096] = { "[[[{\"x\":\"" };
	int silent = -1, c;
	char got[400];
	ssize_t n;

	while ((c = accept(fd, NULL, NULL)) >= 0) {
		if (how == SERVE_SILENT_ONCE && silent < 0) {
			silent = c;
			continue;
		}
		for (size_t len = 0; len < sizeof(got) - 1;) {
			n = read(c, got + len, sizeof(got) - 1 - len);
			if (n <= 0)
				break;
			len += (size_t)n;
			got[len] = '\0';
			if (strstr(got, "VERBOSE STATUS\n") != NULL)
				break;
		}
		if (how == SERVE_GARBAGE)
			while (write(c, garbage, sizeof(garbage)) > 0)
				;
		else if (how == SERVE_LATER)
			dprintf(c, HEAD "NCCL version 3.0.1 compiled\n");
		else if (strstr(got, "SET FORMAT JSON") != NULL)
			dprintf(c, JSON, (int)getpid());
		else
			dprintf(c, TEXT);
		close(c);
	}
	_exit(0);
}

/* Start a process of job 41 that listens, in its own network namespace if
 * own_space is set. Return 0 if namespaces are not available. */
static int
server_start(enum serve how, int own_space)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd, one = 1, ready[2];
	socklen_t len = sizeof(at);

	assert_int_equal(pipe(ready), 0);
	server = fork();
	if (server != 0) {
		close(ready[1]);
		port = 0;
		(void)!read(ready[0], &port, sizeof(port));
		close(ready[0]);
		return port != 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	if (own_space && unshare(CLONE_NEWNET) < 0)
		_exit(0);
	if (own_space && system("ip link set lo up") != 0)
		_exit(0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)(void *)&at, sizeof(at)) < 0 ||
	    listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)(void *)&at, &len) < 0)
		_exit(0);
	port = ntohs(at.sin_port);
	(void)!write(ready[1], &port, sizeof(port));
	serve(fd, how);
	_exit(0);
}

static void
server_stop(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

/* The first report. */
static json_t *
look(struct event_base *base)
{
	struct ras *r = ras_new(base, port);
	uint64_t end_ns = clk_ns() + LIMIT_MS * CLK_NS_PER_MS;
	json_t *list = NULL;

	while (list == NULL && clk_ns() < end_ns) {
		struct timeval soon = { .tv_usec = 50000 };

		event_base_loopexit(base, &soon);
		event_base_dispatch(base);
		list = ras_take(r);
	}
	ras_free(r);
	return list;
}

static void
want(enum serve how, int own_space, const char *version, int has_counts,
    const char *error)
{
	struct event_base *base = event_base_new();
	json_t *list;
	const json_t *o;

	if (!server_start(how, own_space)) {
		event_base_free(base);
		server_stop();
		skip();
	}
	list = look(base);
	o = json_array_get(list, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(o, "job"), "41");
	assert_int_equal(member_int(o, "uid"), getuid());
	assert_string_equal(member_text(o, "version"), version);
	/* Only JSON has the counts of all ranks. */
	assert_int_equal(json_object_get(o, "launched") != NULL, has_counts);
	if (strstr(member_text(o, "error"), error) == NULL)
		fail_msg("%s", member_text(o, "error"));
	json_decref(list);
	server_stop();
	event_base_free(base);
}

static void
test_answers(void **state)
{
	(void)state;
	want(SERVE_JSON, 0, "2.28.9", 1, "");
}

static void
test_other_namespace(void **state)
{
	(void)state;
	want(SERVE_JSON, 1, "2.28.9", 1, "");
}

/* The first connection reached a process that is stopped. */
static void
test_silent(void **state)
{
	(void)state;
	want(SERVE_SILENT_ONCE, 0, "2.28.9", 0, "");
}

static void
test_garbage(void **state)
{
	(void)state;
	want(SERVE_GARBAGE, 0, "", 0, "cannot interpret the reply of NCCL ?");
	want(SERVE_LATER, 0, "", 0, "the reply of NCCL 3.0.1 is incomplete");
}

static void
test_addresses(void **state)
{
	struct place p = { .pid = 1 };
	char text[INET6_ADDRSTRLEN];

	(void)state;
	assert_int_equal(ras_address("0100007F:6D7C", 28028, &p), 1);
	assert_string_equal(inet_ntop(AF_INET,
				&((struct sockaddr_in *)(void *)&p.to)
				     ->sin_addr,
				text, sizeof(text)),
	    "127.0.0.1");
	assert_int_equal(ras_address("00000000000000000000000000000000:6D7C",
			     28028, &p),
	    1);
	assert_string_equal(inet_ntop(AF_INET6,
				&((struct sockaddr_in6 *)(void *)&p.to)
				     ->sin6_addr,
				text, sizeof(text)),
	    "::1");
	assert_int_equal(ras_address("0100007F:6D7D", 28028, &p), 0);
	assert_int_equal(ras_address("0100007F", 28028, &p), 0);
	assert_int_equal(ras_address("", 28028, &p), 0);
	assert_null(ras_new(NULL, 0));
	assert_null(ras_take(NULL));
	ras_free(NULL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_other_namespace),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_garbage),
	};

	(void)argc;
	/* Again, as a process of a job. */
	if (getenv("COALMINE_JOB") == NULL) {
		setenv("COALMINE_JOB", "41", 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	/* Where no process of another job is. */
	if (unshare(CLONE_NEWNET) < 0 || system("ip link set lo up") != 0) {
		printf("skipped: no network namespace can be made here\n");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN); /* as the agent does */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
