/* SPDX-License-Identifier: Apache-2.0 */
/*
 * court_int.h - what the files of the court share; nobody else includes it.
 */
#ifndef DAEMON_COURT_INT_H
#define DAEMON_COURT_INT_H

#include "common/queue.h"
#include "common/rng.h"
#include "daemon/court.h"
#include "daemon/judge/confirm.h"
#include "daemon/judge/drift.h"
#include "daemon/judge/host.h"
#include "daemon/judge/words.h"
#include "daemon/topo.h"
#include "schema/mesh.h"
#include "schema/names.h"

#define COURT_CLASS_MAX 16
#define SERIES_MAX      (2 * TEST_MAX + 16)

/* What rounds are of: a test, by its number, or the mesh. */
enum {
	COURT_ECHO_LEAF = TEST_MAX,
	COURT_ECHO_SPINE,
	COURT_LOSS_LEAF,
	COURT_LOSS_SPINE,
	COURT_PROMISED, /* what a described machine would do */
	COURT_SORT_MAX
};
struct court_sort {
	const char *name, *unit;
	int is_rate, is_loss;
};

/* A judge for rounds of one kind. */
struct court_series {
	char class[COURT_CLASS_MAX];
	int sort; /* enum test, or of the mesh */
	/* A ring runs at the pace of its slowest: its rounds must not speak
	 * for those of pairs. */
	int partners; /* enum partners */
	struct judge *judge;
	struct drift *drifts; /* by node id */
	size_t drift_count;
	double level; /* mean logarithm of the rounds' medians */
	uint32_t level_n;
	double limit; /* of the sums, for so many nodes */
	size_t limit_nodes;
};

/* Of every node, by its id. */
struct court_node {
	char *boot;        /* of the agent that was heard */
	uint64_t heard_ns; /* of its last round; 0: not since its start */
	char run[64];      /* that its counters are of */
	char nic[16];      /* the one with the most traffic; "": none */
	int64_t drops, drops_first;
	uint32_t partners, slow_partners; /* of its last round */
	double wait_ratio; /* of its ranks, likewise; NAN: not known */
	char *trouble;     /* of its host, when it last had any, or NULL */
};

/* How near a node or link came to what a described machine would do. */
struct court_promised {
	double ratio; /* of its best meeting */
	uint32_t met;
	char machine[40];
};

struct court_case {
	TAILQ_ENTRY(court_case) link;
	enum judge_kind kind;
	uint32_t index; /* node id, or leaf number */
	char *subject;
	struct court_series *series; /* where it was seen worst */
	enum words_what what;
	enum verdict verdict;
	int passed;
	enum confirm_finding finding;
	struct confirm_report report;
	uint64_t since_unix_ns, at_unix_ns;
	char text[WORDS_MAX];
	char host[HOST_TEXT_MAX]; /* what troubled the host */
	char run[64];             /* that made it suspect */
	char pass_run[64];
	char *mpi, *launcher, *class;
	json_t *slurm;                  /* as of court_source */
	unsigned tries;                 /* of the second pass */
	uint64_t next_ns;               /* of the next try; 0: now */
	struct court_promised promised; /* where what is WORDS_PROMISE */
	int over; /* ended; goes when nobody looks at it */
};
TAILQ_HEAD(court_cases, court_case);
TAILQ_HEAD(court_promises, court_promise); /* court_promise.c */

struct court_pass {
	struct court_case *of; /* NULL: none is running */
	char run[64];
	char *names[CONFIRM_NODES]; /* the suspect first */
	uint32_t leaves[CONFIRM_NODES];
	size_t count;
	int is_rate;
	int heard;
	uint64_t window_ns; /* the hour that is counted */
	int in_window;
};

struct court {
	struct roster *roster;
	struct store *store;
	struct court_options o;
	const struct court_ops *ops;
	void *ctx;
	struct court_series series[SERIES_MAX];
	size_t series_count;
	struct court_node *nodes;
	size_t node_count;
	json_t *leaf_index; /* name: number */
	char (*leaves)[TOPO_LEAF_MAX];
	uint32_t leaf_count;
	struct score_obs *obs; /* scratch */
	uint8_t *busy;
	size_t obs_cap;
	struct court_cases cases;
	struct court_promises promises; /* of live runs */
	struct court_pass pass;
	json_t *pinned;      /* body of the baseline, or NULL */
	struct score *score; /* for its records */
	uint64_t kept_ns;    /* when the recent weeks were last stored */
	int learned;         /* something since */
	struct rng rng;
	/* How the newest canary was launched; "": there was none. */
	char mpi[32], launcher[32];
	json_t *slurm;
};

/* court.c */
struct court_node *court_node(struct court *c, const struct node *n);
uint32_t court_leaf(struct court *c, const char *leaf);
struct court_series *court_series_of(struct court *c, const char *class,
    int sort, int partners);
/* Of a record or a stored case; those that do not say met in rings. */
int court_partners(const json_t *object);
/* A node was measured now. */
void court_heard(struct court *c, const struct node *n);
/* The good quartile of every node of a record into c->obs; the count. heard:
 * the nodes were measured now. */
size_t court_observe(struct court *c, const json_t *record, int sort,
    int heard);
/* A round: to its judge, and what comes of it. */
void court_hear(struct court *c, const struct court_source *from,
    const json_t *record, int sort);

/* court_mesh.c */
struct court_sort court_sort(int sort);
int court_sort_find(const char *name); /* or -ENOENT */
/* Losses that both classes tell of are confirmed. */
void court_mesh_conclude(struct court *c);

/* court_case.c */
struct court_case *court_case_find(const struct court *c, enum judge_kind kind,
    uint32_t index);
/* A judge names it: open its case, or look at it again. */
void court_case_suspect(struct court *c, struct court_series *s,
    enum judge_kind kind, uint32_t index, const struct court_source *from);
/* Its own past names it: open a case, if there is none. */
void court_case_drift(struct court *c, struct court_series *s, uint32_t node,
    const struct court_source *from);
/* It is below what was promised, or is not any more. */
void court_case_promise(struct court *c, enum judge_kind kind, uint32_t index,
    const struct court_source *from, const struct court_promised *seen);
void court_case_kept(struct court *c, enum judge_kind kind, uint32_t index);
/* Once a round: its numbers are new, and it may be over. */
void court_cases_review(struct court *c, struct court_series *s,
    const char *run);
void court_case_end(struct court *c, struct court_case *k, enum verdict verdict,
    const char *why);
/* Store, event, log. */
void court_case_tell(struct court *c, struct court_case *k);
void court_case_free(struct court_case *k);

/* court_show.c */
/* Its words, new. */
void court_case_write(const struct court *c, struct court_case *k);
/* As court_json has it. New reference. */
json_t *court_case_json(const struct court *c, const struct court_case *k);

/* court_drift.c */
/* A round that the judge has heard; its distances are in c->obs. */
void court_drift_hear(struct court *c, struct court_series *s, size_t count,
    const struct court_source *from, const json_t *record);
/* A new series: what is pinned of its test. */
void court_drift_begin(struct court *c, struct court_series *s);
/* NULL: nothing is known of the node there. */
const struct drift *court_drift_of(const struct court_series *s, uint32_t node);
void court_drift_tick(struct court *c);
void court_drift_free(struct court *c);

/* court_promise.c */
void court_promise_record(struct court *c, const struct court_source *from,
    const json_t *record);
void court_promise_over(struct court *c, const char *run);
void court_promise_free(struct court *c);

/* court_pass.c */
void court_pass_tick(struct court *c);
void court_pass_record(struct court *c, const char *run, const json_t *record);
void court_pass_over(struct court *c, const char *run);
void court_pass_clear(struct court_pass *p);

#endif
