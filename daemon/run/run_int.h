/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_int.h - what the files of the run machine share; nobody else includes
 * it.
 */
#ifndef DAEMON_RUN_RUN_INT_H
#define DAEMON_RUN_RUN_INT_H

#include "common/clk.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/queue.h"
#include "daemon/run/cost.h"
#include "daemon/run/budget.h"
#include "daemon/cluster/roster.h"
#include "daemon/run/run.h"
#include "daemon/run/symptom.h"
#include "daemon/store/store.h"

/* The answer to prepare: an idle check may run a command. */
#define RUN_PREPARE_NS (10 * CLK_NS_PER_S)
/* The head's answer to launch: it makes a directory and forks. */
#define RUN_LAUNCH_NS (8 * CLK_NS_PER_S)
/* From the first sign of failure to the verdict: what belongs together comes
 * together, and an end record may be on its way. */
#define RUN_SETTLE_NS (2 * CLK_NS_PER_S)
/* A batch system is asked for this long how a job has ended. */
#define RUN_BATCH_NS (8 * CLK_NS_PER_S)
/* A killed launcher and its ranks end within this. */
#define RUN_AT_ONCE_NS (1 * CLK_NS_PER_S)
/* Too few nodes up: agents may be just coming back. */
#define RUN_LACK_NS (10 * CLK_NS_PER_S)
/* Nodes held by others: then overdue, at last missed. */
#define RUN_OVERDUE_NS (60 * CLK_NS_PER_S)
#define RUN_GIVE_UP_NS (15 * 60 * CLK_NS_PER_S)
/* A run that goes alone keeps others from starting for so long, to come in. */
#define RUN_ALONE_HOLD_NS (60 * CLK_NS_PER_S)
/* After a restart of the collector: agents back off up to some seconds, and
 * have their turns, 360 a second where the machine is shared with much else
 * (tests/bench/RESULTS.md, fleet). agent.grace is as long with 20,000. */
#define RUN_RESUME_NS      (20 * CLK_NS_PER_S)
#define RUN_RESUME_NODE_NS (4 * CLK_NS_PER_MS)
/* A finished launcher may go by itself: MPI_Finalize is usually fast, but on
 * busy nodes and under Slurm it takes seconds, and a job that is ended in it
 * has failed. */
#define RUN_LEAVE_NS (8 * CLK_NS_PER_S)
/* Between SIGTERM and SIGKILL. */
#define RUN_GRACE_NS (2 * CLK_NS_PER_S)
/* Nodes are held no longer than this after a run's end, or after a finished
 * launcher's time to leave. */
#define RUN_RELEASE_NS (6 * CLK_NS_PER_S)
/* An end record that cannot be committed holds a run open for this long. */
#define RUN_COMMIT_NS         (60 * CLK_NS_PER_S)
#define RUN_SYMPTOMS_MAX      32
#define RUN_EXIT_SYMPTOMS_MAX 8   /* of them, ranks that ended themselves */
#define RUN_RANK_SYMPTOMS_MAX 24  /* of them, at most, ranks and daemons */
#define RUN_ENDED_MAX         128 /* remembered for lists */

/* ---- outcome.c: what a rank says of whom it waits for ---- */

#define STUCK_RANKS_MAX 64

struct stuck_rank {
	int64_t rank, with; /* rank waits for with, or -1: it cannot say */
	struct node *node, *with_node; /* NULL likewise */
	const char *what;              /* of names_tests */
	double waited_s;
	uint64_t at; /* the exchange */
};

struct run;

/* How a batch system's word for a job that has ended is understood. */
struct launcher_end {
	const char *word;
	enum run_state state;
	enum cause cause;
};

struct launcher {
	const char *name; /* as campaign.launcher and launch.launcher */
	size_t nodes_max; /* it cannot use more */
	int starts;       /* every agent starts the ranks of its node */
	/* 1: nodes have to be idle in a batch system, too. */
	int idle;
	/* Of a run that has been launched and has said nothing yet: why, as
	 * far as it is known, or "". NULL: there is nothing to ask. */
	const char *(*waits)(const struct run *r);
	/* A run with signs of failure since then: how its job has ended, if
	 * that is why. 1: known, and *ret_end, or NULL when it says nothing.
	 * 0: not yet known. NULL: there is nothing to ask. */
	int (*ended)(const struct run *r, uint64_t since_ns,
	    const struct launcher_end **ret_end);
	/* What the head may have left behind. NULL: nothing. */
	void (*end)(const struct run *r);
};

enum step {
	STEP_WAIT,    /* pending */
	STEP_PREPARE, /* starting: nodes are asked */
	STEP_LAUNCH,  /* starting: the head is asked */
	STEP_FIRST,   /* starting: no record yet */
	STEP_RUN,     /* running */
	STEP_LEAVE,   /* final; its processes may still be there */
	STEP_DONE     /* final; holds nothing */
};

enum ready { READY_ASKED, READY_YES, READY_NO };

struct run_node {
	struct node *node;
	enum ready ready;
	char *text;       /* why not */
	enum cause cause; /* the same */
	uint64_t borders; /* whose counters it has told */
	/* Of its network devices, at the first and the newest border. */
	int counted;
	json_t *networks; /* of networks.c: interfaces by network */
	double first_bytes, last_bytes;
};

struct run {
	TAILQ_ENTRY(run) link;
	struct runs *all;
	char id[64];
	char *campaign;
	char *by; /* for people */
	enum run_origin origin;
	int attempt;     /* of RUN_BY_SEARCH, from 1 */
	int is_followed; /* run_order_on has seen its end */
	struct conf *conf;
	const struct launcher *launcher;
	const char *class; /* of conf */
	const char *mpi;
	int exclusive;
	uint64_t seed;
	uint64_t deadline_ns; /* spans */
	uint64_t start_limit_ns;
	uint64_t margin_ns;
	int64_t priority;
	int preempts; /* it ends runs of lower priority */
	uint32_t
	    *places; /* by a node's id, its index + 1; or NULL: none made */
	size_t place_count;
	int named_others; /* a record of it spoke of other nodes */
	int alone;        /* no other run goes beside it, on any node */
	enum { TURN_NOT_YET, TURN_NONE, TURN_TAKEN } turn; /* of rails */
	json_t *carried;         /* devices that carried its bytes, or NULL */
	struct budget_cost cost; /* expected */
	int cost_held;           /* and reserved */
	enum run_state state;
	enum cause cause;
	char text[SYMPTOM_TEXT_MAX];
	uint64_t created_unix_ns, started_unix_ns, ended_unix_ns;

	enum step step;
	uint64_t created_ns;
	uint64_t step_ns;         /* when step began */
	uint64_t start_ns;        /* of launch; 0: not yet */
	uint64_t resume_ns;       /* until when the head is waited for; 0: no */
	struct run_node *nodes;   /* the head first */
	size_t node_count, asked; /* asked: have not answered prepare yet */
	json_t *networks;         /* shared by its nodes, as texts; or NULL */
	struct wireup *wireup;    /* NULL: no rank was started by an agent */
	int launcher_runs;        /* or ranks that agents have started */
	int ended;                /* `end` was sent */

	uint64_t records; /* numbered ones received */
	uint64_t last_seq;
	uint64_t fed_seq; /* up to here ops->committed was told */
	uint64_t bytes;   /* of its records' messages */
	int cut;          /* more came than a run may have */
	uint64_t borders; /* at which counters were asked for */
	int end_seen;     /* its end record is on its way into the store */
	uint64_t end_seen_ns;
	char *phase, *test; /* where it is, for a deadline's text */
	json_t *progress;

	struct symptom *signs; /* RUN_SYMPTOMS_MAX at most; NULL: none, or over
				*/
	size_t sign_count;
	uint64_t decide_ns; /* 0: nothing to decide */
	char *stderr_tail;
	struct stuck_rank *stuck; /* what they say; likewise */
	size_t stuck_count;
	size_t stuck_named; /* pairs of them, once it has ended */
};
TAILQ_HEAD(run_list, run);

struct runs {
	struct roster *roster;
	struct store *store;
	const struct runs_ops *ops;
	void *ctx;
	struct runs_quota quota;
	uint64_t born_ns;
	struct run_list live;  /* until STEP_DONE */
	struct run_list ended; /* newest first */
	size_t ended_count;
	struct costs *costs; /* NULL: nothing is limited */
	struct slurm *slurm; /* NULL: there is none */
	json_t *unused;      /* by node: fabric_unused_note */
	json_t *turns;       /* by campaign: how many rails it has had */
	uint64_t tick;
	uint64_t records;  /* taken since the start */
	int intake_failed; /* agents hold records that were not committed */
};

/* run_order.c: a run that has ended because ranks were stuck goes on: a
 * scheduled one again at once, without one of each pair; where no pair is known
 * its nodes meet in pairs, three times at most. */
void run_order_on(struct run *r);

/* run.c */
struct run *run_find(const struct runs *rs, const char *id);
struct run *run_find_live(const struct runs *rs, const char *id);
int run_is_final(const struct run *r);
struct node *run_head(const struct run *r); /* NULL: none yet */
/* Index, or -ENOENT. */
long run_node_index(struct run *r, const struct node *n);
/* The nodes of r have changed: its index is made again. */
void run_nodes_changed(struct run *r);
void run_step_set(struct run *r, enum step step);
int run_send(const struct run *r, struct node *n, enum wire_type type,
    json_t *msg);
/* Note a sign that r has failed. outcome.c chooses among the signs when they
 * have had RUN_SETTLE_NS to come together. */
void run_sign(struct run *r, enum symptom_weight weight, enum run_state state,
    enum cause cause, uint64_t onset_ns, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* run_show.c */
extern const char *const run_origins[RUN_ORIGIN_MAX];
json_t *run_json(const struct run *r);
/* With origin, attempt and campaign_text, as it is stored. */
json_t *run_json_whole(const struct run *r);

#endif
