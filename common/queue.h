/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the C library's BSD list macros, and a macro for iteration with
 * removal that it lacks.
 */
#ifndef COMMON_QUEUE_H
#define COMMON_QUEUE_H

#include <sys/queue.h>

#ifndef TAILQ_FOREACH_SAFE
#define TAILQ_FOREACH_SAFE(var, head, field, next)                             \
	for ((var) = TAILQ_FIRST(head);                                        \
	     (var) != NULL && ((next) = TAILQ_NEXT(var, field), 1);            \
	     (var) = (next))
#endif

#endif
