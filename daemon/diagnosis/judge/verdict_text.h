/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_text.h - the text of a verdict, for people: the slow subject, its
 * reference, the effect, the rounds and the test that show it, the result of a
 * confirmation run, and what to check. Pure.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_VERDICT_TEXT_H
#define DAEMON_DIAGNOSIS_JUDGE_VERDICT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/diagnosis/judge/confirm.h"
#include "daemon/diagnosis/judge/link_errors.h"
#include "daemon/diagnosis/judge/holes.h"
#include "schema/names_verdict.h"
#include "schema/stages.h"

#define VERDICT_TEXT_MAX 480
#define VERDICT_NEXT_MAX 100

/* Facts of a port, and how a value below the usual one is reported. */
enum port_fact { PORT_RATE, PORT_PCIE, PORT_MTU, PORT_NUMA, PORT_FACT_MAX };
struct port_fact_row {
	const char *member;      /* of an inventory's nics */
	const char *now, *usual; /* members of the verdict */
	enum verdict verdict;
	int is_kept; /* 1: a better value seen in the past is usual, too */
	int differs; /* 1: a larger value is as wrong as a smaller one */
	double unit;
	const char *is, *unit_name, *as;
};
extern const struct port_fact_row verdict_text_ports[PORT_FACT_MAX];

/* All facts from which the text of a verdict is made. */
struct verdict_evidence {
	enum what what;
	const char *subject; /* "node5", "leaf2" */
	const char *rail;    /* rail of the rounds; "" or NULL: all */
	double effect;       /* logarithm, larger is worse */
	int is_rate;         /* 1: effect is of bytes per second */
	int is_loss;         /* 1: of lost echoes (loss.h) */
	const char *test;
	size_t partners, slow_partners; /* 0: unknown */
	size_t places, slow_places;     /* of a leaf */
	uint32_t rounds;
	int partners_normal; /* 1: the partners are normal with other nodes */
	const char *nic;     /* "": no counters */
	int64_t nic_drops;
	enum port_fact fact;           /* of nic, for WHAT_PORT */
	double now;                    /* for WHAT_PORT; seconds of
					* WHAT_STUCK */
	const struct hole_place *hole; /* for WHAT_MTU */
	const char *whom[2];           /* for WHAT_STUCK: two partners */
	const struct stage *stage;     /* of these spines; or NULL */
	uint32_t leaves;               /* below them */
	double share; /* usual share of slow pairs; 0: not a share */
	const struct link_sum *errors; /* of a port of the node, or NULL */
	double usual;     /* of fact; or share of looks with such errors */
	const char *next; /* time of the confirmation run, or "" */
	const char *host; /* the contention of the host, or "" */
	/* A pinned baseline; "": its own recent weeks; for a prediction: the
	 * machine. */
	const char *past;
	int passed; /* 1: finding and way are results of a confirmation run */
	enum confirm_finding finding;
	enum confirm_way way;
	const char *other; /* the other leaf of CONFIRM_BETWEEN */
};
/* Write the text of a verdict; a longer text is cut. */
void verdict_text_write(const struct verdict_evidence *c,
    char ret[VERDICT_TEXT_MAX]);
/* Convert the finding of a confirmation run to the what of a verdict. */
enum what verdict_text_what_found(enum confirm_finding finding);

#endif
