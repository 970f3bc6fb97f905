/* SPDX-License-Identifier: Apache-2.0 */
/* What users' programs leave of their own collectives, as each kind of file. */
#include "agents/sensor/inband.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <sys/mman.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct inband *ib = inband_new("/tmp", "gpu07");
	struct stat st = { .st_mtime = INT32_MAX };
	int fd = memfd_create("inband", MFD_CLOEXEC);
	struct file *f = file_find(ib, "/tmp/nccl-inspector-77/x", &st);
	json_t *list;

	assert(write(fd, data, len_bytes) == (ssize_t)len_bytes);
	ib->share_bytes = CALLS_FILE;
	ib->calls_bytes = ib->sums_bytes = CALLS_BYTES;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		f->offset = 0;
		/* Twice, the second time with more of it. */
		for (size_t part = 2; part > 0; part--)
			(void)file_read(ib, f, (int)i, fd,
			    (off_t)(len_bytes / part));
		f->fresh = 1;
		list = answer(ib);
		assert(json_is_array(list));
		json_decref(list);
	}
	inband_free(ib);
	close(fd);
	return 0;
}
