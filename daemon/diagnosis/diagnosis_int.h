/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis_int.h - what the files of the diagnosis share; nobody else includes
 * it.
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

/* What rounds are of: a test, by its number, or the mesh. */
enum {
	DIAGNOSIS_ECHO_LEAF = CANARY_MAX,
	DIAGNOSIS_ECHO_SPINE,
	DIAGNOSIS_LOSS_LEAF,
	DIAGNOSIS_LOSS_SPINE,
	SHORTFALL_EXPECTED, /* what a described machine would do */
	SERIES_PORT,        /* what ports run at */
	SERIES_LINK_ERRORS, /* what they count */
	SERIES_MTU,         /* large datagrams of the mesh */
	SERIES_STUCK,       /* exchanges of MPI that do not end */
	SERIES_DEAD,        /* small datagrams of the mesh: none arrives */
	SERIES_KIND_MAX
};
struct series_kind {
	const char *name, *unit;
	int is_rate, is_loss;
	/* A smaller difference is recorded but not judged: no program feels
	 * it. */
	double least_s;
};

/* A judge for rounds of one kind. */
struct diagnosis_series {
	char class[DIAGNOSIS_CLASS_MAX];
	int sort; /* enum test, or of the mesh */
	/* A ring runs at the pace of its slowest: its rounds must not speak
	 * for those of pairs. */
	int partners; /* enum partners */
	/* Rails take turns, a round each: those of one rail, or "" for all.
	 * One slow rail is an outlier of its own rounds, a slow node of all. */
	char rail[ROSTER_RAIL_BYTES];
	char device[8];               /* whose memory; "": the host's */
	uint64_t rounds, heard_round; /* of all; of one, the newest of all */
	uint64_t heard_ns, every_ns; /* the newest; time between rounds, or 0 */
	struct judge *judge;
	struct drift *drifts;       /* by node id */
	struct wander wander;       /* of the newest means of nodes, */
	struct wander paths_wander; /* and of the shares of leaves */
	double
	    odd; /* share of nodes with an odd round, of about the last ten */
	int drift_begun; /* with its pinned values */
	size_t drift_count;
	double level; /* mean logarithm of the rounds' medians */
	uint32_t level_n;
	double limit; /* of the sums, for so many nodes */
	size_t limit_nodes;
	/* All nodes together, each against its own level, less what is usual
	 * at that hour of the day. */
	struct drift fleet;
	double fleet_hour[24];
	uint32_t fleet_hour_n[24];
	struct drift *paths; /* by leaf: the share of its slow pairs, over that
				of all */
	/* Likewise: the share in the last rounds; the busy share of a leaf's
	 * nodes in these; and of the rounds before sums of squares, of how many
	 * more pairs were slow than usual, and of that busy share. */
	double *paths_now, *busy_now, *jobs_slow, *jobs_busy;
	uint32_t paths_count;
	struct member_sum *members; /* by node id */
	size_t members_count;
	/* By stage of spines: the share of slow pairs that most of its leaves
	 * have. */
	struct drift *stages;
	uint32_t stages_count;
	int stage_told;                   /* of spines without a name */
	uint32_t fleet_nodes, fleet_slow; /* of the newest round */
	double busy_slow; /* share of pairs that jobs may slow everywhere */
};

/* With more of its nodes busy, a leaf and its uplinks are not judged. */
#define BUSY_LEAF_MAX 0.25
/* So much of the share of all nodes that is busy, pairs may be slower than
 * usual at least: jobs come and go. */
#define BUSY_SLOWS 0.2
/* With so many more than elsewhere the idle ones are not, either: jobs that
 * fill a leaf load what leads out of it. */
#define BUSY_LEAF_MORE 0.15

/* Of a node's pairs more are slow than of its leaf's others. */
#define MEMBER_RESTORED 1e6 /* a sum beyond any limit, which cuts it */
struct member_sum {
	double sum;         /* of log likelihoods */
	double share, rest; /* in the last rounds; of the others */
	uint32_t rounds;    /* since the sum left 0 */
	uint8_t raised;
};

/* Of the nodes of a leaf in a round. */
struct path_sum {
	double pairs, slow;
	double nodes, busy;
};

/* So many in such a time are no chance: it comes and goes. */
#define DISPELLED_MANY    4
#define DISPELLED_SPAN_NS (7 * 86400 * CLK_NS_PER_S)
/* Only what was so many times effect_min counts. */
#define DISPELLED_TIMES 3
/* Cores that are taken away for so long are told of, slow or not. */
#define TAKEN_NS (60 * CLK_NS_PER_S)
/* Runs that did not measure a node make it unknown. */
#define MISSED_MANY 2

/* Classes of nodes, by their GPUs, and what counters of each kind have counted
 * there since the collector started. */
#define DIAGNOSIS_LINK_CLASSES 16
struct diagnosis_link_class {
	char name[LINK_PORT_MAX];
	uint64_t errors[LINK_KIND_MAX];
};

/* Of every node, by its id. */
struct diagnosis_node {
	char *boot;        /* of the agent that was heard */
	uint64_t heard_ns; /* of its last round; 0: not since its start */
	char run[64];      /* that its counters are of */
	char nic[16];      /* the one with the most traffic; "": none */
	int64_t drops, drops_first;
	uint32_t partners, slow_partners; /* of its last round */
	uint64_t nics_serial;             /* of the ports that were looked at */
	uint64_t fastest_serial;          /* the same, of fastest_bps */
	double fastest_bps;               /* that its inventory tells */
	/* Its kind by NIC, CPU and GPUs, and by its NIC's rate only: numbers of
	 * diagnosis.kinds, from 1. */
	uint32_t kind, rate_kind;
	double kind_bps;     /* rated_bps when they were found */
	json_t *ports;       /* the most ever seen, by "NAME MEMBER" */
	double rated_bps;    /* of its fastest port */
	char canary_run[64]; /* the newest run of MPI that measured it */
	unsigned missed;     /* runs since that should have */
	/* Suspicions that a confirmation run dispelled: the newest. */
	uint64_t dispelled_ns[DISPELLED_MANY];
	uint8_t link_busy; /* with a job's traffic, in its last round */
	uint8_t leaf_busy; /* many more of its leaf are than elsewhere */
	double wait_ratio; /* of its ranks, likewise; NAN: not known */
	char *trouble;     /* of its host, when it last had any, or NULL */
	/* Somebody takes its cores away (host_trouble.h): since when, in how
	 * many rounds, and in how many not any more. */
	uint64_t taken_ns;
	uint16_t taken, untaken;
	struct link_rate *rates; /* of its counters of errors: link_rates.c */
	size_t rate_count;
	uint8_t link_class;  /* of link_classes, from 1; 0: it tells no links */
	char score_run[64];  /* the newest canaries that measured it */
	float z[CANARY_MAX]; /* of that run; NAN: not measured */
	/* What diagnosis_ops.changed got last; VERDICT_MAX: nothing yet. */
	uint8_t reported;
	/* When a round last compared it with peers enough, or its own past. */
	uint64_t judged_ns;
};

/* How near a node or link came to what a described machine would do. */
struct shortfall_expected {
	double ratio; /* of its best meeting */
	uint32_t met;
	char machine[40];
};

/* A port that has less than it has shown, or than others of its leaf have. */
struct port_shortfall {
	char name[32]; /* "": none */
	enum port_fact fact;
	double now, usual;
};

struct incident {
	TAILQ_ENTRY(incident) link;
	enum judge_kind kind;
	uint32_t index; /* node id, or number of a leaf or stage */
	char *subject;
	struct diagnosis_series *series; /* where it was seen worst */
	enum what what;
	enum verdict verdict;
	int passed;
	enum confirm_finding finding;
	/* It is this NIC of the node, as far as is known; "": the node. */
	char rail[ROSTER_RAIL_BYTES];
	struct confirm_report report;
	uint64_t since_unix_ns, at_unix_ns;
	char text[VERDICT_TEXT_MAX];
	char host[HOST_TROUBLE_TEXT_MAX]; /* what troubled the host */
	char run[64];                     /* that made it an outlier */
	char pass_run[64];
	char *mpi, *launcher, *class;
	json_t *slurm;    /* as of diagnosis_source */
	unsigned tries;   /* of the confirmation run */
	uint64_t next_ns; /* of the next try; 0: now */
	int asks_way; /* confirmed, and a run is to say which way it is slow */
	struct shortfall_expected expected; /* where what is WHAT_PREDICTION */
	struct port_shortfall port;         /* where what is WHAT_PORT */
	struct hole_place hole; /* where what is WHAT_MTU; of dead paths */
	int paths;       /* some paths of a leaf: the series' paths say so */
	uint32_t other;  /* leaf, of CONFIRM_BETWEEN */
	double evidence; /* for that, of its confirmation runs */
	int taken;       /* of a host: its cores are, however fast it is */
	double effect;   /* of the worst suspicion, of WHAT_INTERMITTENT */
	int over;        /* ended; goes when nobody looks at it */
	/* Of diagnosis.follows, which are no cases: since when, and is it to be
	 * found well again? */
	uint64_t first_ns;
	int recovers;
};
TAILQ_HEAD(incidents, incident);
TAILQ_HEAD(shortfall_runs, shortfall_run); /* shortfall.c */

struct confirm_run {
	struct incident *of; /* NULL: none is running */
	char run[64];
	char *names[CONFIRM_NODES_MAX]; /* the outlier first */
	uint32_t leaves[CONFIRM_NODES_MAX];
	size_t count;
	int is_rate;
	int heard;
	int disturbed;      /* another run of ours was on the network too */
	uint64_t window_ns; /* the hour that is counted */
	int in_window, follows_in_window;
	int is_follow; /* of is in diagnosis.follows */
};

#define SHARES_ROUNDS 3 /* that say how a node or leaf is today */

/* How much farther a leaf is from others, the newest round first. */
struct crossings {
	double effect[SHARES_ROUNDS];
	int known;
};

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
	/* Switches above leaves (spines.c); NULL: not looked up yet. */
	struct stages *stages;
	uint32_t *stage_of;    /* by leaf number */
	uint32_t staged;       /* leaves that are in it */
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
	struct score *score; /* for its records */
	uint64_t kept_ns;    /* when the recent weeks were last stored */
	int learned;         /* something since */
	size_t round_nodes;  /* that the newest canary has measured */
	struct rng rng;
	/* How the newest canary was launched; "": there was none. */
	char mpi[32], launcher[32];
	json_t *slurm;
	json_t *kinds;    /* of nodes: name to number */
	json_t *canaries; /* campaigns that measure by MPI: a set */
	/* In a row: with holes that nothing explains, with dead paths. */
	int hole_epochs, dead_epochs;
	int stage_epochs[2]; /* over spines without a name: large, dead */
	int ports_new;       /* somebody has said hello since */
	uint64_t ports_ns;   /* of the next look at them, at the soonest */
};

/*
 * The files call each other one way only, from the last here to the first:
 *
 *   rounds.c        a record as a round of a series
 *   incident_show.c incidents as others see them
 *   incident.c      one incident for a node or leaf
 *   learned.c       what is kept of leaves, stages and the fleet
 *   spines.c        switches above leaves that slow a share of all paths
 *   series_drift.c  every node against its own past, and a baseline
 *   shortfall.c     nodes and links far below a prediction
 *   shares.c        what nodes and leaves give of what their like give
 *   ports.c         ports below their rate, and with errors
 *   link_rates.c    how much ports and GPUs count of late
 *   paths.c         paths on which large datagrams vanish, or all that
 *                   MPI sends
 *   follow_up.c     more rounds at once after one large effect
 *   confirm_run.c   confirmation runs
 *   diagnosis.c     what others see (diagnosis.h)
 */

/* rounds.c */
struct series_kind series_kind(int sort);
int series_kind_find(const char *name); /* or -ENOENT */
struct diagnosis_node *diagnosis_node(struct diagnosis *d,
    const struct node *n);
uint32_t diagnosis_leaf(struct diagnosis *d, const char *leaf);
struct diagnosis_series *diagnosis_series_of(struct diagnosis *d,
    const char *class, int sort, int partners);
/* The same, of one rail, or of memory of a device; "": of all, of the host. */
struct diagnosis_series_key {
	const char *class;
	int sort, partners;
	const char *rail, *device;
};
struct diagnosis_series *diagnosis_series_at(struct diagnosis *d,
    const struct diagnosis_series_key *key);
/* As stored: test, class, partners, rail and device of o; NULL: no such test.
 */
struct diagnosis_series *diagnosis_series_stored(struct diagnosis *d,
    const json_t *o);
/* By one kind of rounds the paths of a leaf or node, or over a stage, are well
 * again: what the other kinds have summed up is of before. */
void diagnosis_forget_paths(struct diagnosis *d, enum judge_kind kind,
    uint32_t index);
/* NULL: nothing is known of the node there. */
const struct drift *series_drift_of(const struct diagnosis_series *s,
    uint32_t node);
/* Is it the node or one of its rails? Of the rails that were measured since the
 * first vote that counts, half or fewer are slow: then it is the slowest of
 * them. Chance votes against every third, so one is slow that is half as slow
 * as the slowest. Returns the series that shows it, or NULL: that rail was slow
 * once, which may be the beginning of either. */
struct diagnosis_series *diagnosis_rail_or_node(struct diagnosis *d,
    struct diagnosis_series *s, uint32_t node);
/* Of a stored series or incident; those that do not say met in rings. */
int diagnosis_partners(const json_t *object);
/* Its agent is another process than the one that was measured. */
int diagnosis_is_new_boot(const struct node *n,
    const struct diagnosis_node *cn);
/* A node was measured now. */
void diagnosis_heard(struct diagnosis *d, const struct node *n);
/* The good quartile of every node of a round into d->obs; the count. heard:
 * the nodes were measured now. */
size_t diagnosis_observe(struct diagnosis *d, const struct round *round,
    int sort, int heard);

/* incident_show.c */
/* Was it measured since its agent started, and not long ago? */
int diagnosis_is_measured(const struct diagnosis *d, const struct node *n);
struct incident *incident_find(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index);
/* What is followed up of it, before it is a case or while it recovers; NULL. */
struct incident *incident_followed(const struct diagnosis *d,
    enum judge_kind kind, uint32_t index);
/* What is under way before a verdict, or before its end; 0 and "": nothing. */
int incident_pending(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index, char ret[DIAGNOSIS_PENDING_MAX]);
/* NULL: no judge has seen it, or it is the fleet. */
const struct judge_track *incident_track(const struct incident *k);
/* The series whose judge still names it: the incident's own or any other. */
struct diagnosis_series *incident_naming(struct diagnosis *d,
    const struct incident *k);
/* The open case that a leaf or the only other one has a slow uplink; NULL. */
struct incident *incident_between(const struct diagnosis *d, uint32_t leaf);
const char *incident_kind_name(enum judge_kind kind);
/* Its words, new. */
void incident_write(const struct diagnosis *d, struct incident *k);
/* How diagnosis_node.ports calls what a port has. */
#define PORT_KEY_BYTES 64
void port_key(const char *name, enum port_fact fact, char ret[PORT_KEY_BYTES]);
json_t *incident_json(const struct diagnosis *d, const struct incident *k);

/* link_rates.c */
/* What a node's last look at its counters found, and the time since the one
 * before. */
void link_rates_take(struct diagnosis *d, const struct node *n, double span_s);
/* Of a port: hour and day of a counter into an object, or (NULL) a row for each
 * counter into an array. */
void link_rates_of(const struct diagnosis *d, const struct node *n,
    const char *port, const char *counter, json_t *to);

/* incident.c */
/* What is followed up before it is a case; the caller lists and frees it. */
struct incident *incident_suspect(struct diagnosis *d,
    struct diagnosis_series *s, enum judge_kind kind, uint32_t index,
    const struct diagnosis_source *from);
/* How the run was made that showed it. Its texts are the incident's. */
struct diagnosis_source incident_source(const struct incident *k);
/* A judge names it: open its incident, or look at it again. */
void incident_outlier(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from);
/* Its own past names it: open an incident, if there is none. */
void incident_drift(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node, const struct diagnosis_source *from);
/* Its cores are taken away, or are not any more. */
void incident_taken(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node, const struct diagnosis_source *from);
/* It is far below a prediction, or (NULL) is not any more. */
void incident_shortfall(struct diagnosis *d, enum judge_kind kind,
    uint32_t index, const struct diagnosis_source *from,
    const struct shortfall_expected *seen);
/* A port of it has less than it should, or (NULL) all are well. */
void incident_port(struct diagnosis *d, uint32_t node,
    const struct port_shortfall *seen);
/* A port of it counts errors, look after look, or none does any more. */
void incident_links(struct diagnosis *d, uint32_t node);
/* The result of an epoch: whether it drops large datagrams silently. */
void incident_mtu(struct diagnosis *d, enum judge_kind kind, uint32_t index,
    const struct hole_place *seen);
/* Exchanges with it did not end, with two others or more, or not any more; from
 * is of the run, NULL at the end. */
void incident_stuck(struct diagnosis *d, uint32_t node,
    const struct diagnosis_source *from);
/* More pairs of all leaves below a stage are slow than usual, or not any
 * more. */
void incident_stage(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t stage, const struct diagnosis_source *from);
/* More of a leaf's pairs are slow than usual, or of a node's than of others of
 * its leaf, or not any more. */
void incident_paths(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from);
/* All nodes are slower than they were in that series, or are not any more. */
void incident_fleet(struct diagnosis *d, struct diagnosis_series *s,
    const struct diagnosis_source *from);
/* Confirmation runs have dispelled that some paths are slow. */
void incident_paths_dispel(struct diagnosis *d, struct incident *k);
/* A confirmation run has dispelled what its test showed: it ends, goes on with
 * what another test shows, or is one that comes and goes. */
void incident_dispel(struct diagnosis *d, struct incident *k);
/* Once a round: its numbers are new, and it may be over. */
void incidents_review(struct diagnosis *d, struct diagnosis_series *s);
void incident_end(struct diagnosis *d, struct incident *k, enum verdict verdict,
    const char *why);
/* The case is another one's: end it as why says, and open it there with all
 * that was found. */
void incident_move(struct diagnosis *d, struct incident *k,
    enum judge_kind kind, uint32_t index, const char *why);
/* Report a node whose verdict has changed without a case. */
void incident_report_nodes(struct diagnosis *d);
/* Store, event, log, diagnosis_ops.changed. */
void incident_tell(struct diagnosis *d, struct incident *k);
void incident_free(struct incident *k);

/* spines.c */
/* d->stages and d->stage_of, as the topology and the leaves are now. */
const struct stages *spines_map(struct diagnosis *d);
/* The topology may be another: stages that it still has keep what was learned
 * of them. */
void spines_renew(struct diagnosis *d);
/* The stage of these switches; STAGE_NONE: there is none. */
uint32_t spines_find(struct diagnosis *d, const char *switches);
void spines_room(struct diagnosis *d, struct diagnosis_series *s);
/* A round whose slow pairs say something of leaves; out: nodes of it that are
 * slow themselves. */
void spines_hear(struct diagnosis *d, struct diagnosis_series *s,
    const struct path_sum *of, double out, const struct diagnosis_source *from);
/* Is there one that slows paths in this series? NULL: no. */
int spines_open(const struct diagnosis *d, const struct diagnosis_series *s);
/* Are most leaves that share its spines as much worse than they were? */
int spines_share(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of, uint32_t leaf);
/* How many leaves are below a stage. */
uint32_t spines_leaves(const struct diagnosis *d, uint32_t stage);

/* learned.c */
/* What a series has learned of leaves, stages, members and the fleet, into its
 * record of the recent weeks, and back. */
void learned_put(const struct diagnosis *d, const struct diagnosis_series *s,
    json_t *record);
void learned_load(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *record);

/* series_drift.c */
/* Room for what is learned of leaves, stages and members. */
void series_drift_room(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t leaves);
struct member_sum *series_drift_member(struct diagnosis_series *s,
    uint32_t node);
/* Before the first round of a series: what is pinned of its test. */
void series_drift_begin(struct diagnosis *d, struct diagnosis_series *s);
/* A round that the judge has heard; its distances are in d->obs. */
void series_drift_hear(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from,
    const struct round *round);
void series_drift_tick(struct diagnosis *d);
void series_drift_free(struct diagnosis *d);

/* shortfall.c */
void shortfall_record(struct diagnosis *d, const struct diagnosis_source *from,
    const struct round *round);
void shortfall_over(struct diagnosis *d, const char *run);
void shortfall_free(struct diagnosis *d);

/* shares.c */
/* A record of bandwidth: how far leaves are from each other. */
void shares_hear(struct diagnosis *d, const struct round *round);

/* ports.c */
void ports_tick(struct diagnosis *d);

/* paths.c */
/* A run has ended: who was measured is not stuck. */
void paths_run_over(struct diagnosis *d, const char *run);

/* follow_up.c */
/* A round that the judge of the series has heard; its distances are in d->obs.
 */
void follow_up_look(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from);
/* Whom to measure now; NULL: nobody. */
struct incident *follow_up_due(struct diagnosis *d);
/* The result of a run on it, after which k may be gone. */
void follow_up_heard(struct diagnosis *d, struct incident *k,
    const struct confirm_report *r);
void follow_up_free(struct diagnosis *d);
/* confirm_run.c */
void confirm_run_tick(struct diagnosis *d);
void confirm_run_record(struct diagnosis *d, const char *run,
    const struct round *round);
void confirm_run_over(struct diagnosis *d, const char *run);
void confirm_run_clear(struct confirm_run *p);

#endif
