/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.c - coalmine-keeper: run one child, and guarantee that none of its
 * processes is left.
 *
 * It is a subreaper, so every descendant of a launcher or a rank, in any
 * session, eventually becomes the keeper's child. It ends them all, TERM first
 * and KILL after the grace, when the child has ended, when the agent requests
 * it or is gone, and at the deadline. It reports to the agent, one line each on
 * its control socket: "started PID", "failed TEXT", "exited STATUS". The last
 * one comes when nothing is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/process/privileges.h"
#include "agents/process/proc.h"
#include "common/clk.h"
#include "common/program.h"
#include "common/str.h"
#include "common/xalloc.h"

#define GRACE_MS 2000
/* Repeat KILL at this interval, for processes forked in between. */
#define KILL_EVERY_MS 50
#define FILES_MAX     4096
/* Of the program's environment: the kernel has no larger ones. */
#define ENV_BYTES_MAX (8 * 1024 * 1024)

enum { EXIT_USAGE = 2, EXIT_BROKEN = 3 };

struct keeper {
	int control; /* to the agent */
	int signals; /* signalfd */
	pid_t agent; /* its pid; 0: this process's parent */
	pid_t child;
	int status;       /* of the child, as a shell counts; -1: it runs */
	int64_t uid, gid; /* -1: stay who we are */
	int64_t grace_ms, file_kib, processes; /* 0: no limit */
	uint64_t deadline_ns;
	uint64_t kill_ns;   /* when TERM turns into KILL; 0: not ending */
	const char *cgroup; /* leaf to make; NULL: none */
	int leaf;           /* it was made */
	int pass;           /* descriptor that the program inherits; -1: none */
	const char *cpus;   /* it is bound to these; NULL: any */
	char **argv;        /* program, then its argv from [0] */
	char **env;         /* of the program */
};

static void
keeper_say(struct keeper *k, const char *word, const char *text)
{
	char line[300];
	int n = snprintf(line, sizeof(line), "%s %s\n", word, text);

	if (n > 0 && n < (int)sizeof(line))
		(void)!send(k->control, line, (size_t)n, MSG_NOSIGNAL);
}

static void
keeper_say_int(struct keeper *k, const char *word, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	keeper_say(k, word, text);
}

/* In the child: errors reach the keeper as "what: why" through the pipe that
 * exec closes. */
static void
keeper_child_fail(int pipe_fd, const char *what)
{
	char text[200];
	int n = snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));

	(void)!write(pipe_fd, text, (size_t)n);
	_exit(127);
}

/* At most that much, and no more than there was. */
static void
keeper_limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now) < 0 || now.rlim_max < most)
		return;
	now.rlim_cur = now.rlim_max = most;
	setrlimit(what, &now);
}

/* Bind this process to the cores of a list such as "0-3,8". A list that names
 * no core of this machine binds to none: the probe runs all the same. */
static void
keeper_bind(const struct keeper *k)
{
	const char *at = k->cpus;
	cpu_set_t set;
	char *end;

	CPU_ZERO(&set);
	while (at != NULL && *at != '\0') {
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, &set);
		if (*end != ',')
			break;
		at = end + 1;
	}
	if (CPU_COUNT(&set) > 0)
		(void)sched_setaffinity(0, sizeof(set), &set);
}

/* From fork to exec.
 *
 * The child gets a separate process group, so that signals to the agent's group
 * do not reach it, but stays in the agent's session. Linux schedules by session
 * (autogroup), and next to a session that only yields, as more MPI ranks than
 * cores do, other sessions wait for seconds (6.18), the agent too unless it is
 * in the same one. The agent's terminal is not for children. */
static void
keeper_child_exec(struct keeper *k, pid_t keeper, int pipe_fd)
{
	static const struct rlimit no_core = { 0, 0 };
	gid_t gid = (gid_t)k->gid;
	char procs[4096];
	sigset_t none;
	int fd;

	fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if ((fd < 0 ? setpgid(0, 0) : (int)setsid()) < 0)
		keeper_child_fail(pipe_fd, "cannot create a process group");
	if (k->leaf &&
	    str_format(procs, sizeof(procs), "%s/cgroup.procs", k->cgroup) >=
		0) {
		fd = open(procs, O_WRONLY | O_CLOEXEC);
		if (fd >= 0)
			(void)!write(fd, "0", 1); /* 0: the writer */
	}
	setrlimit(RLIMIT_CORE, &no_core);
	keeper_limit(RLIMIT_NOFILE, FILES_MAX);
	if (k->file_kib > 0)
		keeper_limit(RLIMIT_FSIZE, (rlim_t)k->file_kib * 1024);
	if (k->processes > 0)
		keeper_limit(RLIMIT_NPROC, (rlim_t)k->processes);
	if (k->uid >= 0 &&
	    (setgroups(1, &gid) < 0 || setgid(gid) < 0 ||
		setuid((uid_t)k->uid) < 0))
		keeper_child_fail(pipe_fd,
		    "cannot change to the user of probes");
	if (k->uid > 0 && setuid(0) == 0)
		keeper_child_fail(pipe_fd,
		    "still root after the change to the user of probes");
	/* after the change of user, which clears it */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		keeper_child_fail(pipe_fd, "prctl");
	if (getppid() != keeper)
		_exit(127);
	fd = open("/dev/null", O_RDONLY);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		keeper_child_fail(pipe_fd, "/dev/null");
	if (chdir("/") < 0)
		keeper_child_fail(pipe_fd, "/");
	if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		keeper_child_fail(pipe_fd, "close_range");
	if (k->pass >= 0 && fcntl(k->pass, F_SETFD, 0) < 0)
		keeper_child_fail(pipe_fd, "--pass");
	keeper_bind(k);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(k->argv[0], k->argv + 1, k->env);
	keeper_child_fail(pipe_fd, k->argv[0]);
}

/* Return 0, or -1 after sending the reason to the agent. */
static int
keeper_child_start(struct keeper *k)
{
	pid_t keeper = getpid();
	char text[200];
	int fds[2];
	ssize_t n;

	if (k->cgroup != NULL)
		k->leaf = mkdir(k->cgroup, 0755) == 0 || errno == EEXIST;
	if (pipe2(fds, O_CLOEXEC) < 0 || (k->child = fork()) < 0) {
		keeper_say(k, "failed", strerror(errno));
		return -1;
	}
	if (k->child == 0)
		keeper_child_exec(k, keeper, fds[1]);
	close(fds[1]);
	if (k->pass >= 0)
		close(k->pass); /* the child's alone: its end is seen */
	n = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	if (n > 0) {
		text[n] = '\0';
		keeper_say(k, "failed", text);
		waitpid(k->child, NULL, 0);
		return -1;
	}
	keeper_say_int(k, "started", (int)k->child);
	return 0;
}

/* A confined root sees and ends processes of another user only as that user.
 * Its real identity stays, so they cannot reach it meanwhile. */
static void
keeper_kill_all(const struct keeper *k, int sig)
{
	privileges_take(k->uid, k->gid);
	proc_kill_below(getpid(), sig);
	privileges_back();
}

/* TERM now, KILL after the grace. A shorter grace than before counts. */
static void
keeper_end_begin(struct keeper *k, int64_t grace_ms)
{
	uint64_t at_ns = clk_ns() + (uint64_t)grace_ms * CLK_NS_PER_MS;

	if (k->kill_ns == 0)
		keeper_kill_all(k, SIGTERM);
	if (k->kill_ns == 0 || at_ns < k->kill_ns)
		k->kill_ns = at_ns;
}

/* "end GRACE_MS"; the end of file is the end of the agent. */
static void
keeper_control_read(struct keeper *k)
{
	char text[64];
	ssize_t n = recv(k->control, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close(k->control);
		k->control = -1;
		keeper_end_begin(k, k->grace_ms);
		return;
	}
	text[n] = '\0';
	for (char *line = strtok(text, "\n"); line != NULL;
	     line = strtok(NULL, "\n")) {
		int64_t grace_ms = k->grace_ms;

		if (strncmp(line, "end ", 4) == 0)
			str_to_int(line + 4, 0, 3600000, &grace_ms);
		keeper_end_begin(k, grace_ms);
	}
}

/* Until nothing is left. */
static void
keeper_keep(struct keeper *k)
{
	for (;;) {
		struct pollfd fds[2] = { { k->signals, POLLIN, 0 },
			{ k->control, POLLIN, 0 } };
		struct signalfd_siginfo si;
		uint64_t now_ns = clk_ns(), until_ns, ms;
		int status;
		pid_t pid;

		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == k->child)
				k->status = program_exit(status);
		if (pid < 0 && errno == ECHILD)
			return;
		if (k->status >= 0 && k->kill_ns == 0)
			keeper_end_begin(k, k->grace_ms); /* strays */
		until_ns = k->kill_ns == 0 ? k->deadline_ns : k->kill_ns;
		if (until_ns > now_ns)
			ms = (until_ns - now_ns) / CLK_NS_PER_MS + 1;
		else
			ms = k->kill_ns == 0 ? 0 : KILL_EVERY_MS;
		poll(fds, 2, ms > 60000 ? 60000 : (int)ms);
		while (fds[0].revents &&
		    read(k->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
			if (si.ssi_signo != SIGCHLD)
				keeper_end_begin(k, k->grace_ms);
		if (fds[1].revents)
			keeper_control_read(k);
		if (k->kill_ns == 0 && clk_ns() >= k->deadline_ns)
			keeper_end_begin(k, k->grace_ms);
		if (k->kill_ns == 0 || clk_ns() < k->kill_ns)
			continue;
		keeper_kill_all(k, SIGKILL);
		if (k->leaf)
			proc_cgroup_kill(k->cgroup);
	}
}

/* End with the agent, and see it even if it went before the call. */
static int
keeper_guard(struct keeper *k)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (k->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return -errno;
	if (k->agent != 0 && getppid() != k->agent)
		return -ESRCH;
	return 0;
}

/* "NAME=value", each with its NUL. The program's variables do not go into the
 * keeper's own environment, where they could make its loader run other code. */
static int
keeper_env_read(struct keeper *k, int fd)
{
	struct stat st;
	size_t count = 0, len;
	char *text;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < 0 || st.st_size > ENV_BYTES_MAX)
		return -E2BIG;
	len = (size_t)st.st_size;
	text = xcalloc(1, len + 1);
	if (pread(fd, text, len, 0) != (ssize_t)len)
		return -EIO;
	close(fd);
	for (size_t i = 0; i < len; i++)
		count += text[i] == '\0';
	k->env = xcalloc(count + 1, sizeof(*k->env));
	for (size_t i = 0; i < count; i++) {
		k->env[i] = text;
		text += strlen(text) + 1;
	}
	return 0;
}

static const char usage[] =
    "usage: coalmine-keeper --control=FD [--agent=PID] [--uid=N --gid=N]\n"
    "           [--deadline-ms=N] [--grace-ms=N] [--cgroup=DIR] [--env=FD]\n"
    "           [--file-kib=N] [--processes=N] [--pass=FD]\n"
    "           [--cpus=LIST] PROGRAM ARGV0 [ARG...]\n";

static int
keeper_options(struct keeper *k, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "control", required_argument, NULL, 's' },
		{ "agent", required_argument, NULL, 'a' },
		{ "uid", required_argument, NULL, 'u' },
		{ "gid", required_argument, NULL, 'g' },
		{ "deadline-ms", required_argument, NULL, 'd' },
		{ "grace-ms", required_argument, NULL, 'k' },
		{ "cgroup", required_argument, NULL, 'c' },
		{ "env", required_argument, NULL, 'e' },
		{ "file-kib", required_argument, NULL, 'f' },
		{ "processes", required_argument, NULL, 'p' },
		{ "pass", required_argument, NULL, 'i' },
		{ "cpus", required_argument, NULL, 'b' },
		{ NULL, 0, NULL, 0 },
	};
	int64_t control = -1, agent = 0, deadline_ms = 3600000, env = -1;
	int64_t pass = -1;
	int64_t *const into[128] = { ['s'] = &control,
		['a'] = &agent,
		['u'] = &k->uid,
		['g'] = &k->gid,
		['d'] = &deadline_ms,
		['k'] = &k->grace_ms,
		['e'] = &env,
		['f'] = &k->file_kib,
		['p'] = &k->processes,
		['i'] = &pass };
	int opt;

	while ((opt = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		if (opt == 'c')
			k->cgroup = optarg;
		else if (opt == 'b')
			k->cpus = optarg;
		else if (opt >= 128 || into[opt] == NULL ||
		    str_to_int(optarg, 0, UINT32_MAX, into[opt]) < 0)
			return -EINVAL;
	}
	if (control < 0 || argc - optind < 2 || (k->uid < 0) != (k->gid < 0))
		return -EINVAL;
	k->control = (int)control;
	k->agent = (pid_t)agent;
	k->pass = (int)pass;
	k->deadline_ns = clk_ns() + (uint64_t)deadline_ms * CLK_NS_PER_MS;
	k->argv = argv + optind;
	return env < 0 ? 0 : keeper_env_read(k, (int)env);
}

int
main(int argc, char **argv)
{
	struct keeper k = { .status = -1,
		.env = environ,
		.uid = -1,
		.gid = -1,
		.pass = -1,
		.grace_ms = GRACE_MS };
	int rc;

	if (keeper_options(&k, argc, argv) < 0) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	rc = keeper_guard(&k);
	if (rc < 0) {
		keeper_say(&k, "failed", strerror(-rc));
		return EXIT_BROKEN;
	}
	if (keeper_child_start(&k) < 0) {
		if (k.leaf)
			rmdir(k.cgroup);
		return EXIT_BROKEN;
	}
	keeper_keep(&k);
	if (k.leaf)
		rmdir(k.cgroup);
	if (k.control >= 0)
		keeper_say_int(&k, "exited", k.status);
	return 0;
}
