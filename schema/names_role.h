/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_role.h - the roles in certificates.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_ROLE_H
#define SCHEMA_NAMES_ROLE_H

/* The role of a certificate's owner: the organizational unit (OU) of the
 * certificate's subject. */
enum role { ROLE_AGENT, ROLE_COLLECTOR, ROLE_READER, ROLE_OPERATOR, ROLE_MAX };
extern const char *const names_roles[ROLE_MAX];

#endif
