/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.js - results of plans compared with the expected ones: a model, a
 * bound, the MPI's own operation, the other nodes.
 */
import { curves, ratioBars } from "./bars.js";
import { h, s, section, table } from "./dom.js";
import { bytes, digits, known, list, nodeLink, pill, rate, seconds, times,
	value } from "./words.js";

const NODES_MAX = 64; /* rows of a table; the worst come first */

/* rows: [{label, got, mark, other}]: a bar for the measured value, a mark for
 * the expected one where it is known; tell(v): a value in words. */
function bars(rows, tell = rate) {
	const full = Math.max(...rows.map(r => Math.max(r.got, r.mark || 0)));
	const W = 400, H = 22, x = v => v / full * W;
	const bar = r => s("svg", { class: "against", viewBox: "0 0 " + W +
		" " + H, preserveAspectRatio: "none", height: H,
		"aria-hidden": true }, s("rect", { class: "track", y: 5,
		width: W, height: H - 10 }), s("rect", { class: r.other ?
		"other" : "got", y: 5, width: x(r.got), height: H - 10 }),
	known(r.mark) && s("line", { class: "expected", x1: x(r.mark),
		x2: x(r.mark), y1: 2, y2: H - 2,
		"vector-effect": "non-scaling-stroke" }));
	return h("div", { class: "impacts" }, rows.map(r => [
		h("span", { class: "label", title: r.label }, r.label),
		h("div", { class: "chart" }, bar(r)),
		h("span", { class: "value" }, h("b", null, tell(r.got)), " ",
			known(r.mark) && h("small", null, digits(r.got / r.mark *
				100) + " % of " + tell(r.mark)))]));
}

/* Measurements of whole plans. */
const measured = r => r.bandwidth ? r.bandwidth.median_middle : undefined;
export const hasBar = r => known(measured(r)) && r.of !== "step";

export function modelBars(records) {
	const rows = records.filter(hasBar);
	return section("Bandwidth", "bar: measured" + (rows.some(r =>
		known(r.model)) ? "; mark: predicted" : "") + (rows.some(r =>
		known(r.model) && r.machine) ? " for " + rows.find(r =>
		known(r.model) && r.machine).machine : ""), bars(rows.map(r => ({
		label: r.plan || r.probe, got: measured(r), mark: r.model }))));
}

/* Collectives: ours, and the library's in turns with it, under the bound. */
export const hasThroughput = r => r.probe === "speedup" &&
	known(r.throughput);

export function throughputBars(records) {
	const rows = records.filter(hasThroughput).flatMap(r => [{
		label: r.collective ? r.collective + " of " + bytes(r.bytes) :
			r.plan,
		got: r.throughput, mark: r.bound },
	known(r.baseline_throughput) && { label: "by " + r.baseline, other: 1,
		got: r.baseline_throughput, mark: r.bound }]).filter(Boolean);
	return section("Throughput", "blue: the plan; grey: its baseline; " +
		"mark: what the links between two nodes allow", bars(rows));
}

/* A plan compared with another method for the same operation. */
export const isRatio = r => (r.probe === "speedup" || r.probe === "spmm") &&
	known(r.value);

export function speedupBars(records) {
	return section("Speed-up over the baseline", "above 1× the plan is faster",
		ratioBars(records.filter(isRatio).map(r => ({ test: r.plan +
			(r.of === "multipath" && known(r.bytes) ? ", " +
			bytes(r.bytes) : ""), of: r.baseline +
			(known(r.load_bound) ? ", at most " +
			times(r.load_bound) : ""), value: r.value,
			interval: r.interval }))));
}

/* Bytes between nodes of a neighborhood collective: each graph once, however
 * many sizes were measured on it. */
export const isGraph = r => r.probe === "speedup" && r.of === "neighbor" &&
	known(r.byte_ratio);

export function trafficBars(records) {
	const graphs = new Map(records.filter(isGraph).map(r => [[r.density,
		r.ranks, r.edges].join(), r]));
	return section("Traffic between nodes", "bar: bytes of the MPI's " +
		"collective over bytes of the plan; mark: mean of such graphs",
	bars([...graphs.values()].map(r => ({ label: "density " +
		digits(r.density) + ", " + r.ranks + " ranks, " + r.edges +
		" edges", got: r.byte_ratio, mark: r.byte_ratio_expected })),
	times));
}

/* Groups over more and more nodes: the busiest node, under its rated ports. */
export const isScale = r => r.probe === "group" && r.of === "whole" &&
	known(r.node_bandwidth);

export function scaleBars(records) {
	const curves = new Map(); /* of each number of nodes the largest size */
	for (const r of records.filter(isScale)) {
		const key = [r.pattern, r.direction, r.k, r.groups].join();
		if (!curves.has(key) || curves.get(key).bytes < r.bytes)
			curves.set(key, r);
	}
	return section("Bandwidth of the busiest node", "each direction; mark: " +
		"rate of its ports", bars([...curves.values()].map(r => ({
		label: r.groups + " nodes, " + r.pattern + " " + r.direction +
			" k=" + r.k, got: r.node_bandwidth, mark: r.rated }))));
}

/* Lines with two points or more, of records that differ in x only: rate by x,
 * the newest of each x. */
function linesOf(records, name, x, y) {
	const lines = new Map();
	for (const r of records.filter(r => x(r) > 0 && y(r) > 0)) {
		if (!lines.has(name(r)))
			lines.set(name(r), new Map());
		lines.get(name(r)).set(x(r), y(r));
	}
	return [...lines].map(([of, points]) => ({ name: of,
		points: [...points].sort((a, b) => a[0] - b[0]) }))
		.filter(l => l.points.length > 1);
}
const sizeLines = records => linesOf(records.filter(r => hasBar(r) &&
	r.of === "whole"), r => (r.plan || r.probe).replace(/ ?bytes=\S+/, "") +
	(known(r.groups) ? ", " + r.groups + " nodes" : ""), r => r.bytes,
measured);
const nodeLines = records => linesOf(records.filter(isScale), r => [r.pattern,
	r.direction, "k=" + r.k, bytes(r.bytes)].join(" "), r => r.groups,
r => r.node_bandwidth);
export const hasSizes = records => sizeLines(records).length > 0;
export const sizeCurves = records => curves("Bandwidth over size",
	"by bytes of the plan, logarithmic", sizeLines(records), bytes);
export const hasScaling = records => nodeLines(records).length > 0;
export const scaleCurves = records => curves("Scaling",
	"bandwidth of the busiest node over the number of nodes, logarithmic",
	nodeLines(records), n => n + " nodes");

/* Bandwidth over the number of active devices, and the fitted model. */
export const isFit = r => r.probe === "fit" && list(r.profile).length > 0;

export function profileBars(fit, records) {
	const base = k => records.find(r => r.probe === "speedup" &&
		r.of === "binding" && r.plan === fit.pattern + " k=" + k &&
		known(r.baseline_throughput));
	return section("Profile", fit.text.split(";")[0] + "; mark: model",
		bars(fit.profile.flatMap(p => [{ label: "k=" + p.k,
			got: p.bandwidth, mark: p.model }, base(p.k) && {
			label: "by " + base(p.k).baseline, other: 1,
			got: base(p.k).baseline_throughput }]).filter(Boolean)));
}

/* Small messages: at most 16 bytes each. */
const SMALL_BYTES = 16;
export const hasLatency = r => hasBar(r) && known(r.median_middle) &&
	r.bytes / r.messages <= SMALL_BYTES;

export const latencyBars = records => section("Latency of small messages",
	"median", bars(records.filter(hasLatency).map(r => ({ label: r.plan ||
		r.probe, got: r.median_middle })), seconds));

/* Measurements that were skipped, with the reason. */
export const hasCause = r => r.cause && !known(r.value) &&
	!known(measured(r));

export function causesTable(records) {
	return section("Not measured", null, table([["Plan"], ["Cause"],
		["", "wrap"]], records.filter(hasCause).map(r => [r.plan ||
		r.probe, pill(r.cause, "bad"), r.text || ""])));
}

/* Slow nodes of a plan: compared with the model, or how often the slowest. */
export const hasNodes = r => r.bandwidth && r.of !== "step" &&
	list(r.nodes).some(n => known(n.seconds));

export function nodesTable(record) {
	const nodes = [...record.nodes].sort((a, b) => (a.ratio || 9e9) -
		(b.ratio || 9e9) || b.slowest - a.slowest);
	return section("Nodes of a plan", record.plan, table([["Node"],
		["Took", "n"], ["Predicted", "n"], ["of the model", "n"],
		["The slowest", "n"], ["Sent", "n"], ["Received", "n"]],
	nodes.slice(0, NODES_MAX).map(n => [nodeLink(n.node),
		value(n.seconds, "s"), value(n.predicted, "s"), known(n.ratio) ?
			digits(n.ratio * 100) + " %" : "–", known(n.slowest) ?
			n.slowest + " times" : "–", bytes(n.sent_bytes),
		bytes(n.received_bytes)])));
}

/* Bytes that interfaces carried, and bytes that the plan should have sent. */
export const hasWire = r => list(r.wire).length > 0;

export function wireTable(record) {
	const pair = (is, want) => [known(is) ? bytes(is) : "–", known(want) ?
		bytes(want) : "–"];
	return section("Bytes on the wire", record.plan, table([["Node"],
		["By"], ["out", "n"], ["expected", "n"], ["in", "n"],
		["expected", "n"]], record.wire.slice(0, 2 * NODES_MAX).map(w =>
		[nodeLink(w.node), w.design, ...pair(w.out_bytes,
			w.expected_out_bytes), ...pair(w.in_bytes,
			w.expected_in_bytes)])));
}
