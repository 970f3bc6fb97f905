/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll.h - certificates for nodes: by a token or a credential of munge for a
 * new one, by its own session for one whose certificate is old.
 *
 * Tokens, of which only a hash is kept, and what was issued for them are lines
 * of one file, state_dir/enrolled, each synced before it counts. So a token is
 * good for one key of a name, also after a power cut, and coalctl pki revoke
 * finds every certificate of a node. A thread syncs what was issued, all that
 * came meanwhile at once: nodes that enrol together never hold up the loop.
 */
#ifndef DAEMON_AGENTS_ENROLL_H
#define DAEMON_AGENTS_ENROLL_H

#include <stdint.h>

#include "common/err.h"
#include "pki/pki.h"

#define ENROLL_ALIVE_MAX  8 /* certificates of one name at one time */
#define ENROLL_PER_S      50
#define ENROLL_TOKENS_MAX 10000
#define ENROLL_TOKEN_DAYS 30

struct enroll;
struct event_base;

/* -errno and why: what is there cannot be read. */
int enroll_open(const char *state_dir, struct enroll **ret, struct err *err);
void enroll_close(struct enroll *e); /* NULL is allowed */
/* The thread; without it enroll_when_synced waits for the disk. -errno */
int enroll_start(struct enroll *e, struct event_base *base);
/* Who signs, for how long, and whom nodes shall trust: the root of the
 * collector's own certificate. Takes all; ca.key NULL: nobody is enrolled. */
void enroll_set(struct enroll *e, struct pki_authority ca, X509 *root,
    int64_t life_s);
int enroll_is_on(const struct enroll *e);
/* Of the root; -EPERM: nobody is enrolled. */
int enroll_authority(const struct enroll *e, char ret[PKI_DIGEST_TEXT],
    struct err *err);

struct enroll_order {
	const char *names; /* a hostlist, or "*" */
	int uses;          /* 0: as many as there are names */
	int64_t life_s;
};
/* -EINVAL, -EPERM (off), -ENOSPC and their like, and why. */
int enroll_token_new(struct enroll *e, const struct enroll_order *o,
    int64_t now_unix_s, char ret[PKI_TOKEN_TEXT], struct err *err);

struct enroll_ask {
	const char *node, *request;
	const char *token; /* NULL: its session is its word, or munge is */
	const char *munge; /* a credential, or NULL */
	const char *addr;
	const X509 *old; /* of that session */
	int connected;   /* a session of that name stands */
};
/* PEM of the certificate and, where it is not the root, of who signed it; the
 * caller frees, and hands it out when it is synced. -EACCES: not for him;
 * -EBUSY: later; else as above. */
int enroll_sign(struct enroll *e, const struct enroll_ask *ask,
    int64_t now_unix_s, char **ret, struct err *err);
/* cb is called on the loop, once: 0 when all that was signed is on disk;
 * -errno: it is void; -ECANCELED: out of enroll_close. */
typedef void enroll_cb(int status, void *arg);
void enroll_when_synced(struct enroll *e, enroll_cb *cb, void *arg);

/* ---- enroll_munge.c: by a credential of munge(7) ---- */

struct enroll_munge;
/* Once, on the loop: what was asked, with the collector's own credential for
 * the node in munge, or NULL and why. ask is good for the call. */
typedef void enroll_munge_cb(struct enroll_ask *ask, uint64_t question,
    struct err *why, void *arg);
/* users: whose credentials are good, as in pki.h. */
struct enroll_munge *enroll_munge_open(struct event_base *base,
    const char *users, const char *socket, enroll_munge_cb *cb, void *arg);
void enroll_munge_close(struct enroll_munge *m); /* NULL; nobody is answered */
/* Copies; -EBUSY: not now. */
int enroll_munge_ask(struct enroll_munge *m, const struct enroll_ask *ask,
    const char authority[PKI_DIGEST_TEXT], uint64_t question, struct err *err);

#endif
