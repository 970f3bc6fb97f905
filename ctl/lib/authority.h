/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.h - the site's own authority: one directory of PEM files.
 *
 * ca.pem ca.key, crl.pem once one is revoked, enroll.pem enroll.key where there
 * is an authority for enrolment, and NAME.pem NAME.key for every certificate
 * (pki/pki.h). Keys are 0600. Only authority_renew overwrites a file.
 */
#ifndef CTL_LIB_AUTHORITY_H
#define CTL_LIB_AUTHORITY_H

#include <jansson.h>

#include "common/err.h"

struct pki_order;

/* Every call gives 0, or -errno and a sentence in why. */
int authority_init(const char *dir, const char *name, int days,
    struct err *err);
/* The authority below it that collectors enrol nodes with, and its list. */
int authority_enroller(const char *dir, int days, struct err *err);
int authority_issue(const char *dir, const struct pki_order *o,
    struct err *err);
/* A new certificate with the same name, role and further names, for the same
 * key or a new one. */
int authority_renew(const char *dir, const char *name, int days, int rekey,
    struct err *err);
/* Add a certificate to the revocation list of its authority, DIR/crl.pem, which
 * is valid as long as the authority. NAME.pem and NAME.key become *.revoked, so
 * that the name can be issued again. enrolled: the collector's file of issued
 * certificates; those of that name are revoked too. NULL: none. */
int authority_revoke(const char *dir, const char *name, const char *enrolled,
    struct err *err);
/* [{name role serial not_before_unix_ns not_after_unix_ns sans[]}], the
 * authority first. The caller decrefs. */
int authority_list(const char *dir, json_t **ret, struct err *err);

#endif
