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

#define TEXT_RATE "Rate of one such link, from A to B and, at once, back."
#define TEXT_BACK "Rate from B to A, where that differs; 0: as rate."
#define TEXT_ADDS "Latency that it adds."
#define TEXT_PAIRS                                                             \
	"Where these links are: A-B*COUNT with commas, or all for one "        \
	"between "                                                             \
	"every two devices."

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

#define TEXT_USABLE  "Whether this transport is there."
#define TEXT_LATENCY "Latency of a transfer, beside that of its links."
#define TEXT_OVERHEAD                                                          \
	"What a message costs its two ends before it moves, while no other "   \
	"between the same two can."
#define TEXT_ACROSS                                                            \
	"Share of the narrowest link that a transfer between nodes reaches."
#define TEXT_WITHIN "The same within a node."
#define TEXT_SELF   "Share of the memory rate that a copy to oneself reaches."

/* section, key, type, min, max, allowed, default, unit, text */
const struct conf_row options_machine[] = {
	{ "machine", "about", CONF_STRING, 0, 200, NULL, "", "",
	    "One line for people." },
	{ "machine", "source", CONF_STRING, 0, 400, NULL, "", "",
	    "Where the numbers come from." },
	{ "node", "nodes", CONF_INT, 0, NODES_MAX, NULL, "0", "nodes",
	    "Nodes that there are; 0: as many as the ranks need." },
	{ "node", "devices", CONF_INT, 1, DEVICES_MAX, NULL, "1", "devices",
	    "Devices of a node: d0, d1 and so on." },
	{ "node", "ranks", CONF_INT, 0, 1024, NULL, "0", "ranks",
	    "Ranks of a node, dealt to its devices in turn; 0: one a device, "
	    "or, where a node is one device and there are more ranks than "
	    "nodes, as many as it takes." },
	{ "node", "hosts", CONF_INT, 1, 16, NULL, "1", "sockets",
	    "Sockets with their memory: h0, h1 and so on." },
	{ "node", "switches", CONF_INT, 0, 64, NULL, "0", "switches",
	    "Switches inside the node: s0, s1 and so on." },
	{ "memory", "rate", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Memory of one device, reading and writing together; 0: no "
	    "limit." },
	{ "memory", "reduce", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "What a reduction reads and writes; 0: as rate." },
	{ "memory", "launch", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "What it takes to start the local operations of a step." },
	{ "memory", "host", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Memory of one socket: what is read from it for others and "
	    "written by them; 0: no limit." },
	LINKS("nvlink"),
	LINKS("xgmi"),
	LINKS("xelink"),
	LINKS("mdfi"),
	LINKS("xbus"),
	LINKS("pcie"),
	LINKS("bus"),
	{ "nic", "count", CONF_INT, 0, DEVICES_MAX, NULL, "1", "NICs",
	    "NICs of a node: n0, n1 and so on." },
	{ "nic", "binding", CONF_CHOICE, 0, 0, "packed|round-robin|one-to-one",
	    "packed", "",
	    "Which NIC a device uses: packed shares each NIC among "
	    "neighbours, round-robin deals them out in turn, one-to-one needs "
	    "as many NICs as devices." },
	{ "nic", "out", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate of one NIC towards the network." },
	{ "nic", "in", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate from the network; 0: as out." },
	{ "nic", "both", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Limit of both directions together; 0: none." },
	{ "network", "latency", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "Latency between two nodes." },
	{ "network", "leaf", CONF_INT, 0, NODES_MAX, NULL, "0", "nodes",
	    "Nodes under one leaf switch; 0: all of them." },
	{ "network", "uplink", CONF_REAL, 0, RATE_MAX, NULL, "0", "GB/s",
	    "Rate of a leaf's uplinks together, each way; 0: no limit." },
	{ "network", "hop", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "Latency that other leaves add." },
	VIA("mpi", "yes"),
	VIA("rma", "yes"),
	VIA("ipc", "yes"),
	VIA("xccl", "no"),
	{ "step", "overhead", CONF_SPAN, 0, LATENCY_MAX, NULL, "0", "s",
	    "What a rank needs to start a step of a channel." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};
