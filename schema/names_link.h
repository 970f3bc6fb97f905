/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_link.h - the kinds of errors that counters of network ports and GPUs
 * report, and the counters themselves.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_LINK_H
#define SCHEMA_NAMES_LINK_H

/* The kind of an error. A counter belongs to one port of a NIC, or to one
 * GPU. */
enum link_error {
	LINK_CORRUPTION, /* corrupted bits: symbols, code words, checksums */
	LINK_FLAP,       /* the link went down or came up */
	LINK_RETRANSMIT, /* a packet was sent again, or arrived out of order */
	LINK_DISCARD,    /* packets that the port could not send */
	LINK_CORRECTED,  /* bits of a link or of memory were repaired */
	LINK_PCIE,       /* the slot reported errors (AER of PCIe) */
	LINK_DEVICE,     /* the GPU itself failed */
	LINK_THROTTLE,   /* the clocks were reduced by heat or power limits */
	LINK_ERROR_MAX,
	/* Congestion is not a fault of the port: it is counted and shown, but
	 * never judged. */
	LINK_CONGESTION = LINK_ERROR_MAX,
	LINK_KIND_MAX
};
extern const char *const names_link_errors[LINK_KIND_MAX]; /* the words */
/* A sentence of each kind for people. */
extern const char *const names_link_texts[LINK_KIND_MAX];
/* A counter: its name in sysfs or a name that Coalmine defines, and the kind of
 * error that it counts. */
struct link_counter {
	const char *name;
	enum link_error kind;
	/* 1: the counter is a state, and counts the readings that found it so;
	 * 0: it counts errors since boot. */
	int is_state;
	/* 1: a single count proves a fault, because no working machine has
	 * one. */
	int is_fact;
};
/* All counters; ends with a NULL name. */
extern const struct link_counter names_link_counters[];
/* Return the counter with this name, or NULL. */
const struct link_counter *names_link_counter_find(const char *name);

#endif
