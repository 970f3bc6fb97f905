/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.h - what Slurm says of nodes and of our jobs.
 *
 * It is asked only while a run needs the answer: sinfo and scontrol at most
 * once in SLURM_FRESH_NS, squeue for jobs that have not begun. What it has not
 * been asked, or does not answer, is no node's idleness.
 *
 * base NULL: nobody is asked, and a test says what was answered.
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
	const char *dir;  /* of the programs */
	const char *conf; /* their slurm.conf; "": they find it */
};

#define SLURM_WORDS_MAX 12

/* As spawn_start; words: the arguments, NULL-ended, at most
 * SLURM_WORDS_MAX. */
struct spawned *slurm_call(struct event_base *base,
    const struct slurm_site *site, const char *program, char *const *words,
    spawn_cb *cb, void *arg);

/* An answer is good for this long, and no sooner is it asked for again. */
#define SLURM_FRESH_NS (5 * CLK_NS_PER_S)
#define SLURM_JOB_NS   (2 * CLK_NS_PER_S)
#define SLURM_TEXT_MAX 200

struct conf;

struct slurm_options {
	struct slurm_site site;
	int idle; /* every exclusive run asks */
};
/* Read section slurm. Texts live as long as c. */
void slurm_options_read(const struct conf *c, struct slurm_options *ret);

enum slurm_node {
	SLURM_IDLE, /* may be had now */
	SLURM_HELD, /* later, perhaps */
	SLURM_OUT   /* drained, down, not Slurm's: not until someone acts */
};

struct slurm;

/* o's text outlives it. */
struct slurm *slurm_new(struct event_base *base, const struct slurm_options *o);
void slurm_free(struct slurm *s); /* NULL is allowed */
int slurm_wants_idle(const struct slurm *s);

/* Somebody is about to look at nodes. */
void slurm_nodes_ask(struct slurm *s);
/* Unless it is idle, why says what it is. partition and reservation: "" for
 * any and none. is_alone: Slurm may call it by another domain, for no other
 * node has its short name. */
enum slurm_node slurm_node_look(const struct slurm *s, const char *node,
    int is_alone, const char *partition, const char *reservation,
    struct err *err);
/* 0 while its first answer, or one that is no longer fresh, is awaited. */
int slurm_nodes_known(const struct slurm *s);
/* What sinfo and scontrol show reservation have printed. */
void slurm_nodes_set(struct slurm *s, const char *sinfo,
    const char *reservations);

/* Ask about a run's job; one run at a time, in turn as they are called. Jobs of
 * the same name that other users than uid have are not it; -1: any user. */
void slurm_job_ask(struct slurm *s, const char *run, int64_t uid);
/* "job 12 is PENDING, Resources", as of the newest answer; "": nothing is
 * known. */
const char *slurm_job_text(const struct slurm *s, const char *run);
/* PENDING, RUNNING, CANCELLED ... as squeue has it; "": it has no such job;
 * NULL: nothing was answered to a question that came after since_ns. */
const char *slurm_job_state(const struct slurm *s, const char *run,
    uint64_t since_ns);
/* What squeue has printed. */
void slurm_job_set(struct slurm *s, const char *run, int64_t uid,
    uint64_t asked_ns, const char *squeue);
/* Whatever is left of it goes. */
void slurm_job_end(struct slurm *s, const char *run);

/* Nodes as Slurm lists them: pure, for slurm.c and its test. */
struct slurm_table;

/* Options of sinfo for the lines that slurm_table_parse reads. The reason is
 * the last, for it may have any character, line ends too: sinfo cuts or pads it
 * to SLURM_REASON_BYTES. */
#define SLURM_REASON_BYTES 100
#define SLURM_SINFO_FORMAT "%T|%R|%N|%100E"
/* Places of nodes in all partitions and reservations; the rest is as if Slurm
 * did not have it. */
#define SLURM_PLACES_MAX (4 * HOSTLIST_MAX)

/* Lines of sinfo, and of scontrol -o show reservation. Nothing that is printed
 * there is an error: what cannot be read is no idle node. */
struct slurm_table *slurm_table_parse(const char *sinfo,
    const char *reservations);
void slurm_table_free(struct slurm_table *t); /* NULL is allowed */
enum slurm_node slurm_table_look(const struct slurm_table *t, const char *node,
    int is_alone, const char *partition, const char *reservation,
    struct err *err);

#endif
