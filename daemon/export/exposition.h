/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h - write the metrics page: exposition_family, then all samples of
 * the family. Only the text that is appended to allocates memory.
 */
#ifndef DAEMON_EXPORT_EXPOSITION_H
#define DAEMON_EXPORT_EXPOSITION_H

#include "common/hist.h"
#include "common/str.h"

struct exposition_label {
	const char *name; /* NULL ends a list */
	const char *value;
};

#define EXPOSITION_LABELS(...)                                                 \
	((const struct exposition_label[]){ __VA_ARGS__, { NULL, NULL } })

/* type: counter, gauge, histogram or summary. */
void exposition_family(struct strbuf *to, const char *name, const char *type,
    const char *help);
/* labels: NULL for none. */
void exposition_sample(struct strbuf *to, const char *name,
    const struct exposition_label *labels, double value);
/* labels: as text, {name="value"}, escaped already. */
void exposition_labelled(struct strbuf *to, const char *name,
    const char *labels, double value);
/* Buckets from about 1 us to 2^last_octave seconds, sum and count. Powers of
 * two are bounds of our own buckets, so the export is exact. */
void exposition_histogram(struct strbuf *to, const char *name,
    const char *labels, const struct hist *h, int last_octave);
/* A family of one sample without labels. */
void exposition_single(struct strbuf *to, const char *name, const char *type,
    const char *help, double value);
/* A label's value between its quotes. */
void exposition_escape(struct strbuf *to, const char *value);
/* Whole numbers exactly, others to nine digits or the millisecond. */
void exposition_value(struct strbuf *to, double value);

#endif
