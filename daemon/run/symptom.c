/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symptom.c - which sign of failure is the cause, and what the launcher's last
 * words say about it.
 */
#include "daemon/run/run_int.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* Lines that say nothing about why. */
static const char *const noise[] = {
	/* a harmless race of Open MPI's rsh launcher */
	"setpgid",
	"------------------",
	"==================",
	"Primary job  terminated normally",
	"a non-zero exit code. Per user-direction",
	"mpirun was unable to cleanly terminate",
	"Your Open MPI job may now hang or fail",
	"orterun was unable to",
	"YOUR APPLICATION TERMINATED WITH THE EXIT STRING",
	"This typically refers to a problem with your application",
	"Please see the FAQ page for debugging",
	"CLEANING UP REMAINING PROCESSES",
	"YOU CAN IGNORE THE BELOW CLEANUP MESSAGES",
	"BAD TERMINATION OF ONE OF YOUR APPLICATION",
};

/* What CUDA and HIP say of a GPU that is at fault, whatever a program does. */
static const char *const device_faults[] = {
	"uncorrectable ECC error",
	"uncorrectable NVLink error",
	"over nvlink or a hardware error",
	"hardware stack error",
	"GPU is lost",
	"fallen off the bus",
};

/* Whether a launcher's last words name the rank of s as the one that died. */
static int
symptom_is_named(const struct symptom *s, const char *tail)
{
	char words[SYMPTOM_NODE_MAX + 64];
	const char *at;

	if (s->weight != SYMPTOM_RANK)
		return 0;
	snprintf(words, sizeof(words), "process rank %" PRId64 " with",
	    s->rank);
	if (strstr(tail, words) != NULL)
		return 1;
	snprintf(words, sizeof(words), "PID %" PRId64 " RUNNING AT %s", s->pid,
	    s->node);
	at = strstr(tail, words);
	return at != NULL && !isalnum((unsigned char)at[strlen(words)]);
}

const struct symptom *
symptom_choose(const struct symptom *signs, size_t count, const char *tail)
{
	const struct symptom *best = NULL;
	uint64_t first_ns = UINT64_MAX;
	int best_named = 0;

	for (size_t i = 0; i < count; i++)
		if (signs[i].onset_ns < first_ns)
			first_ns = signs[i].onset_ns;
	for (size_t i = 0; i < count; i++) {
		const struct symptom *s = &signs[i];
		int named = tail != NULL && symptom_is_named(s, tail), better;

		if (s->onset_ns - first_ns > SYMPTOM_TOGETHER_NS)
			continue;
		if (best == NULL || s->weight != best->weight)
			better = best == NULL || s->weight > best->weight;
		else if (named != best_named)
			better = named;
		else
			better = s->onset_ns < best->onset_ns;
		if (!better)
			continue;
		best = s;
		best_named = named;
	}
	return best;
}

static int
symptom_is_noise(const char *line, size_t len)
{
	size_t letters = 0;

	for (size_t i = 0; i < len; i++)
		letters += isalpha((unsigned char)line[i]) != 0;
	if (letters < 4)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(noise); i++)
		if (memmem(line, len, noise[i], strlen(noise[i])) != NULL)
			return 1;
	return 0;
}

void
symptom_stderr(const char *tail, char *ret, size_t cap_bytes)
{
	size_t len = 0, n;

	/* The first complaint is the cause, what follows are consequences; a
	 * line that does not fit is left out, and all behind it. One blank
	 * stands between words. */
	for (; *tail != '\0'; tail += n + (tail[n] == '\n')) {
		n = strcspn(tail, "\n");
		if (symptom_is_noise(tail, n))
			continue;
		if (len + n + 2 >= cap_bytes)
			break;
		if (len > 0)
			ret[len++] = ' ';
		for (size_t i = 0; i < n; i++) {
			unsigned char ch = (unsigned char)tail[i];

			if (ch > 0x20 && ch != 0x7f)
				ret[len++] = (char)ch;
			else if (len > 0 && ret[len - 1] != ' ')
				ret[len++] = ' ';
		}
		while (len > 0 && ret[len - 1] == ' ')
			len--;
	}
	ret[len] = '\0';
}

int
symptom_signal(const char *tail, long rank)
{
	char want[64];
	const char *at, *on;

	/* Open MPI: "process rank 3 with PID 0 on node n4 exited on signal 9
	 * (Killed)." */
	snprintf(want, sizeof(want), "process rank %ld with", rank);
	at = strstr(tail, want);
	on = at == NULL ? NULL : strstr(at, "on signal ");
	if (on == NULL || on - at > 300)
		return 0;
	return (int)strtol(on + strlen("on signal "), NULL, 10);
}

int
symptom_device(const char *tail, char *ret, size_t cap_bytes)
{
	char line[SYMPTOM_TEXT_MAX];
	size_t n;

	for (; *tail != '\0'; tail += n + (tail[n] == '\n')) {
		n = strcspn(tail, "\n");
		for (size_t i = 0; i < ARRAY_LEN(device_faults); i++) {
			if (memmem(tail, n, device_faults[i],
				strlen(device_faults[i])) == NULL)
				continue;
			snprintf(line, sizeof(line), "%.*s", (int)n, tail);
			symptom_stderr(line, ret, cap_bytes);
			return 1;
		}
	}
	return 0;
}
