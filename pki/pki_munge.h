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

/* What the agent of that name writes, and the collector for it: the digests of
 * its key, and of the authority that it was shown or is to trust. So neither is
 * of any use to another. The caller frees. */
char *pki_munge_text(enum role by, const char *name, const char *key,
    const char *authority);
/* Of this process's user; NULL and why. */
char *pki_munge_write(const char *socket, const char *text, struct err *err);
/* -EACCES: it is none of that text by one of users. */
int pki_munge_check(const char *socket, const char *credential,
    const char *text, const char *users, struct err *err);
int pki_munge_is_user(const char *users, uid_t uid);

#endif
