/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher, or who poses as one, that asks for too much. */
#include "agents/launch/spawn_requests.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/un.h>
#include <unistd.h>

#define NODES 64

static char dir[] = "/tmp/coalmine-XXXXXX", path[64];
static size_t asked_bytes;

static int
ask_cb(int64_t id, const char *host, json_t *argv, void *arg)
{
	(void)id;
	(void)host;
	(void)arg;
	asked_bytes += json_string_length(json_array_get(argv, 0));
	return 0;
}

static int
dial(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(sun.sun_path, path);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* All of it, or until the agent has hung up; what it answers. */
static void
say(struct event_base *base, int fd, const char *text, size_t len, char *answer,
    size_t cap_bytes)
{
	ssize_t n = 0;

	for (size_t at = 0; at < len && (n >= 0 || errno == EAGAIN);) {
		n = send(fd, text + at, len - at, MSG_NOSIGNAL);
		at += n > 0 ? (size_t)n : 0;
		event_base_loop(base, EVLOOP_NONBLOCK);
	}
	for (int i = 0; i < 8; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
	n = recv(fd, answer, cap_bytes - 1, 0);
	answer[n > 0 ? n : 0] = '\0';
}

static int
setup(void **state)
{
	*state = event_base_new();
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	return 0;
}

static int
teardown(void **state)
{
	event_base_free(*state);
	unlink(path);
	return rmdir(dir);
}

static struct spawn_requests *
open_for(struct event_base *base, size_t nodes)
{
	return spawn_requests_open(base, path, geteuid(), -1, nodes, ask_cb,
	    NULL);
}

/* Lines that do not end: all of them together are bounded. */
static void
test_parts(void **state)
{
	struct spawn_requests *a = open_for(*state, NODES);
	size_t len = LINE_MAX_BYTES - 1, held = 0;
	char *text = xcalloc(1, len), answer[200];
	int fds[NODES], refused = 0;
	struct ask *k;

	memset(text, 'x', len);
	for (int i = 0; i < NODES; i++) {
		fds[i] = dial();
		assert_true(fds[i] >= 0);
		say(*state, fds[i], text, len, answer, sizeof(answer));
		refused += strstr(answer, "too much is asked for") != NULL;
	}
	assert_true(refused > NODES / 2);
	TAILQ_FOREACH (k, &a->list, next)
		held += evbuffer_get_length(bufferevent_get_input(k->bev));
	assert_in_range(held, 1, PART_BYTES_MAX);
	for (int i = 0; i < NODES; i++)
		close(fds[i]);
	spawn_requests_close(a);
	free(text);
}

/* Whole requests: so many in number, and so many bytes. */
static void
test_all(void **state)
{
	struct spawn_requests *a = open_for(*state, NODES);
	size_t len = LINE_MAX_BYTES / 2;
	char *text = xcalloc(1, len + 1), answer[200] = "";
	int made = 0, fd;

	memset(text, 'x', len);
	memcpy(text, "{\"argv\": [\"n2\", \"", 17);
	memcpy(text + len - 4, "\"]}\n", 4);
	while ((fd = dial()) >= 0) {
		say(*state, fd, text, len, answer, sizeof(answer));
		close(fd);
		made++;
	}
	assert_int_equal(made, NODES * ASKS_PER_NODE);
	assert_in_range(asked_bytes, len, ALL_BYTES_MAX);
	spawn_requests_close(a);

	a = open_for(*state, (size_t)1 << 16);
	for (asked_bytes = 0; strstr(answer, "too much") == NULL; close(fd)) {
		fd = dial();
		say(*state, fd, text, len, answer, sizeof(answer));
	}
	assert_in_range(asked_bytes, ALL_BYTES_MAX / 2, ALL_BYTES_MAX);
	spawn_requests_close(a);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
