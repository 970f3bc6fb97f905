/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.h - the keys of promise files (coalmine-promise(5)), as rows.
 */
#ifndef SCHEMA_PROMISE_H
#define SCHEMA_PROMISE_H

#include "common/conf.h"

extern const struct conf_row options_promise[];

#endif
