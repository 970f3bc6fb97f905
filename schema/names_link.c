/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_link.c - the rows: counters of ports and GPUs, and what each reports.
 */
#include "schema/names_link.h"

#include <string.h>

const char *const names_link_errors[LINK_KIND_MAX] = { "corruption", "flap",
	"retransmit", "discard", "corrected", "pcie", "device", "throttle",
	"congestion" };

const char *const names_link_texts[LINK_KIND_MAX] = {
	[LINK_CORRUPTION] =
	    "corrupted bits received: cable, optics or connector",
	[LINK_FLAP] = "the link went down or came up",
	[LINK_RETRANSMIT] =
	    "packets were retransmitted or arrived out of order",
	[LINK_DISCARD] = "a port discarded packets that it could not send",
	[LINK_CORRECTED] =
	    "error correction repaired bits of a link or of memory",
	[LINK_PCIE] = "a PCIe slot reported errors",
	[LINK_DEVICE] = "a GPU or an NVSwitch failed",
	[LINK_THROTTLE] = "a GPU reduced its clocks because of heat or power",
	[LINK_CONGESTION] =
	    "the port paused its senders (flow control), which is not a fault",
};

/* rx_dropped and similar counters are missing on purpose: they count packets
 * without a receiver and overload of the host. NVIDIA's Xid errors that
 * programs cause are missing too. */
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
	/* Xid by NVIDIA's catalogue. A fact is an Xid for which the catalogue
	 * demands a reset or a restart, and NVIDIA's support if it returns. */
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
