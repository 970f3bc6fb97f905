/* SPDX-License-Identifier: Apache-2.0 */
/* test_notify.c - the messages to a service manager, and that only it receives
 * them. */
#include "common/notify.c"

#include <setjmp.h>
#include <cmocka.h>

static int manager_fd = -1;

static void
listen_at(const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	strcpy(sun.sun_path, name);
	sun.sun_path[0] = '\0'; /* abstract: no file is left */
	manager_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(manager_fd, (struct sockaddr *)&sun,
			     (socklen_t)(offsetof(struct sockaddr_un,
					     sun_path) +
				 strlen(name))),
	    0);
}

static void
heard(const char *want)
{
	char text[300] = "";
	ssize_t n = recv(manager_fd, text, sizeof(text) - 1, 0);

	if (want == NULL) {
		assert_int_equal(n, -1);
		return;
	}
	assert_true(n > 0);
	assert_int_equal(strncmp(text, want, strlen(want)), 0);
}

static void
test_manager(void **state)
{
	char name[64], pid[16];

	(void)state;
	snprintf(name, sizeof(name), "@coalmine-notify-%d", (int)getpid());
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	listen_at(name);
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "3000000", 1);
	setenv("WATCHDOG_PID", pid, 1);
	notify_init();
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_null(getenv("WATCHDOG_USEC"));
	assert_true(notify_watchdog_every_ns() == 1500 * CLK_NS_PER_MS);
	notify_ready();
	heard("READY=1");
	notify_status("%d agents", 12);
	heard("STATUS=12 agents");
	notify_reloading();
	heard("RELOADING=1\nMONOTONIC_USEC=");
	notify_watchdog();
	heard("WATCHDOG=1");
	notify_stopping();
	heard("STOPPING=1");
	setenv("WATCHDOG_USEC", "3000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	notify_init(); /* no manager any more, a watchdog for another */
	assert_true(notify_watchdog_every_ns() == 0);
	notify_ready();
	heard(NULL);
	close(manager_fd);
}

static void
test_odd(void **state)
{
	static const char *const paths[] = { "", "relative", "/nonexistent" };
	char longer[300];

	(void)state;
	memset(longer, 'a', sizeof(longer));
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		setenv("NOTIFY_SOCKET", paths[i], 1);
		notify_init();
		notify_ready();
	}
	setenv("NOTIFY_SOCKET", longer, 1);
	notify_init();
	assert_int_equal(manager_bytes, 0);
	notify_ready();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager),
		cmocka_unit_test(test_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
