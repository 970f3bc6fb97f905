/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.js - what plans did, set beside what was to be expected: a model, a
 * bound, the MPI's own way, the other nodes.
 */
import { ratioBars } from "./bars.js";
import { h, section, table } from "./dom.js";
import { bytes, digits, known, list, nodeLink, pill, rate, value } from
	"./words.js";

const NODES_MAX = 64; /* rows of a table; the worst come first */

/* [{label, got, mark, told}]: a bar for what was got, a mark for what was to be
 * expected where that is known. */
function bars(rows) {
	const full = Math.max(...rows.map(r => Math.max(r.got, r.mark || 0)));
	const bar = r => {
		const got = h("div", { class: "got" + (r.other ? " other" : "") });
		const expected = h("div", { class: "expected" });
		got.style.width = r.got / full * 100 + "%";
		expected.style.left = r.mark / full * 100 + "%";
		return h("div", { class: "against" }, got, known(r.mark) &&
			expected);
	};
	return h("div", { class: "impacts" }, rows.map(r => [
		h("span", { class: "label", title: r.label }, r.label),
		h("div", { class: "chart" }, bar(r)),
		h("span", { class: "value" }, h("b", null, rate(r.got)), " ",
			known(r.mark) && h("small", null, digits(r.got / r.mark *
				100) + " % of " + rate(r.mark)))]));
}

/* Whole plans that were run. */
const measured = r => r.bandwidth ? r.bandwidth.median_middle : undefined;
export const hasBar = r => known(measured(r)) && r.of !== "step";

export function modelBars(records) {
	const rows = records.filter(hasBar);
	return section("Bandwidth", "bar: measured" + (rows.some(r =>
		known(r.model)) ? "; mark: predicted for " + rows.find(r =>
		known(r.model)).machine : ""), bars(rows.map(r => ({
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

/* A plan against another way to do the same. */
export const isRatio = r => (r.probe === "speedup" || r.probe === "spmm") &&
	known(r.value);

export function speedupBars(records) {
	return section("Speed-up over the baseline", "above 1× the plan is faster",
		ratioBars(records.filter(isRatio).map(r => ({ test: r.plan +
			(r.of === "multipath" && known(r.bytes) ? ", " +
			bytes(r.bytes) : ""), of: r.baseline, value: r.value,
			interval: r.interval }))));
}

/* What was to be measured and was not, with the reason. */
export const hasCause = r => r.cause && !known(r.value) &&
	!known(measured(r));

export function causesTable(records) {
	return section("Not measured", null, table([["Plan"], ["Cause"],
		["", "wrap"]], records.filter(hasCause).map(r => [r.plan ||
		r.probe, pill(r.cause, "bad"), r.text || ""])));
}

/* Who was slow in a plan: nodes against the model, or how often the slowest. */
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

/* What interfaces carried, beside what a plan should have sent. */
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
