/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_text.h - a verdict in plain words, with its evidence. Pure.
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

#define VERDICT_TEXT_MAX 400
#define VERDICT_NEXT_MAX 100

/* What a port says of itself, and how less of it than usual is told. */
enum port_fact { PORT_RATE, PORT_PCIE, PORT_MTU, PORT_NUMA, PORT_FACT_MAX };
struct port_fact_row {
	const char *member;      /* of an inventory's nics */
	const char *now, *usual; /* members of the verdict */
	enum verdict verdict;
	int is_kept; /* it had been seen better: that is usual, too */
	int differs; /* more is as odd as less */
	double unit;
	const char *is, *unit_name, *as;
};
extern const struct port_fact_row verdict_text_ports[PORT_FACT_MAX];

struct verdict_evidence {
	enum what what;
	const char *subject; /* "node5", "leaf2" */
	const char *rail;    /* of it, that the rounds are of; "" or NULL */
	double effect;       /* logarithm, larger is worse */
	int is_rate;         /* 1: effect is of bytes per second */
	int is_loss;         /* 1: of lost echoes (loss.h) */
	const char *test;
	size_t partners, slow_partners; /* 0: not known */
	size_t places, slow_places;     /* of a leaf */
	uint32_t rounds;
	int partners_normal; /* 1: the others are normal elsewhere */
	const char *nic;     /* "": no counters */
	int64_t nic_drops;
	enum port_fact fact; /* of nic, where what is WHAT_PORT */
	double now;          /* likewise; or the seconds of WHAT_STUCK */
	const struct hole_place *hole; /* where what is WHAT_MTU */
	const char *whom[2];           /* where what is WHAT_STUCK */
	const struct stage *stage;     /* it is of these spines; or NULL */
	uint32_t leaves;               /* below them */
	double share; /* of a leaf's pairs that is slow usually; 0: not so */
	const struct link_sum *errors; /* that a port of it counts, or NULL */
	double usual;     /* likewise; or the share of looks with such errors */
	const char *next; /* when the confirmation run is to come, or "" */
	const char *host; /* what troubles the host, or "" */
	/* A pinned baseline, or "": its own recent weeks; of a prediction the
	 * machine. */
	const char *past;
	int passed; /* 1: finding and way are of a confirmation run */
	enum confirm_finding finding;
	enum confirm_way way;
	const char *other; /* the other leaf of CONFIRM_BETWEEN */
};
void verdict_text_write(const struct verdict_evidence *c,
    char ret[VERDICT_TEXT_MAX]);
/* What a confirmation run has found, as what of a verdict. */
enum what verdict_text_what_found(enum confirm_finding finding);

#endif
