/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/sensor/psi.h"

#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"

/* A step for each doubling: at 60 % waiting, a fifth of a second is late. */
static const struct {
	double some, load_per_core, stretch;
} steps[] = {
	{ 0.60, 4, 8 },
	{ 0.30, 2, 4 },
	{ 0.10, 1, 2 },
};

double
psi_cpu_some(const char *root)
{
	char path[256], text[200];
	const char *at;
	ssize_t n;
	int fd;

	if (str_format(path, sizeof(path), "%s/proc/pressure/cpu", root) < 0)
		return NAN;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NAN;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return NAN;
	text[n] = '\0';
	at = strstr(text, "some avg10=");
	return at == NULL ? NAN
			  : strtod(at + strlen("some avg10="), NULL) / 100;
}

double
psi_stretch(const char *root, double load_per_core)
{
	double some = psi_cpu_some(root);

	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (isnan(some) ? load_per_core > steps[i].load_per_core
				: some > steps[i].some)
			return steps[i].stretch;
	return 1;
}
