/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - the digest of a report, and its signature by the site's authority.
 * Both cover the report without its member "seal", as JSON with sorted keys and
 * without blanks.
 */
#ifndef CTL_ACCEPT_SEAL_H
#define CTL_ACCEPT_SEAL_H

#include <jansson.h>

#include "pki/pki.h"

/* Write the SHA-256 of a value's text, as 64 hexadecimal digits. */
void seal_digest(const json_t *value, char ret[PKI_DIGEST_TEXT]);
/* Sign the report with DIR/ca.key, and set its member "seal". Return 0, or
 * -errno with err. */
int seal_sign(json_t *report, const char *dir, struct err *err);
/* Check the seal of a report with the certificate of an authority, in file ca.
 * Return 0 and the authority's common name in ret_name; -ENOENT: the report has
 * no seal; -EACCES: the seal is not of this authority, or the report was
 * changed; -EINVAL: the certificate cannot be read. err has the reason. */
int seal_check(const json_t *report, const char *ca, char ret_name[256],
    struct err *err);

#endif
