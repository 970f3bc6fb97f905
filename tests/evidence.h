/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - records that a test writes as JSON, read as the collector reads
 * them.
 */
#ifndef TESTS_EVIDENCE_H
#define TESTS_EVIDENCE_H

#include "daemon/diagnosis/diagnosis.h"
#include "daemon/evidence/round.h"

static inline void
evidence_record(struct diagnosis *d, const struct roster *roster,
    const struct diagnosis_source *from, const json_t *record)
{
	struct round round;

	round_read(roster, record, &round);
	diagnosis_record(d, from, &round);
	round_clear(&round);
}

static inline void
evidence_mesh(struct diagnosis *d, const struct roster *roster,
    const json_t *record)
{
	struct round round;

	round_read(roster, record, &round);
	diagnosis_mesh(d, &round);
	round_clear(&round);
}

static inline void
evidence_score_old(struct diagnosis *d, const struct roster *roster,
    const json_t *record)
{
	struct round round;

	round_read(roster, record, &round);
	diagnosis_score_old(d, &round);
	round_clear(&round);
}

#endif
