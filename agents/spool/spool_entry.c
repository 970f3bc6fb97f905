/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_entry.c - an entry is a head of HEAD_BYTES, "SEQ RAW LENGTH SUM\n" in
 * fixed columns, and the line with its newline. The sum (FNV-1a) distinguishes
 * a torn entry from a complete one.
 */
#include "agents/spool/spool_entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "schema/record.h"
#include "schema/strict.h"

#define HEAD_BYTES  40
#define HEAD_FORMAT "%020llu %d %07zu %08x\n"
#define SEQ_DIGITS  20 /* of HEAD_FORMAT */
#define READ_TRIES  3

static uint32_t
spool_entry_sum(const char *bytes, size_t len)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * 16777619u;
	return sum;
}

/* Read up to the end of the file. Retry after an error: callers keep the file
 * aside and lose the rest of it. Return the number of bytes, or -errno. */
static ssize_t
spool_entry_pread(int fd, char *to, size_t len, uint64_t at)
{
	int tries = 0, rc = 0;
	size_t got = 0;
	ssize_t n = 1;

	while (n != 0 && got < len && tries < READ_TRIES) {
		n = pread(fd, to + got, len - got, (off_t)(at + got));
		if (n > 0)
			got += (size_t)n;
		else if (n < 0)
			rc = -errno;
		if (n < 0 && tries++ == 0)
			log_warn("cannot read the spool at byte %llu; retrying",
			    (unsigned long long)at);
	}
	return tries < READ_TRIES ? (ssize_t)got : rc;
}

uint64_t
spool_entry_bytes(const struct spool_entry *e)
{
	return HEAD_BYTES + e->len_bytes + 1;
}

int
spool_entry_read(int fd, uint64_t at, struct spool_entry *ret)
{
	char head[HEAD_BYTES + 1];
	unsigned long long seq;
	unsigned sum;
	size_t len;
	ssize_t n;
	int raw;

	n = spool_entry_pread(fd, head, HEAD_BYTES, at);
	if (n <= 0)
		return (int)n;
	if (n != HEAD_BYTES)
		return -EPROTO;
	head[HEAD_BYTES] = '\0';
	if (sscanf(head, "%llu %d %zu %x", &seq, &raw, &len, &sum) != 4 ||
	    seq == 0 || len == 0 || len > RECORD_LINE_MAX)
		return -EPROTO;
	ret->line = xcalloc(1, len + 1);
	n = spool_entry_pread(fd, ret->line, len + 1, at + HEAD_BYTES);
	if (n != (ssize_t)len + 1 || ret->line[len] != '\n' ||
	    spool_entry_sum(ret->line, len) != sum) {
		free(ret->line);
		return n < 0 ? (int)n : -EPROTO;
	}
	ret->line[len] = '\0';
	ret->seq = seq;
	ret->raw = raw != 0;
	ret->len_bytes = len;
	return 1;
}

/* Move to the first offset after s->at where a head may begin, or to the end. A
 * line has no newline, so no head begins within one. Return 0 or -errno. */
static int
spool_entry_search(struct spool_scan *s)
{
	uint64_t at = s->at + 1;
	char block[4096];
	ssize_t n;

	for (; at < s->end; at += (uint64_t)n - HEAD_BYTES + 1) {
		n = spool_entry_pread(s->fd, block, sizeof(block), at);
		if (n < 0)
			return (int)n;
		if (n < HEAD_BYTES)
			break;
		for (ssize_t i = 0; i + HEAD_BYTES <= n; i++)
			if (block[i + HEAD_BYTES - 1] == '\n' &&
			    block[i + SEQ_DIGITS] == ' ' && block[i] >= '0' &&
			    block[i] <= '9') {
				s->at = at + (uint64_t)i;
				return 0;
			}
	}
	s->at = s->end;
	return 0;
}

/* A line that no collector can read must be dropped: it would be sent again for
 * ever. */
static int
spool_entry_is_json(const struct spool_entry *e)
{
	json_t *line;

	if (strict_object(e->line, e->len_bytes, RECORD_DEPTH_MAX, &line,
		NULL) < 0)
		return 0;
	json_decref(line);
	return 1;
}

int
spool_entry_next(struct spool_scan *s, struct spool_entry *ret)
{
	uint64_t from = s->at;
	int rc;

	while (s->at < s->end && s->error == 0) {
		rc = spool_entry_read(s->fd, s->at, ret);
		if (rc > 0) {
			if (ret->seq > s->seq &&
			    (!s->check || spool_entry_is_json(ret))) {
				s->skipped = s->at - from;
				s->at += spool_entry_bytes(ret);
				s->seq = ret->seq;
				return 1;
			}
			free(ret->line);
		}
		s->error = rc < 0 && rc != -EPROTO ? rc : spool_entry_search(s);
	}
	s->skipped = s->at - from;
	return 0;
}

int
spool_entry_write(int fd, uint64_t at, const struct spool_entry *e)
{
	char head[HEAD_BYTES + 1];
	struct iovec iov[3];
	ssize_t n;
	int rc = 0;

	snprintf(head, sizeof(head), HEAD_FORMAT, (unsigned long long)e->seq,
	    e->raw, e->len_bytes, spool_entry_sum(e->line, e->len_bytes));
	iov[0] = (struct iovec){ head, HEAD_BYTES };
	iov[1] = (struct iovec){ e->line, e->len_bytes };
	iov[2] = (struct iovec){ (char *)"\n", 1 };
	n = pwritev(fd, iov, 3, (off_t)at);
	if (n == (ssize_t)spool_entry_bytes(e))
		return 0;
	rc = n < 0 ? -errno : -ENOSPC;
	if (ftruncate(fd, (off_t)at) < 0)
		log_warn("spool: cannot truncate an incomplete entry");
	return rc;
}
