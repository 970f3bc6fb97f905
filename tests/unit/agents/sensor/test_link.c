/* SPDX-License-Identifier: Apache-2.0 */
/* test_link.c - error counters of every kind of card, netlink, GPUs, cost. */
#include "agents/sensor/ethtool.c"
#include "agents/sensor/link.h"

#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "agents/sensor/gpu.h"
#include "agents/sensor/nics.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/rng.h"
#include "schema/names_link.h"
#include "tests/unit/tree.h"

#define IB "sys/class/infiniband/mlx5_0/ports/1/"
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

/* A section of cards.txt; "" for all. */
static void
cards_put(const char *card)
{
	FILE *fp = fopen(DATA "/cards.txt", "re");
	char line[2000], path[160], want[40];
	int inside = 0, files = 0;

	assert_non_null(fp);
	snprintf(want, sizeof(want), "[%s]", card);
	while (fgets(line, sizeof(line), fp) != NULL) {
		char *value = strchr(line, ' ');

		if (line[0] == '#')
			continue;
		assert_non_null(value);
		*value++ = '\0';
		if (line[0] == '[')
			inside = card[0] == '\0' || strcmp(line, want) == 0;
		else if (inside) {
			for (char *c = value; *c != '\0'; c++)
				*c = *c == '|' ? '\n' : *c;
			assert_true(
			    str_format(path, sizeof(path), "%s", line) >= 0);
			tree_put(path, value);
			files++;
		}
	}
	fclose(fp);
	assert_true(files > 0);
}

static void
want_value(json_t *rows, const char *port, const char *name, json_int_t value)
{
	json_t *got = json_object_get(sensor_counters(rows, port), name);

	if (value < 0 && got != NULL)
		fail_msg("%s %s: is there", port, name);
	if (value >= 0 &&
	    (!json_is_integer(got) || json_integer_value(got) != value))
		fail_msg("%s %s: %lld", port, name,
		    (long long)json_integer_value(got));
}

/* Of every kind of card the counters that the table of errors names, and the
 * two that all have. */
static void
test_cards(void **state)
{
	static const struct {
		const char *card, *port, *counter;
		json_int_t value; /* -1: missing */
	} rows[] = {
		{ "infiniband", "mlx5_0/1", "symbol_error", 6 },
		{ "infiniband", "mlx5_0/1", "link_downed", 2 },
		{ "infiniband", "mlx5_0/1", "port_xmit_discards", 4 },
		{ "infiniband", "mlx5_0/1", "port_xmit_wait", 555 },
		{ "infiniband", "mlx5_0/1", "out_of_sequence", 5 },
		{ "infiniband", "mlx5_0/1", "rx_bytes", 4000 },
		{ "infiniband", "mlx5_0/1", "aer_correctable", 7 },
		{ "infiniband", "mlx5_0/1", "aer_fatal", 0 },
		{ "infiniband", "mlx5_0/1", "np_cnp_sent", -1 },
		{ "roce", "mlx5_2/1", "rx_icrc_encapsulated", 29 },
		{ "roce", "mlx5_2/1", "np_cnp_sent", 20 },
		{ "roce", "mlx5_2/1", "aer_nonfatal", 0 },
		{ "roce", "ens2f0np0", "carrier_changes", 3 },
		{ "roce", "ens2f0np0", "aer_nonfatal", -1 },
		{ "efa", "rdmap16s27/1", "retrans_pkts", 113 },
		{ "efa", "rdmap16s27/1", "retrans_timeout_events", 114 },
		{ "efa", "rdmap16s27/1", "rx_bytes", 117 },
		{ "cxi", "cxi0", "hni_pcs_uncorrected_cw", 5 },
		{ "cxi", "cxi0", "hni_pcs_corrected_cw", 4000 },
		{ "cxi", "cxi0", "hni_rx_paused_std", 77 },
		{ "cxi", "cxi0", "tx_bytes", 7000 },
		{ "cxi", "cxi0", "aer_nonfatal", 2 },
		{ "ethernet", "ens1f0", "rx_crc_errors", 8 },
		{ "ethernet", "ens1f0", "tx_carrier_errors", 2 },
		{ "ethernet", "ens1f0", "carrier_changes", 4 },
		{ "ethernet", "ens1f0", "aer_fatal", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *nics;

		cards_put(rows[i].card);
		nics = nics_read(tree);
		want_value(nics, rows[i].port, rows[i].counter, rows[i].value);
		json_decref(nics);
		tree_teardown(NULL);
		tree_setup(NULL);
	}
}

/* A slot's errors are the card's, and of its first port only. */
static void
test_two_ports(void **state)
{
	char cmd[400];
	json_t *nics;

	(void)state;
	cards_put("infiniband");
	snprintf(cmd, sizeof(cmd),
	    "cd '%s/sys/class/infiniband/mlx5_0/ports' "
	    "&& cp -r 1 2",
	    tree);
	assert_int_equal(system(cmd), 0);
	nics = nics_read(tree);
	want_value(nics, "mlx5_0/1", "aer_correctable", 7);
	want_value(nics, "mlx5_0/2", "symbol_error", 6);
	want_value(nics, "mlx5_0/2", "aer_correctable", -1);
	json_decref(nics);
}

/* Only error counters that have grown since the previous reading. */
static void
test_link_look(void **state)
{
	struct link_look look = { .every_ns = 1 };
	json_t *links, *want;

	(void)state;
	tree_put("sys/class/net/eth0/carrier_changes", "2\n");
	tree_put("sys/class/net/eth0/statistics/rx_dropped", "7\n");
	tree_put("sys/class/net/eth0/statistics/rx_crc_errors", "9\n");
	tree_put(IB "counters/symbol_error", "65535\n");
	assert_null(link_look(&look, tree, NULL)); /* the first only begins */
	tree_put("sys/class/net/eth0/carrier_changes", "4\n");
	tree_put("sys/class/net/eth0/statistics/rx_dropped", "70\n");
	tree_put("sys/class/net/eth0/statistics/rx_crc_errors", "3\n");
	links = link_look(&look, tree, NULL);
	want = json_pack("{s:i, s:[{s:s}, {s:s, s:{s:i}}]}", "span_s", 0,
	    "ports", "port", "mlx5_0/1", "port", "eth0", "counters",
	    "carrier_changes", 2);
	if (!json_equal(links, want))
		json_dumpf(links, stdout, 0);
	assert_true(json_equal(links, want));
	json_decref(want);
	json_decref(links);
	/* No reading is due, or readings are off. */
	look.every_ns = UINT64_MAX;
	assert_null(link_look(&look, tree, NULL));
	look.every_ns = 0;
	assert_null(link_look(&look, tree, NULL));
	link_look_clear(&look);
}

/* ---- GPUs ---- */

static json_t *
gpus_of(void)
{
	return json_pack("[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}]", "pci",
	    "0000:1a:00.0", "vendor", "nvidia", "pci", "0000:1b:00.0", "vendor",
	    "nvidia", "pci", "0000:c1:00.0", "vendor", "amd");
}

static void
test_gpus(void **state)
{
	json_t *gpus = gpus_of(), *rows = json_array();

	(void)state;
	cards_put("amd");
	cards_put("nvidia");
	setenv("COALMINE_FAKE_NVML", "sick", 1);
	gpu_read(tree, gpus, rows);
	assert_int_equal(json_array_size(rows), 3);
	want_value(rows, "0000:1a:00.0", "memory_uncorrectable", 1004);
	want_value(rows, "0000:1a:00.0", "nvlink_crc_errors", 2083);
	want_value(rows, "0000:1a:00.0", "pcie_replays", 1094);
	want_value(rows, "0000:1a:00.0", "nvlink_replays", 1052);
	want_value(rows, "0000:1a:00.0", "nvlink_recoveries", 1059);
	want_value(rows, "0000:1a:00.0", "retired_pages", -1);
	want_value(rows, "0000:1a:00.0", "remap_failed", 0);
	want_value(rows, "0000:1a:00.0", "throttle_thermal", -1);
	want_value(rows, "0000:1a:00.0", "aer_correctable", 0);
	want_value(rows, "0000:1b:00.0", "remap_failed", 1);
	want_value(rows, "0000:1b:00.0", "throttle_thermal", 1);
	want_value(rows, "0000:1b:00.0", "aer_correctable", 5);
	want_value(rows, "0000:c1:00.0", "memory_uncorrectable", 3);
	want_value(rows, "0000:c1:00.0", "memory_corrected", 9);
	want_value(rows, "0000:c1:00.0", "xgmi_errors", 7);
	want_value(rows, "0000:c1:00.0", "remapped_rows", -1);
	want_value(rows, "0000:c1:00.0", "throttle_thermal", -1);
	json_decref(rows);
	/* A lost GPU reports only that; without a driver no GPU reports. */
	rows = json_array();
	setenv("COALMINE_FAKE_NVML", "lost", 1);
	gpu_read(tree, gpus, rows);
	want_value(rows, "0000:1a:00.0", "nvlink_replays", 1052);
	want_value(rows, "0000:1b:00.0", "gpu_lost", 1);
	want_value(rows, "0000:1b:00.0", "nvlink_replays", -1);
	json_decref(rows);
	rows = json_array();
	setenv("COALMINE_FAKE_NVML", "fail", 1);
	gpu_read(tree, gpus, rows);
	want_value(rows, "0000:1b:00.0", "gpu_lost", -1);
	want_value(rows, "0000:1b:00.0", "aer_correctable", 5);
	json_decref(rows);
	json_decref(gpus);
	unsetenv("COALMINE_FAKE_NVML");
}

/* A driver that hangs does not block the agent, and is queried again after it
 * has returned; until then its GPUs are not idle. */
static void
test_gpus_hang(void **state)
{
	json_t *gpus = gpus_of(), *rows = json_array(), *row;
	int is_back = 0;
	struct err err;

	(void)state;
	cards_put("nvidia");
	setenv("COALMINE_FAKE_NVML", "hang", 1);
	gpu_read(tree, gpus, rows);
	want_value(rows, "0000:1a:00.0", "nvlink_replays", -1);
	want_value(rows, "0000:1b:00.0", "aer_correctable", 5);
	json_decref(rows);
	assert_int_equal(gpu_busy(tree, &err), 1);
	assert_non_null(strstr(err.text, "does not respond"));
	unsetenv("COALMINE_FAKE_NVML");
	for (int i = 0; i < 300 && !is_back; i++) {
		clk_sleep_ns(200 * CLK_NS_PER_MS);
		rows = json_array();
		gpu_read(tree, gpus, rows);
		row = json_array_get(rows, 0);
		is_back = json_object_get(json_object_get(row, "counters"),
			      "nvlink_replays") != NULL;
		json_decref(rows);
	}
	assert_true(is_back);
	json_decref(gpus);
}

/* gpu_metrics of AMD's driver: reasons of MI200, times of MI300; power is not a
 * fault, unknown values are not reported, and truncated tables are not read. */
static void
test_amd_heat(void **state)
{
	static const struct {
		uint8_t revision, size, at;
		uint64_t value;
		const char *name;
		json_int_t want;
	} rows[] = {
		{ 3, 120, 112, 1ULL << 32, "throttle_thermal", 1 },
		{ 3, 120, 112, 1ULL << 47, "throttle_thermal", 1 },
		{ 3, 120, 112, 0x00ff00ff, "throttle_thermal", -1 },
		{ 3, 120, 112, 1ULL << 56, "throttle_thermal", -1 },
		{ 3, 120, 112, UINT64_MAX, "throttle_thermal", -1 },
		{ 3, 112, 112, 1ULL << 32, "throttle_thermal", -1 },
		{ 2, 120, 112, 1ULL << 32, "throttle_thermal", -1 },
		{ 6, 200, 44, 7ULL << 32 | 5, "throttle_thermal_time", 12 },
		{ 7, 200, 52, 7ULL << 32 | 5, "throttle_thermal_time", 12 },
		{ 8, 200, 60, 3, "throttle_thermal_time", 3 },
		{ 8, 200, 44, 9ULL << 32, "throttle_thermal_time", 0 },
		{ 8, 200, 52, UINT64_MAX, "throttle_thermal_time", 0 },
		{ 8, 63, 52, 1, "throttle_thermal_time", -1 },
		{ 5, 200, 40, 1, "throttle_thermal_time", -1 },
		{ 9, 200, 52, 1, "throttle_thermal_time", -1 },
	};
	const char *path = "sys/bus/pci/devices/0000:c1:00.0/gpu_metrics";
	json_t *gpus = gpus_of();
	char full[200];

	(void)state;
	tree_put(path, "");
	snprintf(full, sizeof(full), "%s/%s", tree, path);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t table[256] = { rows[i].size, 0, 1, rows[i].revision };
		json_t *ports = json_array();
		FILE *fp = fopen(full, "wbe");

		memcpy(table + rows[i].at, &rows[i].value, 8);
		assert_non_null(fp);
		assert_int_equal(fwrite(table, 1, rows[i].size, fp),
		    rows[i].size);
		assert_int_equal(fclose(fp), 0);
		gpu_read(tree, gpus, ports);
		want_value(ports, "0000:c1:00.0", rows[i].name, rows[i].want);
		json_decref(ports);
		for (size_t len = 0; len < rows[i].size; len++) {
			json_t *none = json_object();
			uint8_t *cut = malloc(len + 1);

			memcpy(cut, table, len);
			gpu_metrics_take(cut, len, none);
			assert_int_equal(json_object_size(none), 0);
			free(cut);
			json_decref(none);
		}
	}
	json_decref(gpus);
}

/* Lines of the kernel's log as drivers write them, each a counter that is
 * watched. */
static const struct {
	const char *line, *port, *counter; /* NULL: none */
	int is_fact;
} log_rows[] = {
#define XID "NVRM: Xid (PCI:0000:1a:00"
	{ XID "): 79, pid='<unknown>', GPU has fallen off the bus.",
	    "0000:1a:00.0", "xid_79", 1 },
	{ "NVRM: Xid (0000:1A:00): 48, two bits", "0000:1a:00.0", "xid_48", 1 },
	{ XID " GPU-I:05): 94, pid=7, contained", "0000:1a:00.0", "xid_94", 0 },
	{ XID " GPU-I:01 GPU-CI:02): 79, pid=9, name=a, off the bus",
	    "0000:1a:00.0", "xid_79", 1 },
	{ "NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT Fatal XC0 "
	  "i0 Link 16 (0x00000000)",
	    "0008:01:00.0", "xid_149", 0 },
	{ "NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT Fatal XC0",
	    "0008:01:00.0", "nvlink_fatal", 1 },
	{ "NVRM: Xid (PCI:0008:01:00): 145, RLW_REMAP Fatal XC0 i0 "
	  "Link 00 (0x00000004)",
	    "0008:01:00.0", "xid_145", 0 },
	{ XID "): 145, RLW_REMAP Nonfatal XC0 i0 Link 00", "0000:1a:00.0",
	    "xid_145", 0 },
	{ XID "): 136, link training", "0000:1a:00.0", "xid_136", 1 },
	{ XID "): 62, 0000(0000) 00000000", "0000:1a:00.0", "xid_62", 1 },
	{ XID "): 46, stopped", "0000:1a:00.0", "xid_46", 1 },
	{ XID "): 109, timeout", "0000:1a:00.0", "xid_109", 1 },
	{ XID "): 110, security", "0000:1a:00.0", "xid_110", 1 },
	{ XID "): 143, init", "0000:1a:00.0", "xid_143", 1 },
	{ XID "): 150, MSE", "0000:1a:00.0", "xid_150", 0 },
	{ XID "): 155, down", "0000:1a:00.0", "xid_155", 0 },
	{ XID "): 156, retired", "0000:1a:00.0", "xid_156", 0 },
	{ XID "): 158, timeout", "0000:1a:00.0", "xid_158", 1 },
	{ XID "): 154, GPU recovery action changed from 0x0 (None) to "
	      "0x2 (Node Reboot Required)",
	    "0000:1a:00.0", "xid_154", 1 },
	{ XID "): 154, GPU recovery action changed from 0x1 (GPU Reset "
	      "Required) to 0x0 (None)",
	    "0000:1a:00.0", NULL, 0 },
	{ "NVRM: Xid (PCI:0000:99:00): 79, no GPU of ours", "0000:1a:00.0",
	    NULL, 0 },
	{ XID " 79, cut", "0000:1a:00.0", NULL, 0 },
	{ "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, "
	  "Link 30 LTSSM Fault Up",
	    "0000:c1:00.0", "sxid_fatal", 1 },
	{ "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, "
	  "Non-fatal, Link 46 MC TS crumbstore MCTO (First)",
	    "0000:c1:00.0", "sxid_nonfatal", 0 },
	{ "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Severity "
	  "0 Engine instance 46 Sub-engine instance 00",
	    "0000:c1:00.0", NULL, 0 },
	{ "amdgpu 0000:1a:00.0: amdgpu: GPU reset begin!", "0000:1a:00.0",
	    "gpu_resets", 0 },
#undef XID
};

static void
test_log(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(log_rows); i++) {
		json_t *nics = json_array(), *counters;
		const struct link_counter *c;

		sensor_row(nics, "0000:1a:00.0");
		sensor_row(nics, "0008:01:00.0");
		gpu_log_take(log_rows[i].line, nics);
		counters = sensor_counters(nics, log_rows[i].port);
		if (log_rows[i].counter == NULL) {
			assert_int_equal(json_object_size(counters), 0);
		} else {
			assert_int_equal(member_int(counters,
					     log_rows[i].counter),
			    1);
			c = names_link_counter_find(log_rows[i].counter);
			assert_non_null(c);
			assert_int_equal(c->kind, LINK_DEVICE);
			assert_int_equal(c->is_fact, log_rows[i].is_fact);
		}
		json_decref(nics);
	}
}

/* States count in every reading, log messages once. */
static void
test_gpu_look(void **state)
{
	struct link_look look = { .every_ns = 1 };
	json_t *gpus = gpus_of(), *links, *rows;
	FILE *log;

	(void)state;
	setenv("COALMINE_FAKE_NVML", "sick", 1);
	tree_put("dev/kmsg", "4,1,0,-;NVRM: Xid (PCI:0000:1a:00): 79, old\n");
	assert_null(link_look(&look, tree, gpus));
	tree_put("dev/other", "");
	for (int i = 0; i < 2; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/dev/kmsg", tree);
		log = fopen(path, "ae");
		assert_non_null(log);
		if (i == 0)
			fputs("4,2,9,-;NVRM: Xid (PCI:0000:1a:00): 79, pid=7, "
			      "GPU has fallen off the bus.\n"
			      "4,3,9,-;NVRM: Xid (PCI:0000:1a:00): 13, pid=7\n"
			      "4,3,9,-;NVRM: Xid (PCI:0000:99:00): 79\n"
			      "4,3,9,-;NVRM: Xid (PCI:\n"
			      "3,4,9,-;amdgpu 0000:c1:00.0: amdgpu: GPU reset "
			      "begin!\n 3,4,9,-;amdgpu : GPU reset begin\n",
			    log);
		fclose(log);
		links = link_look(&look, tree, gpus);
		rows = json_object_get(links, "ports");
		for (size_t k = 0; k < json_array_size(rows); k++) {
			json_t *row = json_array_get(rows, k);

			json_object_set(row, "nic",
			    json_object_get(row, "port"));
		}
		want_value(rows, "0000:1a:00.0", "xid_79", i == 0 ? 1 : -1);
		want_value(rows, "0000:1a:00.0", "xid_13", -1);
		want_value(rows, "0000:1a:00.0", "nvlink_replays", -1);
		want_value(rows, "0000:1b:00.0", "remap_failed", 1);
		want_value(rows, "0000:1b:00.0", "throttle_thermal", 1);
		want_value(rows, "0000:c1:00.0", "gpu_resets", i == 0 ? 1 : -1);
		json_decref(links);
	}
	json_decref(gpus);
	link_look_clear(&look);
	unsetenv("COALMINE_FAKE_NVML");
}

/* ---- netlink ---- */

struct message {
	char bytes[2048];
	size_t len;
};

static size_t
put_attr(struct message *m, uint16_t type, const void *value, size_t bytes)
{
	struct nlattr a = { (uint16_t)(NLA_HDRLEN + bytes), type };
	size_t at = m->len;

	memcpy(m->bytes + m->len, &a, sizeof(a));
	if (value != NULL)
		memcpy(m->bytes + m->len + NLA_HDRLEN, value, bytes);
	m->len += NLA_ALIGN(NLA_HDRLEN + bytes);
	return at;
}

/* A nest that began there ends here. */
static void
end_nest(struct message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->len - at);

	memcpy(m->bytes + at, &len, sizeof(len));
}

static size_t
begin_message(struct message *m, uint16_t type, uint8_t first, uint8_t second)
{
	struct nlmsghdr nh = { .nlmsg_type = type, .nlmsg_flags = NLM_F_MULTI };
	size_t at = m->len;

	memcpy(m->bytes + at, &nh, sizeof(nh));
	m->bytes[at + NLMSG_HDRLEN] = (char)first;
	m->bytes[at + NLMSG_HDRLEN + 1] = (char)second;
	m->len += NLMSG_HDRLEN + GENL_HDRLEN;
	return at;
}

static void
end_message(struct message *m, size_t at)
{
	uint32_t len = (uint32_t)(m->len - at);

	memcpy(m->bytes + at, &len, sizeof(len));
}

static void
put_header(struct message *m, const char *nic)
{
	size_t nest = put_attr(m, ETHTOOL_A_PAUSE_HEADER | NLA_F_NESTED, NULL,
	    0);
	uint32_t index = 3;

	put_attr(m, ETHTOOL_A_HEADER_DEV_INDEX, &index, sizeof(index));
	put_attr(m, ETHTOOL_A_HEADER_DEV_NAME, nic, strlen(nic) + 1);
	end_nest(m, nest);
}

/* As drivers answer that have all of it. */
static struct message
replies(void)
{
	uint64_t tx = 11, rx = 12, corrected[] = { 500, 200, 300 }, bad = 4;
	struct message m = { .len = 0 };
	struct ieee_pfc pfc = { .pfc_cap = 8 };
	size_t at, nest;
	uint8_t on = 1;

	at = begin_message(&m, 0x15, ETHTOOL_MSG_PAUSE_GET_REPLY, 1);
	put_header(&m, "ens1f0");
	put_attr(&m, ETHTOOL_A_PAUSE_AUTONEG, &on, sizeof(on));
	nest = put_attr(&m, ETHTOOL_A_PAUSE_STATS | NLA_F_NESTED, NULL, 0);
	put_attr(&m, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, &tx, sizeof(tx));
	put_attr(&m, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, &rx, sizeof(rx));
	end_nest(&m, nest);
	end_message(&m, at);
	at = begin_message(&m, 0x15, ETHTOOL_MSG_FEC_GET_REPLY, 1);
	put_header(&m, "ens1f0");
	nest = put_attr(&m, ETHTOOL_A_FEC_STATS | NLA_F_NESTED, NULL, 0);
	put_attr(&m, ETHTOOL_A_FEC_STAT_CORRECTED, corrected,
	    sizeof(corrected));
	put_attr(&m, ETHTOOL_A_FEC_STAT_UNCORR, &bad, sizeof(bad));
	end_nest(&m, nest);
	end_message(&m, at);
	pfc.requests[3] = 70;
	pfc.requests[5] = 1;
	pfc.indications[3] = 80;
	at = begin_message(&m, RTM_GETDCB, AF_UNSPEC, DCB_CMD_IEEE_GET);
	put_attr(&m, DCB_ATTR_IFNAME, "ens1f0", sizeof("ens1f0"));
	nest = put_attr(&m, DCB_ATTR_IEEE | NLA_F_NESTED, NULL, 0);
	put_attr(&m, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	end_nest(&m, nest);
	end_message(&m, at);
	return m;
}

static json_t *
one_nic(void)
{
	return json_pack("[{s:s, s:{}}]", "nic", "ens1f0", "counters");
}

static void
test_netlink(void **state)
{
	struct message m = replies();
	json_t *nics = one_nic();

	(void)state;
	assert_int_equal(ethtool_take(m.bytes, m.len, nics), 0);
	want_value(nics, "ens1f0", "pause_tx_frames", 11);
	want_value(nics, "ens1f0", "pause_rx_frames", 12);
	want_value(nics, "ens1f0", "fec_corrected_blocks", 500);
	want_value(nics, "ens1f0", "fec_uncorrectable_blocks", 4);
	want_value(nics, "ens1f0", "pfc_tx_frames", 71);
	want_value(nics, "ens1f0", "pfc_rx_frames", 80);
	json_decref(nics);
}

/* Whatever arrives, in memory that has not a byte more: cut anywhere, and with
 * bytes that are something else. */
static void
test_netlink_broken(void **state)
{
	struct message m = replies();
	json_t *nics = one_nic();
	struct rng rng;

	(void)state;
	rng_seed(&rng, 4711);
	for (size_t len = 0; len <= m.len; len++) {
		char *copy = malloc(len + 1);

		memcpy(copy, m.bytes, len);
		ethtool_take(copy, len, nics);
		free(copy);
	}
	for (int i = 0; i < 20000; i++) {
		char *copy = malloc(m.len);

		memcpy(copy, m.bytes, m.len);
		for (int k = 0; k < 4; k++)
			copy[rng_below(&rng, m.len)] = (char)rng_below(&rng,
			    256);
		ethtool_take(copy, m.len, nics);
		free(copy);
	}
	json_decref(nics);
}

/* The answers of this kernel: the requests end, and each port that supports
 * ethtool is found by name as in the list of all ports. */
static void
test_netlink_kernel(void **state)
{
	static char reply[REPLY_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct request all = { .nh = { .nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN,
				   .nlmsg_type = GENL_ID_CTRL,
				   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.head = { CTRL_CMD_GETFAMILY, 1 } };
	int fd = ethtool_socket_open(NETLINK_GENERIC), is_listed = 0;
	json_t *nics = nics_read("");
	size_t count = json_array_size(nics);
	ssize_t n;

	(void)state;
	if (fd < 0)
		skip();
	for (n = ethtool_request_send(fd, &all, reply); n > NLMSG_HDRLEN;
	     n = recv(fd, reply, sizeof(reply), 0)) {
		const struct nlmsghdr *nh = (const void *)reply;

		if (nh->nlmsg_type == NLMSG_DONE ||
		    nh->nlmsg_type == NLMSG_ERROR)
			break;
		is_listed |= memmem(reply, (size_t)n, ETHTOOL_GENL_NAME,
				 sizeof(ETHTOOL_GENL_NAME)) != NULL;
	}
	close(fd);
	fd = ethtool_socket_open(NETLINK_GENERIC);
	assert_int_equal(ethtool_family_of(fd, reply) != 0, is_listed);
	close(fd);
	ethtool_read(nics);
	assert_int_equal(json_array_size(nics), count);
	json_decref(nics);
}

/* ---- cost of a reading ---- */

static double
cpu_s(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	    (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

/* A node with 8 GPUs and 16 ports: less than a thousandth of a core of CPU time
 * with one reading in five minutes, and 12 MiB. */
static void
test_cost(void **state)
{
	struct link_look look = { .every_ns = 1 };
	json_t *gpus = gpus_of();
	struct rusage before, after;
	char cmd[400];
	int looks = 20;

	(void)state;
	cards_put("");
	for (int i = 0; i < 15; i++) {
		snprintf(cmd, sizeof(cmd),
		    "cp -r '%s/sys/class/infiniband/mlx5_2' "
		    "'%s/sys/class/infiniband/mlx5_%d'",
		    tree, tree, 10 + i);
		assert_int_equal(system(cmd), 0);
	}
	for (int i = 0; i < 5; i++)
		json_array_append(gpus, json_array_get(gpus, 1));
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < looks; i++)
		json_decref(link_look(&look, tree, gpus));
	getrusage(RUSAGE_SELF, &after);
	printf("a look: %.2f ms of a core, %ld KiB more\n",
	    1e3 * (cpu_s(&after) - cpu_s(&before)) / looks,
	    after.ru_maxrss - before.ru_maxrss);
	assert_true(cpu_s(&after) - cpu_s(&before) < 0.3 * looks);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory */
	assert_true(after.ru_maxrss - before.ru_maxrss < 12 * 1024);
#endif
	link_look_clear(&look);
	json_decref(gpus);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cards),
		TEST(test_link_look),
		TEST(test_two_ports),
		TEST(test_gpus),
		TEST(test_gpus_hang),
		TEST(test_amd_heat),
		TEST(test_log),
		TEST(test_gpu_look),
		cmocka_unit_test(test_netlink),
		cmocka_unit_test(test_netlink_broken),
		cmocka_unit_test(test_netlink_kernel),
		TEST(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
