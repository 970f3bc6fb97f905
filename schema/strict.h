/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict.h - JSON from outside: one object, no key twice, limited depth.
 */
#ifndef SCHEMA_STRICT_H
#define SCHEMA_STRICT_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"

/* 0, or -EPROTO with the reason in why. The caller decrefs *ret. */
int strict_object(const char *text, size_t len_bytes, int depth_max,
    json_t **ret, struct err *err);

#endif
