/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis_int.h - declarations shared by the files of the diagnosis; no other
 * file includes it.
 */
#ifndef DAEMON_DIAGNOSIS_DIAGNOSIS_INT_H
#define DAEMON_DIAGNOSIS_DIAGNOSIS_INT_H

#include "common/queue.h"
#include "common/rng.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/diagnosis/judge/confirm.h"
#include "daemon/diagnosis/judge/drift.h"
#include "daemon/diagnosis/judge/holes.h"
#include "daemon/diagnosis/judge/host_trouble.h"
#include "daemon/diagnosis/judge/link_errors.h"
#include "daemon/diagnosis/judge/loss.h"
#include "daemon/diagnosis/judge/stuck.h"
#include "daemon/diagnosis/judge/usual.h"
#include "daemon/diagnosis/judge/verdict_text.h"
#include "daemon/cluster/roster.h"
#include "daemon/cluster/topo.h"
#include "daemon/evidence/round.h"
#include "schema/mesh.h"
#include "schema/names_link.h"
#include "schema/names_probe.h"
#include "schema/names_verdict.h"
#include "schema/stages.h"

#define DIAGNOSIS_CLASS_MAX 16
#define SERIES_MAX          (2 * CANARY_MAX + 16 + SERIES_RAILS)
#define SERIES_RAILS        64 /* tests times rails */

/* Kinds of rounds: a test, by its number, or one of the mesh. */
enum {
	DIAGNOSIS_ECHO_LEAF = CANARY_MAX,
	DIAGNOSIS_ECHO_SPINE,
	DIAGNOSIS_LOSS_LEAF,
	DIAGNOSIS_LOSS_SPINE,
	SHORTFALL_EXPECTED, /* compared with the prediction for a machine */
	SERIES_PORT,        /* rates of ports */
	SERIES_LINK_ERRORS, /* error counters of ports */
	SERIES_MTU,         /* large datagrams of the mesh */
	SERIES_STUCK,       /* MPI exchanges that do not end */
	SERIES_DEAD,        /* small datagrams of the mesh, if none arrives */
	SERIES_KIND_MAX
};
/* The properties of a kind of rounds: name, unit of values, 1 for rates, 1 for
 * losses. */
struct series_kind {
	const char *name, *unit;
	int is_rate, is_loss;
	/* A smaller difference is recorded but not judged: applications do not
	 * notice it. */
	double least_s;
};

/* A judge for rounds of one kind. */
struct diagnosis_series {
	char class[DIAGNOSIS_CLASS_MAX];
	int sort; /* enum test, or a kind of the mesh */
	/* A ring runs at the pace of its slowest node, so its rounds are
	 * separate from rounds of pairs. */
	int partners; /* enum partners */
	/* Rails take turns, one per round: rounds of one rail, or "" for all. A
	 * slow rail is an outlier in its own rounds, a slow node in all. */
	char rail[ROSTER_RAIL_BYTES];
	char device[8]; /* device of the memory; "": the host's */
	uint32_t bytes; /* of a message; 0: the size of the test */
	uint64_t rounds, heard_round; /* number of rounds; for a rail: number of
				       * its newest round in the series of all
				       * rails */
	uint64_t heard_ns, every_ns;  /* time of the newest; interval, or 0 */
	struct judge *judge;
	struct drift *drifts;       /* by node id */
	struct wander wander;       /* of the newest means of nodes */
	struct wander paths_wander; /* of the shares of leaves */
	double odd; /* share of outlying rounds of nodes, in about ten rounds */
	int drift_begun; /* loaded with its pinned values */
	size_t drift_count;
	double level; /* mean logarithm of the rounds' medians */
	uint32_t level_n;
	double limit; /* of the sums, for limit_nodes nodes */
	size_t limit_nodes;
	/* All nodes together: the mean distance of each from its own level,
	 * less the usual distance at this hour of the day. */
	struct drift fleet;
	double fleet_hour[24];
	uint32_t fleet_hour_n[24];
	struct drift *paths; /* by leaf: share of its slow pairs, less the share
			      * of all */
	/* By leaf: the share in the last rounds; the share of busy nodes in
	 * these; and sums of squares over earlier rounds of the excess of slow
	 * pairs, and of the share of busy nodes. */
	double *paths_now, *busy_now, *jobs_slow, *jobs_busy;
	uint32_t paths_count;
	struct member_sum *members; /* by node id */
	size_t members_count;
	/* By stage of spines: the share of slow pairs that most of its leaves
	 * have. */
	struct drift *stages;
	uint32_t stages_count;
	int stage_told;                   /* reported spines without a name */
	uint32_t fleet_nodes, fleet_slow; /* of the newest round */
	double busy_slow; /* share of pairs that jobs may slow everywhere */
};

/* A leaf and its uplinks are not judged while a larger share of its nodes is
 * busy. */
#define BUSY_LEAF_MAX 0.25
/* The share of pairs that may be slower than usual is at least this share of
 * the busy share of all nodes: jobs come and go. */
#define BUSY_SLOWS 0.2
/* The idle nodes of a leaf are not judged either while its share of busy nodes
 * exceeds the share in the cluster by this much: jobs that fill a leaf load its
 * uplinks. */
#define BUSY_LEAF_MORE 0.15

/* Evidence that more pairs of a node are slow than of the other nodes of its
 * leaf. */
#define MEMBER_RESTORED 1e6 /* a sum beyond any limit, later cut to it */
struct member_sum {
	double sum;         /* of log likelihood ratios */
	double share, rest; /* in the last rounds; of the other nodes */
	uint32_t rounds;    /* since the sum was 0 */
	uint8_t raised;
};

/* Sums over the nodes of a leaf in a round. */
struct path_sum {
	double pairs, slow;
	double nodes, busy;
};

/* This many dismissals within DISPELLED_SPAN_NS are not chance: the fault comes
 * and goes. */
#define DISPELLED_MANY    4
#define DISPELLED_SPAN_NS (7 * 86400 * CLK_NS_PER_S)
/* Only effects of at least this many times effect_min count. */
#define DISPELLED_TIMES 3
/* Lost cores are reported after this long, whether or not the node is slow. */
#define TAKEN_NS (60 * CLK_NS_PER_S)
/* This many runs that did not measure a node make it unknown. */
#define MISSED_MANY 2

/* Classes of nodes, by their GPUs, and the errors of each kind since the
 * collector started. */
#define DIAGNOSIS_LINK_CLASSES 16
struct diagnosis_link_class {
	char name[LINK_PORT_MAX];
	uint64_t errors[LINK_KIND_MAX];
};

/* State of every node, by its id. */
struct diagnosis_node {
	char *boot;        /* of the agent process that was measured */
	uint64_t heard_ns; /* time of its last round; 0: none since a restart */
	char run[64];      /* the run of its counters */
	char nic[16];      /* the one with the most traffic; "": none */
	int64_t drops, drops_first;
	uint32_t partners, slow_partners; /* of its last round */
	uint64_t nics_serial;             /* of the ports at the last check */
	uint64_t fastest_serial;          /* ports_serial of fastest_bps */
	double fastest_bps;               /* from its inventory */
	/* Its kind by NIC, CPU and GPUs, and its kind only by the NIC's rate:
	 * numbers of diagnosis.kinds, from 1. */
	uint32_t kind, rate_kind;
	double kind_bps;     /* rated_bps when the kinds were found */
	json_t *ports;       /* best value ever seen, by "NAME MEMBER" */
	double rated_bps;    /* of its fastest port */
	char canary_run[64]; /* the newest run of MPI that measured it */
	unsigned missed;     /* later runs that should have measured it */
	/* Times of the newest suspicions that a confirmation run dismissed. */
	uint64_t dispelled_ns[DISPELLED_MANY];
	uint8_t link_busy; /* with a job's traffic, in its last round */
	uint8_t leaf_busy; /* more of its leaf are busy than elsewhere */
	double wait_ratio; /* of its ranks in its last round; NAN: unknown */
	char *trouble;     /* its last host contention, or NULL */
	/* Another user takes its cores (host_trouble.h): since when, in how
	 * many rounds, and in how many rounds not any longer. */
	uint64_t taken_ns;
	uint16_t taken, untaken;
	struct link_rate *rates; /* rates of its error counters: link_rates.c */
	size_t rate_count;
	uint8_t link_class; /* in link_classes, from 1; 0: no link counters */
	/* The newest z of each test; NAN: not measured. A round of rings counts
	 * only if no other round of the test has measured the node lately: in
	 * a ring all nodes have the pace of the slowest. */
	float z[CANARY_MAX];
	uint64_t z_ns[CANARY_MAX];
	uint8_t z_is_ring[CANARY_MAX];
	/* Last value passed to diagnosis_ops.changed; VERDICT_MAX: none yet. */
	uint8_t reported;
	/* Time of the last round that compared it with enough peers, or with
	 * its own past. */
	uint64_t judged_ns;
};

/* The result of a node or link relative to the prediction for a machine. */
struct shortfall_expected {
	double ratio; /* with its best partner */
	uint32_t met;
	char machine[40];
};

/* A port with a lower value than it has shown, or than others of its leaf
 * have. */
struct port_shortfall {
	char name[32]; /* "": none */
	enum port_fact fact;
	double now, usual;
};

/* What a follow-up run is to find. */
enum recovers {
	RECOVERS_NOT,   /* whether a suspect is slow */
	RECOVERS_MAYBE, /* whether an outlier is normal again, as another test
			 * has found */
	RECOVERS        /* the same; its newest round was normal */
};

/* A case: an open finding about a node, leaf, stage or the fleet. */
struct incident {
	TAILQ_ENTRY(incident) link; /* in incidents or follows of diagnosis */
	enum judge_kind kind;
	uint32_t index; /* node id, or number of a leaf or stage */
	char *subject;
	struct diagnosis_series *series; /* the series with the worst result */
	enum what what;
	enum verdict verdict;
	int passed; /* 1: finding and report are of a confirmation run */
	enum confirm_finding finding;
	/* The NIC of the node that is slow, as far as known; "": the node. */
	char rail[ROSTER_RAIL_BYTES];
	struct confirm_report report;
	uint64_t since_unix_ns, at_unix_ns;
	char text[VERDICT_TEXT_MAX];
	char host[HOST_TROUBLE_TEXT_MAX]; /* the contention of the host */
	char run[64];                     /* the run that made it an outlier */
	char pass_run[64];                /* its confirmation run */
	char *mpi, *launcher, *class;
	json_t *slurm;    /* as of diagnosis_source */
	unsigned tries;   /* attempts of the confirmation run so far */
	uint64_t next_ns; /* time of the next attempt; 0: now */
	int asks_way;     /* 1: confirmed; a run will measure the direction */
	struct shortfall_expected expected; /* for WHAT_PREDICTION */
	struct port_shortfall port;         /* for WHAT_PORT */
	struct hole_place hole;             /* for WHAT_MTU and dead paths */
	int paths;       /* 1: only some paths are slow, by the series' paths */
	uint32_t other;  /* leaf, of CONFIRM_BETWEEN */
	double evidence; /* sum of confirm_share_evidence, for paths */
	int taken;       /* 1: other processes take the cores of the host */
	double effect;   /* of the worst suspicion, for WHAT_INTERMITTENT */
	int over;        /* 1: ended; freed when no caller uses it */
	/* For members of diagnosis.follows, which are not cases: the start, and
	 * whether the follow-up is to find recovery. */
	uint64_t first_ns;
	enum recovers recovers;
};
TAILQ_HEAD(incidents, incident);
TAILQ_HEAD(shortfall_runs, shortfall_run); /* shortfall.c */

/* The confirmation run or follow-up run in progress; one at a time. */
struct confirm_run {
	struct incident *of; /* NULL: no run is in progress */
	char run[64];
	char *names[CONFIRM_NODES_MAX]; /* the outlier first */
	uint32_t leaves[CONFIRM_NODES_MAX];
	size_t count;
	int is_rate;
	int heard;     /* 1: its result was processed */
	int disturbed; /* 1: another run of the collector used the network */
	uint64_t window_ns;               /* start of the current hour */
	int in_window, follows_in_window; /* runs ordered in this hour */
	int is_follow; /* 1: a follow-up run: `of` is in diagnosis.follows */
};

#define SHARES_ROUNDS 3 /* rounds from which today's share is determined */

/* How much farther a leaf is than other leaves, newest round first. */
struct crossings {
	double effect[SHARES_ROUNDS];
	int known;
};

/* The state of the diagnosis. */
struct diagnosis {
	struct roster *roster;
	struct store *store;
	struct diagnosis_options o;
	const struct diagnosis_ops *ops;
	void *ctx;
	struct diagnosis_series series[SERIES_MAX];
	size_t series_count;
	struct diagnosis_node *nodes;
	size_t node_count;
	json_t *leaf_index; /* name: number */
	char (*leaves)[TOPO_LEAF_MAX];
	uint32_t leaf_count;
	struct crossings *crossings; /* by leaf number */
	uint32_t crossings_count;
	/* Switches above leaves (spines.c); NULL: not determined yet. */
	struct stages *stages;
	uint32_t *stage_of;    /* by leaf number */
	uint32_t staged;       /* number of leaves in stage_of */
	struct score_obs *obs; /* scratch */
	uint8_t *busy;
	size_t obs_cap;
	struct incidents incidents;
	struct incidents follows;         /* follow_up.c */
	struct shortfall_runs shortfalls; /* of live runs */
	struct loss_watch loss;
	struct link_watch links;
	struct diagnosis_link_class link_classes[DIAGNOSIS_LINK_CLASSES];
	size_t link_class_count;
	struct stuck_watch stuck;
	struct confirm_run pass;
	json_t *pinned;      /* body of the baseline, or NULL */
	struct score *score; /* for processing its records */
	uint64_t kept_ns;    /* time when the recent weeks were last stored */
	int learned;         /* 1: something was learned since kept_ns */
	size_t round_nodes;  /* nodes measured by the newest canary */
	struct rng rng;
	/* How the newest canary was launched; "": no canary yet. */
	char mpi[32], launcher[32];
	json_t *slurm;
	json_t *kinds;    /* kinds of nodes: name to number */
	json_t *canaries; /* set of campaigns that measure by MPI */
	/* Consecutive epochs with unexplained holes, and with dead paths. */
	int hole_epochs, dead_epochs;
	int stage_epochs[2]; /* over spines without a name: large, dead */
	int ports_new;       /* an agent has sent hello since the last check */
	uint64_t ports_ns;   /* earliest time of the next check of ports */
};

/*
 * The files call each other in one direction only, from the last one here to
 * the first:
 *
 *   rounds.c        a record as a round of a series
 *   incident_show.c incidents as texts, JSON and lists
 *   incident.c      one incident for a node or leaf
 *   learned.c       stored state of leaves, stages and the fleet
 *   spines.c        switches above leaves that slow a share of all paths
 *   series_drift.c  every node against its own past, and a baseline
 *   shortfall.c     nodes and links far below a prediction
 *   shares.c        bandwidth of nodes and leaves relative to their peers
 *   ports.c         ports below their rate, and with errors
 *   link_rates.c    recent error rates of ports and GPUs
 *   paths.c         paths that lose large datagrams, or all MPI messages
 *   follow_up.c     immediate further rounds after one large effect
 *   confirm_run.c   confirmation runs
 *   diagnosis.c     the interface (diagnosis.h)
 */

/* rounds.c */
/* Return the properties of a kind; the kind with this name. */
struct series_kind series_kind(int sort);
int series_kind_find(const char *name); /* or -ENOENT */
/* Return the state of a node, or the number of a leaf; both are created if they
 * do not exist. */
struct diagnosis_node *diagnosis_node(struct diagnosis *d,
    const struct node *n);
uint32_t diagnosis_leaf(struct diagnosis *d, const char *leaf);
/* Return the series of these rounds, which is created if it does not exist;
 * NULL: there are too many series. */
struct diagnosis_series *diagnosis_series_of(struct diagnosis *d,
    const char *class, int sort, int partners);
/* As diagnosis_series_of, also for one rail, for memory of a device or for
 * messages of another size than the test's; "": all rails, the host; 0: the
 * test's. */
struct diagnosis_series_key {
	const char *class;
	int sort, partners;
	const char *rail, *device;
	uint32_t bytes;
};
struct diagnosis_series *diagnosis_series_at(struct diagnosis *d,
    const struct diagnosis_series_key *key);
/* Return the series of a stored object, from its test, class, partners, rail,
 * device and bytes; NULL: no such test. */
struct diagnosis_series *diagnosis_series_stored(struct diagnosis *d,
    const json_t *o);
/* Clear the sums of slow pairs of a leaf or node, or over a stage. */
void series_forget_paths(struct diagnosis_series *s, enum judge_kind kind,
    uint32_t index);
/* Clear the sums of slow pairs in all kinds of rounds, after one kind has shown
 * that the paths have recovered. */
void diagnosis_forget_paths(struct diagnosis *d, enum judge_kind kind,
    uint32_t index);
/* Return the drift of a node; NULL: the series has no data of the node. */
const struct drift *series_drift_of(const struct diagnosis_series *s,
    uint32_t node);
/* Decide whether the node or one of its rails is slow. If at most half of the
 * rails that were measured since the first counting vote are slow, it is the
 * slowest rail. Chance votes against every third rail, so a rail counts as slow
 * if it is at least half as slow as the slowest. Return the series that shows
 * it, or NULL: the rail was slow once, so it is too early to decide. */
struct diagnosis_series *diagnosis_rail_or_node(struct diagnosis *d,
    struct diagnosis_series *s, uint32_t node);
/* Return enum partners of a stored series or incident; the default is a
 * ring. */
int diagnosis_partners(const json_t *object);
/* Return 1 if the agent of a node was restarted after the node was measured. */
int diagnosis_is_new_boot(const struct node *n,
    const struct diagnosis_node *cn);
/* Note that a node was measured now. */
void diagnosis_heard(struct diagnosis *d, const struct node *n);
/* Write the good quartile of every node of a round to d->obs; return the count.
 * The parameter heard is 1 if the nodes were measured now. */
size_t diagnosis_observe(struct diagnosis *d, const struct round *round,
    int sort, int heard);

/* incident_show.c */
/* Return 1 if a node was measured within stale_ns and since its agent
 * started. */
int diagnosis_is_measured(const struct diagnosis *d, const struct node *n);
/* Return the open case of a subject, or NULL. */
struct incident *incident_find(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index);
/* Return the follow-up of a subject before it has a case or while it recovers,
 * or NULL. */
struct incident *incident_followed(const struct diagnosis *d,
    enum judge_kind kind, uint32_t index);
/* Write the pending step before a verdict, or before its end. Return 0 and "":
 * nothing pending. */
int incident_pending(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index, char ret[DIAGNOSIS_PENDING_MAX]);
/* Return the judge's state of its subject; NULL: the judge has no data, or the
 * subject is the fleet. */
const struct judge_track *incident_track(const struct incident *k);
/* Return a series whose judge still finds the subject slow: the series of the
 * incident, or another one; NULL: none. */
struct diagnosis_series *incident_naming(struct diagnosis *d,
    const struct incident *k);
/* Return the open case that either this leaf or the only other leaf has a slow
 * uplink, or NULL. */
struct incident *incident_between(const struct diagnosis *d, uint32_t leaf);
const char *incident_kind_name(enum judge_kind kind);
/* Write the text of an incident again, from the present evidence. */
void incident_write(const struct diagnosis *d, struct incident *k);
/* Write the key of a port's value in diagnosis_node.ports. */
#define PORT_KEY_BYTES 64
void port_key(const char *name, enum port_fact fact, char ret[PORT_KEY_BYTES]);
/* Return an incident as JSON: a new reference. */
json_t *incident_json(const struct diagnosis *d, const struct incident *k);

/* link_rates.c */
/* Update the rates from the newest counters of a node; span_s: the time since
 * the counters before. */
void link_rates_take(struct diagnosis *d, const struct node *n, double span_s);
/* Add hour and day of a counter of a port to an object, or (NULL) a row for
 * each counter to an array. */
void link_rates_of(const struct diagnosis *d, const struct node *n,
    const char *port, const char *counter, json_t *to);

/* incident.c */
/* Create a suspect for a follow-up, without a case; the caller lists and frees
 * it. */
struct incident *incident_suspect(struct diagnosis *d,
    struct diagnosis_series *s, enum judge_kind kind, uint32_t index,
    const struct diagnosis_source *from);
/* Return how the run that showed the incident was made. The texts belong to
 * it. */
struct diagnosis_source incident_source(const struct incident *k);
/* A judge found a node or leaf to be an outlier: open an incident, or update
 * the open one. */
void incident_outlier(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from);
/* A node differs from its own past: open an incident, unless one is open. */
void incident_drift(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node, const struct diagnosis_source *from);
/* Open an incident if other processes take the cores of a node (WHAT_HOST), or
 * note that they no longer do. */
void incident_taken(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node, const struct diagnosis_source *from);
/* Open an incident if a node or leaf is far below a prediction (seen), or end
 * it (seen NULL). */
void incident_shortfall(struct diagnosis *d, enum judge_kind kind,
    uint32_t index, const struct diagnosis_source *from,
    const struct shortfall_expected *seen);
/* Open an incident if a port of a node is below its usual value (seen), or end
 * it, as all ports are normal (seen NULL). */
void incident_port(struct diagnosis *d, uint32_t node,
    const struct port_shortfall *seen);
/* Open, update or end the incident of a node whose ports count errors in many
 * looks. */
void incident_links(struct diagnosis *d, uint32_t node);
/* Open, update or end an incident by the result of an epoch of the mesh:
 * whether large datagrams, or all, are lost at a node, leaf or stage. */
void incident_mtu(struct diagnosis *d, enum judge_kind kind, uint32_t index,
    const struct hole_place *seen);
/* Open an incident if MPI exchanges of a node with two other nodes or more did
 * not end, or end it if they complete again. from: the run; NULL at its end. */
void incident_stuck(struct diagnosis *d, uint32_t node,
    const struct diagnosis_source *from);
/* Open an incident if more pairs than usual are slow on all leaves below a
 * stage, or end it. */
void incident_stage(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t stage, const struct diagnosis_source *from);
/* Open an incident if more pairs of a leaf are slow than usual, or more pairs
 * of a node than of the other nodes of its leaf; or end it. */
void incident_paths(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from);
/* Open an incident if the nodes of a series together are slower than before, or
 * end it. */
void incident_fleet(struct diagnosis *d, struct diagnosis_series *s,
    const struct diagnosis_source *from);
/* End an incident of slow paths that confirmation runs have dismissed. */
void incident_paths_dispel(struct diagnosis *d, struct incident *k);
/* A confirmation run has dismissed an incident in its test: end it, continue it
 * with the result of another test, or make it an intermittent fault. */
void incident_dispel(struct diagnosis *d, struct incident *k);
/* Update the texts of the incidents of a series after a round, or end them. */
void incidents_review(struct diagnosis *d, struct diagnosis_series *s);
/* End an incident with this verdict and reason. */
void incident_end(struct diagnosis *d, struct incident *k, enum verdict verdict,
    const char *why);
/* The reason to end the case of a node if its leaf has a case. */
#define INCIDENT_OF_LEAF                                                       \
	"the node is not the cause: its leaf switch or an uplink of this "     \
	"leaf is slow; coalctl verdict list shows the leaf"
/* Move a case to another subject: end it with the reason why, and open it there
 * with all results. */
void incident_move(struct diagnosis *d, struct incident *k,
    enum judge_kind kind, uint32_t index, const char *why);
/* Report a node whose verdict has changed without a case. */
void incident_report_nodes(struct diagnosis *d);
/* Store an incident, write the event and the log line, and call
 * diagnosis_ops.changed. */
void incident_tell(struct diagnosis *d, struct incident *k);
/* Free an incident that is on no list. */
void incident_free(struct incident *k);

/* spines.c */
/* Update d->stages and d->stage_of from the current topology and leaves. */
const struct stages *spines_map(struct diagnosis *d);
/* Update the stages after the topology may have changed; remaining stages keep
 * their learned values. */
void spines_renew(struct diagnosis *d);
/* Return the stage of these switches; STAGE_NONE: not found. */
uint32_t spines_find(struct diagnosis *d, const char *switches);
/* Allocate the state of all stages in a series. */
void spines_room(struct diagnosis *d, struct diagnosis_series *s);
/* Process a round whose slow pairs are evidence about leaves; out: share of its
 * nodes that are slow themselves. */
void spines_hear(struct diagnosis *d, struct diagnosis_series *s,
    const struct path_sum *of, double out, const struct diagnosis_source *from);
/* Return 1 if a stage has an open case in this series. */
int spines_open(const struct diagnosis *d, const struct diagnosis_series *s);
/* Return 1 if most leaves below the same spines have worsened as much. */
int spines_share(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of, uint32_t leaf);
/* Return the number of leaves below a stage. */
uint32_t spines_leaves(const struct diagnosis *d, uint32_t stage);

/* learned.c */
/* Write the learned values of leaves, stages, members and the fleet to the
 * series' record of the recent weeks, and load them. */
void learned_put(const struct diagnosis *d, const struct diagnosis_series *s,
    json_t *record);
void learned_load(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *record);

/* series_drift.c */
/* Allocate the state of leaves, stages and members. */
void series_drift_room(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t leaves);
/* Return the evidence about the slow pairs of a node, which is created if it
 * does not exist. */
struct member_sum *series_drift_member(struct diagnosis_series *s,
    uint32_t node);
/* Load the pinned values of the test of a series, before its first round. */
void series_drift_begin(struct diagnosis *d, struct diagnosis_series *s);
/* Compare a round with the past of its nodes. Call it after the judge, whose
 * distances are in d->obs. */
void series_drift_hear(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from,
    const struct round *round);
void series_drift_tick(struct diagnosis *d);
void series_drift_free(struct diagnosis *d);

/* shortfall.c */
/* Add a record of a run to the comparison with its prediction; judge the run
 * when it is over; free all. */
void shortfall_record(struct diagnosis *d, const struct diagnosis_source *from,
    const struct round *round);
void shortfall_over(struct diagnosis *d, const char *run);
void shortfall_free(struct diagnosis *d);

/* shares.c */
/* Process a record of bandwidth: the distances between leaves. */
void shares_hear(struct diagnosis *d, const struct round *round);

/* ports.c */
/* Check the rates, settings and error counters of ports; call it about once a
 * second. */
void ports_tick(struct diagnosis *d);

/* paths.c */
/* A run has ended: nodes that it measured are not stuck. */
void paths_run_over(struct diagnosis *d, const char *run);

/* follow_up.c */
/* Look for large effects in a round after the judge; its distances are in
 * d->obs. */
void follow_up_look(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from);
/* Return the follow-up to be measured now, or NULL. */
struct incident *follow_up_due(struct diagnosis *d);
/* Process the result of a run on k, which may free k. */
void follow_up_heard(struct diagnosis *d, struct incident *k,
    const struct confirm_report *r);
void follow_up_free(struct diagnosis *d);
/* confirm_run.c */
/* Order the next confirmation run or follow-up if one is due; call it about
 * once a second. */
void confirm_run_tick(struct diagnosis *d);
/* Process a record of the run, if it is the confirmation run. */
void confirm_run_record(struct diagnosis *d, const char *run,
    const struct round *round);
/* Note that a run has ended; if it was the confirmation run and gave no result,
 * it is retried later. */
void confirm_run_over(struct diagnosis *d, const char *run);
/* Free the names, and forget the run. */
void confirm_run_clear(struct confirm_run *p);

#endif
