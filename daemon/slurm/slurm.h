/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.h - states of nodes and of our jobs in Slurm.
 *
 * Slurm is queried only while a run needs the answer: sinfo and scontrol at
 * most once in SLURM_FRESH_NS, squeue for jobs that have not started. Without
 * an answer a node is not idle.
 *
 * base NULL: no queries; a test sets the answers.
 */
#ifndef DAEMON_SLURM_SLURM_H
#define DAEMON_SLURM_SLURM_H

#include <stdint.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "daemon/process/spawn.h"

/* Slurm's programs are run, not linked: their library changes its binary
 * interface with every release. */
struct slurm_site {
	const char *dir;  /* folder of the programs */
	const char *conf; /* their slurm.conf; "": their default */
};

#define SLURM_WORDS_MAX 12

/* Start a program of Slurm like spawn_start; words: the arguments, NULL-ended,
 * at most SLURM_WORDS_MAX. */
struct spawned *slurm_call(struct event_base *base,
    const struct slurm_site *site, const char *program, char *const *words,
    spawn_cb *cb, void *arg);

/* Validity of an answer, and minimum interval of queries. */
#define SLURM_FRESH_NS (5 * CLK_NS_PER_S)
#define SLURM_JOB_NS   (2 * CLK_NS_PER_S)
#define SLURM_TEXT_MAX 200

struct conf;

/* The options: section slurm of coalmine.conf(5). */
struct slurm_options {
	struct slurm_site site;
	int idle; /* all exclusive runs need idle nodes */
};
/* Read section slurm. Texts live as long as c. */
void slurm_options_read(const struct conf *c, struct slurm_options *ret);

enum slurm_node {
	SLURM_IDLE, /* available now */
	SLURM_HELD, /* in use; may become available */
	SLURM_OUT   /* drained, down, unknown to Slurm: needs an operator */
};

struct slurm;

/* Return an empty table of states, which the caller frees. o's text must
 * outlive it. */
struct slurm *slurm_new(struct event_base *base, const struct slurm_options *o);
void slurm_free(struct slurm *s); /* NULL is allowed */
/* Return 1 if all exclusive runs need idle nodes (option idle), 0 if not. */
int slurm_wants_idle(const struct slurm *s);

/* Query the states of nodes, if needed; call before slurm_node_look. */
void slurm_nodes_ask(struct slurm *s);
/* Return the state of a node; err has the reason unless it is idle. partition
 * "": any; reservation "": none. is_alone: no other node has its short name, so
 * Slurm may use another domain for it. */
enum slurm_node slurm_node_look(const struct slurm *s, const char *node,
    int is_alone, const char *partition, const char *reservation,
    struct err *err);
/* Return 1, or 0 while the first answer, or the update of an expired one, is
 * pending. */
int slurm_nodes_known(const struct slurm *s);
/* Set the output of sinfo and of scontrol show reservation. */
void slurm_nodes_set(struct slurm *s, const char *sinfo,
    const char *reservations);

/* Query the job of a run. Runs are queried one at a time, round-robin. Jobs of
 * the same name of other users than uid are skipped; -1: any user. */
void slurm_job_ask(struct slurm *s, const char *run, int64_t uid);
/* Return "job 12 is PENDING, Resources" from the newest answer; "": unknown. */
const char *slurm_job_text(const struct slurm *s, const char *run);
/* Return the state in squeue, like PENDING, RUNNING or CANCELLED; "": not
 * found; NULL: no answer yet to a query after since_ns. */
const char *slurm_job_state(const struct slurm *s, const char *run,
    uint64_t since_ns);
/* Set the output of squeue. */
void slurm_job_set(struct slurm *s, const char *run, int64_t uid,
    uint64_t asked_ns, const char *squeue);
/* Cancel the job of a run if it still exists. */
void slurm_job_end(struct slurm *s, const char *run);

/* Nodes as Slurm lists them: pure, for slurm.c and its test. */
struct slurm_table;

/* Options of sinfo for the lines that slurm_table_parse reads. The reason is
 * the last field, since it may contain any character, even line ends: sinfo
 * cuts or pads it to SLURM_REASON_BYTES. */
#define SLURM_REASON_BYTES 100
#define SLURM_SINFO_FORMAT "%T|%R|%N|%100E"
/* Limit of entries of nodes in all partitions and reservations; more are
 * skipped. */
#define SLURM_PLACES_MAX (4 * HOSTLIST_MAX)

/* Parse lines of sinfo, and of scontrol -o show reservation. Malformed lines
 * are not errors: their nodes are not idle. */
struct slurm_table *slurm_table_parse(const char *sinfo,
    const char *reservations);
void slurm_table_free(struct slurm_table *t); /* NULL is allowed */
enum slurm_node slurm_table_look(const struct slurm_table *t, const char *node,
    int is_alone, const char *partition, const char *reservation,
    struct err *err);

#endif
