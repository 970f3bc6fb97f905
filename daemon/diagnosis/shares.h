/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares.h - bandwidth of nodes and leaves today relative to their peers.
 */
#ifndef DAEMON_DIAGNOSIS_SHARES_H
#define DAEMON_DIAGNOSIS_SHARES_H

struct diagnosis;
struct round;

/* Process a record of bandwidth: the distances between leaves. */
void shares_hear(struct diagnosis *d, const struct round *round);

#endif
