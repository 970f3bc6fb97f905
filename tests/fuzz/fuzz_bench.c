/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a job with tables of nccl-tests and OSU. */
#include "ctl/lib/bench_read.h"

#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct bench_list list = { 0 };
	struct strbuf notes = { 0 };
	struct err err = { 0 };
	int fd = memfd_create("output", MFD_CLOEXEC), rc;
	char path[64];

	if (fd < 0 || write(fd, data, len_bytes) != (ssize_t)len_bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = bench_read(path, &list, &notes, &err);
	assert(rc == 0 || err.text[0] != '\0');
	bench_list_clear(&list);
	strbuf_clear(&notes);
	close(fd);
	return 0;
}
