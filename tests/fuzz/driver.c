/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - run a fuzz target without libFuzzer: on every file of the given
 * folders, and on copies of it with bytes changed, cut and doubled by a fixed
 * seed. This finds few errors; it checks targets and seeds with every compiler.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>

#include "common/rng.h"

#define INPUT_MAX (64 * 1024)
#define COPIES    300

static uint8_t input[INPUT_MAX], spoilt[INPUT_MAX];
static struct rng rng;

static size_t
spoil(size_t len)
{
	memcpy(spoilt, input, len);
	for (uint64_t n = 1 + rng_below(&rng, 4); n > 0 && len > 0; n--)
		spoilt[rng_below(&rng, len)] = (uint8_t)rng_next(&rng);
	if (len > 0 && rng_below(&rng, 4) == 0)
		len = rng_below(&rng, len);
	if (rng_below(&rng, 8) == 0 && 2 * len <= sizeof(spoilt)) {
		memcpy(spoilt + len, spoilt, len);
		len *= 2;
	}
	return len;
}

static int
run_file(const char *path)
{
	FILE *fp = fopen(path, "re");
	size_t len;

	if (fp == NULL) {
		perror(path);
		return 1;
	}
	len = fread(input, 1, sizeof(input), fp);
	fclose(fp);
	LLVMFuzzerTestOneInput(input, len);
	for (int i = 0; i < COPIES; i++)
		LLVMFuzzerTestOneInput(spoilt, spoil(len));
	return 0;
}

static int
run_folder(const char *folder, int *ret_count)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];
	int rc = 0;

	if (dir == NULL) {
		perror(folder);
		return 1;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		rc |= run_file(path);
		++*ret_count;
	}
	closedir(dir);
	return rc;
}

int
main(int argc, char **argv)
{
	int count = 0, rc = 0;

	rng_seed(&rng, 1);
	LLVMFuzzerTestOneInput(input, 0);
	for (int i = 1; i < argc; i++)
		rc |= run_folder(argv[i], &count);
	printf("%d seeds, %d spoilt copies of each\n", count, COPIES);
	return count == 0 ? 1 : rc; /* without seeds nothing was tested */
}
