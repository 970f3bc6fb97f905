/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor.h - counters of this node's network devices.
 *
 * A sensor is one .c file and alone knows its kind of device; what it needs of
 * a vendor it opens at run time. All counters are since boot; who wants a
 * rate takes two readings. Names are the device's own but for two that the
 * collector reads of every device, for the budget and for the busiest one:
 * rx_bytes and tx_bytes. A sensor whose device names them otherwise says
 * which they are with sensor_bytes.
 */
#ifndef AGENTS_SENSOR_SENSOR_H
#define AGENTS_SENSOR_SENSOR_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

struct sensor {
	const char *name;
	/* Append {"nic": name, "counters": {...}} for every device in the tree
	 * below root ("" for the machine's own). Devices may come and go. */
	void (*read)(const char *root, json_t *nics);
};

extern const struct sensor sensor_net;       /* the kernel's network devices */
extern const struct sensor sensor_ib;        /* InfiniBand and RoCE ports */
extern const struct sensor sensor_cxi;       /* Slingshot */
extern const struct sensor *const sensors[]; /* NULL-ended */

/* All of them: the nics of a counters message. */
json_t *sensor_read(const char *root);

/* For sensors: the whole number in dir/file, 0 or -ENOENT or -EPROTO. */
int sensor_file(const char *dir, const char *file, int64_t *ret);
/* Likewise, of the number behind a word that begins a line. */
int sensor_words(const char *dir, const char *file, const char *word,
    int64_t *ret);
/* A row of nics that is appended; its counters. */
json_t *sensor_row(json_t *nics, const char *nic);
/* Those of the row of that name; NULL: there is none. */
json_t *sensor_counters(json_t *nics, const char *nic);
/* Every number in dir becomes prefix + file name; files without one are left
 * out. */
void sensor_dir(const char *dir, const char *prefix, json_t *counters);
/* rx_bytes and tx_bytes from counters of those names, where they are there,
 * that count units of so many bytes. */
void sensor_bytes(json_t *counters, const char *rx, const char *tx,
    int unit_bytes);

/* aer_correctable, aer_nonfatal and aer_fatal of a PCI device, whose folder it
 * is; nothing where its slot does not report errors. */
void sensor_aer(const char *device, json_t *counters);

/*
 * ethtool.c: what the kernel tells of Ethernet's links by netlink alone: FEC,
 * pause frames, and those of priorities (PFC). Added to the rows of their
 * devices; nothing where it tells none.
 */
void ethtool_read(json_t *nics);
/* Of one datagram that answers a request of it; 1: it was the last. */
int ethtool_take(const void *bytes, size_t len_bytes, json_t *nics);

/* gpu.c: a row for every GPU of an inventory, by its PCI address, with what is
 * looked at now and then: names_link_counters. */
void gpu_read(const char *root, const json_t *gpus, json_t *rows);
/* What AMD's driver tells in gpu_metrics of heat. */
void gpu_metrics_take(const void *bytes, size_t len_bytes, json_t *counters);
/* What a line of the kernel's log tells of a GPU, added to its row. */
void gpu_log_take(const char *line, json_t *rows);
/* gpu.c: 1 and why when a process computes on a GPU of this node, as the
 * kernel says of AMD's and NVML of NVIDIA's; 0 where neither can. */
int gpu_busy(const char *root, struct err *err);

/* inband.c: what jobs have measured of their own collectives in files below
 * dir; of lines that name another host nothing. NULL where dir is "". */
struct inband;
struct inband *inband_new(const char *dir, const char *host);
void inband_free(struct inband *ib); /* NULL is allowed, here and below */
/* [{job, rows: [{source op ranks nodes bytes calls seconds least_s}]}] of jobs
 * of which there is news, for three minutes, at most so many, sums of what is
 * there; bytes of a call, least_s of a call of the rank that waited least.
 * NULL: no look is due, or nothing is new. again: of all jobs, and now. */
#define INBAND_JOBS_MAX 16
json_t *inband_look(struct inband *ib, int again);

/*
 * link.c: what the error counters of all ports have counted since the last
 * look: names_link_counters of schema/names.h, as a heartbeat carries it.
 */
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
