/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.h - the order of a token, which init uses too.
 */
#ifndef CTL_VERBS_PKI_H
#define CTL_VERBS_PKI_H

#include <jansson.h>
#include <stdint.h>

#include "ctl/lib/ctl.h"

/* A token that lets nodes enrol, for these names (NULL: any) and --for, and so
 * many of them (0: as many as there are names, or one): {token}. */
int pki_token_order(struct ctl *c, const char *names, int64_t uses,
    json_t **ret);

#endif
