/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.h - order an enrolment token; the verb init uses it too.
 */
#ifndef CTL_VERBS_PKI_H
#define CTL_VERBS_PKI_H

#include <jansson.h>
#include <stdint.h>

#include "ctl/lib/ctl.h"

/* Order a token with which nodes can enrol, for these names (NULL: any) and for
 * the time of --for. uses: how many nodes; 0: as many as there are names, or
 * one. Return 0 and {token}, which the caller decrefs; or an exit code. */
int pki_token_order(struct ctl *c, const char *names, int64_t uses,
    json_t **ret);

#endif
