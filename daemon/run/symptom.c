/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symptom.c - which sign of failure is the cause, from the last output of a
 * rank or a launcher.
 */
#include "daemon/run/symptom.h"
#include "daemon/run/run_int.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* Lines that do not contain the cause. */
static const char *const noise[] = {
	"------------------",
	"==================",
	"Your Open MPI job may now hang or fail",
	"This typically refers to a problem with your application",
	"Please see the FAQ page for debugging",
};

/* Messages of CUDA and HIP that report a faulty GPU, independent of the
 * program. */
static const char *const device_faults[] = {
	"uncorrectable ECC error",
	"uncorrectable NVLink error",
	"over nvlink or a hardware error",
	"hardware stack error",
	"GPU is lost",
	"fallen off the bus",
};

const struct symptom *
symptom_choose(const struct symptom *signs, size_t count)
{
	const struct symptom *best = NULL;
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (signs[i].onset_ns < first_ns)
			first_ns = signs[i].onset_ns;
	for (size_t i = 0; i < count; i++) {
		const struct symptom *s = &signs[i];

		if (s->onset_ns - first_ns > SYMPTOM_TOGETHER_NS)
			continue;
		if (best == NULL || s->weight > best->weight ||
		    (s->weight == best->weight && s->onset_ns < best->onset_ns))
			best = s;
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

	/* The first error is the cause, later ones are consequences. A line
	 * that does not fit is dropped with the rest. Words are separated by
	 * one blank. */
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
