/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.h - the site's own authority: one directory of PEM files.
 *
 * ca.pem ca.key, crl.pem once one is revoked, and NAME.pem NAME.key for every
 * certificate: P-256, the name as common name, the role as organizational unit.
 * Keys are 0600. Nothing that is there is overwritten but by pki_renew.
 */
#ifndef CTL_PKI_H
#define CTL_PKI_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"
#include "schema/names.h"

/* Every call gives 0, or -errno and a sentence in why. */
int pki_init(const char *dir, const char *name, int days, struct err *err);

struct pki_order {
	const char *name;
	enum role role;
	char *const *sans; /* DNS names and IP addresses besides the name */
	size_t san_count;
	int days;
};
int pki_issue(const char *dir, const struct pki_order *o, struct err *err);
/* A new certificate with the same key, name, role and further names. */
int pki_renew(const char *dir, const char *name, int days, struct err *err);
/* On the authority's list, DIR/crl.pem, which is made anew and valid as long as
 * the authority; NAME.pem and NAME.key become *.revoked, so that the name can
 * be issued again. */
int pki_revoke(const char *dir, const char *name, struct err *err);
/* [{name role serial not_before_unix_ns not_after_unix_ns sans[]}], the
 * authority first. The caller decrefs. */
int pki_list(const char *dir, json_t **ret, struct err *err);

#endif
