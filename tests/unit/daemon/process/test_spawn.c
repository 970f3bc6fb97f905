/* SPDX-License-Identifier: Apache-2.0 */
/* test_spawn.c - a killed program that does not end, because it hangs in the
 * kernel, does not delay the end of the collector. */
#include "daemon/process/spawn.h"

#include <event2/event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static pid_t waited;
static int waits_forever;

/* In place of the C library's: no child has ended. */
pid_t
waitpid(pid_t pid, int *ret_status, int options)
{
	(void)ret_status;
	waited = pid;
	waits_forever |= (options & WNOHANG) == 0;
	return 0;
}

static void
no_end(int status, const char *out, void *arg)
{
	(void)arg;
	fail_msg("status %d: %s", status, out);
}

static void
test_cancel(void **state)
{
	char sleeps[] = "/bin/sleep", span[] = "600";
	char *argv[] = { sleeps, span, NULL }, *env[] = { NULL };
	struct event_base *base = event_base_new();
	struct spawned *s = spawn_start(base, argv, env, no_end, NULL);
	int status = 0;

	(void)state;
	assert_non_null(s);
	spawn_cancel(s);
	assert_true(waited > 0);
	assert_false(waits_forever);
	assert_int_equal(syscall(SYS_wait4, waited, &status, 0, NULL), waited);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	event_base_free(base);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
