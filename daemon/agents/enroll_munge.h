/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll_munge.h - enrolment with a credential of munge(7).
 */
#ifndef DAEMON_AGENTS_ENROLL_MUNGE_H
#define DAEMON_AGENTS_ENROLL_MUNGE_H

#include <stdint.h>

#include "common/err.h"
#include "daemon/agents/enroll.h"
#include "pki/pki.h"

struct event_base;

struct enroll_munge;
/* Called once, on the loop, with the request and the collector's own credential
 * for the node in munge, or with NULL and the reason in why. ask is valid
 * during the call. */
typedef void enroll_munge_cb(struct enroll_ask *ask, uint64_t question,
    struct err *why, void *arg);
/* Start to accept credentials of munge. users: the users whose credentials are
 * accepted (pki_munge.h). socket: the path of munged's socket; "": its default.
 */
struct enroll_munge *enroll_munge_open(struct event_base *base,
    const char *users, const char *socket, enroll_munge_cb *cb, void *arg);
/* Stop; pending requests get no answer. NULL is allowed. */
void enroll_munge_close(struct enroll_munge *m);
/* Check the credential in the background; copies ask. Return -EBUSY if too many
 * requests are waiting. */
int enroll_munge_ask(struct enroll_munge *m, const struct enroll_ask *ask,
    const char authority[PKI_DIGEST_TEXT], uint64_t question, struct err *err);

#endif
