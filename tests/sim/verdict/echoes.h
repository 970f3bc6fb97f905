/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echoes.h - a made-up cluster whose links lose datagrams, and the mesh that
 * looks on: in an epoch every node asks two of its leaf and two of others, 120
 * echoes each, and losses are judged as diagnosis.c does.
 */
#ifndef TESTS_SIM_VERDICT_ECHOES_H
#define TESTS_SIM_VERDICT_ECHOES_H

#include "daemon/diagnosis/judge/judge.h"

struct echoes_fault {
	const char *name;
	uint32_t nodes; /* 32 on a leaf */
	double always;  /* share that any pair loses */
	double lost;    /* share that the guilty loses */
	int uplink;     /* 1: the uplink of a leaf; 0: a node; -1: nobody */
};
struct echoes_result {
	int named_epoch;    /* suspect from; 0: never */
	int bad_epoch;      /* confirmed as what it is; 0: never */
	int wrong_suspects; /* innocent, warned of */
	int wrong_alarms;   /* and confirmed */
};
void echoes_run(const struct echoes_fault *f, int epochs, uint64_t seed,
    struct echoes_result *ret);

#endif
