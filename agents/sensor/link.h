/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - how much the error counters of all ports have grown since the
 * last look: names_link_counters of schema/names_link.h, for a heartbeat.
 */
#ifndef AGENTS_SENSOR_LINK_H
#define AGENTS_SENSOR_LINK_H

#include <jansson.h>
#include <stdint.h>

struct link_look {
	uint64_t every_ns; /* as the collector says; 0: never */
	uint64_t at_ns;    /* of the last look; 0: none yet */
	json_t *last;      /* {port: {counter: value}} */
	int log_fd;        /* of the kernel's; 0: not opened yet, -1: refused */
};

/* {span_s, ports: [{port, counters: {name: more}}, ...]}: the ports that have
 * such counters; counters only where one has counted something. NULL: no look
 * is due, or it was the first, from which the next counts. A counter that has
 * become smaller was reset, and counts from there. A GPU is a port too, by its
 * PCI address; gpus: of the inventory. root: "" for the machine's own. */
json_t *link_look(struct link_look *l, const char *root, const json_t *gpus);
void link_look_clear(struct link_look *l);

#endif
