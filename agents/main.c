/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - coalmine-agent: one libevent loop on every node, and with agent.user
 * a broker (broker.h).
 *
 * Start: configuration, names, leftovers of an earlier life, inventory, spool,
 * session. End: the runs, then the session, then the rest in reverse.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/agent.h"
#include "agents/try.h"
#include "agents/sensor/inventory.h"
#include "agents/sensor/ras.h"
#include "agents/sensor/inband.h"
#include "agents/launch/launcher.h"
#include "agents/launch/mpi_impl.h"
#include "agents/mesh/mesh.h"
#include "agents/orders/orders.h"
#include "agents/orders/records.h"
#include "agents/spool/spool.h"
#include "agents/process/broker.h"
#include "agents/process/child.h"
#include "agents/process/drop.h"
#include "agents/process/own.h"
#include "agents/process/proc.h"
#include "agents/run/privileged.h"
#include "agents/run/run.h"
#include "agents/run/cleanup.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/notify.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "pki/pki.h"
#include "schema/mpi_settings.h"
#include "schema/options.h"

#define CONFIG_PATH "/etc/coalmine/coalmine-agent.conf"
/* The loop must end this soon after the signal, whatever is stuck. */
#define STOP_LIMIT_S 10
/* Time until the first and between later retries of the spool. */
#define RETRY_MIN_S 5
#define RETRY_MAX_S 600

enum { EXIT_START = 1, EXIT_CONFIG = 3 };

struct arguments {
	const char *config; /* NULL: CONFIG_PATH, which may be missing */
	char *sets[64];     /* section.key=value */
	size_t set_count;
	int check, print;
	const char *try; /* an MPI */
};

static const char usage[] =
    "usage: coalmine-agent [--config FILE] [-o section.key=value]...\n"
    "           [--check-config] [--print-config] [--try MPI] [--version]\n";

static void
main_arguments_read(struct arguments *a, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check-config", no_argument, NULL, 'n' },
		{ "print-config", no_argument, NULL, 'p' },
		{ "try", required_argument, NULL, 't' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "c:no:", longs, NULL)) != -1) {
		if (opt == 'c')
			a->config = optarg;
		else if (opt == 'o' && a->set_count < ARRAY_LEN(a->sets))
			a->sets[a->set_count++] = optarg;
		else if (opt == 'n')
			a->check = 1;
		else if (opt == 'p')
			a->print = 1;
		else if (opt == 't')
			a->try = optarg;
		else if (opt == 'V') {
			puts("coalmine-agent " COALMINE_VERSION);
			exit(0);
		} else {
			fputs(usage, opt == 'h' ? stdout : stderr);
			exit(opt == 'h' ? 0 : EXIT_CONFIG);
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		exit(EXIT_CONFIG);
	}
}

/* A name without a folder would be looked up in the folders of the run. */
static int
main_programs_check(const struct conf *c, struct err *err)
{
	size_t count = 0;
	char **list = str_list_parse(conf_string(c, "children", "programs"),
	    &count);
	int rc = 0;

	if (list == NULL)
		rc = err_set(err, -EINVAL,
		    "%s: children.programs: empty list element",
		    conf_where(c, "children", "programs"));
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (list[i][0] != '/')
			rc = err_set(err, -EINVAL,
			    "%s: children.programs: %.80s: expected a path "
			    "from / on",
			    conf_where(c, "children", "programs"), list[i]);
	str_list_free(list);
	return rc;
}

/* Settings that do not work without root. */
static int
main_separation_check(const struct conf *c, struct err *err)
{
	const char *user = conf_string(c, "agent", "user");
	const char *child = conf_string(c, "children", "user");

	if (geteuid() != 0 || user[0] == '\0')
		return 0;
	if (conf_int(c, "agent", "ras_port") > 0)
		return err_set(err, -EINVAL,
		    "%s: agent.ras_port: expected 0 with agent.user = %s: only "
		    "root can read the processes of jobs; set agent.user = "
		    "(empty) to query RAS",
		    conf_where(c, "agent", "ras_port"), user);
	if (child[0] == '\0' || strcmp(child, "root") == 0 ||
	    strcmp(child, user) == 0 || strcmp(user, "root") == 0)
		return err_set(err, -EINVAL,
		    "%s: agent.user: expected a user other than root, and in "
		    "children.user another one; agent.user = (empty) runs the "
		    "agent as one process",
		    conf_where(c, "agent", "user"));
	return 0;
}

/* Without children.libexec the helpers of the agent's own installation are
 * used: PREFIX/libexec/coalmine of PREFIX/sbin/coalmine-agent. */
static int
main_libexec_find(struct conf *c, struct err *err)
{
	char self[PATH_MAX], path[PATH_MAX], keeper[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	for (int up = 0; up < 2; up++)
		if (strrchr(self, '/') != NULL)
			*strrchr(self, '/') = '\0';
	if (conf_given(c, "children", "libexec") ||
	    str_format(path, sizeof(path), "%s/" COALMINE_LIBEXECDIR, self) <
		0 ||
	    strcmp(path, conf_string(c, "children", "libexec")) == 0 ||
	    str_format(keeper, sizeof(keeper), "%s/coalmine-keeper", path) <
		0 ||
	    access(keeper, X_OK) < 0)
		return 0;
	return conf_set(c, "children", "libexec", path, self, err);
}

static struct conf *
main_conf_read(const struct arguments *a)
{
	const char *path = a->config != NULL ? a->config : CONFIG_PATH;
	struct conf *c = NULL;
	struct err err;
	int rc;

	if (a->config == NULL && access(path, F_OK) < 0)
		rc = conf_parse(options_agent, "defaults", "", &c, &err);
	else
		rc = conf_load(options_agent, path, &c, &err);
	for (size_t i = 0; rc == 0 && i < a->set_count; i++)
		rc = conf_override(c, a->sets[i], "-o", &err);
	if (rc == 0)
		rc = main_libexec_find(c, &err);
	/* What rows alone cannot say. */
	if (rc == 0 &&
	    strcmp(conf_string(c, "idle", "check"), "command") == 0 &&
	    conf_string(c, "idle", "command")[0] == '\0')
		rc = err_set(&err, -EINVAL,
		    "%s: idle.check = command requires idle.command",
		    conf_where(c, "idle", "check"));
	if (rc == 0)
		rc = main_programs_check(c, &err);
	if (rc == 0)
		rc = main_separation_check(c, &err);
	if (rc == 0)
		rc = mpi_settings_conf_check(c, &err);
	if (rc == 0)
		rc = mpi_impl_ports_check(c, &err);
	if (rc == 0) {
		rc = launcher_line_check(conf_string(c, "children", "command"),
		    &err);
		if (rc == 0)
			return c;
		err_say(&err, "%s: children.command: %s",
		    conf_where(c, "children", "command"), err.text);
	}
	fprintf(stderr, "coalmine-agent: %s\n", err.text);
	exit(EXIT_CONFIG);
}

/* Sets the user of children: only root can choose another one. */
static void
main_child_user_find(struct agent *ag)
{
	const char *user = conf_string(ag->conf, "children", "user");
	struct passwd *pw;

	ag->child_uid = ag->child_gid = ag->uid = ag->gid = -1;
	if (geteuid() != 0 || user[0] == '\0') {
		pw = getpwuid(geteuid());
		user = pw != NULL ? pw->pw_name : "nobody";
	} else {
		pw = getpwnam(user);
		if (pw == NULL)
			fatalx("%s: children.user: user %s does not exist; "
			       "systemd-sysusers creates the users of packages",
			    conf_where(ag->conf, "children", "user"), user);
		if (pw->pw_uid != 0) {
			ag->child_uid = pw->pw_uid;
			ag->child_gid = pw->pw_gid;
		}
	}
	ag->child_user = xstrdup(user);
	if (geteuid() == 0 && ag->child_uid < 0)
		log_warnx("children.user is root: %s",
		    conf_bool(ag->conf, "children", "allow_root")
			? "probes run as root, because children.allow_root = "
			  "yes"
			: "runs are rejected, because children.allow_root = "
			  "no");
}

/* Set the user of the network process: only root can choose one. */
static void
main_user_find(struct agent *ag)
{
	const char *user = conf_string(ag->conf, "agent", "user");
	struct passwd *pw;

	if (geteuid() != 0 || user[0] == '\0')
		return;
	pw = getpwnam(user);
	if (pw == NULL)
		fatalx("%s: agent.user: user %s does not exist; "
		       "systemd-sysusers creates the users of packages",
		    conf_where(ag->conf, "agent", "user"), user);
	if (pw->pw_uid == 0 || ag->child_uid < 0 ||
	    (int64_t)pw->pw_uid == ag->child_uid)
		fatalx("%s: agent.user: expected a user other than root and "
		       "children.user",
		    conf_where(ag->conf, "agent", "user"));
	ag->uid = pw->pw_uid;
	ag->gid = pw->pw_gid;
}

/* What this node is called and where its helpers lie. */
static void
main_names_find(struct agent *ag)
{
	const char *name = conf_string(ag->conf, "agent", "name");
	const char *libexec = conf_string(ag->conf, "children", "libexec");

	if (gethostname(ag->host, sizeof(ag->host)) < 0)
		fatal("cannot read the host name");
	ag->host[sizeof(ag->host) - 1] = '\0';
	ag->name = name[0] != '\0' ? name : ag->host;
	ag->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
	snprintf(ag->keeper, sizeof(ag->keeper), "%s/coalmine-keeper", libexec);
	snprintf(ag->pmix, sizeof(ag->pmix), "%s/coalmine-pmix", libexec);
}

/* Give the files of the network process to its user, or back to root. */
static void
main_files_own(const struct agent *ag)
{
	static const char *const ends[] = { "", ".new", ".ask", ".try" };
	const char *paths[] = { conf_string(ag->conf, "tls", "key"),
		conf_string(ag->conf, "tls", "cert"),
		conf_string(ag->conf, "agent", "enroll") };
	char path[AGENT_PATH_MAX];

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		for (size_t e = 0; paths[i][0] == '/' && e < ARRAY_LEN(ends);
		     e++)
			if (str_format(path, sizeof(path), "%s%s", paths[i],
				ends[e]) >= 0)
				own_file(path, ag->uid < 0 ? 0 : (uid_t)ag->uid,
				    ag->uid < 0 ? 0 : (gid_t)ag->gid);
}

/* A folder of ours. The network process must own it. */
static void
main_folder_make(const struct agent *ag, const char *what, mode_t mode)
{
	const char *path = conf_string(ag->conf, "agent", what);
	const char *user = conf_string(ag->conf, "agent", "user");
	uid_t uid = ag->uid < 0 ? 0 : (uid_t)ag->uid;
	gid_t gid = ag->uid < 0 ? 0 : (gid_t)ag->gid;
	struct stat st;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		fatal("cannot create agent.%s %s", what, path);
	if (geteuid() != 0)
		return;
	(void)own_tree(path, uid, gid);
	if (ag->uid >= 0 && (stat(path, &st) < 0 || st.st_uid != uid))
		fatalx("agent.%s %s belongs to another user than agent.user "
		       "%s; run: chown -R %s %s",
		    what, path, user, user, path);
}

/* Our folders, and what an earlier life left in them. */
static void
main_state_open(struct agent *ag)
{
	char path[AGENT_PATH_MAX];

	main_folder_make(ag, "state_dir", 0700);
	main_folder_make(ag, "run_dir", 0711);
	main_files_own(ag);
	own_end();
	if (proc_cgroup_home(path, sizeof(path)) >= 0)
		ag->cgroup = xstrdup(path);
	cleanup_leftovers(ag);
}

static void
main_spool_open(struct agent *ag)
{
	char path[AGENT_PATH_MAX];

	snprintf(path, sizeof(path), "%s/spool",
	    conf_string(ag->conf, "agent", "state_dir"));
	if (spool_open(path, conf_bytes(ag->conf, "agent", "spool_max"),
		&ag->spool) < 0)
		fatalx("cannot open the spool in %s", path);
}

static void
main_drop(const struct agent *ag)
{
	if (ag->uid >= 0)
		drop_privileges(conf_string(ag->conf, "agent", "user"),
		    (uid_t)ag->uid, (gid_t)ag->gid, (gid_t)ag->child_gid);
}

/* Check the conditions of a start other than values: missing helper programs
 * and files that the user of the network process cannot read. */
static int
main_files_check(const struct agent *ag)
{
	struct err err;

	if (access(ag->keeper, X_OK) < 0) {
		log_warn("%s: children.libexec: cannot execute %s",
		    conf_where(ag->conf, "children", "libexec"), ag->keeper);
		return -ENOENT;
	}
	main_files_own(ag);
	main_drop(ag);
	if (session_files_check(ag->conf, ag->name, &err) < 0) {
		log_warnx("%s", err.text);
		return -EINVAL;
	}
	return 0;
}

/* With agent.user, become the network process. */
static void
main_separate(struct agent *ag)
{
	pid_t pid;
	int fd;

	if (ag->uid < 0)
		return;
	link_log_open(&ag->link_look, "");
	fd = broker_fork(&privileged_ops, ag, &pid);
	if (fd < 0) {
		errno = -fd;
		fatal("cannot start the broker");
	}
	ag->broker = fd;
	main_drop(ag);
	log_info("broker with pid %d; network process with user %s", (int)pid,
	    conf_string(ag->conf, "agent", "user"));
}

static void
main_broker_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	fatalx("the broker has ended");
}

static void
main_signal_cb(evutil_socket_t sig, short what, void *arg)
{
	struct agent *ag = arg;
	struct timeval tv = { .tv_sec = STOP_LIMIT_S };

	(void)what;
	switch ((int)sig) {
	case SIGCHLD:
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		return;
	case SIGHUP:
		notify_reloading();
		session_reload(ag->session);
		notify_ready();
		return;
	default:
		notify_stopping();
		event_base_loopexit(ag->base, &tv);
		orders_stop(ag, "signal");
	}
}

static void
main_grace_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	run_end_all(arg, 2000,
	    "no contact with the collector for longer than agent.grace");
}

static void
main_watchdog_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	notify_watchdog();
}

/* Retry failed opens and writes of the spool, each time after twice as long. */
static void
main_retry_soon(struct agent *ag)
{
	struct timeval after = { .tv_sec = RETRY_MIN_S };

	if (!spool_can_retry(ag->spool) ||
	    event_pending(ag->retry, EV_TIMEOUT, NULL))
		return;
	if (ag->retry_s > after.tv_sec)
		after.tv_sec = ag->retry_s;
	event_add(ag->retry, &after);
	ag->retry_s = after.tv_sec < RETRY_MAX_S / 2 ? 2 * after.tv_sec
						     : RETRY_MAX_S;
}

static void
main_retry_cb(evutil_socket_t fd, short what, void *arg)
{
	struct agent *ag = arg;

	(void)fd;
	(void)what;
	if (spool_retry(ag->spool) < 0)
		main_retry_soon(ag);
	else
		ag->retry_s = 0;
	records_send(ag);
}

static void
main_sync_cb(evutil_socket_t fd, short what, void *arg)
{
	struct agent *ag = arg;

	(void)fd;
	(void)what;
	spool_sync(ag->spool);
	main_retry_soon(ag);
}

static void
main_agent_run(struct agent *ag)
{
	static const int sigs[] = { SIGCHLD, SIGHUP, SIGTERM, SIGINT };
	struct event *events[ARRAY_LEN(sigs)];
	struct event *watchdog, *broker = NULL;
	uint64_t ns = notify_watchdog_every_ns();
	struct timeval every = clk_timeval(ns);
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
		events[i] = evsignal_new(ag->base, sigs[i], main_signal_cb, ag);
		event_add(events[i], NULL);
	}
	ag->grace = evtimer_new(ag->base, main_grace_cb, ag);
	ag->sync = evtimer_new(ag->base, main_sync_cb, ag);
	ag->retry = evtimer_new(ag->base, main_retry_cb, ag);
	main_retry_soon(ag);
	watchdog = event_new(ag->base, -1, EV_PERSIST, main_watchdog_cb, ag);
	if (ns > 0)
		event_add(watchdog, &every);
	if (ag->broker > 0) {
		broker = event_new(ag->base, ag->broker, EV_READ,
		    main_broker_cb, NULL);
		event_add(broker, NULL);
	}
	ag->session = session_new(ag->base, ag->conf, ag->name,
	    &orders_session_ops, ag, &err);
	if (ag->session == NULL)
		fatalx("%s", err.text);
	log_info("node %s: started, collector %s", ag->name,
	    conf_string(ag->conf, "agent", "collector"));
	notify_ready();
	event_base_dispatch(ag->base);
	session_free(ag->session);
	event_free(ag->grace);
	event_free(ag->sync);
	event_free(ag->retry);
	event_free(watchdog);
	if (broker != NULL)
		event_free(broker);
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++)
		event_free(events[i]);
}

static int
main_try(struct agent *ag, const char *mpi)
{
	int rc;

	main_names_find(ag);
	main_child_user_find(ag);
	mpi_impl_load(ag->conf);
	rc = try_mpi(ag, mpi);
	conf_free(ag->conf);
	free(ag->child_user);
	return rc;
}

int
main(int argc, char **argv)
{
	struct arguments a = { .config = NULL };
	struct agent ag = { .base = NULL };
	enum log_level level = LOG_LEVEL_INFO;
	char *text;
	int rc = 0;

	/* A missing value or timer would be noticed much later. */
	pki_memory_set();
	json_set_alloc_funcs(xmalloc, free);
	event_set_mem_functions(xmalloc, xrealloc, free);
	main_arguments_read(&a, argc, argv);
	ag.conf = main_conf_read(&a);
	if (a.print) {
		text = conf_render(ag.conf);
		fputs(text, stdout);
		free(text);
	}
	log_init("coalmine-agent", LOG_LEVEL_INFO);
	if (a.check) {
		main_names_find(&ag);
		main_child_user_find(&ag);
		main_user_find(&ag);
		rc = main_files_check(&ag);
		if (rc == 0)
			puts("ok");
		free(ag.child_user);
	}
	if (a.check || a.print) {
		conf_free(ag.conf);
		return rc == 0 ? 0 : EXIT_CONFIG;
	}
	/* One heap is enough: a thread lives for one question. */
	mallopt(M_ARENA_MAX, 1);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	log_level_parse(conf_string(ag.conf, "agent", "log"), &level);
	log_set_level(a.try != NULL ? LOG_LEVEL_WARN : level);
	if (a.try != NULL)
		return main_try(&ag, a.try);
	notify_init();
	TAILQ_INIT(&ag.runs);
	ag.run_ops = &orders_run_ops;
	main_names_find(&ag);
	main_child_user_find(&ag);
	main_user_find(&ag);
	main_state_open(&ag);
	mpi_impl_load(ag.conf);
	ag.inventory = inventory_read("", ag.conf,
	    &(struct child_spec){ .keeper = ag.keeper,
		.uid = ag.child_uid,
		.gid = ag.child_gid });
	main_separate(&ag);
	main_spool_open(&ag);
	ag.base = event_base_new();
	if (ag.base == NULL)
		fatalx("cannot create the event loop of libevent");
	ag.mesh = mesh_new(ag.base, ag.conf, ag.cores, orders_send, &ag);
	ag.inband = inband_new(conf_string(ag.conf, "agent", "in_band"),
	    ag.host);
	ag.ras = ras_new(ag.base, (int)conf_int(ag.conf, "agent", "ras_port"));
	main_agent_run(&ag);
	ras_free(ag.ras);
	inband_free(ag.inband);
	mesh_free(ag.mesh);
	spool_free(ag.spool);
	json_decref(ag.inventory);
	json_decref(ag.prepares);
	link_look_clear(&ag.link_look);
	event_base_free(ag.base);
	if (ag.broker > 0)
		close(ag.broker);
	conf_free(ag.conf);
	free(ag.cgroup);
	free(ag.child_user);
	libevent_global_shutdown();
	log_info("stopped");
	return 0;
}
