/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns.c - the keys of campaign files, probe by probe. The keys of runs and
 * canaries are in campaign.inc, the keys of a composition's shape in shape.inc.
 */
#include "schema/options.h"

#include <stddef.h>

#include "schema/names_gpu.h"
#include "schema/names_probe.h"

#define DAY_S                86400.0
#define GIB                  (1024.0 * 1024 * 1024)
#define RANKS_MAX            65536
#define COUNT_MAX            1125899906842624.0 /* 2^50: no product of them overflows */
#define SEED_MAX             9007199254740992.0 /* 2^53: exact as a double */
#define TYPES                "int32|int64|float|double|half|bfloat16|byte"
#define TYPES_OPS            "int32|int64|float|double|half|bfloat16"
#define NEIGHBOR_RANKS_MAX   4096
#define NEIGHBOR_DEVICES_MAX 64
#define BINDING_DEVICES_MAX  256
#define RATE_MAX             1e6 /* GB/s */
#define ALLREDUCE_RANKS_MAX  1024
#define PATHS_CHUNKS_MAX     4096
#define VIAS                 "auto|mpi|rma|ipc|ipc-put|ipc-get|xccl"

/* How auto is resolved: transport_choose_vias. */
#define VIA_AUTO ". For auto see coalmine-plan(7)."
/* Of each section with a via. */
#define PIECE(section)                                                         \
	{                                                                      \
		section, "piece", CONF_BYTES, 0, GIB, NULL, "0", "bytes",      \
		    "Transports mpi and rma cut longer messages into pieces "  \
		    "of this size; short pieces need no rendezvous. 0: the "   \
		    "fewest pieces."                                           \
	}

static const struct conf_row own[] = {
#include "schema/campaign.inc"
};

/* section, key, type, min, max, allowed, default, unit, text */
const struct conf_row options_campaign[] = {
#include "schema/campaign.inc"
	{ "group", "pattern", CONF_CHOICE, 0, 0, "rail|asymmetric|symmetric",
	    "rail", "",
	    "rail: device i with device i of the other groups; asymmetric: the "
	    "first k devices with all; symmetric: the first k with the first "
	    "k." },
	{ "group", "direction", CONF_CHOICE, 0, 0, "out|in|bi|omni", "out", "",
	    "From the first group, to it, both, or between all groups." },
	{ "group", "n", CONF_INT, 2, RANKS_MAX, NULL, "2", "groups",
	    "Groups (nodes)." },
	{ "group", "g", CONF_INT, 1, RANKS_MAX, NULL, "1", "devices",
	    "Devices (ranks) of a group." },
	{ "group", "k", CONF_INT, 1, RANKS_MAX, NULL, "1", "devices",
	    "Active devices of a group, at most g." },
	{ "group", "count", CONF_INT, 1, COUNT_MAX, NULL, "1048576", "elements",
	    "Elements that one active device sends in all, to every other "
	    "group in the asymmetric pattern." },
	{ "group", "type", CONF_CHOICE, 0, 0, TYPES, "int32", "",
	    "Element type." },
	{ "group", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport" VIA_AUTO },
	PIECE("group"),
	{ "stripe", "g", CONF_INT, 1, RANKS_MAX / 2, NULL, "1", "devices",
	    "Devices of each of the two nodes, one stripe each." },
	{ "stripe", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Message size, unless count is given." },
	{ "stripe", "count", CONF_INT, 0, COUNT_MAX, NULL, "0", "elements",
	    "Message size in elements of type; stripes then hold whole ones." },
	{ "stripe", "type", CONF_CHOICE, 0, 0, TYPES, "int32", "",
	    "Element type of count." },
	{ "stripe", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of all steps, or three: split, translate, "
	    "assemble" VIA_AUTO },
	PIECE("stripe"),
	{ "self", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Size of each rank's copy to itself." },
	{ "self", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport" VIA_AUTO },
	PIECE("self"),
	{ "pairs", "g", CONF_INT, 1, RANKS_MAX / 2, NULL, "1", "devices",
	    "Devices (ranks) of a node; each exchanges with the same one of "
	    "the other node." },
	{ "pairs", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Bytes that each device sends, and receives." },
	{ "pairs", "pieces", CONF_INT, 1, 4096, NULL, "8", "messages",
	    "Number of messages, all in flight at once." },
	{ "pairs", "shift", CONF_INT, 0, 1, NULL, "0", "nodes",
	    "0: nodes 0 and 1, 2 and 3, ...; 1: nodes 1 and 2, 3 and 4, ..." },
	{ "pairs", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport" VIA_AUTO },
	PIECE("pairs"),
	{ "binding", "g", CONF_INT, 2, BINDING_DEVICES_MAX, NULL, "2",
	    "devices", "Devices of each of the two nodes." },
	{ "binding", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "16M", "bytes",
	    "Bytes that each active device sends in every measurement." },
	{ "binding", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport" VIA_AUTO },
	PIECE("binding"),
	{ "binding", "tolerance", CONF_REAL, 0.001, 1, NULL, "0.1", "1",
	    "Relative error up to which a model of the binding is accepted." },
	{ "binding", "weak", CONF_REAL, 0, 1, NULL, "0.75", "1",
	    "A rail whose bandwidth alone is less than this share of the "
	    "others' is reported." },
	{ "moe", "experts", CONF_INT, 0, RANKS_MAX, NULL, "0", "experts",
	    "Number of experts, the same number on each rank. 0: one a rank." },
	{ "moe", "top_k", CONF_INT, 1, 64, NULL, "2", "experts",
	    "Experts that each token goes to." },
	{ "moe", "tokens", CONF_INT, 1, 16777216, NULL, "4096", "tokens",
	    "Tokens of a rank." },
	{ "moe", "bytes", CONF_BYTES, 1, 1024 * 1024, NULL, "14K", "bytes",
	    "Size of a token." },
	{ "moe", "zipf", CONF_REAL, 0, 4, NULL, "0.5", "1",
	    "Skew of the popularity of experts: the expert at place i in order "
	    "of popularity has weight i to the power of minus this. 0: "
	    "equal." },
	{ "moe", "loads", CONF_STRING, 0, 4000, NULL, "", "",
	    "A file with the weight of each expert, whole numbers, in place of "
	    "zipf: a histogram of a model's own routing." },
	{ "moe", "seed", CONF_INT, 0, SEED_MAX, NULL, "0", "1",
	    "Seed that draws which experts are popular. 0: the first ones, on "
	    "the first ranks." },
	{ "moe", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport" VIA_AUTO },
	PIECE("moe"),
	{ "kv", "count", CONF_INT, 1, 1048576, NULL, "1024", "blocks",
	    "Blocks of each sender, a message each." },
	{ "kv", "bytes", CONF_BYTES, 1, GIB, NULL, "64K", "bytes",
	    "Size of a block." },
	{ "kv", "pairs", CONF_INT, 0, RANKS_MAX / 2, NULL, "0", "pairs",
	    "Number of sending ranks, the first ones; each sends to one of the "
	    "same number of last ranks. 0: half of the ranks." },
	{ "kv", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport" VIA_AUTO },
	PIECE("kv"),
	{ "pipeline", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "16M", "bytes",
	    "Size of a micro-batch between two ranks." },
	{ "pipeline", "batches", CONF_INT, 1, 4096, NULL, "8", "batches",
	    "Micro-batches, one after the other." },
	{ "pipeline", "backward", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Also send a gradient back for each micro-batch." },
	{ "pipeline", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport" VIA_AUTO },
	PIECE("pipeline"),
	{ "sparse", "file", CONF_STRING, 0, 4000, NULL, "", "",
	    "A matrix (senders rows, elements) or lines src dst bytes: a file, "
	    "or the shipped halo8." },
	{ "sparse", "format", CONF_CHOICE, 0, 0, "auto|matrix|list", "auto", "",
	    "Format of the file; auto recognises a list by its three "
	    "columns." },
	{ "sparse", "g", CONF_INT, 1, RANKS_MAX, NULL, "1", "ranks",
	    "Consecutive ranks that share a node." },
	{ "sparse", "stripes", CONF_INT, 0, RANKS_MAX, NULL, "0", "stripes",
	    "Stripes of a message between nodes, at most g; 0: direct." },
	{ "sparse", "type", CONF_CHOICE, 0, 0, TYPES, "int32", "",
	    "Element type of a matrix; a list counts bytes." },
	{ "sparse", "scope", CONF_CHOICE, 0, 0, "all|intra|inter", "all", "",
	    "Which entries to use: all, within nodes, between nodes." },
	{ "sparse", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of all steps, or three: split, translate, "
	    "assemble" VIA_AUTO },
	PIECE("sparse"),
	{ "collective", "name", CONF_CHOICE, 0, 0, NAMES_COLLECTIVES,
	    "broadcast", "", "The collective." },
	{ "collective", "form", CONF_STRING, 1, 80, NULL, "default", "",
	    "single, default, or steps from right to left, for example "
	    "allgather.scatter." },
	{ "collective", "ranks", CONF_INT, 0, RANKS_MAX, NULL, "0", "ranks",
	    "Ranks that take part. 0: all." },
	{ "collective", "count", CONF_INT, 1, COUNT_MAX, NULL, "1024",
	    "elements",
	    "Elements of a block; a rank's buffer has a block for "
	    "every rank." },
	{ "collective", "type", CONF_CHOICE, 0, 0, TYPES_OPS, "int32", "",
	    "Element type." },
	{ "collective", "op", CONF_CHOICE, 0, 0, "sum|prod|min|max|land|lor",
	    "sum", "", "Reduction." },
	{ "collective", "root", CONF_INT, 0, RANKS_MAX, NULL, "0", "",
	    "Root of broadcast, reduce, gather and scatter." },
	{ "collective", "hierarchy", CONF_STRING, 1, 200, NULL, "flat", "",
	    "Factors separated by commas, outermost first, for example 2,2,3; "
	    "their product is the number of ranks. auto: leaves, nodes, and "
	    "near devices within nodes." },
	{ "collective", "tune", CONF_CHOICE, 0, 0, "no|auto", "no", "",
	    "auto: options hierarchy, stripe, ring, depth and via that are not "
	    "set are chosen by prediction for the machine." },
	{ "collective", "table", CONF_STRING, 0, 4000, NULL, "", "",
	    "File that stores the measurements and choices of tune = auto "
	    "between runs. Empty: every run measures." },
	{ "collective", "machine", CONF_STRING, 0, 400, NULL, "", "",
	    "Machine for tune = auto, a name or file. Empty: the machine of "
	    "predict, otherwise the local one." },
#define SECTION "collective"
#include "schema/shape.inc"
#undef SECTION
	{ "compose", "steps", CONF_STRING, 0, 65536, NULL, "", "",
	    "Primitives separated by |, for example: for i in all: reduce "
	    "send[i] of all to recv of i." },
	{ "compose", "file", CONF_STRING, 0, 4000, NULL, "", "",
	    "Instead of steps: a file with one primitive a line." },
	{ "compose", "buffers", CONF_STRING, 1, 4000, NULL,
	    "send:in:ranks,recv:out:ranks", "",
	    "Buffers as name:role:blocks, separated by commas; roles are in, "
	    "out and temp, blocks are a number or ranks." },
	{ "compose", "ranks", CONF_INT, 0, RANKS_MAX, NULL, "0", "ranks",
	    "Ranks that take part. 0: all." },
	{ "compose", "count", CONF_INT, 1, COUNT_MAX, NULL, "1024", "elements",
	    "Elements of a block." },
	{ "compose", "type", CONF_CHOICE, 0, 0, TYPES_OPS, "int32", "",
	    "Element type." },
	{ "compose", "op", CONF_CHOICE, 0, 0, "sum|prod|min|max|land|lor",
	    "sum", "", "Reduction." },
	{ "compose", "root", CONF_INT, 0, RANKS_MAX, NULL, "0", "",
	    "Value of root in steps." },
	{ "compose", "hierarchy", CONF_STRING, 1, 200, NULL, "flat", "",
	    "Factors separated by commas, outermost first; their product is "
	    "the number of ranks; or auto." },
#define SECTION "compose"
#include "schema/shape.inc"
#undef SECTION
	{ "neighbor", "graph", CONF_STRING, 0, 4000, NULL, "", "",
	    "The edges: a file of lines src dst. One of graph, rsg, moore, "
	    "cart and matrix is required." },
	{ "neighbor", "rsg", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Random sparse graph: the probability of each edge." },
	{ "neighbor", "seed", CONF_INT, 0, SEED_MAX, NULL, "1", "",
	    "Seed of rsg." },
	{ "neighbor", "moore", CONF_STRING, 0, 40, NULL, "", "",
	    "Moore neighborhood on a torus: dimensions,radius, for example "
	    "2,1." },
	{ "neighbor", "cart", CONF_INT, 1, 8, NULL, "2", "dimensions",
	    "Nearest neighbours on a torus with this many dimensions." },
	{ "neighbor", "matrix", CONF_STRING, 0, 4000, NULL, "", "",
	    "Edges of a product with this sparse matrix, a Matrix Market "
	    "file." },
	{ "neighbor", "columns", CONF_INT, 0, 16777216, NULL, "0", "columns",
	    "Columns of the dense matrix, 8 bytes each. 0: the number of "
	    "rows." },
	{ "neighbor", "ranks", CONF_INT, 0, NEIGHBOR_RANKS_MAX, NULL, "0",
	    "ranks", "Ranks that take part. 0: all." },
	{ "neighbor", "per_node", CONF_INT, 1, NEIGHBOR_DEVICES_MAX, NULL, "8",
	    "ranks",
	    "Ranks of a node, one a device; the last may have fewer." },
	{ "neighbor", "topology", CONF_STRING, 0, 4000, NULL, "mi250", "",
	    "Links between devices: mi250, mi250x, none, machine (of the local "
	    "host) or a file." },
	{ "neighbor", "bytes", CONF_BYTES, 0, COUNT_MAX, NULL, "1M", "bytes",
	    "Bytes that each rank sends." },
	{ "neighbor", "sizes", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with the bytes of each rank, in place of bytes: one number "
	    "for each rank." },
	{ "neighbor", "unit", CONF_BYTES, 1, COUNT_MAX, NULL, "1", "bytes",
	    "Messages are cut at multiples of this." },
	{ "neighbor", "threshold", CONF_BYTES, 0, COUNT_MAX, NULL, "0", "bytes",
	    "Smaller messages go directly." },
	{ "neighbor", "order", CONF_CHOICE, 0, 0, "phased|dataflow", "phased",
	    "",
	    "phased: a rank completes a step before the next; dataflow: it "
	    "continues with each source as its pieces arrive." },
	{ "neighbor", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of all steps, or three: scatter, exchange, "
	    "peer" VIA_AUTO },
	PIECE("neighbor"),
	{ "multipath", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Message size." },
	{ "multipath", "unit", CONF_BYTES, 1, COUNT_MAX, NULL, "1", "bytes",
	    "The message is cut at multiples of this." },
	{ "multipath", "share", CONF_STRING, 1, 800, NULL, "auto", "",
	    "Shares of the other paths than the direct one, separated by "
	    "commas: host, then each relay. auto: by the model." },
	{ "multipath", "chunks", CONF_INT, 0, PATHS_CHUNKS_MAX, NULL, "0",
	    "chunks", "Chunks of each staged path; 0: by the model." },
	{ "multipath", "chunks_max", CONF_INT, 1, PATHS_CHUNKS_MAX, NULL, "64",
	    "chunks", "Most chunks that the model may choose." },
	{ "multipath", "streams", CONF_INT, 1, 64, NULL, "8", "streams",
	    "Chunks of a path in flight at the same time, each with its own "
	    "staging buffer." },
	{ "multipath", "host", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Use a path through pinned memory of the sender's host." },
	{ "multipath", "relays", CONF_INT, 0, 63, NULL, "0", "devices",
	    "Paths through other devices, ranks 2 and up." },
	{ "multipath", "direct_rate", CONF_REAL, 0.001, RATE_MAX, NULL, "72",
	    "GB/s", "For the model: rate of the direct path." },
	{ "multipath", "direct_setup", CONF_SPAN, 0, 10, NULL, "10us", "s",
	    "Fixed cost of a copy on it." },
	{ "multipath", "host_in", CONF_REAL, 0.001, RATE_MAX, NULL, "61",
	    "GB/s", "For the model: rate from the device to its host." },
	{ "multipath", "host_out", CONF_REAL, 0.001, RATE_MAX, NULL, "61",
	    "GB/s", "Rate from the host to the other device." },
	{ "multipath", "host_setup", CONF_SPAN, 0, 10, NULL, "15us", "s",
	    "Cost of starting the path through the host." },
	{ "multipath", "relay_in", CONF_REAL, 0.001, RATE_MAX, NULL, "72",
	    "GB/s", "For the model: rate from the device to a relay." },
	{ "multipath", "relay_out", CONF_REAL, 0.001, RATE_MAX, NULL, "72",
	    "GB/s", "Rate from a relay to the other device." },
	{ "multipath", "relay_setup", CONF_SPAN, 0, 10, NULL, "15us", "s",
	    "Cost of starting a path through a relay." },
	{ "multipath", "chunk_setup", CONF_SPAN, 0, 10, NULL, "10us", "s",
	    "Cost of a chunk on each of its two stages." },
	{ "multipath", "tune", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Run on streams of measure.device within one rank: one path "
	    "against several over sizes, tuned." },
	{ "multipath", "table", CONF_STRING, 0, 4000, NULL, "", "",
	    "File in which the tuner stores its results." },
	{ "multipath", "frozen", CONF_BOOL, 0, 0, NULL, "no", "",
	    "The tuner repeats its last decision and does not learn." },
	{ "multipath", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of all steps, or three: direct, in, out" VIA_AUTO },
	PIECE("multipath"),
	{ "allreduce", "form", CONF_CHOICE, 0, 0, "auto|flat|hierarchical",
	    "auto", "",
	    "flat: each device reduces its part; hierarchical: by sockets and "
	    "their leaders; auto: flat if all devices have links to each "
	    "other." },
	{ "allreduce", "machine", CONF_STRING, 0, 4000, NULL, "", "",
	    "A machine file or its name; its links decide the form and the "
	    "sockets." },
	{ "allreduce", "ranks", CONF_INT, 0, ALLREDUCE_RANKS_MAX, NULL, "0",
	    "ranks", "Ranks that take part. 0: all." },
	{ "allreduce", "per_socket", CONF_INT, 0, ALLREDUCE_RANKS_MAX, NULL,
	    "0", "ranks",
	    "Consecutive ranks of a socket. 0: as in the machine, otherwise "
	    "2." },
	{ "allreduce", "per_node", CONF_INT, 0, ALLREDUCE_RANKS_MAX, NULL, "0",
	    "ranks",
	    "Consecutive ranks of a node. 0: as in the machine, otherwise "
	    "all." },
	{ "allreduce", "count", CONF_INT, 1, COUNT_MAX, NULL, "1048576",
	    "elements", "Elements of the vector." },
	{ "allreduce", "type", CONF_CHOICE, 0, 0, TYPES_OPS, "float", "",
	    "Element type." },
	{ "allreduce", "op", CONF_CHOICE, 0, 0, "sum|prod|min|max|land|lor",
	    "sum", "", "Reduction." },
	{ "allreduce", "chunks", CONF_INT, 0, 4096, NULL, "0", "chunks",
	    "Pieces of the pipeline. 0: 2 up to 4 MiB, 4 up to 16, 8 up to 64, "
	    "otherwise 16." },
	{ "allreduce", "in_place", CONF_BOOL, 0, 0, NULL, "no", "",
	    "The result replaces the data." },
	{ "allreduce", "multipath", CONF_CHOICE, 0, 0, "none|idle|socket",
	    "idle", "",
	    "Use of several paths within a socket: never, while nothing moves "
	    "between sockets, or always." },
	{ "allreduce", "share", CONF_REAL, 0, 1, NULL, "0.25", "1",
	    "Share of the data through the host, if several paths are used." },
	{ "allreduce", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of all transfers, or two: between devices, to and from "
	    "the host" VIA_AUTO },
	PIECE("allreduce"),
	{ "measure", "device", CONF_CHOICE, 0, 0, NAMES_DEVICES, "host", "",
	    "Memory of the buffers." },
	{ "measure", "gpu_aware", CONF_CHOICE, 0, 0, "auto|yes|no", "auto", "",
	    "Whether the MPI gets pointers to device memory. auto: if it "
	    "reports support on all ranks; yes or no override it. A first byte "
	    "verifies it; otherwise messages go through pinned host memory." },
	{ "measure", "via", CONF_CHOICE, 0, 0, "auto|mpi|xccl", "auto", "",
	    "Transport of canaries and congestors on a device: the MPI, or "
	    "NCCL or RCCL. auto: mpi if it accepts pointers to device memory, "
	    "else xccl, else mpi through host memory. Plan probes have their "
	    "own option via." },
	{ "measure", "share_gpu", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether ranks of a campaign may share a GPU; each then gets a "
	    "part of its bandwidth." },
	{ "measure", "machine", CONF_STRING, 0, 400, NULL, "", "",
	    "Machine, a name or file, on which every plan is predicted in "
	    "addition to the measurement, and for which options that are auto "
	    "are chosen. Empty: none." },
	{ "measure", "bounds", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Before collectives, measure the bandwidth between two nodes and "
	    "of the link of each node, and report the resulting bounds." },
	{ "measure", "sizes", CONF_STRING, 0, 200, NULL, "", "",
	    "Message sizes in place of the size of the probe: a list as 4,64K, "
	    "or first, last and factor as 4K..64M x4." },
	{ "measure", "vary", CONF_STRING, 0, 400, NULL, "", "",
	    "An option of the probe and its values, separated by blanks, each "
	    "measured in turn: rsg 0.05 0.2 0.4. With several probes: "
	    "allreduce.form flat hierarchical." },
	{ "measure", "steps", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Also measure each step of a plan separately." },
	{ "measure", "concurrent", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Also measure all probes of the campaign at the same time." },
	{ "measure", "warmup", CONF_INT, 0, 100000, NULL, "2", "1",
	    "Iterations before the counted ones." },
	{ "measure", "iterations", CONF_INT, 1, 100000, NULL, "100000", "1",
	    "Counted iterations. Not set: until the median is precise, at most "
	    "this many." },
	{ "measure", "time", CONF_SPAN, 0.001, 3600, NULL, "1s", "s",
	    "Time limit of one measurement, if iterations are not set." },
	{ "measure", "precision", CONF_REAL, 0.001, 1, NULL, "0.05", "1",
	    "A measurement ends when the 95 % interval of the median is this "
	    "narrow." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row *const options_patterns = options_campaign +
    sizeof(own) / sizeof(own[0]);
