/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - ask a program for its version, once, at start.
 */
#ifndef AGENTS_SENSOR_VERSION_H
#define AGENTS_SENSOR_VERSION_H

#include <stddef.h>

/* Run "path --version" as argv0, for at most three seconds, and copy what
 * follows mark up to the next blank; "" when it does not say. */
void version_ask(const char *path, const char *argv0, const char *mark,
    char *ret, size_t cap_bytes);

#endif
