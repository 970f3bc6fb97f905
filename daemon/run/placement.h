/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - the leaves of a run's nodes, by which its engine places
 * canaries and congestors.
 */
#ifndef DAEMON_RUN_PLACEMENT_H
#define DAEMON_RUN_PLACEMENT_H

struct run;

/* Set congestor.leaves to the known leaves of the run's nodes, unless the
 * campaign has the option or its placement is random. If the text would be too
 * long, the option stays empty: the engine then uses the order of names. */
void placement_set(struct run *r);

#endif
