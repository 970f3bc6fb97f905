/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileged.c - a request of the network process chooses the program, its
 * arguments and its environment. Its user and its limits are of this process.
 */
#include "agents/run/privileged.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/process/strvec.h"
#include "agents/run/cleanup.h"
#include "agents/run/idle.h"
#include "common/clk.h"

void
privileged_spec(const struct agent *ag, struct child_spec *spec, char *leaf,
    size_t cap_bytes)
{
	spec->keeper = ag->keeper;
	spec->uid = ag->child_uid;
	spec->gid = ag->child_gid;
	spec->file_max_bytes = conf_bytes(ag->conf, "children", "file_max");
	spec->processes_max = (uint64_t)conf_int(ag->conf, "children",
	    "processes_max");
	if (ag->cgroup == NULL)
		return;
	snprintf(leaf, cap_bytes, "%s/%s-%s-%lld", ag->cgroup,
	    cleanup_leaf_prefix(ag), spec->run, (long long)spec->id);
	spec->cgroup = leaf;
}

static int
privileged_idle_start(struct agent *ag, const int fds[CHILD_FDS])
{
	struct child_spec spec = { 0 };
	struct strvec argv = { 0 }, env = { 0 };
	int rc;

	idle_command_spec(ag, &spec, &argv, &env);
	rc = child_keeper_start(&spec, fds);
	strvec_clear(&argv);
	strvec_clear(&env);
	return rc;
}

static int
privileged_start(const struct child_spec *what, const int fds[CHILD_FDS],
    void *arg)
{
	struct agent *ag = arg;
	uint64_t max_ms = conf_span_ns(ag->conf, "children", "deadline_max") /
	    CLK_NS_PER_MS;
	char leaf[AGENT_PATH_MAX + 200], mark[AGENT_PATH_MAX + 100];
	struct child_spec spec = *what;
	struct strvec env = { 0 };
	int rc;

	if (what->run == NULL)
		return privileged_idle_start(ag, fds);
	privileged_spec(ag, &spec, leaf, sizeof(leaf));
	if (spec.deadline_ms > max_ms)
		spec.deadline_ms = max_ms;
	/* Of the keeper; the program's is a descriptor. */
	cleanup_mark(ag, spec.run, spec.id, mark, sizeof(mark));
	strvec_add(&env, "%s", mark);
	strvec_env(&env, "COALMINE_RUN", "%s", spec.run);
	strvec_env(&env, "COALMINE_STATE", "%s",
	    conf_string(ag->conf, "agent", "state_dir"));
	spec.env = env.list;
	rc = child_keeper_start(&spec, fds);
	strvec_clear(&env);
	return rc;
}

static void
privileged_clean(const char *run, int64_t child, void *arg)
{
	cleanup_child(arg, run, child);
}

static void
privileged_empty(const char *run, void *arg)
{
	char path[AGENT_PATH_MAX];

	if (cleanup_run_path(arg, run, path, sizeof(path)) >= 0)
		cleanup_tmp_empty(arg, path);
}

static void
privileged_shm(void *arg)
{
	cleanup_shm(arg);
}

const struct broker_ops privileged_ops = { privileged_start, privileged_clean,
	privileged_empty, privileged_shm };
