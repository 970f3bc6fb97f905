/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.c - the promised values, and how they are judged.
 */
#include "schema/promise.h"

#include <stddef.h>

const struct conf_row options_promise[] = {
	{ "promise", "about", CONF_STRING, 0, 400, NULL, "", "",
	    "Short description of the cluster." },
	{ "promise", "source", CONF_STRING, 0, 400, NULL, "", "",
	    "Source of the promised values, for example the number of a "
	    "contract." },
	{ "promise", "nodes", CONF_STRING, 0, 100000, NULL, "all", "",
	    "Nodes of the promise: all, or a hostlist. Nodes of another class "
	    "need a separate file." },
	{ "promise", "guessed", CONF_STRING, 0, 400, NULL, "", "",
	    "Keys whose values are neither from the topology nor from --gbps, "
	    "separated by commas. The report names them. Remove a key from the "
	    "list after checking its value." },
	{ "promise", "gpu", CONF_STRING, 0, 40, NULL, "", "",
	    "Class of the GPUs, for example h100. With promise.fabric it "
	    "selects published results that the report shows for "
	    "comparison." },
	{ "promise", "fabric", CONF_STRING, 0, 40, NULL, "", "",
	    "Class of the fabric, for example efa, roce or infiniband." },
	{ "nic", "count", CONF_INT, 1, 64, NULL, "1", "1",
	    "Number of NICs (rails) of a node that carry MPI, in all planes." },
	{ "nic", "rate", CONF_REAL, 0.001, 100000, NULL, NULL, "Gbit/s",
	    "Rated speed of each NIC in each direction." },
	{ "nic", "mtu", CONF_INT, 0, 65535, NULL, "0", "bytes",
	    "MTU of each NIC that carries MPI, and of the path between any "
	    "two. 0: not promised." },
	{ "leaf", "oversubscription", CONF_REAL, 0, 1000, NULL, "0", "1",
	    "Rate of all nodes of a leaf over the rate of its uplinks: 1 is "
	    "non-blocking. 0: not promised; then collectives and the soak are "
	    "not measured on several leaves." },
	{ "memory", "rate", CONF_REAL, 0, 1000000, NULL, "0", "GB/s",
	    "Rate at which one rank copies memory. 0: the rate of the typical "
	    "node, measured at the same time." },
	{ "collective", "names", CONF_CHOICES, 0, 0,
	    "none|allreduce|allgather|reduce-scatter|alltoall", "none", "",
	    "Collectives of all nodes at once that are measured. none: not "
	    "promised." },
	{ "collective", "share", CONF_REAL, 0.1, 1, NULL, "0.8", "1",
	    "Promised share of the predicted bandwidth of a collective." },
	{ "incast", "senders", CONF_CHOICES, 0, 0, "none|2|4|8|16|32|64",
	    "none", "",
	    "Numbers of nodes that send to one node at the same time. Numbers "
	    "that need more nodes are not measured. none: not promised." },
	{ "incast", "share", CONF_REAL, 0.1, 1, NULL, "0.8", "1",
	    "Promised share of the receiver's nic.rate that all senders "
	    "together reach." },
	{ "congestion", "impact", CONF_REAL, 0, 1000, NULL, "0", "1",
	    "Promised limit of the factor by which congestion slows "
	    "latency, bandwidth and allreduce of other nodes in the campaign "
	    "gpcnet, in the mean. 0: not promised." },
	{ "congestion", "loads", CONF_CHOICES, 0, 0, "25|50|75|100",
	    "25,50,75,100", "",
	    "Shares of the time in which congestors send, in percent." },
	{ "soak", "time", CONF_SPAN, 0, 86400, NULL, "0", "s",
	    "Duration of an alltoall of all nodes, which must keep the "
	    "promised bandwidth of collectives. 0: not promised." },
	{ "accept", "share", CONF_REAL, 0.5, 0.999, NULL, "0.95", "1",
	    "Share of the promised value that a part must reach: with 0.95 a "
	    "part that is 5 % slower keeps its promise." },
	{ "accept", "efficiency", CONF_REAL, 0.1, 1, NULL, "0.85", "1",
	    "Minimum efficiency: the share of the rated speed that remains "
	    "after headers and protocols, as measured on the nodes. With a "
	    "lower efficiency the result is undetermined." },
	{ "accept", "error", CONF_REAL, 0.001, 0.2, NULL, "0.05", "1",
	    "Highest probability that at least one part of the report is "
	    "wrongly passed, and highest probability that at least one part "
	    "is wrongly failed." },
	{ "accept", "found", CONF_REAL, 0.3, 0.99, NULL, "0.9", "1",
	    "A part at this share of its promised value is detected with "
	    "probability 0.95. A share closer to 1 finds smaller defects and "
	    "needs more rounds." },
	{ "accept", "scatter", CONF_REAL, 0.001, 0.5, NULL, "0.02", "1",
	    "Assumed relative difference of equal runs, for the number of "
	    "rounds of the first judgement." },
	{ "accept", "time", CONF_SPAN, 0.1, 600, NULL, "1s", "s",
	    "Time of each measurement." },
	{ NULL },
};
