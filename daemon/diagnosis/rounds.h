/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - convert a record to a round of a series: the measured nodes, their
 * peers, and the value of each.
 */
#ifndef DAEMON_DIAGNOSIS_ROUNDS_H
#define DAEMON_DIAGNOSIS_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

struct diagnosis;
struct diagnosis_series;
struct round;

/* Decide whether the node or one of its rails is slow. If at most half of the
 * rails that were measured since the first counting vote are slow, it is the
 * slowest rail. Chance votes against every third rail, so a rail counts as slow
 * if it is at least half as slow as the slowest. Return the series that shows
 * it, or NULL: the rail was slow once, so it is too early to decide. */
struct diagnosis_series *rounds_rail_or_node(struct diagnosis *d,
    struct diagnosis_series *s, uint32_t node);
/* Write the good quartile of every node of a round to d->obs; return the count.
 * The parameter heard is 1 if the nodes were measured now. */
size_t diagnosis_observe(struct diagnosis *d, const struct round *round,
    int sort, int heard);

#endif
