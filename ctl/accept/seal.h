/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - the digest of a report and its signature by the site's authority.
 * Both cover the report without member "seal", as JSON with sorted keys and
 * without blanks.
 */
#ifndef CTL_ACCEPT_SEAL_H
#define CTL_ACCEPT_SEAL_H

#include <jansson.h>

#include "pki/pki.h"

/* The SHA-256 of a value's text, as 64 hex digits. */
void seal_digest(const json_t *value, char ret[PKI_DIGEST_TEXT]);
/* Sign with DIR/ca.key and put the seal into the report. -errno and err. */
int seal_sign(json_t *report, const char *dir, struct err *err);
/* Check a seal with the authority's certificate. ret_name: its common name,
 * PKI_PEM_MAX bytes are not needed: 256 suffice. -ENOENT: the report has no
 * seal; -EACCES: it is not of this authority, or the report was changed. */
int seal_check(const json_t *report, const char *ca, char ret_name[256],
    struct err *err);

#endif
