/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machines.c - all kinds of links have the same keys, and so have all
 * transports, by one macro each.
 */
#include "schema/machines.h"

#include <stddef.h>

#define RATE_MAX    1e6 /* GB/s */
#define LATENCY_MAX 10.0
#define DEVICES_MAX 256
#define NODES_MAX   65536

const char *const machines_kinds[MACHINES_KIND_MAX] = {
	[MACHINES_NVLINK] = "nvlink",
	[MACHINES_XGMI] = "xgmi",
	[MACHINES_XELINK] = "xelink",
	[MACHINES_MDFI] = "mdfi",
	[MACHINES_XBUS] = "xbus",
	[MACHINES_PCIE] = "pcie",
	[MACHINES_BUS] = "bus",
};

const char *const machines_vias[MACHINES_VIA_MAX] = {
	[MACHINES_MPI] = "mpi",
	[MACHINES_RMA] = "rma",
	[MACHINES_IPC] = "ipc",
	[MACHINES_XCCL] = "xccl",
};

/* One link of a kind carries rate in each direction at once. */
#define LINK_RATE(kind)                                                        \
	{                                                                      \
		kind, "rate", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",       \
		    TEXT_RATE                                                  \
	}
#define LINK_BACK(kind)                                                        \
	{                                                                      \
		kind, "back", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",       \
		    TEXT_BACK                                                  \
	}
#define LINK_LATENCY(kind)                                                     \
	{                                                                      \
		kind, "latency", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",    \
		    TEXT_ADDS                                                  \
	}
#define LINK_PAIRS(kind)                                                       \
	{                                                                      \
		kind, "pairs", CONF_STRING, 0, 8000, NULL, "", "", TEXT_PAIRS  \
	}
#define LINKS(kind)                                                            \
	LINK_RATE(kind), LINK_BACK(kind), LINK_LATENCY(kind), LINK_PAIRS(kind)

#define TEXT_RATE "Rate of one such link in each direction at the same time."
#define TEXT_BACK "Rate from B to A, if it differs. 0: the value of rate."
#define TEXT_ADDS "Additional latency of such a link."
#define TEXT_PAIRS                                                             \
	"Places of these links: A-B*COUNT separated by commas, or all for "    \
	"one between every two devices."

#define VIA_USABLE(via, usable)                                                \
	{                                                                      \
		via, "usable", CONF_BOOL, 0, 0, NULL, usable, "", TEXT_USABLE  \
	}
#define VIA_SPAN(via, key, text)                                               \
	{                                                                      \
		via, key, CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s", text      \
	}
#define VIA_SHARE(via, key, text)                                              \
	{                                                                      \
		via, key, CONF_REAL, 0.001, 1, NULL, "1", "1", text            \
	}
#define VIA(via, usable)                                                       \
	VIA_USABLE(via, usable), VIA_SPAN(via, "latency", TEXT_LATENCY),       \
	    VIA_SPAN(via, "overhead", TEXT_OVERHEAD),                          \
	    VIA_SHARE(via, "across", TEXT_ACROSS),                             \
	    VIA_SHARE(via, "within", TEXT_WITHIN),                             \
	    VIA_SHARE(via, "self", TEXT_SELF)

#define TEXT_USABLE "Whether this transport is available."
#define TEXT_LATENCY                                                           \
	"Latency of a transfer, in addition to the latency of its links."
#define TEXT_OVERHEAD                                                          \
	"Time that both ends need for a message before it moves; messages "    \
	"between the same two ranks wait for each other."
#define TEXT_ACROSS                                                            \
	"Share of the narrowest link that a transfer between nodes reaches."
#define TEXT_WITHIN                                                            \
	"Share of the narrowest link that a transfer within a node reaches."
#define TEXT_SELF "Share of the memory rate that a copy within a rank reaches."

/* section, key, type, min, max, allowed, default, unit, text */
const struct conf_row options_machine[] = {
	{ "machine", "about", CONF_STRING, 0, 200, NULL, "", "",
	    "Description, one line." },
	{ "machine", "source", CONF_STRING, 0, 400, NULL, "", "",
	    "Source of the numbers." },
	{ "machine", "gpu", CONF_STRING, 0, 40, NULL, "", "",
	    "Model of the GPUs, for example h100, to find published results." },
	{ "machine", "fabric", CONF_STRING, 0, 40, NULL, "", "",
	    "Network between nodes, for example infiniband, roce or efa, to "
	    "find "
	    "published results." },
	{ "node", "nodes", CONF_INT, 0, NODES_MAX, NULL, "0", "nodes",
	    "Number of nodes. 0: as needed by the ranks." },
	{ "node", "devices", CONF_INT, 1, DEVICES_MAX, NULL, "1", "devices",
	    "Number of devices of a node: d0, d1 and so on." },
	{ "node", "ranks", CONF_INT, 0, 1024, NULL, "0", "ranks",
	    "Number of ranks of a node, assigned to its devices in turn. 0: "
	    "one for each device; if a node is one device and there are more "
	    "ranks than nodes, the number that is needed." },
	{ "node", "hosts", CONF_INT, 1, 16, NULL, "1", "sockets",
	    "Number of sockets of a node, with their memory: h0, h1 and so "
	    "on." },
	{ "node", "switches", CONF_INT, 0, 64, NULL, "0", "switches",
	    "Number of switches in a node: s0, s1 and so on." },
	{ "memory", "rate", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate of the memory of one device, reading and writing together. "
	    "0: no limit." },
	{ "memory", "reduce", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate at which a reduction reads and writes memory. 0: the value "
	    "of rate." },
	{ "memory", "launch", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "Time to start the local operations of a step." },
	{ "memory", "host", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate of the memory of one socket, for all reads and writes by "
	    "other devices together. 0: no limit." },
	LINKS("nvlink"),
	LINKS("xgmi"),
	LINKS("xelink"),
	LINKS("mdfi"),
	LINKS("xbus"),
	LINKS("pcie"),
	LINKS("bus"),
	{ "nic", "count", CONF_INT, 0, DEVICES_MAX, NULL, "1", "NICs",
	    "Number of NICs of a node: n0, n1 and so on." },
	{ "nic", "binding", CONF_CHOICE, 0, 0, "packed|round-robin|one-to-one",
	    "packed", "",
	    "Which NIC each device uses. packed: neighbouring devices share a "
	    "NIC. round-robin: devices use the NICs in turn. one-to-one: each "
	    "device has its own NIC; the numbers must be equal." },
	{ "nic", "out", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate of one NIC towards the network." },
	{ "nic", "in", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate of one NIC from the network. 0: the value of out." },
	{ "nic", "both", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Limit of both directions together. 0: no limit." },
	{ "network", "latency", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "Latency between two nodes." },
	{ "network", "leaf", CONF_INT, 0, NODES_MAX, NULL, "0", "nodes",
	    "Number of nodes under one leaf switch. 0: all nodes." },
	{ "network", "uplink", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate of all uplinks of a leaf together, in each direction. 0: no "
	    "limit." },
	{ "network", "hop", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "Additional latency between nodes of different leaves." },
	VIA("mpi", "yes"),
	VIA("rma", "yes"),
	VIA("ipc", "yes"),
	VIA("xccl", "no"),
	{ "step", "overhead", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "Time that a rank needs to start a step of a channel." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};
