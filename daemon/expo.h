/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expo.h - writes Prometheus' text format 0.0.4: families, samples, values.
 *
 * A family stands in one piece: expo_family, then all of its samples. Nothing
 * here allocates but the text that is appended to.
 */
#ifndef DAEMON_EXPO_H
#define DAEMON_EXPO_H

#include "common/str.h"

struct expo_label {
	const char *name; /* NULL ends a list */
	const char *value;
};

#define EXPO_LABELS(...)                                                       \
	((const struct expo_label[]){ __VA_ARGS__, { NULL, NULL } })

/* type: counter, gauge, histogram or summary. */
void expo_family(struct strbuf *to, const char *name, const char *type,
    const char *help);
/* labels: NULL for none. */
void expo_sample(struct strbuf *to, const char *name,
    const struct expo_label *labels, double value);
/* A family of one sample without labels. */
void expo_single(struct strbuf *to, const char *name, const char *type,
    const char *help, double value);
/* A label's value between its quotes. */
void expo_escape(struct strbuf *to, const char *value);
/* Whole numbers exactly, others to nine digits or the millisecond. */
void expo_value(struct strbuf *to, double value);

#endif
