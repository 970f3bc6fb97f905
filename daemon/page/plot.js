/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.js - impact over time with uPlot: a point for every run, and the
 * interval as a band if one test is shown.
 */
import { colour, h } from "./dom.js";
import { known, times } from "./words.js";

const HEIGHT = 240;
const LINES = ["con", "iso", "ok", "info", "warn", "bad", "unknown"];

/* A chart needs its width before it is made, and again when it changes. */
function host(make) {
	const el = h("div", { class: "plot" });
	let plot = null;
	new ResizeObserver(([entry]) => {
		const width = Math.floor(entry.contentRect.width);
		if (width === 0)
			return;
		if (plot !== null)
			plot.setSize({ width, height: HEIGHT });
		else
			plot = make(width, el);
	}).observe(el);
	return el;
}

/* Runs as columns: times, then for each pick the numbers, null for missing
 * ones. */
const columns = (rows, picks) => [rows.map(r => r.x), ...picks.map(pick =>
	rows.map(r => {
		const v = pick(r);
		return known(v) && v > 0 ? v : null;
	}))];

const shown = v => v === null || v === undefined ? "–" : times(v);

const line = (label, i) => ({ label, stroke: colour(LINES[i % LINES.length]),
	width: 1.5, spanGaps: true, points: { show: true, size: 6 },
	value: (u, v) => shown(v) });
const edge = label => ({ label, stroke: "transparent", spanGaps: true,
	points: { show: false }, value: (u, v) => shown(v) });

const axis = more => ({ stroke: colour("soft"), grid: { stroke: colour("grid"),
	width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif",
	...more });

const LOG = { distr: 3 };
/* The time axis covers an hour at least. For a single run uPlot passes a span
 * of years, so the run's own time counts. */
const HOUR_S = 3600;
const timeRange = (u, lo, hi) => {
	if (u.data[0].length === 1)
		lo = hi = u.data[0][0];
	const more = Math.max(0, HOUR_S - (hi - lo)) / 2;
	return [lo - more, hi + more];
};
/* Labels are minutes: a step is one of them at least. */
const STEPS_S = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
	...[1, 2, 5, 10, 30, 90, 365].map(days => days * 86400)];
const AROUND_ONE = { range: (u, lo, hi) => [Math.min(.9, lo - .05),
	Math.max(1.2, hi + .05)] };

const two = n => String(n).padStart(2, "0");

/* Days for long times, else hours, with the day where it changes. */
function moments(u, splits, at, space, step_s) {
	let day = null;
	return splits.map(t => {
		const d = new Date(t * 1000), was = day;
		day = two(d.getMonth() + 1) + "-" + two(d.getDate());
		if (step_s >= 86400)
			return day;
		return two(d.getHours()) + ":" + two(d.getMinutes()) +
			(day === was ? "" : "\n" + day);
	});
}

/* rows: [{run, x, ...}]; a click opens the run. */
function plotOf(rows, data, series, y, bands) {
	return host((width, el) => {
		const plot = new window.uPlot({ width, height: HEIGHT,
			series: [{ label: "run at", value:
				"{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...series], bands,
			scales: { x: { range: timeRange }, y },
			axes: [axis({ values: moments, incrs: STEPS_S }), axis({ size: 52, values: (u, splits) =>
				splits.map(v => v === null ? "" : v + "×") })],
			cursor: { drag: { x: true, y: false } } }, data, el);
		plot.over.addEventListener("click", () => {
			const row = rows[plot.cursor.idx];
			if (row)
				location.hash = "#/run/" +
					encodeURIComponent(row.run);
		});
		return plot;
	});
}

function rowsOf(impacts) {
	const runs = new Map();
	for (const i of impacts) {
		const x = (i.created_unix_ns || i.at_unix_ns) / 1e9;
		if (!runs.has(i.run))
			runs.set(i.run, { run: i.run, x, by: {} });
		runs.get(i.run).by[i.test] = i;
	}
	return [...runs.values()].sort((a, b) => a.x - b.x);
}

/* impacts: all of one kind (mean or p99); tests: which to draw. */
export function impactPlot(impacts, tests) {
	const rows = rowsOf(impacts);
	const member = (test, key) => r => r.by[test] && (key === "value" ?
		r.by[test].value : (r.by[test].interval || {})[key]);
	const picks = tests.map(t => member(t, "value"));
	const series = tests.map(line);
	if (tests.length > 1)
		return plotOf(rows, columns(rows, picks), series, LOG, []);
	picks.push(member(tests[0], "lo"), member(tests[0], "hi"));
	series.push(edge("from"), edge("to"));
	return plotOf(rows, columns(rows, picks), series, LOG, [{ series: [3, 2],
		fill: colour(LINES[0], .2) }]);
}

/* rows: [{run, x, by: {test: ratio}}]. */
export function historyPlot(rows) {
	const tests = [...new Set(rows.flatMap(r => Object.keys(r.by)))];
	return plotOf(rows, columns(rows, tests.map(t => r => r.by[t])),
		tests.map(line), AROUND_ONE, []);
}
