/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - the state shared by the parts of one agent.
 */
#ifndef AGENTS_AGENT_H
#define AGENTS_AGENT_H

#include <event2/event.h>
#include <stdint.h>
#include <time.h>

#include "agents/sensor/host.h"
#include "agents/sensor/link.h"
#include "agents/sensor/tries.h"
#include "common/conf.h"
#include "common/queue.h"

#define AGENT_PATH_MAX 4200 /* longest path, with a file name */

struct inband;
struct ras;
struct run;
struct run_ops;
TAILQ_HEAD(run_list, run);

/* The state of the agent. Parts that are NULL do not exist. */
struct agent {
	struct event_base *base;
	struct conf *conf;
	const char *name; /* name of this node, from the certificate */
	char host[256];   /* host name of this machine, for its launchers */
	struct session *session;
	struct spool *spool;
	struct mesh *mesh;
	struct host_look host_look;
	struct link_look link_look;
	/* NULL: the node reads no in-band measurements. */
	struct inband *inband;
	/* 1: report all in-band measurements to the collector again. */
	int inband_again;
	struct ras *ras; /* NULL: NCCL's RAS is not read */
	struct tries tries;
	struct run_list runs;
	struct json_t *prepares; /* orders that wait for the end of a run */
	const struct run_ops *run_ops; /* called with the agent as arg */
	/* User and group of child processes; -1: those of the agent. */
	int64_t child_uid, child_gid;
	char *child_user; /* name of that user */
	/* User and group of the network process; -1: agent.user is not used. */
	int64_t uid, gid;
	int broker; /* socket of the broker; 0: this process does its work */
	/* Paths of the helper programs. */
	char keeper[AGENT_PATH_MAX], pmix[AGENT_PATH_MAX];
	char *cgroup; /* cgroup in which leaves can be created, or NULL */
	int cores;    /* number of cores of this node */
	struct json_t *inventory;
	struct event *grace; /* timer: no contact for longer than agent.grace */
	struct event *sync;  /* timer: the spool has to be synced */
	struct event *retry; /* timer: spool_retry */
	time_t retry_s;      /* time until its next retry; 0: the least */
	int stopping;        /* 1: the agent ends */
};

#endif
