/* SPDX-License-Identifier: Apache-2.0 */
/*
 * card.h - common to the cases of tests/gpu: the device under test, known data,
 * a second process, and lines of the table.
 *
 * A failure ends the program with 1 and a line on standard error, so no
 * function here returns an error. Memory that a case leaves is freed with the
 * device.
 */
#ifndef TESTS_GPU_CARD_H
#define TESTS_GPU_CARD_H

#include <stdint.h>
#include <sys/types.h>

#include "probes/device/device.h"

#define CARD_PIECE_BYTES (16 << 20) /* of data, until it repeats */

struct card {
	const char *program, *name; /* argv[0], "cuda" */
	const struct device_ops *ops;
	struct device *device;
	struct device_stream *stream;
	uint64_t bytes;      /* that a case moves */
	double limit;        /* bytes a second, 0: not known */
	double share_wanted; /* of limit, or of the measured value */
	int too_slow;
};

extern struct card card;

void card_die(const char *what) __attribute__((noreturn));
void card_must(int rc, const char *what); /* dies when rc is negative */
void *card_alloc(uint64_t bytes);         /* on the device */
void *card_host_alloc(uint64_t bytes);    /* pinned */

void card_randomise(void *to, uint64_t bytes, uint64_t seed);
/* Fill memory of the device with a random piece of CARD_PIECE_BYTES, repeated;
 * and check that every byte is unchanged. */
void card_fill(void *to, uint64_t bytes, uint64_t seed);
void card_expect(const void *at, uint64_t bytes, uint64_t seed,
    const char *what);
/* The same with a piece of the caller's. */
void card_expect_piece(const void *at, uint64_t bytes, const void *piece,
    const char *what);

/* Print a line of the table, and compare the rate with the limit. */
void card_report(const char *what, double bytes_per_s);

struct card_other {
	pid_t pid;
	int to, from;
};

/* This program again with another case. hostid: its NCCL_HOSTID, or NULL. */
struct card_other card_other_start(const char *name, const char *hostid);
void card_other_end(const struct card_other *o);
void card_tell(int fd, const void *what, size_t bytes);
void card_hear(int fd, void *what, size_t bytes);

/* Cases in files of their own. */
void overlap_case(void);
void chunks_case(void);
void chunks_ipc_case(void);
void chunks_ipc_other_case(void);

#endif
