/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h - the files that are compiled into the collector. Each table ends
 * with a NULL name.
 */
#ifndef DAEMON_EMBED_H
#define DAEMON_EMBED_H

#include "common/embed.h"

extern const struct embed embed_steps[]; /* schema/migrate, in order */
extern const struct embed embed_page[];  /* daemon/page, gzipped */

#endif
