/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/job/rank_watch.c"

static char path[64];

static int
listen_at(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(path, sizeof(path), "/tmp/test_rank_watch.%ld",
	    (long)getpid());
	strcpy(addr.sun_path, path);
	unlink(path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void
expect(int fd, const char *want)
{
	char got[64] = "";
	ssize_t n = read(fd, got, sizeof(got) - 1);

	assert_int_equal(n, strlen(want));
	assert_string_equal(got, want);
}

/* The rank identifies itself, then says bye; the connection stays open in
 * between and after. */
static void
test_words(void **state)
{
	int server = listen_at(), fd;
	char want[64];

	(void)state;
	setenv("COALMINE_RANK_WATCH", path, 1);
	rank_watch_open(3);
	fd = accept(server, NULL, NULL);
	snprintf(want, sizeof(want), "rank 3 pid %ld\n", (long)getpid());
	expect(fd, want);
	rank_watch_stuck(
	    &(struct rank_stuck){ 7, "node9", "lat", 5.04, 123456789012 });
	expect(fd, "stuck 7 node9 lat 5.0 123456789012\n");
	rank_watch_bye();
	expect(fd, "bye\n");
	assert_int_equal(recv(fd, want, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(rank_watch_fd);
	rank_watch_fd = -1;
	expect(fd, "");
	close(fd);
	close(server);
	unlink(path);
}

/* An agent that went away does not stop a measurement, nor end it by a
 * signal. */
static void
test_nobody(void **state)
{
	int server = listen_at(), fd;

	(void)state;
	setenv("COALMINE_RANK_WATCH", "/nonexistent/ranks", 1);
	rank_watch_open(0);
	assert_true(rank_watch_fd < 0);
	rank_watch_bye();
	unsetenv("COALMINE_RANK_WATCH");
	rank_watch_fd = -1;
	rank_watch_open(0);
	assert_true(rank_watch_fd < 0);

	setenv("COALMINE_RANK_WATCH", path, 1);
	rank_watch_open(0);
	fd = accept(server, NULL, NULL);
	close(fd);
	close(server);
	unlink(path);
	rank_watch_bye();
	close(rank_watch_fd);
	rank_watch_fd = -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_nobody),
	};

	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
