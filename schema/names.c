/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - the rows behind the enums of names.h. A new word is a new row at
 * its enum's place; words that have been stored do not change.
 */
#include "schema/names.h"

#include <string.h>

/* Counts are of section 3.1 of the paper; get-lat, put-bw, natural-bw and
 * alltoall as the suite's network test. */
const struct test_row names_tests[CANARY_MAX] = {
	[CANARY_LAT] = { "lat", "RR Two-sided Lat", "s", 8, 1,
	    "random ring, two-sided latency to both neighbours",
	    { 30, 200, 200, 10000 }, 1 },
	[CANARY_GET_LAT] = { "get-lat", "RR Get Lat", "s", 8, 1,
	    "random ring, one-sided Get latency from both neighbours",
	    { 30, 200, 200, 10000 }, 1 },
	[CANARY_BW] = { "bw", "RR Two-sided BW", "B/s", 131072, 8,
	    "random ring, two-sided bandwidth with both neighbours",
	    { 30, 8, 1, 10000 }, 2 },
	[CANARY_PUT_BW] = { "put-bw", "RR Put BW", "B/s", 131072, 8,
	    "random ring, one-sided Put bandwidth to both neighbours",
	    { 30, 8, 1, 10000 }, 1 },
	[CANARY_BW_SYNC] = { "bw-sync", "RR Two-sided BW+Sync", "B/s", 131072,
	    8, "random ring, two-sided bandwidth, then a barrier",
	    { 30, 8, 1, 10000 }, 0 },
	[CANARY_NATURAL_BW] = { "natural-bw", "Nat Two-sided BW", "B/s", 131072,
	    8, "natural ring, two-sided bandwidth with both neighbours",
	    { 30, 8, 1, 10000 }, 0 },
	[CANARY_ALLREDUCE] = { "allreduce", "Multiple Allreduce", "s", 8, 1,
	    "small allreduce on every sub-communicator at once",
	    { 1, 200, 1, 100000 }, 0 },
	[CANARY_ALLTOALL] = { "alltoall", "Multiple Alltoall", "B/s", 4096, 1,
	    "all-to-all on every sub-communicator at once", { 1, 64, 1, 10000 },
	    0 },
	[CANARY_INCAST] = { "incast", "Incast", "B/s", 131072, 2,
	    "bandwidth into one rank of eight senders or more at once, each "
	    "rank receives in its turn",
	    { 30, 8, 1, 10000 }, 2 },
	[CANARY_COMMAND] = { "command", "Application", "s", 0, 0,
	    "the run time of a program, of section [command]", { 0 }, 0 },
};

const struct congestor_row names_congestors[CONGESTOR_MAX] = {
	[CONGESTOR_NONE] = { "none", "none", "no congestors at all" },
	[CONGESTOR_IDLE] = { "idle", "Idle",
	    "holds its nodes and sends nothing: the null variant" },
	[CONGESTOR_ALLTOALL] = { "alltoall", "Alltoall",
	    "pairwise-exchange all-to-all" },
	[CONGESTOR_INCAST] = { "incast", "Two-sided Incast",
	    "every rank sends to one" },
	[CONGESTOR_PUT_INCAST] = { "put-incast", "Put Incast",
	    "every rank puts into one" },
	[CONGESTOR_GET_BCAST] = { "get-bcast", "Get Bcast",
	    "every rank gets from one" },
	[CONGESTOR_BCAST] = { "bcast", "Two-sided Bcast",
	    "one rank sends to every other" },
	[CONGESTOR_ALLREDUCE] = { "allreduce", "Large Allreduce",
	    "large allreduce" },
};

const char *const names_fabrics[NAMES_FABRICS_MAX] = { "auto", "tcp", "ucx",
	"ofi", "psm", "cray" };

const char *const names_whats[WHAT_MAX] = { "node", "leaf", "link", "host",
	"undetermined", "rail", "drift", "prediction", "port", "intermittent",
	"fleet", "link-errors", "mtu", "stuck", "spine" };

const char *const names_link_errors[LINK_KIND_MAX] = { "corruption", "flap",
	"retransmit", "discard", "corrected", "pcie", "device", "throttle",
	"congestion" };
const char *const names_link_texts[LINK_KIND_MAX] = {
	[LINK_CORRUPTION] = "bits arrived wrong: cable, optics, connector",
	[LINK_FLAP] = "the link went down or came up",
	[LINK_RETRANSMIT] = "something was sent again, or came out of order",
	[LINK_DISCARD] = "a port could not send what it had",
	[LINK_CORRECTED] = "a code repaired bits, of a link or of memory",
	[LINK_PCIE] = "a PCIe slot reported errors",
	[LINK_DEVICE] = "a GPU or an NVSwitch is at fault",
	[LINK_THROTTLE] = "a GPU found its clocks lowered, by heat or power",
	[LINK_CONGESTION] = "others were told to wait, which is no fault",
};

/* rx_dropped and its like are not here: they count what nobody had asked for
 * and what the host was too slow for. Of NVIDIA's Xid errors those that a
 * program causes are not either. */
const struct link_counter names_link_counters[] = {
	/* Ethernet, of the kernel; the last by ethtool's and DCB's netlink */
	{ "carrier_changes", LINK_FLAP, 0, 0 },
	{ "rx_crc_errors", LINK_CORRUPTION, 0, 0 },
	{ "rx_frame_errors", LINK_CORRUPTION, 0, 0 },
	{ "tx_carrier_errors", LINK_CORRUPTION, 0, 0 },
	{ "fec_uncorrectable_blocks", LINK_CORRUPTION, 0, 0 },
	{ "fec_corrected_blocks", LINK_CORRECTED, 0, 0 },
	{ "pause_rx_frames", LINK_CONGESTION, 0, 0 },
	{ "pause_tx_frames", LINK_CONGESTION, 0, 0 },
	{ "pfc_rx_frames", LINK_CONGESTION, 0, 0 },
	{ "pfc_tx_frames", LINK_CONGESTION, 0, 0 },
	/* ports/N/counters of InfiniBand and RoCE */
	{ "symbol_error", LINK_CORRUPTION, 0, 0 },
	{ "port_rcv_errors", LINK_CORRUPTION, 0, 0 },
	{ "local_link_integrity_errors", LINK_CORRUPTION, 0, 0 },
	{ "link_error_recovery", LINK_FLAP, 0, 0 },
	{ "link_downed", LINK_FLAP, 0, 0 },
	{ "port_xmit_discards", LINK_DISCARD, 0, 0 },
	{ "port_xmit_wait", LINK_CONGESTION, 0, 0 },
	/* hw_counters of mlx5, bnxt_re and EFA */
	{ "rx_icrc_encapsulated", LINK_CORRUPTION, 0, 0 },
	{ "local_ack_timeout_err", LINK_RETRANSMIT, 0, 0 },
	{ "packet_seq_err", LINK_RETRANSMIT, 0, 0 },
	{ "implied_nak_seq_err", LINK_RETRANSMIT, 0, 0 },
	{ "out_of_sequence", LINK_RETRANSMIT, 0, 0 },
	{ "roce_adp_retrans", LINK_RETRANSMIT, 0, 0 },
	{ "to_retransmits", LINK_RETRANSMIT, 0, 0 },
	{ "seq_err_naks_rcvd", LINK_RETRANSMIT, 0, 0 },
	{ "retrans_pkts", LINK_RETRANSMIT, 0, 0 },
	{ "retrans_timeout_events", LINK_RETRANSMIT, 0, 0 },
	{ "max_retry_exceeded", LINK_RETRANSMIT, 0, 0 },
	{ "oos_drop_count", LINK_RETRANSMIT, 0, 0 },
	{ "tx_roce_discards", LINK_DISCARD, 0, 0 },
	{ "rx_ecn_marked_pkts", LINK_CONGESTION, 0, 0 },
	{ "tx_cnp_pkts", LINK_CONGESTION, 0, 0 },
	{ "rx_cnp_pkts", LINK_CONGESTION, 0, 0 },
	{ "impaired_remote_conn_events", LINK_CONGESTION, 0, 0 },
	{ "np_cnp_sent", LINK_CONGESTION, 0, 0 },
	{ "rp_cnp_handled", LINK_CONGESTION, 0, 0 },
	{ "np_ecn_marked_roce_packets", LINK_CONGESTION, 0, 0 },
	/* hw_counters of irdma and ionic */
	{ "tcpRetransSegs", LINK_RETRANSMIT, 0, 0 },
	{ "RxECNMrkd", LINK_CONGESTION, 0, 0 },
	{ "cnpSent", LINK_CONGESTION, 0, 0 },
	{ "cnpHandled", LINK_CONGESTION, 0, 0 },
	{ "tx_rdma_ack_timeout", LINK_RETRANSMIT, 0, 0 },
	{ "req_rx_pkt_seq_err", LINK_RETRANSMIT, 0, 0 },
	{ "req_rx_impl_nak_seq_err", LINK_RETRANSMIT, 0, 0 },
	{ "resp_tx_pkt_seq_err", LINK_RETRANSMIT, 0, 0 },
	{ "rx_rdma_ecn_pkts", LINK_CONGESTION, 0, 0 },
	{ "tx_rdma_cnp_pkts", LINK_CONGESTION, 0, 0 },
	{ "rx_rdma_cnp_pkts", LINK_CONGESTION, 0, 0 },
	/* telemetry of Slingshot */
	{ "hni_pcs_uncorrected_cw", LINK_CORRUPTION, 0, 0 },
	{ "hni_pcs_corrected_cw", LINK_CORRECTED, 0, 0 },
	{ "hni_llr_tx_replay_event", LINK_RETRANSMIT, 0, 0 },
	{ "hni_rx_paused_std", LINK_CONGESTION, 0, 0 },
	/* PCIe, of NICs and GPUs */
	{ "aer_correctable", LINK_PCIE, 0, 0 },
	{ "aer_nonfatal", LINK_PCIE, 0, 0 },
	{ "aer_fatal", LINK_PCIE, 0, 1 },
	/* GPUs: NVML's fields, RAS and XGMI of AMD's driver */
	{ "nvlink_crc_errors", LINK_CORRUPTION, 0, 0 },
	{ "nvlink_replays", LINK_RETRANSMIT, 0, 0 },
	{ "nvlink_recoveries", LINK_FLAP, 0, 0 },
	{ "pcie_replays", LINK_PCIE, 0, 0 },
	{ "memory_corrected", LINK_CORRECTED, 0, 0 },
	{ "memory_uncorrectable", LINK_DEVICE, 0, 1 },
	{ "remapped_rows", LINK_DEVICE, 0, 0 },
	{ "remap_pending", LINK_DEVICE, 1, 0 },
	{ "remap_failed", LINK_DEVICE, 1, 1 },
	{ "retired_pages", LINK_DEVICE, 0, 0 },
	{ "xgmi_errors", LINK_CORRUPTION, 0, 0 },
	{ "throttle_thermal", LINK_THROTTLE, 1, 0 },
	{ "throttle_thermal_time", LINK_THROTTLE, 0, 0 }, /* of AMD's MI300 */
	{ "throttle_power_brake", LINK_THROTTLE, 1, 0 },
	{ "gpu_lost", LINK_DEVICE, 1, 1 },
	/* of the kernel's log */
	{ "gpu_resets", LINK_DEVICE, 1, 0 },
	/* Xid by NVIDIA's catalogue. A fact is what it answers with a reset or
	 * a restart, and with its support if it returns. */
	{ "xid_46", LINK_DEVICE, 1, 1 },  /* stopped processing */
	{ "xid_48", LINK_DEVICE, 1, 1 },  /* memory, two bits */
	{ "xid_54", LINK_DEVICE, 1, 1 },  /* auxiliary power not connected */
	{ "xid_62", LINK_DEVICE, 1, 1 },  /* a microcontroller halted */
	{ "xid_63", LINK_DEVICE, 1, 0 },  /* a row will be remapped */
	{ "xid_64", LINK_DEVICE, 1, 1 },  /* and could not be */
	{ "xid_74", LINK_DEVICE, 1, 0 },  /* NVLink, up to Hopper */
	{ "xid_79", LINK_DEVICE, 1, 1 },  /* fell off the bus */
	{ "xid_92", LINK_DEVICE, 1, 0 },  /* many corrected bits */
	{ "xid_94", LINK_DEVICE, 1, 0 },  /* memory, one program hit */
	{ "xid_95", LINK_DEVICE, 1, 1 },  /* memory, all programs hit */
	{ "xid_109", LINK_DEVICE, 1, 1 }, /* a context switch timed out */
	{ "xid_110", LINK_DEVICE, 1, 1 }, /* security fault */
	{ "xid_119", LINK_DEVICE, 1, 1 }, /* its own processor hangs */
	{ "xid_120", LINK_DEVICE, 1, 1 },
	{ "xid_136", LINK_DEVICE, 1, 1 }, /* link training failed */
	{ "xid_140", LINK_DEVICE, 1, 1 }, /* memory, not recovered */
	{ "xid_143", LINK_DEVICE, 1, 1 }, /* initialization failed */
	/* NVLink of Blackwell: most are repaired, the others are fatal */
	{ "nvlink_fatal", LINK_DEVICE, 1, 1 },
	{ "xid_144", LINK_DEVICE, 1, 0 },
	{ "xid_145", LINK_DEVICE, 1, 0 },
	{ "xid_146", LINK_DEVICE, 1, 0 },
	{ "xid_147", LINK_DEVICE, 1, 0 },
	{ "xid_148", LINK_DEVICE, 1, 0 },
	{ "xid_149", LINK_DEVICE, 1, 0 },
	{ "xid_150", LINK_DEVICE, 1, 0 },
	{ "xid_154", LINK_DEVICE, 1, 1 }, /* the driver asks for a reset */
	{ "xid_155", LINK_DEVICE, 1, 0 }, /* a link is down, perhaps by order */
	{ "xid_156", LINK_DEVICE, 1, 0 }, /* a resource will be retired */
	{ "xid_157", LINK_DEVICE, 1, 0 }, /* and could not be */
	{ "xid_158", LINK_DEVICE, 1, 1 }, /* fatal timeout */
	{ "xid_160", LINK_DEVICE, 1, 0 }, /* a channel will be retired */
	{ "xid_161", LINK_DEVICE, 1, 0 }, /* and could not be */
	{ "xid_167", LINK_DEVICE, 1, 0 }, /* PCIe, fatal timeout */
	{ "xid_169", LINK_DEVICE, 1, 0 }, /* a microcontroller halted */
	{ "xid_171", LINK_DEVICE, 1, 0 }, /* to 48: it was DRAM */
	{ "xid_172", LINK_DEVICE, 1, 0 }, /* or SRAM */
	/* SXid, of NVSwitches */
	{ "sxid_fatal", LINK_DEVICE, 1, 1 },
	{ "sxid_nonfatal", LINK_DEVICE, 1, 0 },
	{ NULL, LINK_KIND_MAX, 0, 0 },
};

const struct link_counter *
names_link_counter_find(const char *name)
{
	const struct link_counter *c = names_link_counters;

	while (c->name != NULL && strcmp(c->name, name) != 0)
		c++;
	return c->name != NULL ? c : NULL;
}

/* The last is PHASE_PRODUCTION: records and stores of all versions have this
 * word for it. */
const char *const names_phases[PHASE_MAX] = { "isolated", "congested", "wild" };

const char *const names_collectives[NAMES_COLLECTIVES_MAX] = { "broadcast",
	"reduce", "gather", "scatter", "allgather", "reduce-scatter",
	"allreduce", "alltoall" };
const char *const names_impls[NAMES_IMPLS_MAX] = { "coalmine", "mpi", "nccl",
	"rccl" };

const struct run_state_row names_run_states[RUN_STATE_MAX] = {
	[RUN_PENDING] = { "pending", 0, "waits for its nodes or its time" },
	[RUN_STARTING] = { "starting", 0, "is being launched" },
	[RUN_RUNNING] = { "running", 0, "has shown its first record" },
	[RUN_FINISHED] = { "finished", 1, "its end record arrived" },
	[RUN_FAILED] = { "failed", 1, "ended without success" },
	[RUN_TIMED_OUT] = { "timed-out", 1, "was killed at its deadline" },
	[RUN_CANCELLED] = { "cancelled", 1, "was ended by order" },
	[RUN_MISSED] = { "missed", 1, "could not start when it was due" },
	[RUN_OVERDUE] = { "overdue", 0, "is due and still waits" },
	[RUN_PREEMPTED] = { "preempted", 1, "made room for another run" },
	[RUN_NONSTART] = { "nonstart", 1, "never showed a sign of life" },
};

const struct cause_row names_causes[CAUSE_MAX] = {
	[CAUSE_NONE] = { "none", "nothing is wrong" },
	[CAUSE_TIMEOUT] = { "timeout", "took longer than its limit" },
	[CAUSE_PEER_LOST] = { "peer-lost", "a peer went away" },
	[CAUSE_AGENT_LOST] = { "agent-lost", "a node's agent went silent" },
	[CAUSE_RANK_LOST] = { "rank-lost", "a rank died" },
	[CAUSE_STUCK] = { "stuck", "an exchange of two ranks did not end" },
	[CAUSE_LAUNCH] = { "launch", "the launcher failed" },
	[CAUSE_NO_DEVICE] = { "no-device", "the device is not there" },
	[CAUSE_DEVICE_FAULT] = { "device-fault", "a GPU is at fault" },
	[CAUSE_BUDGET] = { "budget",
	    "the budget or a blackout does not allow it" },
	[CAUSE_BUSY] = { "busy", "a node is not idle" },
	[CAUSE_TOO_FEW_NODES] = { "too-few-nodes",
	    "fewer usable nodes than the campaign needs" },
	[CAUSE_TOO_FEW_SAMPLES] = { "too-few-samples",
	    "a p99 needs 1,000 samples in each phase" },
	[CAUSE_WRONG_DATA] = { "wrong-data", "bytes arrived changed" },
	[CAUSE_WRONG_NETWORK] = { "wrong-network",
	    "another network than the campaign wants carried the bytes" },
	[CAUSE_COMMAND] = { "command", "the program that was run failed" },
	[CAUSE_UNSUPPORTED] = { "unsupported",
	    "this MPI or machine cannot do it" },
	[CAUSE_DISK_FULL] = { "disk-full", "no room to write" },
	[CAUSE_CANCELLED] = { "cancelled", "ended by order" },
	[CAUSE_COLLECTOR_LOST] = { "collector-lost",
	    "the collector stayed away" },
	[CAUSE_NO_END] = { "no-end", "ended without an end record" },
	[CAUSE_CONFIG] = { "config", "the campaign is not valid" },
	[CAUSE_INTERNAL] = { "internal", "an error of our own" },
};

const char *const names_agent_states[AGENT_STATE_MAX] = { "ok", "late", "lost",
	"busy" };
const struct event_row names_events[NAMES_EVENTS_MAX] = {
	{ "agent", "an agent has a new state, or a certificate" },
	{ "alarm", "the collector, or an agent, complains" },
	{ "alert", "an alert fires, goes on, or is over" },
	{ "link", "a link of a node went down or up, or a GPU is at fault" },
	{ "order", "somebody gave an order through the API" },
	{ "reaction", "a node was taken out of service, or given back" },
	{ "run", "a run has a new state" },
	{ "verdict", "a verdict changed" },
};
const char *const names_verdicts[VERDICT_MAX] = { "ok", "warn", "bad",
	"unknown" };
const char *const names_partners[PARTNERS_MAX] = { "ring", "match", "pair",
	"one-way" };
const char *const names_stops[STOP_MAX] = { "precision", "time", "count",
	"timeout" };
const char *const names_roles[ROLE_MAX] = { "agent", "collector", "reader",
	"operator" };

const struct gpu_row names_gpus[NAMES_GPUS] = {
	{ "nvidia", "cuda", "0x10de", 4, { "cuda", NULL }, 0 },
	{ "amd", "hip", "0x1002", 4, { "hip", "rocm" }, 2 },
	{ "intel", NULL, "0x8086", 3, { NULL, NULL }, 1 },
};

const char *
names_gpu_vendor(const char *pci_class, const char *pci_vendor)
{
	/* 3D and other display controllers, accelerators, and VGA: the latter
	 * not of a vendor whose VGA is part of the processor. */
	static const char *const classes[] = { "0x0302", "0x0380", "0x1200",
		"0x0300" };

	for (const struct gpu_row *g = names_gpus; g < names_gpus + NAMES_GPUS;
	     g++)
		for (size_t c = 0; c < g->pci_classes; c++)
			if (strcmp(pci_vendor, g->pci_vendor) == 0 &&
			    strncmp(pci_class, classes[c], 6) == 0)
				return g->maker;
	return NULL;
}
