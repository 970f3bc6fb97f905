/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll.h - certificates for nodes. A new node needs a token or a munge
 * credential; a node with an old certificate renews it in its own session.
 *
 * Tokens (only their hashes) and issued certificates are lines of one file,
 * state_dir/enrolled. A line is synced before it counts. So a token is valid
 * for one key of a name, also after a power failure, and coalctl pki revoke
 * finds every certificate of a node. A thread syncs the file, once for all
 * lines that are waiting: nodes that enrol together do not block the loop.
 */
#ifndef DAEMON_AGENTS_ENROLL_H
#define DAEMON_AGENTS_ENROLL_H

#include <stdint.h>

#include "common/err.h"
#include "pki/pki.h"

#define ENROLL_ALIVE_MAX  8 /* keys with certificates of one name at a time */
#define ENROLL_PER_S      50
#define ENROLL_TOKENS_MAX 10000
#define ENROLL_TOKEN_DAYS 30

struct enroll;
struct event_base;

/* Return -errno with err if the existing file cannot be read. */
int enroll_open(const char *state_dir, struct enroll **ret, struct err *err);
void enroll_close(struct enroll *e); /* NULL is allowed */
/* Start the thread; without it enroll_when_synced blocks until the file is
 * synced. Return 0 or -errno. */
int enroll_start(struct enroll *e, struct event_base *base);
/* Set the authority that signs, the lifetime of its certificates, and the root
 * that nodes trust: the root of the collector's own certificate. Takes
 * ownership of ca and root; ca.key NULL: enrolment is disabled. */
void enroll_set(struct enroll *e, struct pki_authority ca, X509 *root,
    int64_t life_s);
/* Return 1 if enrolment is enabled, 0 if not. */
int enroll_is_on(const struct enroll *e);
/* Write the digest of the root. Return -EPERM if enrolment is disabled. */
int enroll_authority(const struct enroll *e, char ret[PKI_DIGEST_TEXT],
    struct err *err);

/* A token to issue. */
struct enroll_order {
	const char *names; /* a hostlist, or "*" */
	int uses;          /* 0: one for each name */
	int64_t life_s;
};
/* Issue a token. Return 0, or -errno with err: -EINVAL, -EPERM (enrolment is
 * disabled), -ENOSPC or another error of the file. */
int enroll_token_new(struct enroll *e, const struct enroll_order *o,
    int64_t now_unix_s, char ret[PKI_TOKEN_TEXT], struct err *err);

/* A request for a certificate. */
struct enroll_ask {
	const char *node, *request;
	const char *token; /* NULL: a session or munge identifies the node */
	const char *munge; /* a credential, or NULL */
	const char *addr;
	const X509 *old; /* certificate of that session */
	int connected;   /* a session of that name exists */
};
/* Sign a request. *ret is the certificate as PEM, followed by its issuer's
 * unless that is the root. The caller frees it, and sends it only after
 * enroll_when_synced. Return -EACCES: rejected; -EBUSY: retry later; other
 * errors as for enroll_token_new. */
int enroll_sign(struct enroll *e, const struct enroll_ask *ask,
    int64_t now_unix_s, char **ret, struct err *err);
/* cb is called once, on the loop, with 0 when all signed certificates are on
 * disk; -errno: they are void; -ECANCELED: enroll_close was called. */
typedef void enroll_cb(int status, void *arg);
void enroll_when_synced(struct enroll *e, enroll_cb *cb, void *arg);

#endif
