/* SPDX-License-Identifier: Apache-2.0 */
/* Files of users' programs about their collectives, of each kind; and the same
 * bytes as answers of netlink, as gpu_metrics of AMD's driver, and as lines of
 * the kernel's log. */
#include "agents/sensor/inband.c"
#include "agents/sensor/ethtool.h"
#include "agents/sensor/gpu.h"
#include "agents/sensor/sensor.h"

#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <sys/mman.h>

/* In memory of exactly this size. */
static void
kernel_says(const uint8_t *data, size_t len_bytes)
{
	json_t *rows = json_array(), *counters = sensor_row(rows, "ens1f0");
	char *bytes = fuzz_text(data, len_bytes), *rest = bytes, *line;
	void *exact = malloc(len_bytes);

	sensor_row(rows, "0000:c1:00.0");
	if (len_bytes > 0)
		memcpy(exact, data, len_bytes);
	ethtool_take(exact, len_bytes, rows);
	gpu_metrics_take(exact, len_bytes, counters);
	while ((line = str_line(&rest)) != NULL)
		gpu_log_take(line, rows);
	assert(json_array_size(rows) <= 2 + 32); /* and NVSwitches */
	free(exact);
	free(bytes);
	json_decref(rows);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct inband *ib = inband_new("/tmp", "gpu07");
	struct stat st = { .st_mtime = INT32_MAX };
	int fd = memfd_create("inband", MFD_CLOEXEC);
	struct file *f = inband_file_find(ib, "/tmp/nccl-inspector-77/x", &st);
	json_t *list;

	kernel_says(data, len_bytes);
	assert(write(fd, data, len_bytes) == (ssize_t)len_bytes);
	ib->share_bytes = CALLS_FILE;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		f->offset = 0;
		/* Read twice, the second time with more bytes. */
		for (size_t part = 2; part > 0; part--)
			(void)inband_file_read(ib, f, (int)i, fd,
			    (off_t)(len_bytes / part));
		f->fresh = 1;
		list = inband_answer(ib);
		assert(json_is_array(list));
		json_decref(list);
	}
	inband_free(ib);
	close(fd);
	return 0;
}
