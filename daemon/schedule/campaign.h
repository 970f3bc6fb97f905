/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign.h - campaigns: the files of campaign_dir, and texts of orders.
 *
 * Files are checked every few seconds; a changed one is read again. An invalid
 * one stays in the list with its error and is never started. Campaign NAME is
 * in file NAME.conf. Pointers are valid until the next campaigns_scan.
 */
#ifndef DAEMON_SCHEDULE_CAMPAIGN_H
#define DAEMON_SCHEDULE_CAMPAIGN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/queue.h"
#include "daemon/schedule/schedule.h"
#include "schema/names_run.h"

#define CAMPAIGN_NAME_MAX 63
#define CAMPAIGN_TEXT_MAX (256 * 1024) /* bytes of one file */

/* A campaign: a file of the directory, or the text of an order. */
struct campaign {
	TAILQ_ENTRY(campaign) link;
	char *name;
	char *path;        /* NULL: text of an order */
	char *text;        /* as written; NULL if unreadable */
	char *error;       /* "file:line: ..."; NULL: valid */
	struct conf *conf; /* NULL if there is an error */
	struct schedule schedule;
	/* Attributes of the file when it was read. */
	int64_t mtime_ns;
	off_t size_bytes;
	ino_t inode;
	int unread; /* 1: the file could not be read; the next scan retries */
	int seen;   /* 1: found in the current scan */
	/* Set by scheduler.c, only for files. */
	uint64_t base_unix_ns; /* base of the next start; 0: none */
	uint64_t next_unix_ns;
	uint64_t read_unix_ns;
	/* When a start was last skipped because the cluster had never had
	 * nodes_min nodes; 0: never. */
	uint64_t few_unix_ns;
	/* The newest run of the campaign. */
	char last_run[64];
	enum run_state last_state;
	double last_success_unix_s; /* 0: never */
};
TAILQ_HEAD(campaign_list, campaign);

struct campaigns;

/* Return the campaigns of a directory, which the caller frees. The files are
 * read by campaigns_scan. */
struct campaigns *campaigns_new(const char *dir);
void campaigns_free(struct campaigns *cs); /* NULL is allowed */
/* Scan the directory. Return how many campaigns are new, changed or removed. */
int campaigns_scan(struct campaigns *cs);
const struct campaign_list *campaigns_list(const struct campaigns *cs);
/* Return the campaign with this name, or NULL. */
struct campaign *campaigns_find(const struct campaigns *cs, const char *name);
/* Add the text of an order with its result of campaign_parse, unless a file has
 * that name. */
void campaigns_submit(struct campaigns *cs, const char *name, const char *text,
    const struct conf *conf, const struct schedule *schedule);
/* Return the error of reading the directory, or "". */
const char *campaigns_error(const struct campaigns *cs);

/* Return 0, or -EINVAL for an invalid name of a campaign. */
int campaign_name_check(const char *name);
/* Parse and check a campaign. path: its name in error messages. Return 0 and
 * the configuration, which the caller frees with conf_free; or -EINVAL with the
 * reason in err. */
int campaign_parse(const char *path, const char *text, struct conf **ret,
    struct schedule *ret_schedule, struct err *err);

#endif
