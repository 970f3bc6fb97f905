/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis_fix.h - the diagnosis with a fake roster: 12 nodes on 3 leaves, a
 * fake store that keeps all writes, and simulated confirmation runs.
 */
#ifndef TESTS_DIAGNOSIS_FIX_H
#define TESTS_DIAGNOSIS_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "common/conf.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/cluster/roster.h"
#include "schema/mesh.h"
#include "tests/evidence.h"

#define NODES 12

/* Calls of the store. */
struct told {
	int verdicts, events, alarms;
	int open; /* rows of subjects whose newest verdict is warn or bad */
	json_t *rows;
	char last[VERDICT_TEXT_MAX + 64];
	json_t *recent;
	/* By diagnosis_ops.changed: how many, and the newest. */
	int changes;
	enum verdict state;
	enum what what; /* WHAT_MAX: no open case */
	char subject[64];
};
extern struct told told;

struct fix {
	struct roster *roster;
	struct topo *topo;
	struct diagnosis *diagnosis;
	struct conf *campaign; /* of the last order */
	const char *device;    /* of rounds; NULL: memory of the host */
	int bytes; /* of a message of rounds; 0: not in the record */
	int orders;
	unsigned waits;   /* nodes whose ranks rarely have a core, a bit each */
	unsigned not_had; /* a bit a node that no run may have */
	int asking;       /* without an answer yet */
	int dead;         /* a path of the mesh loses everything */
	int exclusive;    /* runs are ordered as that */
	double slower; /* factor by which hear_pass makes pairs slow; 0: 1.4 */
	struct fix_port {
		int mtu, numa_node;
		double pcie_bps;
	} port;      /* of node6 */
	int session; /* its address represents a session */
};

int fix_setup(void **state);
int fix_teardown(void **state);
#define DIAGNOSIS_TEST(t)                                                      \
	cmocka_unit_test_setup_teardown(t, fix_setup, fix_teardown)

/* Make an empty roster. */
void fix_roster(struct fix *f);
/* Node i is greeted, as the process that boot names. */
void fix_hello(struct fix *f, int i, const char *boot);
/* Start another collector from the contents of the store. */
void fix_again(struct fix *f);

/* A round of latencies; those of slow (a bit a node) are 40 % worse. */
void hear_round(struct fix *f, unsigned slow);
void hear_round_of(struct fix *f, unsigned slow,
    const struct diagnosis_source *from);
/* The results of the confirmation run: pairs with node `slow` are 40 % worse,
 * or over the uplink of 10.78.2.0, or over the spine from there to
 * 10.78.1.0. */
enum { PASS_FINE, PASS_UPLINK, PASS_PATH };
void hear_pass(struct fix *f, const char *slow, int uplink);
/* A round in which nodes scatter by 1 %, and node5 is slower by factor. */
json_t *made_round(double factor);
void hear_made(struct fix *f, double factor, int rounds);

enum verdict verdict_of(struct fix *f, const char *node);
size_t open_cases(const struct fix *f);
void expect_text(struct fix *f, const char *part); /* of the first case */
/* A value of section [campaign] of the last order. */
const char *ordered(const struct fix *f, const char *key);

#endif
