/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_lines.c - parse a line of squeue, sacct or the site's own command:
 * states and times of a job.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/str.h"
#include "daemon/jobs/job_lines.h"

/* Slurm's states; a job in any other state has ended. */
static const char *const waiting[] = { "PENDING", "PD", "CONFIGURING",
	"REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "REVOKED",
	"SPECIAL_EXIT" };
static const char *const running[] = { "RUNNING", "R", "COMPLETING", "RESIZING",
	"SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED" };

#define JOB_LINE_FIELDS 6          /* and the name */
#define YEAR_2200_S     7258118400 /* in nanoseconds later times exceed int64_t */

/* Fractions of a second are cut off. */
static int64_t
job_lines_time_parse(char *text)
{
	struct tm tm = { .tm_isdst = 0 };
	const char *end;
	char *dot = strchr(text, '.');
	int64_t s;

	if (dot != NULL && strspn(dot + 1, "0123456789") > 0 &&
	    strcmp(dot + 1 + strspn(dot + 1, "0123456789"), "Z") <= 0)
		*dot = '\0';
	if (str_to_int(text, 1, YEAR_2200_S, &s) == 0)
		return s;
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	s = end != NULL && (*end == '\0' || strcmp(end, "Z") == 0)
	    ? (int64_t)timegm(&tm)
	    : 0;
	return s > 0 && s <= YEAR_2200_S ? s : 0;
}

/* Cut the number of "12_3:15" off. NULL: there is none. */
static const char *
job_lines_raw(char *job)
{
	char *colon = strrchr(job, ':');

	if (colon == NULL || colon[1] == '\0' ||
	    colon[1 + strspn(colon + 1, "0123456789")] != '\0')
		return NULL;
	*colon = '\0';
	return colon + 1;
}

/* Cut it off. */
static int64_t
job_lines_uid(char *owner)
{
	char *colon = strrchr(owner, ':');
	int64_t uid;

	if (colon == NULL || str_to_int(colon + 1, 0, UINT32_MAX, &uid) < 0)
		return -1;
	*colon = '\0';
	return uid;
}

int
job_line_parse(char *line, struct job_line *ret)
{
	char *fields[JOB_LINE_FIELDS], *state_end;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		fields[i] = strsep(&line, "|");
		if (fields[i] == NULL)
			return -EINVAL;
	}
	if (fields[0][0] == '\0' || fields[2][0] == '\0')
		return -EINVAL;
	/* "CANCELLED by 1000" */
	state_end = fields[2] + strcspn(fields[2], " ");
	*state_end = '\0';
	*ret = (struct job_line){ .raw = job_lines_raw(fields[0]),
		.job = fields[0],
		.uid = job_lines_uid(fields[1]),
		.owner = fields[1],
		.state = fields[2],
		.name = line,
		.nodes = fields[5],
		.start_unix_s = job_lines_time_parse(fields[3]),
		.end_unix_s = job_lines_time_parse(fields[4]),
		.runs = STR_FIND(running, fields[2]) >= 0 };
	if (ret->runs) /* squeue prints the time limit as end */
		ret->end_unix_s = 0;
	if (ret->runs && ret->start_unix_s == 0)
		return -EINVAL;
	/* In accounting this start of the job has ended. */
	if (strcmp(fields[2], "REQUEUED") == 0 && ret->end_unix_s == 0)
		return 0;
	/* "(null)" and "None assigned": it never started */
	return STR_FIND(waiting, fields[2]) < 0 && ret->start_unix_s > 0 &&
	    ret->nodes[0] != '\0' && ret->nodes[0] != '(' &&
	    strncmp(ret->nodes, "None", 4) != 0;
}

char *
job_line_next(char **rest, size_t name_bytes)
{
	char *line = *rest, *end = line;

	if (*line == '\0')
		return NULL;
	for (int i = 0; i < JOB_LINE_FIELDS && name_bytes > 0; i++) {
		end += strcspn(end, "|\n");
		if (*end != '|')
			return NULL;
		end++;
	}
	if (name_bytes > 0) {
		if (strnlen(end, name_bytes) < name_bytes ||
		    end[name_bytes] != '\n')
			return NULL;
		/* The name is padded with blanks. */
		*rest = end + name_bytes + 1;
		end += name_bytes;
		while (end[-1] == ' ')
			end--;
	} else {
		end += strcspn(end, "\n");
		*rest = *end == '\0' ? end : end + 1;
	}
	*end = '\0';
	return line;
}
