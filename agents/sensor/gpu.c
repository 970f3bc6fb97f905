/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - whether this node's GPUs are in use, since a job may use the GPUs and
 * leave the cores idle; and their health: NVIDIA's from NVML, AMD's from the
 * driver's RAS files and gpu_metrics, both from the kernel's log. NVML is
 * closed after each look, because an open one prevents the reset of a GPU. It
 * is called in a thread: for a GPU that has fallen off its bus the driver may
 * not return for minutes.
 */
#include "agents/sensor/gpu.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/sensor/sensor.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/plugin.h"
#include "common/str.h"
#include "common/xalloc.h"

#define ANSWER_S 3 /* of the loop's time, the first time that NVML hangs */

#define NVML_INSUFFICIENT_SIZE                                                 \
	7 /* there are more than the room that was given */
#define NVML_GPU_IS_LOST 15

/* nvmlFieldValue_t; type: a double, or an integer of this many bytes. */
struct field {
	unsigned id, scope;
	long long at_us, took_us;
	int type, code;
	union {
		double d;
		uint16_t u16;
		uint32_t u32;
		int32_t s32;
		uint64_t u64;
	} value;
};
enum {
	FIELD_DOUBLE,
	FIELD_U32,
	FIELD_LONG,
	FIELD_U64,
	FIELD_S64,
	FIELD_S32,
	FIELD_U16,
	FIELD_MAX
};

struct nvml {
	void *so;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *ret);
	int (*at)(unsigned i, void **ret);
	/* NULL where the driver is too old */
	int (*at_pci)(const char *pci, void **ret);
	int (*processes)(void *gpu, unsigned *count, void *ret);
	int (*fields)(void *gpu, int count, struct field *ret);
	int (*throttle)(void *gpu, unsigned long long *ret_reasons);
};

#define CALL(member, symbol, must)                                             \
	PLUGIN_CALL(struct nvml, member, symbol, must)
static const struct plugin_call calls[] = {
	CALL(init, "nvmlInit_v2", 1),
	CALL(shutdown, "nvmlShutdown", 1),
	CALL(count, "nvmlDeviceGetCount_v2", 1),
	CALL(at, "nvmlDeviceGetHandleByIndex_v2", 1),
	CALL(at_pci, "nvmlDeviceGetHandleByPciBusId_v2", 0),
	CALL(processes, "nvmlDeviceGetComputeRunningProcesses", 0),
	CALL(fields, "nvmlDeviceGetFieldValues", 0),
	CALL(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons", 0),
};

static void
gpu_nvml_close(struct nvml *n)
{
	n->shutdown();
	dlclose(n->so);
}

/* Return 0, or -1 without a working NVML. */
static int
gpu_nvml_open(struct nvml *n)
{
	n->so = plugin_calls("libnvidia-ml.so.1", calls, ARRAY_LEN(calls), n,
	    NULL);
	if (n->so == NULL)
		return -1;
	if (n->init() == 0)
		return 0;
	dlclose(n->so);
	return -1;
}

/* ---- the thread that asks ---- */

struct question {
	void (*ask)(struct question *q); /* in the thread */
	json_t *gpus, *counters; /* by address; the thread's until it is over */
	struct err err;
	int busy;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int is_over;
};

static void
gpu_question_free(struct question *q)
{
	json_decref(q->gpus);
	json_decref(q->counters);
	pthread_cond_destroy(&q->ended);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static void *
gpu_thread_main(void *arg)
{
	struct question *q = arg;

	q->ask(q);
	pthread_mutex_lock(&q->lock);
	q->is_over = 1;
	pthread_cond_signal(&q->ended);
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static int
gpu_is_over(struct question *q, uint64_t wait_ns)
{
	uint64_t until_ns = clk_ns() + wait_ns;
	struct timespec until = { (time_t)(until_ns / CLK_NS_PER_S),
		(long)(until_ns % CLK_NS_PER_S) };
	int rc = 0, over;

	pthread_mutex_lock(&q->lock);
	while (!q->is_over && rc == 0)
		rc = pthread_cond_timedwait(&q->ended, &q->lock, &until);
	over = q->is_over;
	pthread_mutex_unlock(&q->lock);
	return over;
}

/* Return the request with its result; NULL: none, or none in time. A request
 * that hangs must end before the next one starts; the agent never waits for
 * it. */
static struct question *
gpu_nvml_ask(void (*ask)(struct question *q), const json_t *gpus)
{
	static struct question *hangs;
	struct question *q;
	pthread_condattr_t clock;
	pthread_t thread;

	if (hangs != NULL && !gpu_is_over(hangs, 0))
		return NULL;
	if (hangs != NULL) {
		log_info("NVML responds again");
		gpu_question_free(hangs);
		hangs = NULL;
	}
	q = xcalloc(1, sizeof(*q));
	q->ask = ask;
	q->gpus = json_deep_copy(gpus);
	q->counters = json_object();
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&q->ended, &clock);
	pthread_condattr_destroy(&clock);
	if (pthread_create(&thread, NULL, gpu_thread_main, q) != 0) {
		gpu_question_free(q);
		return NULL;
	}
	pthread_detach(thread);
	if (gpu_is_over(q, ANSWER_S * CLK_NS_PER_S))
		return q;
	log_warnx("NVML does not respond; check whether a GPU has fallen off "
		  "the bus");
	hangs = q;
	return NULL;
}

/* Processes are only counted, so the layout of NVML's struct is irrelevant. */
static void
gpu_ask_busy(struct question *q)
{
	unsigned gpus = 0, found;
	struct nvml n;
	void *gpu;
	int rc, busy = 0;

	if (gpu_nvml_open(&n) < 0)
		return;
	if (n.processes == NULL || n.count(&gpus) != 0)
		gpus = 0;
	for (unsigned i = 0; i < gpus && !busy; i++) {
		found = 0;
		if (n.at(i, &gpu) != 0)
			continue;
		rc = n.processes(gpu, &found, NULL);
		busy = (rc == 0 && found > 0) || rc == NVML_INSUFFICIENT_SIZE;
		if (busy)
			err_say(&q->err, "NVIDIA GPU %u is in use by a process",
			    i);
	}
	gpu_nvml_close(&n);
	q->busy = busy;
}

static int
gpu_nvidia_busy(struct err *err)
{
	struct question *q = gpu_nvml_ask(gpu_ask_busy, NULL);
	int busy = q == NULL || q->busy;

	if (busy)
		err_say(err, "%s",
		    q == NULL ? "NVIDIA GPUs: NVML does not respond"
			      : q->err.text);
	if (q != NULL)
		gpu_question_free(q);
	return busy;
}

int
gpu_busy(const char *root, struct err *err)
{
	struct dirent *de;
	char top[400];
	int busy = 0;
	DIR *d;

	/* AMD's driver has a folder for each process that has opened it. */
	snprintf(top, sizeof(top), "%s/sys/class/kfd/kfd/proc", root);
	d = opendir(top);
	while (d != NULL && !busy && (de = readdir(d)) != NULL)
		if (de->d_name[0] >= '0' && de->d_name[0] <= '9') {
			err_say(err, "AMD GPU is in use by process %.20s",
			    de->d_name);
			busy = 1;
		}
	if (d != NULL)
		closedir(d);
	return busy || gpu_nvidia_busy(err);
}

/* ---- how they are ---- */

static void
gpu_add(json_t *counters, const char *name, int64_t value)
{
	value += member_int(counters, name);
	json_object_set_new(counters, name, json_integer(value));
}

/* Fields of nvml.h by number; two of one name are added. */
static const struct {
	unsigned id;
	const char *name;
} fields[] = {
	{ 3, "memory_corrected" },     /* since the driver was loaded */
	{ 4, "memory_uncorrectable" }, /* same */
	{ 30, "retired_pages" },       /* by two bits */
	{ 38, "nvlink_crc_errors" },   /* of flow control, all links */
	{ 45, "nvlink_crc_errors" },   /* of data */
	{ 52, "nvlink_replays" },
	{ 59, "nvlink_recoveries" },
	{ 94, "pcie_replays" },
	{ 143, "remapped_rows" }, /* by uncorrectable errors */
	{ 144, "remap_pending" },
	{ 145, "remap_failed" },
};

/* Reasons of nvml.h; reaching a power limit is not a fault. */
static const struct {
	unsigned long long bits;
	const char *name;
} throttles[] = {
	{ 0x20 | 0x40, "throttle_thermal" },
	{ 0x80, "throttle_power_brake" },
};

static void
gpu_nvidia_read(const struct nvml *n, const char *pci, json_t *counters)
{
	struct field f[ARRAY_LEN(fields)] = { { .id = 0 } };
	unsigned long long reasons = 0;
	void *gpu;
	int rc = n->at_pci == NULL ? -1 : n->at_pci(pci, &gpu);

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		f[i].id = fields[i].id;
	if (rc == 0 && n->fields != NULL)
		rc = n->fields(gpu, ARRAY_LEN(fields), f);
	if (rc == NVML_GPU_IS_LOST)
		gpu_add(counters, "gpu_lost", 1);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(fields); i++) {
		int type = f[i].type;

		if (f[i].code == 0 && type > FIELD_DOUBLE && type < FIELD_MAX)
			gpu_add(counters, fields[i].name,
			    type == FIELD_U32       ? (int64_t)f[i].value.u32
				: type == FIELD_S32 ? (int64_t)f[i].value.s32
				: type == FIELD_U16
				? (int64_t)f[i].value.u16
				: (int64_t)(f[i].value.u64 & INT64_MAX));
	}
	if (rc != 0 || n->throttle == NULL || n->throttle(gpu, &reasons) != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(throttles); i++)
		if ((reasons & throttles[i].bits) != 0)
			gpu_add(counters, throttles[i].name, 1);
}

/* The driver's table: its size, format and revision, then fields at fixed
 * places; all bits set: unknown. Revision 3 (MI100 and MI200) has the current
 * reasons for lower clocks, where bits 32 to 47 are thermal; from revision 6 on
 * (MI300) there are five counters of the time with lower clocks, the second of
 * them for power, which is not a fault. */
void
gpu_metrics_take(const void *bytes, size_t len_bytes, json_t *counters)
{
	enum { FORMAT = 1, REASONS_AT = 112, TIMES = 5, TIME_OF_POWER = 1 };
	static const uint64_t heat = 0xffffULL << 32;
	static const uint8_t times_at[] = { [6] = 36, [7] = 44, [8] = 44 };
	const uint8_t *b = bytes;
	uint32_t times[TIMES];
	uint64_t reasons;
	uint16_t size;

	if (len_bytes < sizeof(size) + 2)
		return;
	memcpy(&size, b, sizeof(size));
	if (size > len_bytes || b[2] != FORMAT || b[3] >= sizeof(times_at))
		return;
	if (b[3] == 3 && size >= REASONS_AT + sizeof(reasons)) {
		memcpy(&reasons, b + REASONS_AT, sizeof(reasons));
		if (reasons != UINT64_MAX && (reasons & heat) != 0)
			gpu_add(counters, "throttle_thermal", 1);
	}
	if (times_at[b[3]] == 0 || size < times_at[b[3]] + sizeof(times))
		return;
	memcpy(times, b + times_at[b[3]], sizeof(times));
	for (int i = 0; i < TIMES; i++)
		if (i != TIME_OF_POWER && times[i] != UINT32_MAX)
			gpu_add(counters, "throttle_thermal_time", times[i]);
}

/* ras/BLOCK_err_count: "ue: 0", "ce: 12". */
static void
gpu_amd_read(const char *device, json_t *counters)
{
	uint8_t metrics[4096];
	struct dirent *de;
	int64_t ue, ce;
	char ras[900];
	FILE *fp;
	DIR *d;

	snprintf(ras, sizeof(ras), "%s/gpu_metrics", device);
	fp = fopen(ras, "rbe");
	if (fp != NULL) {
		gpu_metrics_take(metrics,
		    fread(metrics, 1, sizeof(metrics), fp), counters);
		fclose(fp);
	}

	snprintf(ras, sizeof(ras), "%s/ras", device);
	d = opendir(ras);
	while (d != NULL && (de = readdir(d)) != NULL) {
		int is_link = strncmp(de->d_name, "xgmi", 4) == 0;

		if (strstr(de->d_name, "_err_count") == NULL ||
		    sensor_words(ras, de->d_name, "ue:", &ue) < 0 ||
		    sensor_words(ras, de->d_name, "ce:", &ce) < 0)
			continue;
		gpu_add(counters,
		    is_link ? "xgmi_errors" : "memory_uncorrectable", ue);
		gpu_add(counters, is_link ? "xgmi_errors" : "memory_corrected",
		    ce);
	}
	if (d != NULL)
		closedir(d);
}

static void
gpu_ask_counters(struct question *q)
{
	struct nvml n;
	json_t *gpu;
	size_t i;

	if (gpu_nvml_open(&n) < 0)
		return;
	json_array_foreach (q->gpus, i, gpu) {
		const char *pci = member_text(gpu, "pci");
		json_t *counters = json_object();

		if (strcmp(member_text(gpu, "vendor"), "nvidia") == 0)
			gpu_nvidia_read(&n, pci, counters);
		json_object_set_new(q->counters, pci, counters);
	}
	gpu_nvml_close(&n);
}

void
gpu_read(const char *root, const json_t *gpus, json_t *rows)
{
	struct question *q = NULL;
	char device[600];
	json_t *gpu, *counters;
	size_t i;
	int is_asked = 0;

	json_array_foreach (gpus, i, gpu) {
		const char *pci = member_text(gpu, "pci");

		if (str_format(device, sizeof(device),
			"%s/sys/bus/pci/devices/%s", root, pci) < 0)
			continue;
		counters = sensor_row(rows, pci);
		sensor_aer(device, counters);
		gpu_amd_read(device, counters);
		if (strcmp(member_text(gpu, "vendor"), "nvidia") == 0 &&
		    !is_asked++)
			q = gpu_nvml_ask(gpu_ask_counters, gpus);
		if (q != NULL)
			json_object_update(counters,
			    json_object_get(q->counters, pci));
	}
	if (q != NULL)
		gpu_question_free(q);
}

/* ---- lines of the kernel's log ---- */

/* NVSwitches have no row of their own before they report an error. */
#define SWITCHES_MAX 32

/* "0000:1a:00.0" of what may be "PCI:0000:1A:00", or with " GPU-I:05" behind it
 * where a MIG instance of the GPU is meant. 0, or -EINVAL. */
static int
gpu_pci_parse(const char *at, char ret[40])
{
	unsigned domain, bus, device;

	if (strncmp(at, "PCI:", 4) == 0)
		at += 4;
	if (sscanf(at, "%8x:%2x:%2x", &domain, &bus, &device) != 3)
		return -EINVAL;
	snprintf(ret, 40, "%04x:%02x:%02x.0", domain, bus, device);
	return 0;
}

/* "NVRM: Xid (PCI:0000:1a:00 GPU-I:05): 94, pid=7, ...": 0 and what counts. */
static int
gpu_xid_parse(const char *line, char ret_pci[40], unsigned *ret_code,
    const char **ret_text)
{
	static const char mark[] = "NVRM: Xid (";
	const char *at = strstr(line, mark), *close;
	int used = 0;

	if (at == NULL || gpu_pci_parse(at + strlen(mark), ret_pci) < 0)
		return -ENOENT;
	close = strchr(at, ')');
	if (close == NULL || sscanf(close, "): %u%n", ret_code, &used) != 1)
		return -ENOENT;
	*ret_text = close + used;
	return 0;
}

static void
gpu_xid_take(const char *line, json_t *rows)
{
	enum { NVLINK5_FIRST = 144, NVLINK5_LAST = 150, RECOVERY = 154 };
	json_t *counters;
	const char *text;
	char pci[40], name[40];
	unsigned code;

	if (gpu_xid_parse(line, pci, &code, &text) < 0)
		return;
	counters = sensor_counters(rows, pci);
	/* "... changed from 0x1 (GPU Reset Required) to 0x0 (None)" */
	if (counters == NULL ||
	    (code == RECOVERY && strstr(text, " to 0x0") != NULL))
		return;
	snprintf(name, sizeof(name), "xid_%u", code);
	gpu_add(counters, name, 1);
	if (code >= NVLINK5_FIRST && code <= NVLINK5_LAST &&
	    strstr(text, " Fatal") != NULL)
		gpu_add(counters, "nvlink_fatal", 1);
}

/* "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 ...", and
 * more lines of the same error without "Fatal" or "Non-fatal". */
static void
gpu_sxid_take(const char *line, json_t *rows)
{
	static const char mark[] = "SXid (";
	const char *at = strstr(line, mark), *name = NULL;
	json_t *counters, *row;
	size_t switches = 0, i;
	char pci[40];

	if (at == NULL || gpu_pci_parse(at + strlen(mark), pci) < 0)
		return;
	if (strstr(at, ", Fatal,") != NULL)
		name = "sxid_fatal";
	else if (strstr(at, ", Non-fatal,") != NULL)
		name = "sxid_nonfatal";
	else
		return;
	counters = sensor_counters(rows, pci);
	json_array_foreach (rows, i, row) {
		const json_t *c = json_object_get(row, "counters");

		switches += json_object_get(c, "sxid_fatal") != NULL ||
		    json_object_get(c, "sxid_nonfatal") != NULL;
	}
	if (counters == NULL && switches < SWITCHES_MAX)
		counters = sensor_row(rows, pci);
	if (counters != NULL)
		gpu_add(counters, name, 1);
}

/* "amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!" */
static void
gpu_amd_reset_take(const char *line, json_t *rows)
{
	static const char mark[] = "amdgpu ", reset[] = ": GPU reset begin";
	const char *at = strstr(line, mark);
	json_t *counters;
	char pci[40];

	if (at == NULL || strstr(at, reset) == NULL ||
	    gpu_pci_parse(at + strlen(mark), pci) < 0)
		return;
	counters = sensor_counters(rows, pci);
	if (counters != NULL)
		gpu_add(counters, "gpu_resets", 1);
}

void
gpu_log_take(const char *line, json_t *rows)
{
	gpu_xid_take(line, rows);
	gpu_sxid_take(line, rows);
	gpu_amd_reset_take(line, rows);
}
