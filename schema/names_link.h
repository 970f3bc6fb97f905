/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_link.h - errors that counters of ports and GPUs report.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum; stored words do not change.
 */
#ifndef SCHEMA_NAMES_LINK_H
#define SCHEMA_NAMES_LINK_H

/* Kinds of errors that counters of a port or a GPU report. */
enum link_error {
	LINK_CORRUPTION, /* of bits: symbols, code words, checksums */
	LINK_FLAP,       /* it went down, or came up */
	LINK_RETRANSMIT, /* something was sent again, or came out of order */
	LINK_DISCARD,    /* packets that the port could not send */
	LINK_CORRECTED,  /* what its code repaired, of bits or of memory */
	LINK_PCIE,       /* its slot, as PCIe's error reporting counts */
	LINK_DEVICE,     /* the GPU itself is at fault */
	LINK_THROTTLE,   /* its clocks were lowered, by heat or power */
	LINK_ERROR_MAX,
	/* No fault of the port: counted, shown and never judged. */
	LINK_CONGESTION = LINK_ERROR_MAX,
	LINK_KIND_MAX
};
extern const char *const names_link_errors[LINK_KIND_MAX];
extern const char *const names_link_texts[LINK_KIND_MAX]; /* a sentence */
/* Counters by their names in sysfs, or by ours, ended by a NULL name. */
struct link_counter {
	const char *name;
	enum link_error kind;
	int is_state; /* counts looks that find it so; no sum since boot */
	int is_fact;  /* one is enough: no machine in order has it */
};
extern const struct link_counter names_link_counters[];
const struct link_counter *names_link_counter_find(const char *name);

#endif
