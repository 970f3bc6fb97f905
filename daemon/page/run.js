/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.js - results of one run: isolated compared with congested, pairs of
 * nodes, and the prediction. The page and the HTML report of coalctl use it.
 */
import { histogram, impactCard } from "./bars.js";
import { card, choice, facts, h, section, table } from "./dom.js";
import { heat, pairHeat } from "./heat.js";
import { causesTable, hasBar, hasCause, hasLatency, hasNodes, hasScaling,
	hasSizes, hasThroughput,
	hasWire, isFit, isGraph, isRatio, isScale, latencyBars, modelBars,
	nodesTable, profileBars, scaleBars, scaleCurves, sizeCurves, speedupBars,
	throughputBars,
	trafficBars, wireTable } from "./model.js";
import { at, bytes, digits, iso, isLive, known, list, nodeLink, now, pill,
	RUN_TONE, span, value } from "./words.js";

/* The number of hosts in "n[001-016,020],login1". */
function hostCount(text) {
	let count = 0;
	for (const [item] of text.matchAll(/[^,[]*(\[[^\]]*\][^,[]*)*/g)) {
		if (item === "")
			continue;
		let each = 1;
		for (const [, inner] of item.matchAll(/\[([^\]]*)\]/g))
			each *= inner.split(",").reduce((n, r) => {
				const [a, b] = r.split("-").map(Number);
				return n + (b === undefined ? 1 : b - a + 1);
			}, 0);
		count += each;
	}
	return count;
}
export const nodeCount = run => run.node_count !== undefined ?
	run.node_count : Array.isArray(run.nodes) ? run.nodes.length :
	run.nodes ? hostCount(run.nodes) : "–";
export function took(run) {
	const from = at(run.started_unix_ns), to = at(run.ended_unix_ns);
	return from === null ? "–" : span((to === null ? now() : to) - from);
}
export function progress(run) {
	const p = run.progress;
	if (!p || !known(p.share))
		return run.text || "";
	const bar = h("div");
	bar.style.width = Math.round(p.share * 100) + "%";
	return [[p.phase, p.test].filter(Boolean).join(", "),
		known(p.remaining_s) ? ", " + span(p.remaining_s) + " left" : "",
		h("div", { class: "bar" }, bar)];
}

function numbersCard(canaries) {
	return section("Canaries", null,
		table([["Test"], ["Phase"], ["n", "n"], ["mean", "n"],
			["p50", "n"], ["worst 1 %", "n"], ["worst 0.1 %", "n"],
			["worst", "n"],
			["95 % interval", "n"], ["Ended by"]],
		canaries.map(r => {
			const v = r.interval || {};
			return [r.test, r.phase, known(r.n) ?
				r.n.toLocaleString("en") : "–"].concat(
				/* Low rates are bad. */
				(r.unit === "B/s" ? ["mean", "p50", "p01", "p001",
					"min"] : ["mean", "p50", "p99", "p999",
					"max"]).map(k => value(r[k], r.unit)),
				known(v.lo) ? (v.of ? v.of + " " : "") +
					value(v.lo, r.unit) + " – " +
					value(v.hi, r.unit) : "–",
				r.cause ? h("span", { class: "pill bad" }, r.cause) :
					r.stopped_by || "");
		})));
}

const hasPairs = r => list(r.pairs).length > 0 || r.grid;

/* One picture at a time; the list above it selects it. */
function pairsCard(records, chosen, choose) {
	const rows = records.filter(hasPairs);
	const name = r => [r.test || r.pattern || r.probe, r.phase]
		.filter(Boolean).join(", ");
	const one = rows.find(r => name(r) === chosen) || rows.at(-1);
	return section(one.grid ? "Pairs" : "Worst pairs", one.grid ?
		"median of each pair; empty: not measured" :
		"median of each pair; empty: not among the worst pairs",
			choice("pairs of", rows.map(r => [name(r),
		name(r)]), name(one), choose), pairHeat(one));
}

/* Records of plans may have the bytes that each node sent. */
const matrixCards = records => records.filter(r => r.matrix &&
	list(r.matrix.bytes).length > 0).map(r => section("Bytes sent",
	[r.probe, r.pattern || r.name].filter(Boolean).join(" ") +
		": rows send, columns receive", heat(r.matrix.ranks,
		r.matrix.ranks, r.matrix.bytes, bytes)));

/* A table of all probes except canaries. */
function othersCard(records) {
	const plain = r => Object.entries(r).filter(([k, v]) => !["run", "seq",
		"probe", "value", "unit", "model", "cause", "plan", "n", "mean",
		"min", "p50", "p90", "p99", "p999", "max"].includes(k) &&
		typeof v !== "object").map(([k, v]) => k.replace(/_/g, " ") +
		" " + (known(v) && !Number.isInteger(v) ? v.toPrecision(4) :
			v)).join(", ");
	return section("All records of the plans", null, h("details", null,
		h("summary", null, records.length + " records"),
		table([["Probe"], ["Value", "n"], ["p50", "n"], ["", "wrap"]],
		records.map(r => [r.plan || r.probe, r.cause &&
			!known(r.value) ? pill(r.cause, "bad") : known(r.value) ?
			digits(r.value) : "–", value(r.p50, r.unit),
		plain(r)]))));
}

const runFacts = run => facts([["Campaign", h("a", { href: "#/campaign/" +
	encodeURIComponent(run.campaign) }, run.campaign)],
	["State", pill(run.state)], ["Reason", run.state === "finished" ?
		null : run.text || run.cause], ["Started",
		iso(run.started_unix_ns)], ["Took", took(run)],
	["Nodes", Array.isArray(run.nodes) ? run.nodes.map((n, i) =>
		[i > 0 && " ", nodeLink(n)]) : run.nodes],
	["Head", run.head && nodeLink(run.head)], ["MPI", run.mpi],
	["Ranks", run.ranks], ["Seed", run.seed], ["Records", run.records],
	["Overrides", run.overrides && Object.entries(run.overrides).map(
		([key, text]) => key + "=" + text).join(" ")],
	["By", run.by]]);

/* path: of the API; without it the card has no link to the records. */
export function headCard(run, path) {
	const tone = RUN_TONE[run.state] || "unknown";
	return h("section", { class: "verdict " + (tone === "info" ? "unknown" :
		tone) }, h("h1", null, run.run), isLive(run) && progress(run),
		runFacts(run), path && h("p", null, h("a", { href: "/api/v1/" +
			path + "/records" }, "records as JSON")));
}

const KNOWN_PROBES = ["begin", "phase", "canary", "impact", "end", "round",
	"congestor"];

/* Cards of plans; each is drawn again when another record has come. */
const planCards = records => [...[["model", hasBar, modelBars],
	["throughput", hasThroughput, throughputBars],
	["speedups", isRatio, speedupBars], ["traffic", isGraph, trafficBars],
	["scale", isScale, scaleBars], ["latency", hasLatency, latencyBars],
	["causes", hasCause, causesTable]].map(([id, has, draw]) =>
	records.some(has) && card(id, records.length, () => draw(records))),
hasSizes(records) && card("sizes", records.length, () => sizeCurves(records)),
hasScaling(records) && card("scaling", records.length, () =>
	scaleCurves(records)),
...[["fit", isFit, r => profileBars(r, records)], ["nodes", hasNodes,
	nodesTable], ["wire", hasWire, wireTable]].flatMap(([id, has, draw]) =>
	records.filter(has).map(r => card(id + "-" + r.seq, r.seq, () =>
		draw(r))))];

export function cardsOf(records, parameters, go) {
	const of = probe => records.filter(r => r.probe === probe);
	const canaries = of("canary");
	const impacts = of("impact").filter(r => known(r.value));
	const others = records.filter(r => !KNOWN_PROBES.includes(r.probe));
	const chosen = parameters.get("pairs");
	return [impacts.length > 0 && card("impact", impacts, () =>
		impactCard(impacts, "Congestion impact")),
		...planCards(others),
		...[...new Set(canaries.map(r => r.test))].map(t =>
			card("hist-" + t, canaries, () => histogram(t,
				canaries))),
		records.some(hasPairs) && card("pairs",
			[chosen, records.length], () => pairsCard(records,
				chosen, v => go({ pairs: v }))),
		...matrixCards(records).map((el, i) => card("bytes-" + i, i,
			() => el)),
		canaries.length > 0 && card("numbers", canaries, () =>
			numbersCard(canaries)),
		others.length > 0 && card("others", others, () =>
			othersCard(others))];
}
