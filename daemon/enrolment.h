/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enrolment.h - requests of nodes for new and renewed certificates.
 * agents/enroll.h decides and signs.
 */
#ifndef DAEMON_ENROLMENT_H
#define DAEMON_ENROLMENT_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

struct enroll;
struct enrolment;
struct event_base;
struct node;
struct roster;
struct session;
struct sessions;
struct store;

/* All outlive the enrolment. */
struct enrolment_options {
	struct store *store; /* NULL: no events */
	struct roster *roster;
	struct sessions *sessions;
	struct enroll *enroll;
	const char *munge_users, *munge_socket; /* "": munge is not accepted */
};

/* Return the enrolment, which the caller frees. */
struct enrolment *enrolment_new(struct event_base *base,
    const struct enrolment_options *o);
void enrolment_free(struct enrolment *e); /* NULL is allowed */
/* Handle an enroll message of a new node; sessions_answer sends the answer
 * later. Return -errno with err if it is refused. */
int enrolment_ask(struct enrolment *e, uint64_t question, const char *addr,
    const json_t *msg, struct err *err);
/* Handle an enroll message in a session, which gets the answer or a refusal.
 * Return -EPROTO if it requests too often. */
int enrolment_renew(struct enrolment *e, struct node *n, struct session *s,
    const json_t *msg, struct err *err);

#endif
