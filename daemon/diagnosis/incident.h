/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident.h - one case for a node, leaf or stage of spines, whatever shows it.
 * It knows no kind of fault, and calls its case's kind (fault.h).
 */
#ifndef DAEMON_DIAGNOSIS_INCIDENT_H
#define DAEMON_DIAGNOSIS_INCIDENT_H

#include "common/queue.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/diagnosis/fault.h"
#include "daemon/diagnosis/fault_text.h"
#include "daemon/diagnosis/stats/confirm.h"
#include "daemon/diagnosis/series.h"

/* The question that a follow-up run is to answer. */
enum recovers {
	RECOVERS_NOT,   /* whether a suspect is slow */
	RECOVERS_MAYBE, /* whether an outlier is normal again, as another test
			 * has found */
	/* As RECOVERS_MAYBE, and the newest round of the outlier was normal. */
	RECOVERS
};

/* The confirmation runs of a case, or of a suspect. */
struct incident_confirm {
	int is_done; /* 1: finding and report are their results */
	enum confirm_finding finding;
	struct confirm_report report;
	char run[64];
	uint32_t other;   /* the other leaf, for finding CONFIRM_BETWEEN */
	unsigned tries;   /* attempts so far */
	uint64_t next_ns; /* time of the next attempt; 0: now */
	int asks_way;     /* 1: confirmed; a run will measure the direction */
};

/* A case: an open finding about a node, leaf, stage or the fleet. */
struct incident {
	TAILQ_ENTRY(incident) link; /* in incidents or follows of diagnosis */
	enum judge_kind kind;
	uint32_t index; /* node id, or number of a leaf or stage */
	char *subject;
	const struct fault_kind *fault;
	void *data; /* data of the fault, fault_kind.bytes long */
	struct diagnosis_series *series; /* the series with the worst result */
	enum what what;
	enum verdict verdict;
	/* The NIC of the node that is slow, as far as known; "": the node. */
	char rail[ROSTER_RAIL_BYTES];
	uint64_t since_unix_ns, at_unix_ns;
	char text[VERDICT_TEXT_MAX];
	char run[64]; /* the run that made it an outlier */
	char *mpi, *launcher, *class;
	json_t *slurm; /* settings of [slurm], as in struct diagnosis_source */
	int over;      /* 1: ended; freed when no caller uses it */

	struct incident_confirm confirm;

	/* Only for members of diagnosis.follows, which are not cases: the start
	 * of the follow-up by clk_ns(), its runs that found it slow, and its
	 * question. */
	uint64_t first_ns;
	unsigned found;
	enum recovers recovers;
};
TAILQ_HEAD(incidents, incident);

/* Return the kind whose cases have this word, are shown by this series, and are
 * a share of pairs or not; NULL: none. */
const struct fault_kind *incident_kind_of(const struct diagnosis *d,
    enum what what, const struct diagnosis_series *s, int is_share);
/* Create an incident that is on no list; the caller lists and frees it. */
struct incident *incident_make(const struct diagnosis *d,
    const struct fault_kind *fault, enum judge_kind kind, uint32_t index);
/* Open a case, or (k not NULL) give an open case to another kind. */
struct incident *incident_take(struct diagnosis *d, struct incident *k,
    const struct fault_kind *fault, enum judge_kind kind, uint32_t index);
/* Set the series that shows an incident, and write its text. from NULL: the
 * incident continues; otherwise it is new, or of another kind, and is
 * reported. */
void incident_show_from(struct diagnosis *d, struct incident *k,
    struct diagnosis_series *s, const struct diagnosis_source *from);
/* The source of an incident that no run has shown; and set the source. */
extern const struct diagnosis_source incident_no_run;
void incident_source_set(struct incident *k,
    const struct diagnosis_source *from);
/* Return how the run that showed the incident was made. The texts belong to
 * it. */
struct diagnosis_source incident_source(const struct incident *k);
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
/* Load a case that an earlier collector left open. */
void incident_load(struct diagnosis *d, const json_t *o);
/* Free an incident that is on no list. */
void incident_free(struct incident *k);

#endif
