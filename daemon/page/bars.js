/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars.js - the small pictures that need no library: ratios with their
 * intervals, histograms.
 */
import { h, s, section } from "./dom.js";
import { digits, known, list, times, value } from "./words.js";

const PER_OCTAVE = 16; /* buckets of the histogram: 2^(i/16) */

function logScale(lo, hi, width) {
	const a = Math.log(lo), b = Math.log(hi);
	return x => (Math.log(x) - a) / (b - a) * width;
}

/* Values on a logarithmic scale that are round as they are shown: powers of two
 * for rates, which are binary. */
export function ticks(lo, hi, unit) {
	const all = [];
	if (unit === "B/s") {
		const first = Math.floor(Math.log2(lo)) + 1;
		const last = Math.ceil(Math.log2(hi)) - 1;
		const step = Math.ceil((last - first + 1) / 6);
		for (let p = first; p <= last; p += step)
			all.push(2 ** p);
		return all;
	}
	for (let p = Math.floor(Math.log10(lo)); p <= Math.log10(hi); p++)
		for (const m of [1, 2, 5])
			if (m * 10 ** p >= lo && m * 10 ** p <= hi)
				all.push(m * 10 ** p);
	return all.length > 6 ? all.filter(x =>
		/^1/.test(x.toExponential())) : all;
}

export function ratioBars(impacts) {
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

export function impactCard(impacts, title, note) {
	return section(title, note, impacts.length === 0 ? h("p", { class: "quiet" },
		"Not measured yet.") : ratioBars(impacts));
}

/* Histograms -------------------------------------------------------------- */

/* The room that a picture has, in units of a pixel: text keeps its size. */
export function roomFor(columns) {
	const all = document.getElementById("main").clientWidth - 32;
	const each = all > 728 ? (all - 14 * (columns - 1)) / columns : all;
	return Math.max(220, Math.round(each - 34));
}

export function histogram(test, records) {
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
		2 ** (last * MERGE / PER_OCTAVE), unit);
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

/* Rates over a size or a number, both logarithmic. lines: [{name, points:
 * [[x, rate]]}]; tell(x): an x in words. */
export function curves(title, note, lines, tell) {
	const W = roomFor(1), H = 220, B = 22, L = 84, T = 8;
	const all = lines.flatMap(l => l.points);
	const ends = k => [Math.min(...all.map(p => p[k])),
		Math.max(...all.map(p => p[k]))];
	const [x0, x1] = ends(0), [lo, hi] = ends(1);
	const xs = logScale(x0, x1, W - L - 40), x = v => L + xs(v);
	const ys = logScale(lo / 1.3, hi * 1.3, H - B - T);
	const y = v => H - B - ys(v);
	const tones = ["iso", "con", "ok", "bad", "unknown"];
	const at = [...new Set(all.map(p => p[0]))].sort((a, b) => a - b);
	const step = Math.ceil(at.length / 8);
	return section(title, note, s("svg", { viewBox: "0 0 " + W + " " + H,
		role: "img", "aria-label": title }, ticks(lo / 1.3, hi * 1.3,
		"B/s").map(t => [s("line", { class: "rule", x1: L, x2: W,
		y1: y(t), y2: y(t) }), s("text", { x: L - 6, y: y(t) + 4,
		"text-anchor": "end" }, value(t, "B/s").replace(/\.0+ /, " "))]),
	at.filter((v, i) => i % step === 0).map(v => s("text", { x: x(v),
		y: H - 6, "text-anchor": "middle" }, tell(v))),
	lines.map((l, i) => [s("polyline", { class: "curve " +
		tones[i % tones.length], points: l.points.map(p => x(p[0]) +
		"," + y(p[1])).join(" ") }), l.points.map(p => s("circle", {
		class: "curve " + tones[i % tones.length], cx: x(p[0]),
		cy: y(p[1]), r: 3 }, s("title", null, tell(p[0]) + ": " +
			value(p[1], "B/s"))))])),
	h("p", { class: "legend" }, lines.map((l, i) => h("span", { class:
		tones[i % tones.length] }, l.name))));
}
