/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that writes arbitrary data on its connection: each rank is lost once,
 * and memory does not grow. */
#include "agents/run/rank_watch.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[] = "/tmp/coalmine-XXXXXX", path[64];
static unsigned lost_count;
static uint64_t seen_ranks[RANKS_MAX * 8 / 64 + 1];
static int twice;

static void
lost_cb(int64_t rank, int64_t pid, int exited, void *arg)
{
	(void)pid;
	(void)exited;
	(void)arg;
	twice |= (int)(seen_ranks[rank / 64] >> rank % 64 & 1);
	seen_ranks[rank / 64] |= 1ull << rank % 64;
	lost_count++;
}

static json_t *stuck_with;

static void
stuck_cb(int64_t rank, int64_t pid, json_t *with, void *arg)
{
	(void)pid;
	(void)arg;
	assert_int_equal(rank, 1);
	json_decref(stuck_with);
	stuck_with = with;
}

static const struct rank_watch_ops ops = { lost_cb, stuck_cb, NULL };

/* Open a connection that sends text. Return it, or -errno. */
static int
say(const char *text)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), rc;

	strcpy(sun.sun_path, path);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void
loop(struct event_base *base)
{
	for (int i = 0; i < 4; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
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

static void
test_flood(void **state)
{
	struct event_base *base = *state;
	struct rank_watch *t = rank_watch_open(base, path, -1, &ops, NULL);
	char text[64];
	int made = 0, fd;

	for (int i = 0; i < 8 * RANKS_MAX; i++) {
		snprintf(text, sizeof(text), "rank %d pid 7\n", i / 2);
		fd = say(text);
		if (fd < 0)
			break;
		close(fd);
		made++;
		loop(base);
	}
	assert_int_equal(made, CONNS_MAX);
	assert_int_equal(lost_count, RANKS_MAX);
	assert_false(twice);
	rank_watch_close(t);
}

/* A rank reports a stuck peer after it has identified itself, for at most two
 * peers, in this format. */
static void
test_stuck(void **state)
{
	static const char *const wrong[] = {
		"stuck 3 node3 lat 5.0 77\n",
		"rank 1 pid 7\nstuck 3 node3 lat 5.0 77 \n",
		"rank 1 pid 7\nstuck 3 node3 walk 5.0 77\n",
		"rank 1 pid 7\nstuck -2 node3 lat 5.0 77\n",
		"rank 1 pid 7\nstuck 3 a\"b lat 5.0 77\n",
		"rank 1 pid 7\nstuck 3 node3 lat nan 77\n",
	};
	struct event_base *base = *state;
	struct rank_watch *t = rank_watch_open(base, path, -1, &ops, NULL);
	int fd;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		fd = say(wrong[i]);
		loop(base);
		assert_true(TAILQ_EMPTY(&t->conns));
		assert_null(stuck_with);
		close(fd);
	}
	fd = say("rank 1 pid 7\nstuck 3 node3 lat 5.0 77\n"
		 "stuck 4 node4 plan 5.5 78\n");
	loop(base);
	assert_string_equal(json_string_value(
				json_object_get(stuck_with, "node")),
	    "node4");
	assert_string_equal(json_string_value(
				json_object_get(stuck_with, "what")),
	    NAMES_PLAN);
	assert_int_equal(json_integer_value(json_object_get(stuck_with, "at")),
	    78);
	assert_false(TAILQ_EMPTY(&t->conns));
	assert_int_equal(write(fd, "stuck 5 node5 bw 5.5 78\n", 24), 24);
	loop(base);
	assert_true(TAILQ_EMPTY(&t->conns));
	close(fd);
	json_decref(stuck_with);
	rank_watch_close(t);
}

/* Without descriptors the listener pauses; then waiting connections are
 * accepted. */
static void
test_pause(void **state)
{
	struct event_base *base = *state;
	struct rank_watch *t = rank_watch_open(base, path, -1, &ops, NULL);
	struct rlimit was, low;
	int fd = say("rank 1 pid 7\n");

	getrlimit(RLIMIT_NOFILE, &was);
	low = (struct rlimit){ (rlim_t)fd + 1, was.rlim_max };
	setrlimit(RLIMIT_NOFILE, &low);
	event_base_loop(base, EVLOOP_ONCE);
	event_base_loop(base, EVLOOP_NONBLOCK);
	/* only the timer is left, otherwise this would return at once */
	assert_int_equal(event_base_get_num_events(base,
			     EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE),
	    1);
	setrlimit(RLIMIT_NOFILE, &was);
	while (rank_watch_count(t) == 0)
		event_base_loop(base, EVLOOP_ONCE);
	close(fd);
	rank_watch_close(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
