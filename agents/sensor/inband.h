/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inband.h - measurements that jobs made of their own collectives, read from
 * files.
 */
#ifndef AGENTS_SENSOR_INBAND_H
#define AGENTS_SENSOR_INBAND_H

#include <jansson.h>

struct inband;
/* Prepare to read files below dir; lines that name another host are skipped.
 * Return NULL if dir is "". */
struct inband *inband_new(const char *dir, const char *host);
void inband_free(struct inband *ib); /* NULL is allowed, here and below */
/* Read new lines. Return [{job, uid of the files, rows: [{source op ranks nodes
 * bytes calls seconds least_s}]}] of the jobs that have news in the last three
 * minutes, at most INBAND_JOBS_MAX: a new reference. calls, seconds: sums so
 * far. bytes: of a call. least_s: of a call, for the rank that waited least.
 * Return NULL if no reading is due, or nothing is new. again: 1: return all
 * jobs, now. */
#define INBAND_JOBS_MAX 16
json_t *inband_look(struct inband *ib, int again);

#endif
