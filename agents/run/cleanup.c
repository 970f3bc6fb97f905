/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup.c - files that the children's user could replace are removed as that
 * user and through folder descriptors, so that no link can mislead root.
 */
#include "agents/run/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/process/broker.h"
#include "agents/process/privileges.h"
#include "agents/process/proc.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"

/* Killing again this often, this many times: 3 s for what sleeps in the
 * kernel. */
#define KILL_EVERY_MS 20
#define KILL_TIMES    150
/* Entries of a folder that are removed at once. If processes make more, the
 * rest is removed at the next start of the agent. */
#define REMOVE_MAX 1000000

static DIR *
cleanup_folder_open(int at, const char *name)
{
	int fd = openat(at, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

static int
cleanup_is_self(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Removes the files in sub and moves its folders up into top, so that none is
 * too deep to be reached. */
static void
cleanup_flatten(DIR *sub, int top, unsigned *count)
{
	struct dirent *de;
	char name[40];

	while (*count < REMOVE_MAX && (de = readdir(sub)) != NULL) {
		if (cleanup_is_self(de->d_name))
			continue;
		if (unlinkat(dirfd(sub), de->d_name, 0) == 0) {
			(*count)++;
			continue;
		}
		/* a folder changes its parent only if it may be written */
		(void)!fchmodat(dirfd(sub), de->d_name, 0700, 0);
		snprintf(name, sizeof(name), "%u.coalmine", *count);
		*count += renameat(dirfd(sub), de->d_name, top, name) == 0;
	}
}

/* Removes all that is in a folder while others may still write to it. Nothing
 * is opened by a path, and no link is followed. */
static void
cleanup_folder_empty(DIR *top)
{
	DIR *sub;
	unsigned count = 0, before;
	struct dirent *de;

	do {
		before = count;
		rewinddir(top);
		while (count < REMOVE_MAX && (de = readdir(top)) != NULL) {
			const char *name = de->d_name;

			if (cleanup_is_self(name))
				continue;
			if (unlinkat(dirfd(top), name, 0) == 0) {
				count++;
				continue;
			}
			(void)!fchmodat(dirfd(top), name, 0700, 0);
			sub = cleanup_folder_open(dirfd(top), name);
			if (sub != NULL) {
				cleanup_flatten(sub, dirfd(top), &count);
				closedir(sub);
			}
			count += unlinkat(dirfd(top), name, AT_REMOVEDIR) == 0;
		}
	} while (count > before && count < REMOVE_MAX);
}

int
cleanup_run_path(const struct agent *ag, const char *run, char *ret,
    size_t cap_bytes)
{
	const char *top = conf_string(ag->conf, "agent", "run_dir");
	uint64_t sum = 14695981039346656037u;

	if (strlen(top) + strlen(run) + sizeof("//ranks.sock") <= 107)
		return str_format(ret, cap_bytes, "%s/%s", top, run);
	for (const char *c = run; *c != '\0'; c++)
		sum = (sum ^ (unsigned char)*c) * 1099511628211u;
	return str_format(ret, cap_bytes, "%s/%012llx", top,
	    (unsigned long long)(sum >> 16));
}

/* As the user who could write the contents: root might be led to remove what
 * that user swaps in. The network process could replace the directory. */
void
cleanup_tmp_empty(const struct agent *ag, const char *path)
{
	DIR *tmp = NULL;
	int fd;

	privileges_take(ag->child_uid, ag->child_gid);
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		tmp = cleanup_folder_open(fd, "tmp");
		close(fd);
	}
	if (tmp == NULL && errno != ENOENT)
		log_warn("cannot open %s/tmp to empty it", path);
	if (tmp != NULL) {
		cleanup_folder_empty(tmp);
		closedir(tmp);
	}
	privileges_back();
}

/* Folders of runs belong to the user of the network process. Without
 * capabilities root can neither list nor change them. */
static void
cleanup_owner_take(const struct agent *ag)
{
	privileges_take(ag->broker == 0 ? ag->uid : -1, -1);
}

void
cleanup_run_dir(const struct agent *ag, const char *run, const char *path)
{
	char inner[AGENT_PATH_MAX + 400];
	struct dirent *de;
	struct stat st;
	int marked;
	DIR *dir;

	cleanup_owner_take(ag);
	marked = str_format(inner, sizeof(inner), "%s/%s", path,
		     CLEANUP_MARK) >= 0 &&
	    lstat(inner, &st) == 0;
	privileges_back();
	if (!marked)
		return;
	if (ag->broker > 0)
		broker_ask(ag->broker, BROKER_EMPTY, run, -1);
	else
		cleanup_tmp_empty(ag, path);
	cleanup_owner_take(ag);
	dir = cleanup_folder_open(AT_FDCWD, path);
	if (dir == NULL)
		log_warn("cannot open the directory %s", path);
	else if (unlinkat(dirfd(dir), "tmp", AT_REMOVEDIR) < 0 &&
	    errno != ENOENT)
		log_warn("cannot remove %s/tmp", path);
	while (dir != NULL && (de = readdir(dir)) != NULL)
		if (!cleanup_is_self(de->d_name) &&
		    unlinkat(dirfd(dir), de->d_name, 0) < 0 && errno != EISDIR)
			log_warn("cannot remove %s/%.100s", path, de->d_name);
	if (dir != NULL)
		closedir(dir);
	if (rmdir(path) < 0)
		log_warn("cannot remove the directory %s", path);
	privileges_back();
}

static int
cleanup_kill_marked(const struct agent *ag, const char *mark)
{
	int count = proc_kill_marked(mark, SIGKILL);

	if (ag->child_uid < 0)
		return count;
	privileges_take(ag->child_uid, ag->child_gid);
	count += proc_kill_marked(mark, SIGKILL);
	privileges_back();
	return count;
}

const char *
cleanup_leaf_prefix(const struct agent *ag)
{
	static char prefix[40];
	uint32_t sum = 2166136261u;
	const char *c = conf_string(ag->conf, "agent", "state_dir");

	for (; *c != '\0'; c++)
		sum = (sum ^ (unsigned char)*c) * 16777619u;
	snprintf(prefix, sizeof(prefix), "coalmine-%08x", sum);
	return prefix;
}

/* Kill the processes in the cgroup leaves of a run, or with run NULL of all
 * runs, and remove the leaves. Return how many could not be removed. */
static int
cleanup_leaves(const struct agent *ag, const char *run)
{
	char path[AGENT_PATH_MAX + 300], start[120];
	struct dirent *de;
	int left = 0, len;
	DIR *dir;

	if (ag->cgroup == NULL)
		return 0;
	len = snprintf(start, sizeof(start), "%s-%s%s", cleanup_leaf_prefix(ag),
	    run != NULL ? run : "", run != NULL ? "-" : "");
	dir = opendir(ag->cgroup);
	if (dir == NULL)
		log_warn("cannot open the directory %s", ag->cgroup);
	while (dir != NULL && (de = readdir(dir)) != NULL) {
		const char *rest = de->d_name + len;

		if (strncmp(de->d_name, start, (size_t)len) != 0)
			continue;
		/* Only the number of a child may follow: another run's name may
		 * begin with this one's. */
		if (run != NULL && rest[strspn(rest, "0123456789")] != '\0')
			continue;
		if (str_format(path, sizeof(path), "%s/%s", ag->cgroup,
			de->d_name) < 0)
			continue;
		left += proc_cgroup_kill(path) < 0;
	}
	if (dir != NULL)
		closedir(dir);
	return left;
}

void
cleanup_mark(const struct agent *ag, const char *run, int64_t child, char *ret,
    size_t cap_bytes)
{
	snprintf(ret, cap_bytes, "COALMINE_KEPT=%s:%s:%lld",
	    conf_string(ag->conf, "agent", "state_dir"), run, (long long)child);
}

void
cleanup_child(const struct agent *ag, const char *run, int64_t child)
{
	char mark[AGENT_PATH_MAX + 100];

	if (ag->broker > 0) {
		broker_ask(ag->broker, BROKER_CLEAN, run, child);
		return;
	}
	cleanup_mark(ag, run, child, mark, sizeof(mark));
	if (child >= 0)
		cleanup_kill_marked(ag, mark);
	cleanup_leaves(ag, run);
}

void
cleanup_shm(const struct agent *ag)
{
	/* Open MPI's: the host and the user are a part of the name */
	char start[400], path[700];
	struct dirent *de;
	DIR *dir;

	if (ag->broker > 0)
		broker_ask(ag->broker, BROKER_SHM, "", -1);
	if (ag->child_uid < 0 || ag->broker > 0)
		return;
	snprintf(start, sizeof(start), "vader_segment.%s.%lld.", ag->host,
	    (long long)ag->child_uid);
	privileges_take(ag->child_uid, ag->child_gid);
	dir = opendir("/dev/shm");
	while (dir != NULL && (de = readdir(dir)) != NULL) {
		if (strncmp(de->d_name, start, strlen(start)) != 0)
			continue;
		snprintf(path, sizeof(path), "/dev/shm/%s", de->d_name);
		unlink(path);
	}
	if (dir != NULL)
		closedir(dir);
	privileges_back();
}

void
cleanup_leftovers(struct agent *ag)
{
	const char *top = conf_string(ag->conf, "agent", "run_dir");
	char mark[AGENT_PATH_MAX], path[AGENT_PATH_MAX + 300];
	int left, found = 0;
	struct dirent *de;
	DIR *dir;

	snprintf(mark, sizeof(mark), "COALMINE_STATE=%s",
	    conf_string(ag->conf, "agent", "state_dir"));
	for (int i = 0; i < KILL_TIMES; i++) {
		left = cleanup_kill_marked(ag, mark) + cleanup_leaves(ag, NULL);
		if (left == 0)
			break;
		found = i == 0 ? left : found;
		clk_sleep_ns(KILL_EVERY_MS * CLK_NS_PER_MS);
	}
	if (found > 0)
		log_warnx("killed %d processes left by a previous agent "
			  "process",
		    found);
	cleanup_owner_take(ag);
	dir = opendir(top);
	if (dir == NULL)
		log_warn("cannot open the run directory %s", top);
	privileges_back();
	while (dir != NULL && (de = readdir(dir)) != NULL)
		if (strcmp(de->d_name, ".") != 0 &&
		    strcmp(de->d_name, "..") != 0 &&
		    str_format(path, sizeof(path), "%s/%s", top, de->d_name) >=
			0)
			cleanup_run_dir(ag, NULL, path);
	if (dir != NULL)
		closedir(dir);
	cleanup_shm(ag);
}
