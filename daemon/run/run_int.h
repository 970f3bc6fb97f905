/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_int.h - shared declarations, private to daemon/run.
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
#include "daemon/run/run_order.h"
#include "daemon/run/symptom.h"
#include "daemon/store/store.h"

/* Time limit of a node's answer to message prepare: an idle check may run a
 * command. */
#define RUN_PREPARE_NS (10 * CLK_NS_PER_S)
/* Time limit of the answer to message launch: the head of the run makes a
 * directory and forks. */
#define RUN_LAUNCH_NS (8 * CLK_NS_PER_S)
/* Time from the first sign of failure to the decision: related signs arrive
 * within this time, and an end record may be on its way. */
#define RUN_SETTLE_NS (2 * CLK_NS_PER_S)
/* Time limit of the query for the end of a job in the batch system. */
#define RUN_BATCH_NS (8 * CLK_NS_PER_S)
/* A killed launcher and its ranks end within this time. */
#define RUN_AT_ONCE_NS (1 * CLK_NS_PER_S)
/* Time to wait if too few nodes are up: agents may be reconnecting. */
#define RUN_LACK_NS (10 * CLK_NS_PER_S)
/* Time to wait for nodes that other runs hold: until the run is overdue, and
 * until it is missed. */
#define RUN_OVERDUE_NS (60 * CLK_NS_PER_S)
#define RUN_GIVE_UP_NS (15 * 60 * CLK_NS_PER_S)
/* A run that must be alone prevents other starts for this long, so that it can
 * start. */
#define RUN_ALONE_HOLD_NS (60 * CLK_NS_PER_S)
/* Time to wait for agents after a restart of the collector: their backoff is
 * some seconds, and their handshakes take turns, 360 a second on a busy machine
 * (tests/bench/RESULTS.md, fleet). With 20,000 nodes agent.grace is as long. */
#define RUN_RESUME_NS      (20 * CLK_NS_PER_S)
#define RUN_RESUME_NODE_NS (4 * CLK_NS_PER_MS)
/* Time for a finished launcher to exit before it is ended: MPI_Finalize is
 * usually fast, but takes seconds on busy nodes and under Slurm, and a job that
 * is ended during it counts as failed. */
#define RUN_LEAVE_NS (8 * CLK_NS_PER_S)
/* Time between SIGTERM and SIGKILL. */
#define RUN_GRACE_NS (2 * CLK_NS_PER_S)
/* Nodes are held no longer than this after a run's end, or after a finished
 * launcher's time to leave. */
#define RUN_RELEASE_NS (6 * CLK_NS_PER_S)
/* An end record that cannot be committed holds a run open for this long. */
#define RUN_COMMIT_NS         (60 * CLK_NS_PER_S)
#define RUN_SYMPTOMS_MAX      32
#define RUN_EXIT_SYMPTOMS_MAX 8   /* of these, ranks that ended themselves */
#define RUN_RANK_SYMPTOMS_MAX 24  /* of these, ranks and daemons */
#define RUN_ENDED_MAX         128 /* ended runs kept for lists */

/* ---- outcome.c: the rank for which a stuck rank waits ---- */

#define STUCK_RANKS_MAX 64

/* A report of a stuck rank. */
struct stuck_rank {
	int64_t rank, with; /* rank waits for rank with; -1: unknown */
	struct node *node, *with_node; /* with_node NULL: unknown */
	const char *what; /* the test, a word of names_tests, or NAMES_PLAN */
	double waited_s;
	uint64_t at; /* number of the exchange, the same on all ranks */
};

struct run;

/* The meaning of a batch system's state of an ended job. */
struct launcher_end {
	const char *word;
	enum run_state state;
	enum cause cause;
};

/* A method to start the ranks of a run; one row each. */
struct launcher {
	const char *name; /* as campaign.launcher and launch.launcher */
	size_t nodes_max; /* largest number of nodes that it can use */
	int starts;       /* 1: every agent starts the ranks of its node */
	/* 1: nodes have to be idle in a batch system, too. */
	int idle;
	/* Return why a launched run has not sent a record yet, or "". NULL: not
	 * supported. */
	const char *(*waits)(const struct run *r);
	/* Find the end of the job of a run that shows signs of failure since
	 * that time. Return 1 with *ret_end, which is NULL if the job is not
	 * the cause; 0: not known yet. NULL: not supported. */
	int (*ended)(const struct run *r, uint64_t since_ns,
	    const struct launcher_end **ret_end);
	/* End processes that the head may have left running. NULL: not needed.
	 */
	void (*end)(const struct run *r);
};

/* The step in which a run is. */
enum step {
	STEP_WAIT,    /* pending */
	STEP_PREPARE, /* starting: waiting for nodes to prepare */
	STEP_LAUNCH,  /* starting: waiting for the head to launch */
	STEP_FIRST,   /* starting: no record yet */
	STEP_RUN,     /* running */
	STEP_LEAVE,   /* final; its processes may still be there */
	STEP_DONE     /* final; holds nothing */
};

/* The answer of a node to prepare. */
enum ready { READY_ASKED, READY_YES, READY_NO };

/* A node of a run. */
struct run_node {
	struct node *node;
	enum ready ready;
	char *text;       /* why it is not ready */
	enum cause cause; /* why, with READY_NO */
	/* A border is the begin or the end of a phase. Number of borders at
	 * which it has reported its counters. */
	uint64_t borders;
	/* 1: first_bytes and last_bytes are set: the bytes of its network
	 * devices at the first and at the newest border. */
	int counted;
	json_t *networks; /* set by networks.c: interfaces by network */
	double first_bytes, last_bytes;
};

/* A run, from its order until it is removed from the list of ended runs. */
struct run {
	TAILQ_ENTRY(run) link; /* in runs.live or runs.ended */
	struct runs *all;
	char id[64];
	char *campaign;
	char *by; /* origin as text */
	enum run_origin origin;
	int attempt;     /* number of the search run, from 1 (RUN_BY_SEARCH) */
	int is_followed; /* 1: run_order_on has processed its end */
	struct conf *conf;
	json_t *overrides; /* given with the order, applied to conf; or NULL */
	const struct launcher *launcher;
	const char *class; /* class of the campaign, from conf */
	const char *mpi;
	int exclusive; /* 1: it holds its nodes alone */
	uint64_t seed;
	/* Durations: the longest time of the run from its launch, the longest
	 * time until its first record, and how long it may wait for nodes. */
	uint64_t deadline_ns;
	uint64_t start_limit_ns;
	uint64_t margin_ns;
	int64_t priority;
	int preempts; /* 1: it ends runs of lower priority */
	/* By a node's id, its index + 1; or NULL: none made. */
	uint32_t *places;
	size_t place_count;
	int named_others; /* 1: a record named nodes of other runs */
	int alone;        /* 1: no other run at the same time, on any node */
	enum { TURN_NOT_YET, TURN_NONE, TURN_TAKEN } turn; /* turn of rails */
	json_t *carried;         /* devices that carried its bytes, or NULL */
	struct budget_cost cost; /* expected cost */
	int cost_held;           /* 1: cost is reserved in the budget */
	enum run_state state;
	enum cause cause;
	char text[SYMPTOM_TEXT_MAX];
	uint64_t created_unix_ns, started_unix_ns, ended_unix_ns;

	enum step step;
	uint64_t created_ns;
	uint64_t step_ns;         /* when step began */
	uint64_t start_ns;        /* time of the launch; 0: not yet */
	uint64_t resume_ns;       /* end of the wait for the head; 0: none */
	struct run_node *nodes;   /* the head first */
	size_t node_count, asked; /* asked: have not answered prepare yet */
	json_t *networks;         /* shared by its nodes, as texts; or NULL */
	struct wireup *wireup;    /* NULL: no rank was started by an agent */
	/* 1: the launcher, or ranks that agents have started, may be active. */
	int launcher_runs;
	int ended; /* 1: message end was sent to its nodes */

	uint64_t records; /* numbered records received */
	uint64_t last_seq;
	uint64_t fed_seq; /* last record passed to ops->committed */
	uint64_t bytes;   /* size of the messages with its records */
	int cut;          /* 1: records exceeded the quota */
	uint64_t borders; /* number of borders at which it requested counters */
	int end_seen;     /* 1: its end record is being stored */
	uint64_t end_seen_ns;
	char *phase, *test; /* current phase and test, for a deadline's text */
	json_t *progress;

	struct symptom *signs; /* RUN_SYMPTOMS_MAX at most; NULL: none, or over
				*/
	size_t sign_count;
	uint64_t decide_ns; /* when to decide by the signs; 0: no signs */
	/* Connections between its nodes that failed, if it did not start. */
	struct strbuf unanswered;
	size_t unanswered_count;
	char *stderr_tail;
	struct stuck_rank *stuck; /* reports of stuck ranks; may be NULL */
	size_t stuck_count;
	size_t stuck_named; /* pairs of nodes among them, after its end */
};
TAILQ_HEAD(run_list, run);

/* All runs. */
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
	struct slurm *slurm; /* NULL: none */
	json_t *unused;      /* by node: fabric_unused_note */
	json_t *turns;       /* by campaign: turns of rails so far */
	uint64_t tick;
	uint64_t records;  /* received since the start */
	int intake_failed; /* 1: agents hold records that were not committed */
};

/* run.c */
/* Return the live or recently ended run with this id, or (run_find_live) only a
 * live one; NULL: unknown. */
struct run *run_find(const struct runs *rs, const char *id);
struct run *run_find_live(const struct runs *rs, const char *id);
/* Return 1 if the state of the run is final, 0 if not. */
int run_is_final(const struct run *r);
/* Return the head, the first node; NULL: no nodes yet. */
struct node *run_head(const struct run *r);
/* Return the index of a node in the run, or -ENOENT. */
long run_node_index(struct run *r, const struct node *n);
/* Rebuild the index of r after a change of its nodes. */
void run_nodes_changed(struct run *r);
/* Begin a step, and note the time. */
void run_step_set(struct run *r, enum step step);
/* Send a message to a node; takes msg. Return 0 or -ENOTCONN. */
int run_send(const struct run *r, struct node *n, enum wire_type type,
    json_t *msg);
/* Note a sign that r has failed. outcome.c chooses among the signs that arrive
 * within RUN_SETTLE_NS. */
void run_sign(struct run *r, enum symptom_weight weight, enum run_state state,
    enum cause cause, uint64_t onset_ns, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

#endif
