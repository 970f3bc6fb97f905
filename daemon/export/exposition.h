/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h - write metrics in the text format of Prometheus: call
 * exposition_family, then write all samples of the family. Only the text to
 * which they are appended allocates memory.
 */
#ifndef DAEMON_EXPORT_EXPOSITION_H
#define DAEMON_EXPORT_EXPOSITION_H

#include "common/hist.h"
#include "common/str.h"

/* A label of a sample. */
struct exposition_label {
	const char *name; /* NULL ends a list */
	const char *value;
};

#define EXPOSITION_LABELS(...)                                                 \
	((const struct exposition_label[]){ __VA_ARGS__, { NULL, NULL } })

/* Begin a family. type: counter, gauge, histogram or summary. */
void exposition_family(struct strbuf *to, const char *name, const char *type,
    const char *help);
/* Append a sample. labels: NULL for none. */
void exposition_sample(struct strbuf *to, const char *name,
    const struct exposition_label *labels, double value);
/* Append a sample. labels: as text, {name="value"}, already escaped. */
void exposition_labelled(struct strbuf *to, const char *name,
    const char *labels, double value);
/* Append a histogram: buckets from about 1 us to 2^last_octave seconds, sum and
 * count. Powers of two are bounds of buckets of struct hist, so the export is
 * exact. */
void exposition_histogram(struct strbuf *to, const char *name,
    const char *labels, const struct hist *h, int last_octave);
/* Append a family of one sample without labels. */
void exposition_single(struct strbuf *to, const char *name, const char *type,
    const char *help, double value);
/* Append the value of a label, escaped, without the quotes. */
void exposition_escape(struct strbuf *to, const char *value);
/* Append a number: integers exactly, others with nine digits or to the
 * millisecond. */
void exposition_value(struct strbuf *to, double value);

#endif
