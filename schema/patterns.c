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
		    "Maximum size of a message: transports mpi and rma cut "   \
		    "longer messages into pieces of this size. Pieces up to "  \
		    "the eager limit of the MPI are sent without waiting for " \
		    "the receiver. 0: the fewest pieces."                      \
	}

static const struct conf_row own[] = {
#include "schema/campaign.inc"
};

/* section, key, type, min, max, allowed, default, unit, text */
const struct conf_row options_campaign[] = {
#include "schema/campaign.inc"
	{ "group", "pattern", CONF_CHOICE, 0, 0, "rail|asymmetric|symmetric",
	    "rail", "",
	    "Which devices communicate. rail: device i with device i of the "
	    "other groups. asymmetric: the first k devices of one group with "
	    "all devices of the others. symmetric: the first k devices of "
	    "one group with the first k of the others." },
	{ "group", "direction", CONF_CHOICE, 0, 0, "out|in|bi|omni", "out", "",
	    "Direction of the data: out (from the first group to the "
	    "others), in (from the others to the first), bi (both), omni "
	    "(between all groups)." },
	{ "group", "n", CONF_INT, 2, RANKS_MAX, NULL, "2", "groups",
	    "Number of groups. A group is usually a node." },
	{ "group", "g", CONF_INT, 1, RANKS_MAX, NULL, "1", "devices",
	    "Number of devices in a group. A device is a rank." },
	{ "group", "k", CONF_INT, 1, RANKS_MAX, NULL, "1", "devices",
	    "Number of active devices in a group, at most g." },
	{ "group", "count", CONF_INT, 1, COUNT_MAX, NULL, "1048576", "elements",
	    "Number of elements that one active device sends in total; in "
	    "the asymmetric pattern, to each of the other groups." },
	{ "group", "type", CONF_CHOICE, 0, 0, TYPES, "int32", "",
	    "Type of the elements." },
	{ "group", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport of the messages" VIA_AUTO },
	PIECE("group"),
	{ "stripe", "g", CONF_INT, 1, RANKS_MAX / 2, NULL, "1", "devices",
	    "Number of devices (ranks) on each of the two nodes. The message "
	    "is cut into one stripe for each." },
	{ "stripe", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Size of the message from one node to the other. Not used if "
	    "count is set." },
	{ "stripe", "count", CONF_INT, 0, COUNT_MAX, NULL, "0", "elements",
	    "Size of the message in elements of type, so that a stripe ends "
	    "with a whole element. 0: bytes applies." },
	{ "stripe", "type", CONF_CHOICE, 0, 0, TYPES, "int32", "",
	    "Type of the elements that count refers to." },
	{ "stripe", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of the messages: one for all steps, or one for each "
	    "of the three steps split, translate, assemble" VIA_AUTO },
	PIECE("stripe"),
	{ "self", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Number of bytes that each rank copies within its own memory." },
	{ "self", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport of the copy" VIA_AUTO },
	PIECE("self"),
	{ "pairs", "g", CONF_INT, 1, RANKS_MAX / 2, NULL, "1", "devices",
	    "Number of devices (ranks) on a node. Device i of a node "
	    "exchanges messages with device i of the other node." },
	{ "pairs", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Number of bytes that each device sends, and the number that it "
	    "receives." },
	{ "pairs", "pieces", CONF_INT, 1, 4096, NULL, "8", "messages",
	    "Number of messages into which the bytes are divided. All are in "
	    "flight at once." },
	{ "pairs", "shift", CONF_INT, 0, 2, NULL, "0", "nodes",
	    "Which nodes are paired. 0: nodes 0 and 1, 2 and 3, and so on. "
	    "1: nodes 1 and 2, 3 and 4, and so on. 2: nodes 2 and 3, 4 and 5, "
	    "and so on. The first node follows the last." },
	{ "pairs", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport of the messages" VIA_AUTO },
	PIECE("pairs"),
	{ "binding", "g", CONF_INT, 2, BINDING_DEVICES_MAX, NULL, "2",
	    "devices", "Number of devices (ranks) on each of the two nodes." },
	{ "binding", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "16M", "bytes",
	    "Number of bytes that each active device sends in every "
	    "measurement." },
	{ "binding", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport of the messages" VIA_AUTO },
	PIECE("binding"),
	{ "binding", "tolerance", CONF_REAL, 0.001, 1, NULL, "0.1", "1",
	    "Maximum relative error at which a model of the binding (which "
	    "NIC serves which device) is accepted. 0.1 is 10 %." },
	{ "binding", "weak", CONF_REAL, 0, 1, NULL, "0.75", "1",
	    "A rail (NIC) is reported as slow if its bandwidth alone is less "
	    "than this share of the other rails' bandwidth." },
	{ "moe", "experts", CONF_INT, 0, RANKS_MAX, NULL, "0", "experts",
	    "Number of experts in total, the same number on each rank. 0: "
	    "one expert on each rank." },
	{ "moe", "top_k", CONF_INT, 1, 64, NULL, "2", "experts",
	    "Number of experts to which each token is sent." },
	{ "moe", "tokens", CONF_INT, 1, 16777216, NULL, "4096", "tokens",
	    "Number of tokens on each rank." },
	{ "moe", "bytes", CONF_BYTES, 1, 1024 * 1024, NULL, "14K", "bytes",
	    "Size of a token." },
	{ "moe", "zipf", CONF_REAL, 0, 4, NULL, "0.5", "1",
	    "Skew of the popularity of experts (Zipf's law): the i-th most "
	    "popular expert has weight 1 / i^zipf. 0: all are equally "
	    "popular." },
	{ "moe", "loads", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with the weight of each expert, in whole numbers, for "
	    "example a histogram of a model's own routing. The weights replace "
	    "those of zipf. Empty: zipf applies." },
	{ "moe", "seed", CONF_INT, 0, SEED_MAX, NULL, "0", "1",
	    "Random seed that selects which experts are popular. 0: the "
	    "first ones, on the first ranks." },
	{ "moe", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport of the messages" VIA_AUTO },
	PIECE("moe"),
	{ "kv", "count", CONF_INT, 1, 1048576, NULL, "1024", "blocks",
	    "Number of blocks that each sender sends, one message for each." },
	{ "kv", "bytes", CONF_BYTES, 1, GIB, NULL, "64K", "bytes",
	    "Size of a block." },
	{ "kv", "pairs", CONF_INT, 0, RANKS_MAX / 2, NULL, "0", "pairs",
	    "Number of pairs of ranks: of this many first ranks, each sends to "
	    "one of the last ranks. 0: half of the ranks send to the other "
	    "half." },
	{ "kv", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport of the messages" VIA_AUTO },
	PIECE("kv"),
	{ "pipeline", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "16M", "bytes",
	    "Size of the data that a rank sends to the next one for each "
	    "micro-batch." },
	{ "pipeline", "batches", CONF_INT, 1, 4096, NULL, "8", "batches",
	    "Number of micro-batches that pass along the chain of ranks, one "
	    "after the other." },
	{ "pipeline", "backward", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether a gradient is also sent back along the chain for each "
	    "micro-batch." },
	{ "pipeline", "via", CONF_CHOICE, 0, 0, VIAS, "auto", "",
	    "Transport of the messages" VIA_AUTO },
	PIECE("pipeline"),
	{ "sparse", "file", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with the bytes between ranks: a matrix (a row for each "
	    "sender, numbers of elements), or a line with source, "
	    "destination and bytes for each message. halo8 names a file that "
	    "is shipped." },
	{ "sparse", "format", CONF_CHOICE, 0, 0, "auto|matrix|list", "auto", "",
	    "Format of the file. auto: a file with three columns is a list, "
	    "any other a matrix." },
	{ "sparse", "g", CONF_INT, 1, RANKS_MAX, NULL, "1", "ranks",
	    "Number of consecutive ranks on a node." },
	{ "sparse", "stripes", CONF_INT, 0, RANKS_MAX, NULL, "0", "stripes",
	    "Number of stripes into which a message between nodes is cut, at "
	    "most g. 0: each message is sent directly." },
	{ "sparse", "type", CONF_CHOICE, 0, 0, TYPES, "int32", "",
	    "Type of the elements that a matrix counts. A list counts bytes." },
	{ "sparse", "scope", CONF_CHOICE, 0, 0, "all|intra|inter", "all", "",
	    "Which messages of the file are sent: all, intra (within nodes) "
	    "or inter (between nodes)." },
	{ "sparse", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of the messages: one for all steps, or one for each "
	    "of the three steps split, translate, assemble" VIA_AUTO },
	PIECE("sparse"),
	{ "collective", "name", CONF_CHOICE, 0, 0, NAMES_COLLECTIVES,
	    "broadcast", "", "Name of the collective operation." },
	{ "collective", "form", CONF_STRING, 1, 80, NULL, "default", "",
	    "How the collective is composed: single (one primitive), "
	    "default, or steps from right to left. allgather.scatter is a "
	    "scatter followed by an allgather." },
	{ "collective", "ranks", CONF_INT, 0, RANKS_MAX, NULL, "0", "ranks",
	    "Number of ranks that take part. 0: all ranks." },
	{ "collective", "count", CONF_INT, 1, COUNT_MAX, NULL, "1024",
	    "elements",
	    "Number of elements in a block. The larger buffer of a rank has "
	    "one block for every rank." },
	{ "collective", "type", CONF_CHOICE, 0, 0, TYPES_OPS, "int32", "",
	    "Type of the elements." },
	{ "collective", "op", CONF_CHOICE, 0, 0, "sum|prod|min|max|land|lor",
	    "sum", "", "Operation by which a reduction combines elements." },
	{ "collective", "root", CONF_INT, 0, RANKS_MAX, NULL, "0", "",
	    "Rank that is the root of broadcast, reduce, gather and scatter." },
	{ "collective", "hierarchy", CONF_STRING, 1, 200, NULL, "flat", "",
	    "Levels of the machine as factors, outermost first: 2,2,3 is 2 "
	    "groups of 2 nodes with 3 ranks each. The product is the number "
	    "of ranks. flat: one level. auto: leaves, nodes, and near "
	    "devices within nodes." },
	{ "collective", "exchange", CONF_CHOICE, 0, 0,
	    "none|recursive|swing|bine", "none", "",
	    "Pairs of ranks exchange in about log2(ranks) rounds: recursive "
	    "(halving and doubling), swing or bine; hierarchy then only "
	    "selects transports. none: the collective is composed." },
	{ "collective", "tune", CONF_CHOICE, 0, 0, "no|auto", "no", "",
	    "auto: options form, exchange, hierarchy, stripe, ring, depth and "
	    "via that are not set are chosen by prediction for the machine. "
	    "no: these options have their defaults." },
	{ "collective", "table", CONF_STRING, 0, 4000, NULL, "", "",
	    "Path of a file in which tune = auto stores its measurements and "
	    "the chosen shapes. Later runs read this file and do not measure "
	    "again. Empty: every run measures." },
	{ "collective", "machine", CONF_STRING, 0, 400, NULL, "", "",
	    "Machine for which tune = auto predicts: a name or file of "
	    "coalmine-machine(5). Empty: the machine of predict, otherwise "
	    "the local one." },
#define SECTION "collective"
#include "schema/shape.inc"
#undef SECTION
	{ "compose", "steps", CONF_STRING, 0, 65536, NULL, "", "",
	    "Steps of the composition, primitives of coalmine-plan(7) "
	    "separated by |, for example: for i in all: reduce send[i] of "
	    "all to recv of i." },
	{ "compose", "file", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with the steps, one primitive a line, in place of option "
	    "steps. Empty: steps applies." },
	{ "compose", "buffers", CONF_STRING, 1, 4000, NULL,
	    "send:in:ranks,recv:out:ranks", "",
	    "Buffers of each rank as name:role:blocks, separated by commas. "
	    "The role is in, out or temp. blocks is a number, or ranks: one "
	    "block for every rank." },
	{ "compose", "ranks", CONF_INT, 0, RANKS_MAX, NULL, "0", "ranks",
	    "Number of ranks that take part. 0: all ranks." },
	{ "compose", "count", CONF_INT, 1, COUNT_MAX, NULL, "1024", "elements",
	    "Number of elements in a block." },
	{ "compose", "type", CONF_CHOICE, 0, 0, TYPES_OPS, "int32", "",
	    "Type of the elements." },
	{ "compose", "op", CONF_CHOICE, 0, 0, "sum|prod|min|max|land|lor",
	    "sum", "", "Operation by which reduce combines elements." },
	{ "compose", "root", CONF_INT, 0, RANKS_MAX, NULL, "0", "",
	    "Rank to which the word root refers in steps." },
	{ "compose", "hierarchy", CONF_STRING, 1, 200, NULL, "flat", "",
	    "Levels of the machine as factors, outermost first, for example "
	    "2,2,3. The product is the number of ranks. flat: one level. "
	    "auto: leaves, nodes, and near devices within nodes." },
#define SECTION "compose"
#include "schema/shape.inc"
#undef SECTION
	{ "neighbor", "graph", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with the edges of the graph, a line with source and "
	    "destination rank for each. Exactly one of graph, rsg, moore, "
	    "cart and matrix is required." },
	{ "neighbor", "rsg", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Random sparse graph: the probability that a rank sends to "
	    "another one." },
	{ "neighbor", "seed", CONF_INT, 0, SEED_MAX, NULL, "1", "",
	    "Random seed of the graph of rsg." },
	{ "neighbor", "moore", CONF_STRING, 0, 40, NULL, "", "",
	    "Moore neighborhood on a torus: each rank sends to all ranks "
	    "within a radius. The value is the number of dimensions and the "
	    "radius, for example 2,1." },
	{ "neighbor", "cart", CONF_INT, 1, 8, NULL, "2", "dimensions",
	    "Torus with this many dimensions: each rank sends to its nearest "
	    "neighbours." },
	{ "neighbor", "matrix", CONF_STRING, 0, 4000, NULL, "", "",
	    "Sparse matrix, a Matrix Market file. Ranks exchange the rows "
	    "that the product of this matrix and a dense one needs." },
	{ "neighbor", "columns", CONF_INT, 0, 16777216, NULL, "0", "columns",
	    "For matrix: number of columns of the dense matrix, with 8 bytes "
	    "an element. 0: as many as the sparse matrix has rows." },
	{ "neighbor", "ranks", CONF_INT, 0, NEIGHBOR_RANKS_MAX, NULL, "0",
	    "ranks", "Number of ranks that take part. 0: all ranks." },
	{ "neighbor", "per_node", CONF_INT, 1, NEIGHBOR_DEVICES_MAX, NULL, "8",
	    "ranks",
	    "Number of ranks on a node, one for each device. The last node "
	    "may have fewer." },
	{ "neighbor", "topology", CONF_STRING, 0, 4000, NULL, "mi250", "",
	    "Links between the devices of a node: mi250, mi250x, none (no "
	    "links), machine (read from the local host), or a file in the "
	    "format of coalmine-plan(7)." },
	{ "neighbor", "bytes", CONF_BYTES, 0, COUNT_MAX, NULL, "1M", "bytes",
	    "Number of bytes that each rank sends to each of its neighbours." },
	{ "neighbor", "sizes", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with one number for each rank: the bytes that the rank sends "
	    "to each of its neighbours. The file replaces option bytes. Empty: "
	    "bytes applies." },
	{ "neighbor", "unit", CONF_BYTES, 1, COUNT_MAX, NULL, "1", "bytes",
	    "Messages are cut only at multiples of this size, for example "
	    "the size of an element." },
	{ "neighbor", "threshold", CONF_BYTES, 0, COUNT_MAX, NULL, "0", "bytes",
	    "Messages smaller than this are sent directly, not in pieces by "
	    "several ranks." },
	{ "neighbor", "order", CONF_CHOICE, 0, 0, "phased|dataflow", "phased",
	    "",
	    "When a rank begins the next of the three steps scatter, exchange, "
	    "peer. phased: when it has completed the previous step for the "
	    "data of all sources. dataflow: for the data of each source "
	    "separately, when it has completed the previous step for this "
	    "source." },
	{ "neighbor", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of the messages: one for all steps, or one for each "
	    "of the three steps scatter, exchange, peer" VIA_AUTO },
	PIECE("neighbor"),
	{ "multipath", "bytes", CONF_BYTES, 1, COUNT_MAX, NULL, "64M", "bytes",
	    "Size of the message from device 0 to device 1." },
	{ "multipath", "unit", CONF_BYTES, 1, COUNT_MAX, NULL, "1", "bytes",
	    "The message is cut only at multiples of this size, for example "
	    "the size of an element." },
	{ "multipath", "share", CONF_STRING, 1, 800, NULL, "auto", "",
	    "Shares of the message for the paths other than the direct one, "
	    "separated by commas: first the path through the host, then each "
	    "relay. auto: calculated from the rates and fixed costs of the "
	    "paths (options direct_rate to chunk_setup)." },
	{ "multipath", "chunks", CONF_INT, 0, PATHS_CHUNKS_MAX, NULL, "0",
	    "chunks",
	    "Number of chunks on each path through the host or a relay. 0: "
	    "calculated from the rates and fixed costs of the paths." },
	{ "multipath", "chunks_max", CONF_INT, 1, PATHS_CHUNKS_MAX, NULL, "64",
	    "chunks", "Maximum number of chunks on a path with chunks = 0." },
	{ "multipath", "streams", CONF_INT, 1, 64, NULL, "8", "streams",
	    "Number of chunks of a path in flight at the same time, each "
	    "with a separate staging buffer." },
	{ "multipath", "host", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether one path goes through pinned memory of the sender's "
	    "host." },
	{ "multipath", "relays", CONF_INT, 0, 63, NULL, "0", "devices",
	    "Number of paths through other devices (relays), which are ranks "
	    "2 and up." },
	{ "multipath", "direct_rate", CONF_REAL, 0.001, RATE_MAX, NULL, "72",
	    "GB/s",
	    "Rate of the direct path between the two devices. Used to "
	    "calculate the shares if share is auto, and the number of chunks "
	    "if chunks is 0." },
	{ "multipath", "direct_setup", CONF_SPAN, 0, 10, NULL, "10us", "s",
	    "Fixed cost of a copy on the direct path. Used to calculate the "
	    "shares if share is auto, and the number of chunks if chunks is "
	    "0." },
	{ "multipath", "host_in", CONF_REAL, 0.001, RATE_MAX, NULL, "61",
	    "GB/s",
	    "Rate from the sending device to its host. Used to calculate the "
	    "shares if share is auto, and the number of chunks if chunks is "
	    "0." },
	{ "multipath", "host_out", CONF_REAL, 0.001, RATE_MAX, NULL, "61",
	    "GB/s",
	    "Rate from the host to the receiving device. Used to calculate the "
	    "shares if share is auto, and the number of chunks if chunks is "
	    "0." },
	{ "multipath", "host_setup", CONF_SPAN, 0, 10, NULL, "15us", "s",
	    "Fixed cost of starting the path through the host. Used to "
	    "calculate the shares if share is auto, and the number of chunks "
	    "if chunks is 0." },
	{ "multipath", "relay_in", CONF_REAL, 0.001, RATE_MAX, NULL, "72",
	    "GB/s",
	    "Rate from the sending device to a relay. Used to calculate the "
	    "shares if share is auto, and the number of chunks if chunks is "
	    "0." },
	{ "multipath", "relay_out", CONF_REAL, 0.001, RATE_MAX, NULL, "72",
	    "GB/s",
	    "Rate from a relay to the receiving device. Used to calculate the "
	    "shares if share is auto, and the number of chunks if chunks is "
	    "0." },
	{ "multipath", "relay_setup", CONF_SPAN, 0, 10, NULL, "15us", "s",
	    "Fixed cost of starting a path through a relay. Used to calculate "
	    "the shares if share is auto, and the number of chunks if chunks "
	    "is 0." },
	{ "multipath", "chunk_setup", CONF_SPAN, 0, 10, NULL, "10us", "s",
	    "Fixed cost of each of the two copies of a chunk (to the host or "
	    "relay, and from it). Used to calculate the shares if share is "
	    "auto, and the number of chunks if chunks is 0." },
	{ "multipath", "tune", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether to tune the paths: one rank copies between two devices "
	    "of measure.device, by one path and by several, for a range of "
	    "sizes, and the best shares are found." },
	{ "multipath", "table", CONF_STRING, 0, 4000, NULL, "", "",
	    "Path of a file in which tune = yes stores its results for later "
	    "runs. Empty: the results are not stored." },
	{ "multipath", "frozen", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether tune = yes only repeats its last decision and does not "
	    "learn." },
	{ "multipath", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of the messages: one for all steps, or one each for "
	    "direct, in (to the host or relay) and out (from it)" VIA_AUTO },
	PIECE("multipath"),
	{ "allreduce", "form", CONF_CHOICE, 0, 0, "auto|flat|hierarchical",
	    "auto", "",
	    "flat: each device reduces its part of the vector. hierarchical: "
	    "first within sockets, then between the leaders of sockets. "
	    "auto: flat if every device has a link to every other one." },
	{ "allreduce", "machine", CONF_STRING, 0, 4000, NULL, "", "",
	    "Machine whose links decide the form and the sockets: a name or "
	    "file of coalmine-machine(5). Empty: none." },
	{ "allreduce", "ranks", CONF_INT, 0, ALLREDUCE_RANKS_MAX, NULL, "0",
	    "ranks", "Number of ranks that take part. 0: all ranks." },
	{ "allreduce", "per_socket", CONF_INT, 0, ALLREDUCE_RANKS_MAX, NULL,
	    "0", "ranks",
	    "Number of consecutive ranks on a socket. 0: as in the machine, "
	    "otherwise 2." },
	{ "allreduce", "per_node", CONF_INT, 0, ALLREDUCE_RANKS_MAX, NULL, "0",
	    "ranks",
	    "Number of consecutive ranks on a node. 0: as in the machine, "
	    "otherwise all ranks." },
	{ "allreduce", "count", CONF_INT, 1, COUNT_MAX, NULL, "1048576",
	    "elements", "Number of elements in the vector." },
	{ "allreduce", "type", CONF_CHOICE, 0, 0, TYPES_OPS, "float", "",
	    "Type of the elements." },
	{ "allreduce", "op", CONF_CHOICE, 0, 0, "sum|prod|min|max|land|lor",
	    "sum", "", "Operation by which elements are combined." },
	{ "allreduce", "chunks", CONF_INT, 0, 4096, NULL, "0", "chunks",
	    "Number of chunks into which the vector is cut, so that steps "
	    "overlap. 0: 2 for vectors up to 4 MiB, 4 up to 16 MiB, 8 up to "
	    "64 MiB, otherwise 16." },
	{ "allreduce", "in_place", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether the result replaces the input." },
	{ "allreduce", "multipath", CONF_CHOICE, 0, 0, "none|idle|socket",
	    "idle", "",
	    "When transfers within a socket use several paths: none (never), "
	    "idle (while no data moves between sockets) or socket (always)." },
	{ "allreduce", "share", CONF_REAL, 0, 1, NULL, "0.25", "1",
	    "Share of the data that goes through the host when several paths "
	    "are used." },
	{ "allreduce", "via", CONF_CHOICES, 0, 0, VIAS, "auto", "",
	    "Transport of the messages: one for all, or two: between "
	    "devices, and to and from the host" VIA_AUTO },
	PIECE("allreduce"),
	{ "measure", "device", CONF_CHOICE, 0, 0, NAMES_DEVICES, "host", "",
	    "Memory of the message buffers: host memory or GPU memory." },
	{ "measure", "gpu_aware", CONF_CHOICE, 0, 0, "auto|yes|no", "auto", "",
	    "Whether pointers to GPU memory are passed to the MPI. auto: yes "
	    "if the MPI reports support on all ranks. yes and no override this "
	    "report. Before the measurement a byte is sent from GPU memory and "
	    "verified. If the byte is wrong, messages go through pinned host "
	    "memory." },
	{ "measure", "via", CONF_CHOICE, 0, 0, "auto|mpi|xccl", "auto", "",
	    "Transport of canaries and congestors on a device: the MPI (mpi), "
	    "or NCCL or RCCL (xccl). auto: mpi if the MPI accepts pointers to "
	    "device memory, else xccl, else mpi through host memory. Plan "
	    "probes have their own option via." },
	{ "measure", "share_gpu", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether several ranks of a campaign may use one GPU. Each rank "
	    "then gets a part of the bandwidth of this GPU." },
	{ "measure", "machine", CONF_STRING, 0, 400, NULL, "", "",
	    "Machine, a name or file of coalmine-machine(5), for which every "
	    "plan is also predicted and for which options with value auto "
	    "are chosen. Empty: none." },
	{ "measure", "bounds", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether the bandwidth between two nodes and the bandwidth of each "
	    "node's link are measured before collectives. From them the report "
	    "calculates upper bounds for the bandwidth of the collectives." },
	{ "measure", "sizes", CONF_STRING, 0, 200, NULL, "", "",
	    "Message sizes to measure, in place of the size of the probe: a "
	    "list, such as 4,64K, or the first size, the last one and a "
	    "factor, such as 4K..64M x4. Empty: the size of the probe." },
	{ "measure", "vary", CONF_STRING, 0, 400, NULL, "", "",
	    "An option of the probe and its values, separated by blanks. Each "
	    "value is measured in turn. For example, vary = rsg 0.05 0.2 0.4 "
	    "measures probe neighbor with neighbor.rsg = 0.05, then 0.2, then "
	    "0.4. With several probes in a campaign, write the option with "
	    "its section: allreduce.form flat hierarchical. Empty: no option "
	    "is varied." },
	{ "measure", "steps", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether each step of a plan is also measured separately." },
	{ "measure", "concurrent", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether all probes of the campaign are also measured while they "
	    "run at the same time." },
	{ "measure", "warmup", CONF_INT, 0, 100000, NULL, "2", "1",
	    "Number of iterations before the measured ones. Their times are "
	    "not counted." },
	{ "measure", "iterations", CONF_INT, 1, 100000, NULL, "100000", "1",
	    "Number of measured iterations. If this option is not set, a "
	    "measurement continues until measure.precision or measure.time is "
	    "reached, or for 100000 iterations." },
	{ "measure", "time", CONF_SPAN, 0.001, 3600, NULL, "1s", "s",
	    "Time limit of one measurement. No effect if measure.iterations "
	    "is set." },
	{ "measure", "stuck", CONF_SPAN, 0.1, 3600, NULL, "10s", "s",
	    "Time without any complete message after which a plan is stuck, "
	    "in addition to the time that its messages need: the run then "
	    "ends, and both nodes of a pending message are named. The first "
	    "run of a plan may need the time of 10 Mbit/s, later ones 50 times "
	    "the longest wait so far." },
	{ "measure", "precision", CONF_REAL, 0.001, 1, NULL, "0.05", "1",
	    "A measurement ends when the 95 % confidence interval of the "
	    "median is this narrow, relative to the median. 0.05 is 5 %." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row *const options_patterns = options_campaign +
    sizeof(own) / sizeof(own[0]);
