/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign.c - a file is read again when its time, size or inode has changed,
 * and when it could not be read.
 * An invalid file replaces its earlier valid contents, and is not run.
 */
#include "daemon/schedule/campaign.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clk.h"
#include "common/file.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/run/cost.h"
#include "daemon/run/blackout.h"
#include "daemon/schedule/schedule.h"
#include "schema/options.h"

#define SUFFIX        ".conf"
#define SUBMITTED_MAX 64 /* texts from orders; the oldest is dropped */

struct campaigns {
	char *dir;
	char error[256];
	struct campaign_list list; /* in human order */
};

int
campaign_name_check(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > CAMPAIGN_NAME_MAX || name[0] == '-' ||
	    name[0] == '.')
		return -EINVAL;
	for (; *name != '\0'; name++)
		if (!isascii((unsigned char)*name) ||
		    (!isalnum((unsigned char)*name) &&
			strchr("-_.", *name) == NULL))
			return -EINVAL;
	return 0;
}

int
campaign_parse(const char *path, const char *text, struct conf **ret,
    struct schedule *ret_schedule, struct err *err)
{
	struct conf *c = NULL;
	struct blackout b;
	struct err reason;
	int rc;

	if (strlen(text) > CAMPAIGN_TEXT_MAX)
		return err_set(err, -E2BIG, "%s: longer than %d bytes", path,
		    CAMPAIGN_TEXT_MAX);
	rc = conf_parse(options_campaign, path, text, &c, err);
	if (rc == 0)
		rc = options_campaign_check(c, err);
	if (rc == 0)
		rc = schedule_read(c, ret_schedule, err);
	if (rc == 0) {
		rc = blackout_parse(conf_string(c, "schedule", "blackout"), &b,
		    &reason);
		if (rc < 0)
			err_say(err, "%s: schedule.blackout %s",
			    conf_where(c, "schedule", "blackout"), reason.text);
	}
	if (rc == 0)
		*ret = c;
	else
		conf_free(c);
	return rc;
}

static void
campaign_content_clear(struct campaign *c)
{
	free(c->text);
	free(c->error);
	conf_free(c->conf);
	c->text = c->error = NULL;
	c->conf = NULL;
	memset(&c->schedule, 0, sizeof(c->schedule));
	c->base_unix_ns = c->next_unix_ns = 0;
}

static void
campaign_free(struct campaign *c)
{
	campaign_content_clear(c);
	free(c->name);
	free(c->path);
	free(c);
}

/* Read a file's text, or note the error. Return 1 if this is not the error of
 * the last time. */
static int
campaign_content_read(struct campaign *c)
{
	char *was = c->error;
	struct err err;
	int rc, is_new;
	size_t len;

	c->error = NULL;
	campaign_content_clear(c);
	c->read_unix_ns = clk_unix_ns();
	rc = file_read(c->path, CAMPAIGN_TEXT_MAX, &c->text, &len, &err);
	c->unread = rc < 0;
	if (rc == 0 && memchr(c->text, '\0', len) != NULL)
		c->text[0] = '\1'; /* binary: the parser rejects it */
	if (rc == 0)
		rc = campaign_parse(c->path, c->text, &c->conf, &c->schedule,
		    &err);
	if (rc < 0)
		c->error = xstrdup(err.text);
	is_new = rc == 0 || was == NULL || strcmp(was, c->error) != 0;
	free(was);
	if (is_new && rc < 0)
		log_warnx("campaign %s: %s%s", c->name, err.text,
		    c->unread ? "; retrying every few seconds" : "");
	return is_new;
}

struct campaign *
campaigns_find(const struct campaigns *cs, const char *name)
{
	struct campaign *c;

	TAILQ_FOREACH (c, &cs->list, link)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static struct campaign *
campaign_add(struct campaigns *cs, const char *name)
{
	struct campaign *c = xcalloc(1, sizeof(*c)), *at;

	c->name = xstrdup(name);
	TAILQ_FOREACH (at, &cs->list, link)
		if (hostlist_compare(name, at->name) < 0)
			break;
	if (at != NULL)
		TAILQ_INSERT_BEFORE(at, c, link);
	else
		TAILQ_INSERT_TAIL(&cs->list, c, link);
	return c;
}

/* Check one file of the directory. Return 1 if it is new or has changed. */
static int
campaign_entry_look(struct campaigns *cs, const char *entry)
{
	size_t len = strlen(entry), suffix = strlen(SUFFIX);
	char name[CAMPAIGN_NAME_MAX + 1], path[4352];
	struct campaign *c;
	int64_t mtime_ns;
	struct stat sb;

	if (len <= suffix || len - suffix > CAMPAIGN_NAME_MAX ||
	    strcmp(entry + len - suffix, SUFFIX) != 0)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(len - suffix), entry);
	if (campaign_name_check(name) < 0 ||
	    str_format(path, sizeof(path), "%s/%s", cs->dir, entry) < 0 ||
	    stat(path, &sb) < 0 || !S_ISREG(sb.st_mode))
		return 0;
	mtime_ns = (int64_t)sb.st_mtim.tv_sec * 1000000000 + sb.st_mtim.tv_nsec;
	c = campaigns_find(cs, name);
	if (c == NULL)
		c = campaign_add(cs, name);
	c->seen = 1;
	if (c->path != NULL && !c->unread && c->mtime_ns == mtime_ns &&
	    c->size_bytes == sb.st_size && c->inode == sb.st_ino)
		return 0;
	free(c->path);
	c->path = xstrdup(path);
	c->mtime_ns = mtime_ns;
	c->size_bytes = sb.st_size;
	c->inode = sb.st_ino;
	if (!campaign_content_read(c))
		return 0;
	log_info("campaign %s: %s", name,
	    c->error == NULL ? "read" : "invalid, its runs are not started");
	return 1;
}

int
campaigns_scan(struct campaigns *cs)
{
	char error[sizeof(cs->error)] = "";
	struct campaign *c, *next;
	struct dirent *de;
	int count = 0;
	DIR *d = opendir(cs->dir);
	int rc = d == NULL ? -errno : 0;

	TAILQ_FOREACH (c, &cs->list, link)
		c->seen = 0;
	while (rc == 0) {
		errno = 0;
		de = readdir(d);
		if (de == NULL) {
			rc = -errno;
			break;
		}
		count += campaign_entry_look(cs, de->d_name);
	}
	if (d != NULL)
		closedir(d);
	if (rc < 0)
		snprintf(error, sizeof(error), "%.180s: %s", cs->dir,
		    strerror(-rc));
	if (rc < 0 && strcmp(error, cs->error) != 0)
		log_warnx("campaigns: %s", error);
	memcpy(cs->error, error, sizeof(error));
	if (rc < 0) /* those that were not seen may exist */
		return count;
	TAILQ_FOREACH_SAFE (c, &cs->list, link, next) {
		if (c->path == NULL || c->seen)
			continue;
		log_info("campaign %s: its file was removed", c->name);
		TAILQ_REMOVE(&cs->list, c, link);
		campaign_free(c);
		count++;
	}
	return count;
}

void
campaigns_submit(struct campaigns *cs, const char *name, const char *text,
    const struct conf *conf, const struct schedule *schedule)
{
	struct campaign *c = campaigns_find(cs, name), *at, *oldest = NULL;
	size_t count = 0;

	if (c != NULL && c->path != NULL)
		return;
	TAILQ_FOREACH (at, &cs->list, link) {
		if (at->path != NULL)
			continue;
		count++;
		if (oldest == NULL || at->read_unix_ns < oldest->read_unix_ns)
			oldest = at;
	}
	if (c == NULL && count >= SUBMITTED_MAX) {
		TAILQ_REMOVE(&cs->list, oldest, link);
		campaign_free(oldest);
	}
	if (c == NULL)
		c = campaign_add(cs, name);
	campaign_content_clear(c);
	c->read_unix_ns = clk_unix_ns();
	c->text = xstrdup(text);
	c->conf = conf_dup(conf);
	c->schedule = *schedule;
}

struct campaigns *
campaigns_new(const char *dir)
{
	struct campaigns *cs = xcalloc(1, sizeof(*cs));

	cs->dir = xstrdup(dir);
	TAILQ_INIT(&cs->list);
	return cs;
}

void
campaigns_free(struct campaigns *cs)
{
	struct campaign *c, *next;

	if (cs == NULL)
		return;
	TAILQ_FOREACH_SAFE (c, &cs->list, link, next)
		campaign_free(c);
	free(cs->dir);
	free(cs);
}

const struct campaign_list *
campaigns_list(const struct campaigns *cs)
{
	return &cs->list;
}

const char *
campaigns_error(const struct campaigns *cs)
{
	return cs->error;
}
