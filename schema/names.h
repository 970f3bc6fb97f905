/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - the words that stand in records, states and tables, each once.
 *
 * STR_FIND (common/str.h) finds a word in each of them. Rows feed the parser,
 * the wire, the store, the report and the manual.
 */
#ifndef SCHEMA_NAMES_H
#define SCHEMA_NAMES_H

#include <stddef.h>

/* For CONF_CHOICES rows; the tables below must agree (tests/unit). */
#define NAMES_TESTS                                                            \
	"lat|get-lat|bw|put-bw|bw-sync|natural-bw|allreduce|alltoall|"         \
	"incast|command"
#define NAMES_CONGESTORS                                                       \
	"none|idle|alltoall|incast|put-incast|get-bcast|bcast|allreduce"

/* What carries the bytes of ranks: mpi.fabric of agents and campaigns. */
#define NAMES_FABRICS     "auto|tcp|ucx|ofi|psm|cray"
#define NAMES_FABRICS_MAX 6
extern const char *const names_fabrics[NAMES_FABRICS_MAX];

/* Canary tests (GPCNeT section 3.1; network_test of the suite). */
enum canary_test {
	CANARY_LAT,
	CANARY_GET_LAT,
	CANARY_BW,
	CANARY_PUT_BW,
	CANARY_BW_SYNC,
	CANARY_NATURAL_BW,
	CANARY_ALLREDUCE,
	CANARY_ALLTOALL,
	CANARY_INCAST,  /* not of the suite: many to one, in turns */
	CANARY_COMMAND, /* nor this: a program of the site */
	CANARY_MAX
};

struct test_row {
	const char *name;  /* in campaigns and records */
	const char *title; /* in GPCNeT's table */
	const char *unit;  /* "s" or "B/s": which way impact is taken */
	size_t bytes;      /* message size */
	int window;        /* messages in flight to a neighbour */
	const char *text;
	/* GPCNeT's counts: rings in a measurement, operations on a ring and
	 * before it, measurements. */
	struct test_counts {
		int rings, iterations, warmup, measurements;
	} gpcnet;
	int may_stand_aside; /* a rank may: for partners match and pair; 2: and
				one-way; an incast has groups of its own */
};
extern const struct test_row names_tests[CANARY_MAX];

/* Congestor kinds (GPCNeT section 3.2). idle is the null variant: it holds
 * its nodes and does nothing. */
enum congestor {
	CONGESTOR_NONE,
	CONGESTOR_IDLE,
	CONGESTOR_ALLTOALL,
	CONGESTOR_INCAST,
	CONGESTOR_PUT_INCAST,
	CONGESTOR_GET_BCAST,
	CONGESTOR_BCAST,
	CONGESTOR_ALLREDUCE,
	CONGESTOR_MAX
};
struct congestor_row {
	const char *name;
	const char *title;
	const char *text;
};
extern const struct congestor_row names_congestors[CONGESTOR_MAX];

enum phase { PHASE_ISOLATED, PHASE_CONGESTED, PHASE_PRODUCTION, PHASE_MAX };
extern const char *const names_phases[PHASE_MAX];

/* Collectives that are composed, in the order of option collective.name, and
 * by whom one of them may be done. */
#define NAMES_COLLECTIVES                                                      \
	"broadcast|reduce|gather|scatter|allgather|reduce-scatter|"            \
	"allreduce|alltoall"
#define NAMES_COLLECTIVES_MAX 8
#define NAMES_IMPLS_MAX       4
extern const char *const names_collectives[NAMES_COLLECTIVES_MAX];
extern const char *const names_impls[NAMES_IMPLS_MAX]; /* first: this one */

/* States of a run, in the order of its life. */
enum run_state {
	RUN_PENDING,
	RUN_STARTING,
	RUN_RUNNING,
	RUN_FINISHED,
	RUN_FAILED,
	RUN_TIMED_OUT,
	RUN_CANCELLED,
	RUN_MISSED,    /* its time came and it could not be started */
	RUN_OVERDUE,   /* still waiting past its start margin */
	RUN_PREEMPTED, /* ended for a run of higher priority */
	RUN_NONSTART,  /* was started and never showed a sign of life */
	RUN_STATE_MAX
};
struct run_state_row {
	const char *name; /* "timed-out" */
	int final;        /* 1: the run never changes again */
	const char *text;
};
extern const struct run_state_row names_run_states[RUN_STATE_MAX];

/* What an outlier is, in one word: member "what" of a verdict. */
enum what {
	WHAT_NODE,
	WHAT_LEAF,
	WHAT_LINK,
	WHAT_HOST,         /* host contention */
	WHAT_UNDETERMINED, /* node or path */
	WHAT_RAIL,         /* one NIC of a node that has several */
	WHAT_DRIFT,        /* against its own past */
	WHAT_PREDICTION,   /* against a described machine */
	WHAT_PORT,         /* a port below its rate */
	WHAT_INTERMITTENT, /* slow again and again, and well when looked at */
	WHAT_FLEET,        /* all are slower than they were */
	WHAT_LINK_ERRORS,  /* a port counts errors, look after look */
	WHAT_MTU,          /* large packets vanish there */
	WHAT_STUCK,        /* exchanges with it do not end */
	WHAT_SPINE,        /* one of the switches above leaves */
	WHAT_MAX
};
extern const char *const names_whats[WHAT_MAX];

/* What the counters of a port or a GPU tell of it. */
enum link_error {
	LINK_CORRUPTION, /* of bits: symbols, code words, checksums */
	LINK_FLAP,       /* it went down, or came up */
	LINK_RETRANSMIT, /* something was sent again, or came out of order */
	LINK_DISCARD,    /* the port could not send what it had */
	LINK_CORRECTED,  /* what its code repaired, of bits or of memory */
	LINK_PCIE,       /* its slot, as PCIe's error reporting counts */
	LINK_DEVICE,     /* the GPU itself is at fault */
	LINK_THROTTLE,   /* its clocks were lowered, by heat or power */
	LINK_ERROR_MAX,
	/* No fault of the port: counted, shown and never judged. */
	LINK_CONGESTION = LINK_ERROR_MAX,
	LINK_KIND_MAX
};
extern const char *const names_link_errors[LINK_KIND_MAX];
extern const char *const names_link_texts[LINK_KIND_MAX]; /* a sentence */
/* Counters by their names in sysfs, or by ours, ended by a NULL name. */
struct link_counter {
	const char *name;
	enum link_error kind;
	int is_state; /* counts looks that find it so; no sum since boot */
	int is_fact;  /* one is enough: no machine in order has it */
};
extern const struct link_counter names_link_counters[];
const struct link_counter *names_link_counter_find(const char *name);

/* Why a measurement has no number, or a run no success. */
enum cause {
	CAUSE_NONE,
	CAUSE_TIMEOUT,
	CAUSE_PEER_LOST,
	CAUSE_AGENT_LOST,
	CAUSE_RANK_LOST,
	CAUSE_STUCK,
	CAUSE_LAUNCH,
	CAUSE_NO_DEVICE,
	CAUSE_DEVICE_FAULT,
	CAUSE_BUSY,
	CAUSE_BUDGET,
	CAUSE_TOO_FEW_NODES,
	CAUSE_TOO_FEW_SAMPLES,
	CAUSE_WRONG_DATA,
	CAUSE_WRONG_NETWORK,
	CAUSE_COMMAND,
	CAUSE_UNSUPPORTED,
	CAUSE_DISK_FULL,
	CAUSE_CANCELLED,
	CAUSE_COLLECTOR_LOST,
	CAUSE_NO_END,
	CAUSE_CONFIG,
	CAUSE_INTERNAL,
	CAUSE_MAX
};
struct cause_row {
	const char *name; /* "peer-lost" */
	const char *text;
};
extern const struct cause_row names_causes[CAUSE_MAX];

/* The campaign of confirmation runs: of six nodes, one of them slow, so that no
 * statistic of a cluster takes its runs in. */
#define NAMES_PASS_CAMPAIGN "confirmation"

/* States of an agent as the collector sees it. */
enum agent_state {
	AGENT_OK,
	AGENT_LATE,
	AGENT_LOST,
	AGENT_BUSY,
	AGENT_STATE_MAX
};
extern const char *const names_agent_states[AGENT_STATE_MAX];

/* Kinds of events, as option --kind and the store's events have them. */
#define NAMES_EVENTS     "agent|alarm|alert|link|order|reaction|run|verdict"
#define NAMES_EVENTS_MAX 8
struct event_row {
	const char *name;
	const char *text;
};
extern const struct event_row names_events[NAMES_EVENTS_MAX];

/* What measurements mean for a node or leaf. */
enum verdict {
	VERDICT_OK,
	VERDICT_WARN,    /* suspect */
	VERDICT_BAD,     /* and a confirmation run agrees */
	VERDICT_UNKNOWN, /* no data, which is never ok */
	VERDICT_MAX
};
extern const char *const names_verdicts[VERDICT_MAX];

/* What ended a test: stopped_by in its record. */
enum stop { STOP_PRECISION, STOP_TIME, STOP_COUNT, STOP_TIMEOUT, STOP_MAX };
extern const char *const names_stops[STOP_MAX];

/* Who measures with whom, as canary.partners. */
enum partners {
	PARTNERS_RING,
	PARTNERS_MATCH,
	PARTNERS_PAIR,
	PARTNERS_ONE_WAY,
	PARTNERS_MAX
};
extern const char *const names_partners[PARTNERS_MAX];

/* Roles in certificates: the organizational unit (OU) of the subject. */
enum role { ROLE_AGENT, ROLE_COLLECTOR, ROLE_READER, ROLE_OPERATOR, ROLE_MAX };
extern const char *const names_roles[ROLE_MAX];

/* Exit codes of coalctl, as Nagios and NHC read them. */
enum exit_code {
	EXIT_CODE_OK,
	EXIT_CODE_WARN,
	EXIT_CODE_BAD,
	EXIT_CODE_UNKNOWN
};

/* Makers of GPUs, and the devices that are the memory of theirs. */
#define NAMES_DEVICES "host|cuda|hip"
#define NAMES_GPUS    3
struct gpu_row {
	const char *maker;        /* "nvidia" */
	const char *device;       /* "cuda"; NULL: there is no plugin */
	const char *pci_vendor;   /* "0x10de" */
	size_t pci_classes;       /* of those in names.c, from the first on */
	const char *mpi_words[2]; /* MPIX_Query_WORD_support says whether MPI
				     takes pointers to it */
	int mpich_kind;           /* of MPIX_GPU_query_support */
};
extern const struct gpu_row names_gpus[NAMES_GPUS];

/* Who made the GPU for computing that PCI's files class and vendor ("0x030200",
 * "0x10de") tell of; NULL: it is none. */
const char *names_gpu_vendor(const char *pci_class, const char *pci_vendor);

#endif
