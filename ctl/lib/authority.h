/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.h - the site's own authority: one directory of PEM files.
 *
 * The files are ca.pem and ca.key; crl.pem after a certificate was revoked;
 * enroll.pem and enroll.key if there is an authority for enrolment; and
 * NAME.pem and NAME.key for every certificate (pki/pki.h). Keys have mode 0600.
 * Only authority_renew overwrites a file.
 */
#ifndef CTL_LIB_AUTHORITY_H
#define CTL_LIB_AUTHORITY_H

#include <jansson.h>

#include "common/err.h"

struct pki_order;

/* Every function returns 0, or -errno with a sentence in err. authority_init
 * creates a new authority in dir that is valid for this many days. */
int authority_init(const char *dir, const char *name, int days,
    struct err *err);
/* Create the authority below it with which collectors enrol nodes, and the list
 * of its certificates. */
int authority_enroller(const char *dir, int days, struct err *err);
/* Issue a certificate and a key. */
int authority_issue(const char *dir, const struct pki_order *o,
    struct err *err);
/* Issue a new certificate with the same name, role and additional names, for
 * the same key or (rekey 1) a new one. */
int authority_renew(const char *dir, const char *name, int days, int rekey,
    struct err *err);
/* Add a certificate to the revocation list of its authority, DIR/crl.pem, which
 * is valid as long as the authority. NAME.pem and NAME.key are renamed to
 * *.revoked, so that the name can be issued again. enrolled: the collector's
 * file of issued certificates; those with that name are revoked too. NULL: no
 * such file. */
int authority_revoke(const char *dir, const char *name, const char *enrolled,
    struct err *err);
/* Return 1 if a peer that connects to this host name or address accepts the
 * certificate DIR/CERT.pem for it, 0 if not. */
int authority_has_name(const char *dir, const char *cert, const char *name,
    struct err *err);
/* List the certificates, the authority first: [{name role serial
 * not_before_unix_ns not_after_unix_ns sans[]}], which the caller decrefs.
 * Revoked ones have revoked_unix_ns; 0: the time is unknown. enrolled: as for
 * authority_revoke; its revoked certificates are listed, too. */
int authority_list(const char *dir, const char *enrolled, json_t **ret,
    struct err *err);

#endif
