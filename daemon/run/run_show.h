/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_show.h - runs as the API and other parts see them.
 */
#ifndef DAEMON_RUN_RUN_SHOW_H
#define DAEMON_RUN_RUN_SHOW_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/run/run_order.h"
#include "schema/names_run.h"

struct node;
struct run;
struct runs;

/* Return the live and recently ended runs, the newest first: a new
 * reference. */
json_t *runs_json(struct runs *rs, int is_brief);
/* Return one run: a new reference; NULL: unknown. */
json_t *runs_json_one(struct runs *rs, const char *run);
/* Return the number of live runs. */
size_t runs_live(const struct runs *rs);

/* Return the id of a live run of that campaign, or NULL. */
const char *runs_find_campaign(const struct runs *rs, const char *campaign);
/* Return the id of a recent run on a node, or NULL; for the list of nodes. */
const char *runs_on_node(const struct runs *rs, const struct node *n);

/* A run as other parts see it. Texts live as long as the run. */
struct run_facts {
	const char *run, *campaign, *class, *mpi, *launcher;
	enum run_state state;
	enum cause cause;
	int by_user; /* a user has started it */
	uint64_t created_ns;
	int measures_all;    /* its canaries are on all of its nodes */
	int measures_rings;  /* in rounds of rings */
	double ended_unix_s; /* 0: not yet */
	const char *devices; /* devices that it requires; "": none */
	/* Devices that carried its bytes; NULL: unknown. */
	const json_t *carried;
};
/* Return these facts of a run. */
struct run_facts run_facts(const struct run *r);
/* Return the options of its section [slurm], by key: a new reference; NULL: no
 * such section, or another launcher. */
json_t *run_slurm(const struct run *r);
/* Return the number of nodes of a run, and node i of them. */
size_t run_node_count(const struct run *r);
struct node *run_node_at(const struct run *r, size_t i);

/* The words of enum run_origin. */
extern const char *const run_origins[RUN_ORIGIN_MAX];
/* Return a run as the API shows it: a new reference. */
json_t *run_json(const struct run *r);
/* Return a run as it is stored, with origin, attempt and campaign_text: a new
 * reference. */
json_t *run_json_whole(const struct run *r);

#endif
