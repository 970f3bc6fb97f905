/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki_munge.h - credentials of MUNGE, which prove which user of a host of the
 * realm wrote a text. A credential is accepted once on a host, and is valid for
 * some minutes. Calls wait for munged at the path socket ("" for its default),
 * and can be made in any thread. A list of users has names and numbers,
 * separated by commas.
 */
#ifndef PKI_PKI_MUNGE_H
#define PKI_PKI_MUNGE_H

#include <sys/types.h>

#include "common/err.h"
#include "schema/names_role.h"

/* Return the text to put into a credential: of the agent with that name, or of
 * the collector for this agent. It has the digests of the agent's key, and of
 * the CA certificate that the agent received or is to trust. Thus a credential
 * is valid for one agent, key and CA. The caller frees it. */
char *pki_munge_text(enum role by, const char *name, const char *key,
    const char *authority);
/* Return a credential of this process's user with that text, which the caller
 * frees; NULL with the reason in err. */
char *pki_munge_write(const char *socket, const char *text, struct err *err);
/* Return 0, or -EACCES with err if the credential is not of that text by one of
 * users. */
int pki_munge_check(const char *socket, const char *credential,
    const char *text, const char *users, struct err *err);
/* Return 1 if uid is one of users, 0 if not. */
int pki_munge_is_user(const char *users, uid_t uid);

#endif
