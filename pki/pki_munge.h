/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki_munge.h - credentials of MUNGE: they prove which user of a host of the
 * realm wrote a text. A credential is accepted once on a host, for some
 * minutes. Calls wait for munged behind socket ("" for its default) and may be
 * made in any thread. Users are names and numbers, with commas between.
 */
#ifndef PKI_PKI_MUNGE_H
#define PKI_PKI_MUNGE_H

#include <sys/types.h>

#include "common/err.h"
#include "schema/names_role.h"

/* Return the payload of a credential of the agent of that name, or of the
 * collector for it: the digests of the agent's key, and of the CA certificate
 * that it received or is to trust. A credential is thus valid for one agent,
 * key and CA. The caller frees. */
char *pki_munge_text(enum role by, const char *name, const char *key,
    const char *authority);
/* Of this process's user; NULL and why. */
char *pki_munge_write(const char *socket, const char *text, struct err *err);
/* Return 0, or -EACCES if the credential is not of that text by one of
 * users. */
int pki_munge_check(const char *socket, const char *credential,
    const char *text, const char *users, struct err *err);
int pki_munge_is_user(const char *users, uid_t uid);

#endif
