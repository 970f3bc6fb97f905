/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first page: what is it like now, in one look. Everything comes from
 * /api/v1; every text goes into the page as text, never as HTML.
 */
"use strict";
(() => {

const REFRESH_MS = 5000;
const SUSPECT_Z = 4.5; /* robust z of a node that is slow without doubt */
const TILES_MAX = 160; /* more nodes than this are shown without names */
const PER_OCTAVE = 16; /* buckets of the histogram: 2^(i/16) */
const SVG = "http://www.w3.org/2000/svg";

/* Elements ---------------------------------------------------------------- */

function fill(el, attrs, kids) {
	for (const [key, value] of Object.entries(attrs || {}))
		if (value !== undefined && value !== null && value !== false)
			el.setAttribute(key, value);
	for (const kid of kids.flat(9))
		if (kid !== null && kid !== undefined && kid !== false)
			el.append(kid);
	return el;
}
const h = (tag, attrs, ...kids) =>
	fill(document.createElement(tag), attrs, kids);
const s = (tag, attrs, ...kids) =>
	fill(document.createElementNS(SVG, tag), attrs, kids);

function table(heads, rows) {
	const cell = (tag, head, kid) => h(tag, { class: head[1] || null },
		kid);
	return h("div", { class: "scroll" }, h("table", null,
		h("thead", null, h("tr", null,
			heads.map(head => cell("th", head, head[0])))),
		h("tbody", null, rows.map(row => h("tr", null,
			row.map((kid, i) => cell("td", heads[i], kid)))))));
}

/* Words ------------------------------------------------------------------- */

const known = x => typeof x === "number" && isFinite(x);

function digits(x) {
	const a = Math.abs(x);
	return x.toFixed(a >= 100 || a === 0 ? 0 : a >= 10 ? 1 : 2);
}
function scaled(x, steps, unit) {
	for (const [from, name] of steps)
		if (Math.abs(x) >= from)
			return digits(x / from) + " " + name;
	return digits(x) + " " + unit;
}
const seconds = x => scaled(x, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"],
	[1e-9, "ns"]], "s");
const rate = x => scaled(x, [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"]],
	"B/s");
const value = (x, unit) => !known(x) ? "–" :
	unit === "s" ? seconds(x) : rate(x);
const times = x => known(x) ? digits(x) + "×" : "–";

function span(s) {
	if (s < 1)
		return "0 s";
	if (s < 90)
		return Math.round(s) + " s";
	if (s < 5400)
		return Math.round(s / 60) + " min";
	if (s < 172800)
		return Math.round(s / 3600) + " h";
	return Math.round(s / 86400) + " d";
}
const at = ns => known(ns) && ns > 0 ? ns / 1e9 : null;
const now = () => Date.now() / 1000;
const ago = ns => at(ns) === null ? "–" : span(now() - at(ns)) + " ago";
const when = ns => at(ns) === null ? undefined :
	new Date(at(ns) * 1000).toISOString();
const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");

const RUN_TONE = { finished: "ok", running: "info", starting: "info",
	pending: "unknown", overdue: "warn", missed: "warn",
	cancelled: "unknown", preempted: "unknown", failed: "bad",
	"timed-out": "bad", nonstart: "bad" };
const pill = state => h("span", { class: "pill " +
	(RUN_TONE[state] || "unknown") }, state || "unknown");
const isLive = run => ["pending", "starting", "running", "overdue"]
	.includes(run.state);

/* From the collector ------------------------------------------------------ */

async function get(path) {
	const reply = await fetch("/api/v1/" + path);
	const body = await reply.json();
	if (!reply.ok)
		throw new Error(body.error ? body.error.message : reply.status);
	return body;
}
const list = x => Array.isArray(x) ? x : [];

/* The verdict: no data is never green -------------------------------------- */

const suspect = node => node.state !== "lost" && known(node.score) &&
	node.score >= SUSPECT_Z;

function newestImpacts(impacts) {
	const newest = new Map();
	for (const one of impacts) {
		const key = one.test + " " + one.of;
		if (known(one.value) && !newest.has(key))
			newest.set(key, one);
	}
	return [...newest.values()];
}

function findings(d) {
	const found = [];
	const lost = d.nodes.filter(n => n.state === "lost");
	const slow = d.nodes.filter(suspect);
	const names = l => l.slice(0, 8).map(n => n.node).join(", ") +
		(l.length > 8 ? " and " + (l.length - 8) + " more" : "");
	for (const diag of d.diags)
		found.push([diag.severity === "bad" ? "bad" :
			diag.severity === "info" ? "unknown" : "warn",
			diag.text, diag.remedy]);
	if (lost.length > 0 && !d.diags.some(x => /lost|silent/.test(x.text)))
		found.push([lost.length * 10 > d.nodes.length ? "bad" : "warn",
			plural(lost.length, "agent") + " lost: " + names(lost)]);
	for (const n of slow)
		found.push(["warn", n.node + " is slower than its peers",
			"robust z " + digits(n.score)]);
	const ended = d.runs.filter(r => !isLive(r) && r.state !== "cancelled");
	if (ended.length > 0 && RUN_TONE[ended[0].state] === "bad")
		found.push(["bad", "the newest run " + ended[0].state + ": " +
			(ended[0].text || ended[0].cause || "no reason given")]);
	const done = ended.find(r => r.state === "finished");
	for (const c of d.schedule) {
		if (!c.enabled || !(c.every_s > 0) || !done)
			continue;
		const last = d.runs.find(r => r.campaign === c.campaign &&
			r.state === "finished");
		if (last && now() - at(last.ended_unix_ns) > 3 * c.every_s)
			found.push(["warn", c.campaign + " last succeeded " +
				ago(last.ended_unix_ns),
				"it is due every " + span(c.every_s)]);
	}
	return { found, done, lost };
}

function headline(d, done, lost) {
	const heard = d.nodes.length - lost.length;
	const worst = newestImpacts(d.impacts).filter(i => i.of === "p99")
		.sort((a, b) => b.value - a.value)[0];
	const parts = [];
	if (d.nodes.length === 0)
		return "No agent has been seen yet";
	parts.push(lost.length === 0 ?
		"All " + plural(heard, "node") + " report" :
		heard + " of " + plural(d.nodes.length, "node") + " report");
	if (worst)
		parts.push("congestion costs up to " + times(worst.value) +
			" at p99");
	else if (!done)
		parts.push("nothing has been measured yet");
	return parts.join("; ");
}

function verdict(d) {
	const { found, done, lost } = findings(d);
	const rank = ["bad", "warn"].find(r => found.some(f => f[0] === r)) ||
		(d.nodes.length === 0 || !done ? "unknown" : "ok");
	return h("section", { class: "verdict " + rank },
		h("h1", null, headline(d, done, lost)),
		h("p", { class: "quiet" }, done ? ["Last success: ",
			h("a", { href: "#run=" + done.run }, done.campaign), ", ",
			ago(done.ended_unix_ns), "."] :
			"No run has finished."),
		found.length > 0 && h("ul", null, found.map(f =>
			h("li", { class: f[0] }, f[1],
				f[2] && h("span", null, " · " + f[2])))));
}

/* Nodes ------------------------------------------------------------------- */

const nodeTone = n => suspect(n) ? "suspect" : n.state || "unknown";

function nodeTile(n) {
	const score = known(n.score) ? "z " + digits(n.score) : "";
	const note = n.state === "lost" && at(n.last_seen_unix_ns) !== null ?
		"lost " + span(now() - at(n.last_seen_unix_ns)) :
		n.state !== "ok" ? n.state : score || "ok";
	return h("a", { class: "node " + nodeTone(n), href: "#node=" +
		encodeURIComponent(n.node), title: n.node + ": " + n.state +
		(score && ", " + score) }, h("b", null, n.node),
		h("i", null, note));
}

function nodesCard(d) {
	const many = d.nodes.length > TILES_MAX;
	const counts = new Map();
	for (const n of d.nodes)
		counts.set(nodeTone(n), (counts.get(nodeTone(n)) || 0) + 1);
	const grid = h("div", { class: "nodes" + (many ? " many" : "") });
	for (const n of d.nodes) {
		const tile = nodeTile(n);
		if (many)
			tile.replaceChildren();
		grid.append(tile);
	}
	return h("section", null,
		h("h2", null, "Nodes ", h("small", null, d.nodes.length)),
		d.nodes.length === 0 ? h("p", { class: "quiet" },
			"None yet. Start coalmine-agent on the nodes.") : grid,
		h("p", { class: "legend" }, ["ok", "suspect", "late", "busy",
			"lost"].filter(t => counts.has(t)).map(t =>
			h("span", { class: t }, counts.get(t) + " " + t))));
}

/* Pixels for a drawing in one of so many columns, so that its text keeps its
 * size. */
function roomFor(columns) {
	const all = document.getElementById("main").clientWidth - 32;
	const each = all > 728 ? (all - 14 * (columns - 1)) / columns : all;
	return Math.max(220, Math.round(each - 34));
}

/* Impact ------------------------------------------------------------------ */

function logScale(lo, hi, width) {
	const a = Math.log(lo), b = Math.log(hi);
	return x => (Math.log(x) - a) / (b - a) * width;
}
function ticks(lo, hi) {
	const all = [];
	for (let p = Math.floor(Math.log10(lo)); p <= Math.log10(hi); p++)
		for (const m of [1, 2, 5])
			if (m * 10 ** p >= lo && m * 10 ** p <= hi)
				all.push(m * 10 ** p);
	return all.length > 6 ? all.filter(x =>
		/^1/.test(x.toExponential())) : all;
}

function impactBars(impacts) {
	const W = 400, H = 22;
	const ends = impacts.flatMap(i => [i.value, i.interval && i.interval.lo,
		i.interval && i.interval.hi]).filter(x => known(x) && x > 0);
	const lo = Math.min(0.8, ...ends) * 0.95;
	const hi = Math.max(2, ...ends) * 1.15;
	const x = logScale(lo, hi, W);
	const marks = ticks(lo, hi);
	const grid = () => marks.map(t => s("line", { class: t === 1 ? "one" :
		"rule", x1: x(t), x2: x(t), y1: 0, y2: H }));
	const box = (height, ...kids) => s("svg", { viewBox: "0 0 " + W + " " +
		height, preserveAspectRatio: "none", height, "aria-hidden": true },
		kids);
	const rows = impacts.map(i => {
		const v = i.interval || {};
		const whole = known(v.lo) && known(v.hi) && v.lo > 0;
		return [h("span", { class: "label" }, i.test, " ", h("small",
			{ class: "quiet" }, i.of)),
		h("span", { class: "value" }, h("b", null, times(i.value)), " ",
			h("small", null, whole ? digits(v.lo) + " – " +
				digits(v.hi) : "")),
		h("div", { class: "chart" }, box(H, grid(),
			whole && s("line", { class: "span", x1: x(v.lo),
				x2: x(v.hi), y1: H / 2, y2: H / 2,
				"vector-effect": "non-scaling-stroke" }),
			i.value > 0 && s("line", { class: "span", x1: x(i.value),
				x2: x(i.value), y1: 4, y2: H - 4,
				"vector-effect": "non-scaling-stroke" })))];
	});
	const axis = h("div", { class: "axis" });
	axis.append(h("div", { class: "ticks" }));
	for (const t of marks) {
		const mark = h("span", null, (t < 1 ? t.toPrecision(1) : t) + "×");
		mark.style.left = x(t) / W * 100 + "%";
		axis.firstChild.append(mark);
	}
	return h("div", { class: "impacts" }, rows, axis);
}

function impactCard(impacts, title, note) {
	return h("section", null, h("h2", null, title, " ",
		h("small", null, note || "")),
		impacts.length === 0 ? h("p", { class: "quiet" },
			"Not measured yet.") : impactBars(impacts));
}

/* One test's impact over time: value and interval. */
function historyCard(d) {
	const all = newestImpacts(d.impacts).filter(i => i.of === "p99");
	const best = all.find(i => i.test === "lat") || all[0];
	const points = !best ? [] : d.impacts.filter(i => i.of === "p99" &&
		i.test === best.test && i.campaign === best.campaign &&
		known(i.value) && i.value > 0).reverse();
	if (points.length < 3)
		return null;
	const W = roomFor(2), H = 150, L = 34, B = 18;
	const time = p => at(p.created_unix_ns || p.at_unix_ns);
	const t0 = time(points[0]), t1 = time(points.at(-1));
	const low = p => known(p.interval.lo) ? p.interval.lo : p.value;
	const high = p => known(p.interval.hi) ? p.interval.hi : p.value;
	const lo = Math.min(1, ...points.map(low)) * 0.9;
	const hi = Math.max(2, ...points.map(high)) * 1.1;
	const scale = logScale(lo, hi, H - B);
	const x = p => L + (time(p) - t0) / Math.max(1, t1 - t0) *
		(W - L - 6);
	const y = v => H - B - scale(v);
	const path = f => points.map((p, i) => (i ? "L" : "M") +
		x(p).toFixed(1) + " " + y(f(p)).toFixed(1)).join("");
	const band = path(high) + points.slice().reverse().map(p => "L" +
		x(p).toFixed(1) + " " + y(low(p)).toFixed(1)).join("") + "Z";
	return h("section", null, h("h2", null, "Impact over time ",
		h("small", null, best.test + " p99, " + best.campaign)),
		s("svg", { viewBox: "0 0 " + W + " " + H, role: "img",
			"aria-label": "impact over time" },
			ticks(lo, hi).map(t => [s("line", { class: t === 1 ?
				"one" : "rule", x1: L, x2: W, y1: y(t), y2: y(t) }),
				s("text", { x: L - 6, y: y(t) + 4,
					"text-anchor": "end" }, t + "×")]),
			s("path", { class: "band", d: band }),
			s("path", { class: "thin", d: path(p => p.value) }),
			points.map(p => s("a", { href: "#run=" + p.run },
				s("circle", { class: "dot", cx: x(p),
					cy: y(p.value), r: 3 }, s("title", null,
					p.run + ": " + times(p.value))))),
			s("text", { x: L, y: H - 3 }, span(now() - t0) + " ago"),
			s("text", { x: W - 6, y: H - 3, "text-anchor": "end" },
				span(now() - t1) + " ago")));
}

/* Runs -------------------------------------------------------------------- */

/* How many hosts "n[001-016,020],login1" names. */
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
const nodeCount = run => Array.isArray(run.nodes) ? run.nodes.length :
	run.nodes ? hostCount(run.nodes) : "–";
function took(run) {
	const from = at(run.started_unix_ns), to = at(run.ended_unix_ns);
	return from === null ? "–" : span((to === null ? now() : to) - from);
}
function progress(run) {
	const p = run.progress;
	if (!p || !known(p.share))
		return run.text || "";
	const bar = h("div");
	bar.style.width = Math.round(p.share * 100) + "%";
	return [[p.phase, p.test].filter(Boolean).join(", "),
		known(p.remaining_s) ? ", " + span(p.remaining_s) + " left" : "",
		h("div", { class: "bar" }, bar)];
}

function runsCard(runs, title) {
	return h("section", null, h("h2", null, title || "Runs"),
		runs.length === 0 ? h("p", { class: "quiet" },
		"None yet. Try: coalctl campaign run gpcnet-quick --wait") :
		table([["Run"], ["Campaign", "hide"], ["State"], ["Started"],
			["Took", "n hide"], ["Nodes", "n hide"], ["", "wrap"]],
		runs.map(run => [
			h("a", { href: "#run=" + run.run }, run.run),
			run.campaign, pill(run.state),
			h("span", { title: when(run.started_unix_ns ||
				run.created_unix_ns) }, ago(run.started_unix_ns ||
				run.created_unix_ns)),
			took(run), nodeCount(run),
			isLive(run) ? progress(run) : run.state === "finished" ?
				"" : run.text || run.cause || ""])));
}

function scheduleCard(rows) {
	if (rows.length === 0)
		return null;
	const due = c => !c.enabled ? "off" : at(c.next_unix_ns) === null ?
		"by hand" : at(c.next_unix_ns) < now() ? "due" : "in " +
		span(at(c.next_unix_ns) - now());
	return h("section", null, h("h2", null, "Schedule"),
		table([["Campaign"], ["Every"], ["Next"], ["Last"]],
		rows.map(c => [c.campaign, c.every_s > 0 ? span(c.every_s) :
			c.at || "–", due(c), c.last_state ? h("a", c.last_run ?
			{ href: "#run=" + c.last_run } : null,
			pill(c.last_state)) : "–"])));
}

async function overview() {
	const [nodes, runs, impacts, diags, schedule] = await Promise.all([
		get("nodes"), get("runs?limit=15"), get("impacts?limit=400"),
		get("diags"), get("schedule")]);
	const d = { nodes: list(nodes), runs: list(runs),
		impacts: list(impacts), diags: list(diags),
		schedule: list(schedule) };
	const newest = newestImpacts(d.impacts);
	const order = i => i.test + (i.of === "p99" ? "0" : "1");
	newest.sort((a, b) => order(a) < order(b) ? -1 : 1);
	return [verdict(d), nodesCard(d),
		h("div", { class: "columns" },
			impactCard(newest, "Congestion impact",
				newest.length ? ago(newest[0].at_unix_ns) : ""),
			historyCard(d)),
		runsCard(d.runs), scheduleCard(d.schedule)];
}

/* A run ------------------------------------------------------------------- */

function histogram(test, records) {
	const W = roomFor(1), H = 190, B = 22, T = 16, MERGE = 2;
	const phases = records.filter(r => r.test === test &&
		list(r.hist).length > 0);
	if (phases.length === 0)
		return null;
	const unit = phases[0].unit;
	const mark = unit === "s" ? "p99" : "p50"; /* the tail that hurts */
	const curves = phases.map(r => {
		const merged = new Map();
		let n = 0;
		for (const [i, count] of r.hist) {
			const k = Math.ceil(i / MERGE);
			merged.set(k, (merged.get(k) || 0) + count);
			n += count;
		}
		return { r, merged, n };
	});
	const keys = curves.flatMap(c => [...c.merged.keys()]);
	const first = Math.min(...keys) - 1, last = Math.max(...keys) + 1;
	const x = k => (k - first) / (last - first) * W;
	const xv = v => x(Math.log2(v) * PER_OCTAVE / MERGE);
	const top = Math.max(...curves.flatMap(c => [...c.merged.values()]
		.map(v => v / c.n)));
	const y = share => H - B - share / top * (H - B - T);
	const shape = c => {
		let d = "M" + x(first) + " " + y(0);
		for (let k = first; k < last; k++) {
			const v = y((c.merged.get(k + 1) || 0) / c.n).toFixed(1);
			d += "L" + x(k).toFixed(1) + " " + v + "L" +
				x(k + 1).toFixed(1) + " " + v;
		}
		return d + "L" + x(last) + " " + y(0) + "Z";
	};
	const tone = r => r.phase === "congested" ? "con" : "iso";
	const marks = ticks(2 ** (first * MERGE / PER_OCTAVE),
		2 ** (last * MERGE / PER_OCTAVE));
	return h("section", null,
		h("h2", null, test, " ", h("small", null,
			"share of operations by " + (unit === "s" ? "latency" :
				"bandwidth") + ", logarithmic")),
		s("svg", { viewBox: "0 0 " + W + " " + H, role: "img",
			"aria-label": "histogram of " + test },
			marks.map(t => [s("line", { class: "rule", x1: xv(t),
				x2: xv(t), y1: T, y2: H - B }), s("text", { x: xv(t),
				y: H - 6, "text-anchor": "middle" },
				value(t, unit).replace(/\.0+ /, " "))]),
			curves.map(c => s("path", { class: "area " + tone(c.r),
				d: shape(c) })),
			curves.map(c => known(c.r[mark]) && [s("line", { class:
				"mark " + tone(c.r), x1: xv(c.r[mark]),
				x2: xv(c.r[mark]), y1: T, y2: H - B }),
				s("text", { class: "mark-text " + tone(c.r),
				x: xv(c.r[mark]), y: T - 4,
				"text-anchor": "middle" }, mark)])),
		h("p", { class: "legend" }, curves.map(c => h("span", { class:
			tone(c.r) }, c.r.phase + ": p50 " + value(c.r.p50, unit) +
			", p99 " + value(c.r.p99, unit) + ", " +
			c.n.toLocaleString("en") + " samples"))));
}

function numbersCard(canaries) {
	return h("section", null, h("h2", null, "Canaries"),
		table([["Test"], ["Phase"], ["n", "n"], ["mean", "n"],
			["p50", "n"], ["p99", "n"], ["p99.9", "n"], ["max", "n"],
			["95 % interval", "n"], ["Ended by"]],
		canaries.map(r => {
			const v = r.interval || {};
			return [r.test, r.phase, known(r.n) ?
				r.n.toLocaleString("en") : "–"].concat(
				["mean", "p50", "p99", "p999", "max"].map(k =>
					value(r[k], r.unit)),
				known(v.lo) ? (v.of ? v.of + " " : "") +
					value(v.lo, r.unit) + " – " +
					value(v.hi, r.unit) : "–",
				r.cause ? h("span", { class: "pill bad" }, r.cause) :
					r.stopped_by || "");
		})));
}

function pairsCard(canaries) {
	const rows = canaries.flatMap(r => list(r.pairs).slice(0, 4).map(p =>
		[r.test, r.phase, p.a + " – " + p.b, value(p.p50, r.unit),
		p.n])).slice(0, 24);
	return rows.length === 0 ? null : h("section", null,
		h("h2", null, "Worst pairs"), table([["Test"], ["Phase"],
			["Nodes"], ["p50", "n"], ["n", "n"]], rows));
}

async function runPage(id) {
	const path = "runs/" + encodeURIComponent(id);
	const [run, all] = await Promise.all([get(path),
		get(path + "/records").catch(() => [])]);
	const records = list(all);
	const canaries = records.filter(r => r.probe === "canary");
	const impacts = records.filter(r => r.probe === "impact" &&
		known(r.value));
	const tests = [...new Set(canaries.map(r => r.test))];
	const facts = [["Campaign", run.campaign], ["State", pill(run.state)],
		["Reason", run.state === "finished" ? null : run.text ||
			run.cause], ["Started", when(run.started_unix_ns)],
		["Took", took(run)], ["Nodes", Array.isArray(run.nodes) ?
			run.nodes.join(" ") : run.nodes],
		["Head", run.head], ["MPI", run.mpi], ["Ranks", run.ranks],
		["Seed", run.seed], ["Records", run.records], ["By", run.by]];
	return [h("p", { class: "back" }, h("a", { href: "#" }, "← all")),
		h("section", { class: "verdict " + (RUN_TONE[run.state] ===
			"info" ? "unknown" : RUN_TONE[run.state] || "unknown") },
			h("h1", null, run.run), isLive(run) && progress(run),
			h("dl", null, facts.filter(f => f[1] !== null &&
				f[1] !== undefined && f[1] !== "").map(f =>
				[h("dt", null, f[0]), h("dd", null, f[1])])),
			h("p", null, h("a", { href: "/api/v1/" + path +
				"/records" }, "records as JSON"))),
		impacts.length > 0 && impactCard(impacts, "Congestion impact"),
		tests.map(t => histogram(t, canaries)),
		canaries.length > 0 && numbersCard(canaries),
		pairsCard(canaries)];
}

/* A node ------------------------------------------------------------------ */

function flat(object, path, to) {
	for (const [key, v] of Object.entries(object || {}))
		if (v !== null && typeof v === "object")
			flat(v, path + key + " ", to);
		else
			to.push([path + key, String(v)]);
	return to;
}

async function nodePage(name) {
	const [node, runs] = await Promise.all([
		get("nodes/" + encodeURIComponent(name)),
		get("runs?limit=10&node=" + encodeURIComponent(name))]);
	const facts = [["State", node.state], ["Since",
		ago(node.since_unix_ns)], ["Last heard", ago(
		node.last_seen_unix_ns)], ["Score", known(node.score) ?
		digits(node.score) + " (robust z; above " + SUSPECT_Z +
		" is slow)" : "not known yet"], ["Address", node.addr],
		["Software", node.software], ["Runs now", node.run],
		["Busy", node.busy]];
	return [h("p", { class: "back" }, h("a", { href: "#" }, "← all")),
		h("section", { class: "verdict " + (suspect(node) ||
			node.state === "late" ? "warn" : node.state === "lost" ?
			"bad" : "ok") }, h("h1", null, name),
			h("dl", null, facts.filter(f => f[1]).map(f =>
				[h("dt", null, f[0]), h("dd", null, f[1])]))),
		h("section", null, h("h2", null, "Inventory"), h("dl", null,
			flat(node.inventory, "", []).map(f => [h("dt", null,
				f[0]), h("dd", null, f[1])]))),
		runsCard(list(runs), "Runs with this node")];
}

/* The loop ---------------------------------------------------------------- */

let turn = 0, heard = null, timer = null;

function view() {
	const [key, ...rest] = location.hash.slice(1).split("=");
	const arg = decodeURIComponent(rest.join("="));
	return key === "run" ? () => runPage(arg) : key === "node" ?
		() => nodePage(arg) : overview;
}

function freshness(error) {
	const el = document.getElementById("fresh");
	el.className = error ? "stale" : "";
	el.textContent = !error ? "live" : heard === null ? String(error.message)
		: "no answer for " + span(now() - heard) + ": " + error.message;
}

async function refresh() {
	const mine = ++turn;
	clearTimeout(timer);
	try {
		const kids = await view()();
		if (mine !== turn)
			return;
		const y = window.scrollY;
		fill(document.getElementById("main"), null, [])
			.replaceChildren(...kids.flat(9).filter(Boolean));
		window.scrollTo(0, y);
		heard = now();
		freshness(null);
	} catch (error) {
		if (mine !== turn)
			return;
		if (heard === null)
			document.getElementById("main").replaceChildren(
				h("section", { class: "verdict bad" },
				h("h1", null, "There is no answer"),
				h("p", null, error.message)));
		freshness(error);
	}
	timer = setTimeout(refresh, REFRESH_MS);
}

window.addEventListener("hashchange", () => {
	window.scrollTo(0, 0);
	refresh();
});
window.addEventListener("resize", () => {
	clearTimeout(timer);
	timer = setTimeout(refresh, 200);
});
document.addEventListener("visibilitychange", () => {
	if (document.hidden)
		clearTimeout(timer);
	else
		refresh();
});
get("version").then(v => {
	document.getElementById("version").textContent = v.version;
}).catch(() => {});
refresh();

})();
