/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heat.js - numbers between two lists of names as colours: pairs of nodes,
 * matrices of bytes, congestors against canaries.
 */
import { h, scroller } from "./dom.js";
import { list, value } from "./words.js";

const STEPS = 10; /* classes h0 to h9 of the style sheet */
const NAMES_MAX = 128; /* more rows are too small to see */

/* cells: rows of numbers or null. tell(v): a number in words. Shades are by
 * logarithm where all is above 0 and spans a factor of ten; the darkest is the
 * highest, or the lowest where low is bad. */
export function heat(rows, cols, cells, tell, lowIsBad) {
	const all = cells.flat().filter(v => v !== null && v > 0);
	const lo = Math.min(...all), hi = Math.max(...all);
	const log = lo > 0 && hi / lo > 10;
	const scale = v => log ? Math.log(v) : v;
	const place = v => (scale(v) - scale(lo)) / (scale(hi) - scale(lo) || 1);
	const shade = v => v === null ? "none" : v <= 0 ? "h0" : "h" +
		Math.min(STEPS - 1, Math.floor((lowIsBad ? 1 - place(v) :
			place(v)) * STEPS));
	const cell = (v, r, c) => h("td", { class: shade(v), title:
		rows[r] + " – " + cols[c] + ": " + (v === null ?
			"not known" : tell(v)) },
		rows.length <= 16 && v !== null ? tell(v) : "");
	return scroller(h("table", { class: "heat" +
		(rows.length > 16 ? " dense" : "") },
		h("thead", null, h("tr", null, h("th"), cols.map(c =>
			h("th", { scope: "col" }, h("span", null, c))))),
		h("tbody", null, cells.map((row, r) => h("tr", null,
			h("th", { scope: "row" }, rows[r]),
			row.map((v, c) => cell(v, r, c)))))));
}

const human = (a, b) => a.localeCompare(b, "en", { numeric: true });

/* All pairs of a small cluster, else the worst pairs of the record, as a
 * symmetric picture; other cells are empty. null without pairs. */
function pairCells(record) {
	if (record.grid) {
		const names = record.grid.nodes, half = record.grid.p50;
		return [names, names.map((_, a) => names.map((_, b) => a === b ?
			null : half[Math.max(a, b)][Math.min(a, b)]))];
	}
	const pairs = list(record.pairs);
	const names = [...new Set(pairs.flatMap(p => [p.a, p.b]))].sort(human);
	const place = new Map(names.map((n, i) => [n, i]));
	const cells = names.map(() => names.map(() => null));
	for (const p of pairs) {
		const a = place.get(p.a), b = place.get(p.b);
		cells[a][b] = cells[b][a] = p.p50;
	}
	return [names, cells];
}

export function pairHeat(record) {
	const [names, cells] = pairCells(record);
	return names.length === 0 || names.length > NAMES_MAX ? null :
		heat(names, names, cells, v => value(v, record.unit),
			record.unit === "B/s");
}

/* Congestor against canary, from impacts that name what hurt. */
export function impactMatrix(impacts, tell) {
	const rows = impacts.filter(i => i.congestor && i.of === "p99");
	if (rows.length === 0)
		return null;
	const tests = [...new Set(rows.map(i => i.test))];
	const hurts = [...new Set(rows.map(i => i.congestor))];
	const cells = tests.map(t => hurts.map(c => {
		const i = rows.find(r => r.test === t && r.congestor === c);
		return i ? i.value : null;
	}));
	return heat(tests, hurts, cells, tell);
}
