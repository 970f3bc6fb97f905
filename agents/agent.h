/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - the state shared by the parts of one agent.
 */
#ifndef AGENTS_AGENT_H
#define AGENTS_AGENT_H

#include <event2/event.h>
#include <stdint.h>

#include "agents/sensor/host.h"
#include "agents/sensor/link.h"
#include "common/conf.h"
#include "common/queue.h"

#define AGENT_PATH_MAX 4200 /* longest directory of a row, and a name */

struct inband;
struct ras;
struct run;
struct run_ops;
TAILQ_HEAD(run_list, run);

struct agent {
	struct event_base *base;
	struct conf *conf;
	const char *name; /* of this node, from the certificate */
	char host[256];   /* of this machine, for its launchers */
	struct session *session;
	struct spool *spool;
	struct mesh *mesh;
	struct host_look host_look;
	struct link_look link_look;
	struct inband *inband; /* or NULL */
	int inband_again;      /* report all of it to the collector */
	struct ras *ras;       /* or NULL */
	struct run_list runs;
	struct json_t *prepares; /* orders that wait for the end of a run */
	const struct run_ops *run_ops; /* with the agent as arg */
	int64_t child_uid, child_gid;  /* -1: children have our user */
	char *child_user;              /* name of that user */
	char keeper[AGENT_PATH_MAX], pmix[AGENT_PATH_MAX]; /* helpers */
	char *cgroup; /* where leaves may be made, or NULL */
	int cores;
	struct json_t *inventory;
	struct event *grace; /* no contact with the collector */
	struct event *sync;  /* the spool is to be synced */
	int stopping;
};

#endif
