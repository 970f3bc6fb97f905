/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.h - the baselines: the recent weeks, which are stored every hour, and
 * a pinned one.
 */
#ifndef DAEMON_DIAGNOSIS_RECENT_H
#define DAEMON_DIAGNOSIS_RECENT_H

struct diagnosis;
struct diagnosis_series;
struct round;

/* Load the pinned values of the test of a series, before its first round. */
void recent_begin(struct diagnosis *d, struct diagnosis_series *s);
/* Learn the level of a round. */
void recent_hear(struct diagnosis *d, struct diagnosis_series *s,
    const struct round *round);
void recent_tick(struct diagnosis *d);

#endif
