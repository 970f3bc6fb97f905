/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident_show.h - output of incidents: the incident of a node or leaf, its
 * verdict, its text, its JSON, and lists. Only texts are changed.
 */
#ifndef DAEMON_DIAGNOSIS_INCIDENT_SHOW_H
#define DAEMON_DIAGNOSIS_INCIDENT_SHOW_H

#include "daemon/diagnosis/incident.h"

/* Return 1 if a node was measured within stale_ns and since its agent
 * started. */
int diagnosis_is_measured(const struct diagnosis *d, const struct node *n);
/* Return the open case of a subject, or NULL. */
struct incident *incident_find(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index);
/* Return the follow-up of a subject before it has a case or while it recovers,
 * or NULL. */
struct incident *incident_followed(const struct diagnosis *d,
    enum judge_kind kind, uint32_t index);
/* Write the pending step before a verdict, or before its end. Return 0 and "":
 * nothing pending. */
int incident_pending(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index, char ret[DIAGNOSIS_PENDING_MAX]);
/* Return the judge's state of the subject of an incident; NULL: the judge has
 * no data, or rounds do not show it. */
const struct track *incident_track(const struct incident *k);
/* Return a series whose judge still finds the subject slow: the series of the
 * incident, or another one; NULL: none. */
struct diagnosis_series *incident_naming(struct diagnosis *d,
    const struct incident *k);
/* Return the open case that either this leaf or the only other leaf has a slow
 * uplink, or NULL. */
struct incident *incident_between(const struct diagnosis *d, uint32_t leaf);
/* Return "node", "leaf", "fleet" or "spine". */
const char *incident_kind_name(enum judge_kind kind);
/* Return 1 if the network is not the cause of the case (fault.h, excused). */
int incident_is_excused(const struct incident *k);
/* Return the rail that the text of an incident names, or "". */
const char *incident_rail(const struct incident *k);
/* Write the text of an incident again, from the present evidence. */
void incident_write(const struct diagnosis *d, struct incident *k);
/* Write when the next confirmation run starts; "": none is needed. */
#define VERDICT_NEXT_MAX 100
void incident_next_write(const struct diagnosis *d, const struct incident *k,
    char ret[VERDICT_NEXT_MAX]);
/* Append that a confirmation run is pending, and when it starts; or that there
 * will be none. */
void incident_add_pending(const struct diagnosis *d, const struct incident *k,
    char *text);
/* Return an incident as JSON: a new reference. */
json_t *incident_json(const struct diagnosis *d, const struct incident *k);

#endif
