/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_process.c - the collector as a process, under the names that client
 * libraries use.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/export/metrics_int.h"

static int
count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int count = 0;

	if (d == NULL)
		return 0;
	while (readdir(d) != NULL)
		count++;
	closedir(d);
	return count - 3; /* ".", ".." and the folder's own */
}

/* Field n of /proc/self/stat, counted from 1, after the name in brackets. */
static unsigned long long
stat_field(const char *stat, int n)
{
	const char *at = strrchr(stat, ')');

	for (int i = 2; at != NULL && i < n; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static double
boot_unix_s(void)
{
	struct timespec now, up;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return (double)(now.tv_sec - up.tv_sec) +
	    (double)(now.tv_nsec - up.tv_nsec) / 1e9;
}

void
metrics_process(const struct metrics_in *in, struct strbuf *to)
{
	double tick = (double)sysconf(_SC_CLK_TCK);
	struct rlimit files = { 0 };
	char stat[1024] = "";
	FILE *fp = fopen("/proc/self/stat", "re");
	size_t len = fp != NULL ? fread(stat, 1, sizeof(stat) - 1, fp) : 0;

	(void)in;
	stat[len] = '\0';
	if (fp != NULL)
		fclose(fp);
	getrlimit(RLIMIT_NOFILE, &files);
	exposition_single(to, "process_cpu_seconds_total", "counter",
	    "Processor time, user and system.",
	    (double)(stat_field(stat, 14) + stat_field(stat, 15)) / tick);
	exposition_single(to, "process_resident_memory_bytes", "gauge",
	    "Memory that is resident.",
	    (double)stat_field(stat, 24) * (double)sysconf(_SC_PAGESIZE));
	exposition_single(to, "process_virtual_memory_bytes", "gauge",
	    "Memory that is mapped.", (double)stat_field(stat, 23));
	exposition_single(to, "process_open_fds", "gauge",
	    "Open file descriptors.", count_fds());
	exposition_single(to, "process_max_fds", "gauge",
	    "Limit of open file descriptors.", (double)files.rlim_cur);
	exposition_single(to, "process_start_time_seconds", "gauge",
	    "When the process started.",
	    boot_unix_s() + (double)stat_field(stat, 22) / tick);
}
