/* SPDX-License-Identifier: Apache-2.0 */
/* Code that runs in the network process cannot read files of root or of the
 * children's user, take over another process, or start a program. Each attempt
 * succeeds before the drop, or else the test could not fail. */
#include "agents/process/drop.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/str.h"

/* Any two users without a meaning on this machine. */
#define NETWORK 61001
#define PROBE   61002

static char dir[] = "/tmp/coalmine-XXXXXX";
static pid_t broker, probe;

static int
read_file(const char *name)
{
	char path[100], byte;
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	rc = fd >= 0 && read(fd, &byte, 1) == 1;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int
read_root(void)
{
	return read_file("root");
}

static int
read_probe(void)
{
	return read_file("probe");
}

/* Also with the group that creates files for children. */
static int
read_probe_as_group(void)
{
	return setegid(PROBE) == 0 && read_file("probe");
}

static int
read_shadow(void)
{
	int fd = open("/etc/shadow", O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == ENOENT;
}

static int
read_environ(pid_t pid)
{
	char path[64], byte;
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY);
	rc = fd >= 0 && read(fd, &byte, 1) >= 0;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int
read_environ_broker(void)
{
	return read_environ(broker);
}

static int
read_environ_probe(void)
{
	return read_environ(probe);
}

static int
kill_broker(void)
{
	return kill(broker, 0) == 0;
}

static int
kill_probe(void)
{
	return kill(probe, 0) == 0;
}

static int
become_root(void)
{
	return setuid(0) == 0;
}

static int
become_probe(void)
{
	return setresuid(PROBE, PROBE, PROBE) == 0;
}

static int
trace(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
		return 1;
	return 0;
}

static int
trace_broker(void)
{
	return trace(broker);
}

/* A process of the same user, which only the denied call protects. */
static int
trace_own(void)
{
	pid_t pid = fork();
	int rc;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	rc = trace(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rc;
}

/* True if the program ran. */
static int
execute(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static int
enter_namespace(void)
{
	return unshare(CLONE_NEWNS) == 0;
}

static int
has_capability(void)
{
	char line[200];
	unsigned long long mask = 0, all = 0;
	FILE *fp = fopen("/proc/self/status", "r");

	while (fp != NULL && fgets(line, sizeof(line), fp) != NULL)
		if (strncmp(line, "CapBnd", 6) != 0 &&
		    sscanf(line, "Cap%*3s: %llx", &mask) == 1)
			all |= mask;
	if (fp != NULL)
		fclose(fp);
	return all != 0;
}

static const struct {
	const char *name;
	int (*try)(void);
} attempts[] = {
	{ "read a file of root", read_root },
	{ "read a file of the children's user", read_probe },
	{ "read it as a member of its group", read_probe_as_group },
	{ "read /etc/shadow", read_shadow },
	{ "read the environment of the broker", read_environ_broker },
	{ "read the environment of a probe", read_environ_probe },
	{ "end the broker", kill_broker },
	{ "end a probe", kill_probe },
	{ "become root", become_root },
	{ "become the children's user", become_probe },
	{ "trace the broker", trace_broker },
	{ "trace a process of its own", trace_own },
	{ "start a program", execute },
	{ "create a namespace", enter_namespace },
	{ "have a capability", has_capability },
};

/* Return 1 if the attempt succeeds in a new process. */
static int
tried(int (*try)(void), int drop)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (drop)
			drop_privileges("nobody", NETWORK, NETWORK, PROBE);
		_exit(try() ? 0 : 7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 7);
	return WEXITSTATUS(status) == 0;
}

static pid_t
sleeper(uid_t uid)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (setgid(uid) < 0 || setuid(uid) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	return pid;
}

static void
file_make(const char *name, uid_t uid)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(fchown(fd, uid, uid), 0);
	close(fd);
}

static void
test_attempts(void **state)
{
	int bad = 0;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	file_make("root", 0);
	file_make("probe", PROBE);
	broker = sleeper(0);
	probe = sleeper(PROBE);
	for (size_t i = 0; i < ARRAY_LEN(attempts); i++) {
		if (!tried(attempts[i].try, 0))
			print_message("as root, cannot %s: not shown\n",
			    attempts[i].name);
		if (tried(attempts[i].try, 1)) {
			print_error("without privileges: can %s\n",
			    attempts[i].name);
			bad++;
		}
	}
	kill(broker, SIGKILL);
	kill(probe, SIGKILL);
	waitpid(broker, NULL, 0);
	waitpid(probe, NULL, 0);
	(void)!read_file("root");
	assert_int_equal(bad, 0);
}

/* It can still create files for children, in their group. */
static void
test_group(void **state)
{
	char path[100];
	struct stat st;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(dir, NETWORK, NETWORK), 0);
	snprintf(path, sizeof(path), "%s/run", dir);
	pid = fork();
	if (pid == 0) {
		drop_privileges("nobody", NETWORK, NETWORK, PROBE);
		_exit(setegid(PROBE) < 0 || mkdir(path, 0700) < 0 ||
		    setegid(getgid()) < 0 || chmod(path, 01770) < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, NETWORK);
	assert_int_equal(st.st_gid, PROBE);
	assert_int_equal(st.st_mode & 07777, 01770);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/root", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/probe", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attempts),
		cmocka_unit_test(test_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
