/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - increments of the error counters of all ports since the previous
 * reading, for a heartbeat: the counters names_link_counters of
 * schema/names_link.h.
 */
#ifndef AGENTS_SENSOR_LINK_H
#define AGENTS_SENSOR_LINK_H

#include <jansson.h>
#include <stdint.h>

/* The state of the readings. Begins as zeros. */
struct link_look {
	uint64_t every_ns; /* interval, set by the collector; 0: never read */
	uint64_t at_ns;    /* time of the last reading; 0: none yet */
	json_t *last;      /* {port: {counter: value}} */
	/* Descriptor of the kernel's log; 0: not opened yet; -1: not
	 * permitted. */
	int log_fd;
};

/* Return {span_s, ports: [{port, counters: {name: more}}, ...]}: the ports that
 * have such counters; counters only if one has increased. NULL: no reading is
 * due, or it was the first one. A counter that has decreased was reset; later
 * increments start at its new value. A GPU is a port too, by its PCI address;
 * gpus: member "gpus" of the inventory. root: "" for the machine's own. */
json_t *link_look(struct link_look *l, const char *root, const json_t *gpus);
/* Open the kernel's log, which link_look reads, while this process may. */
void link_log_open(struct link_look *l, const char *root);
/* Free what l owns. */
void link_look_clear(struct link_look *l);

#endif
