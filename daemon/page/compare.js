/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.js - one run against another: every measurement that both have, and
 * which of its numbers differ by more than their intervals and a share explain.
 * How much equal runs differ is known to coalctl compare alone.
 */
import { choice, h, table } from "./dom.js";
import { known, list, pill, runLink, times, value } from "./words.js";

const MARGIN = 0.05; /* as coalctl compare: less is the same */

/* The name of a record's measurement, by which records of two runs match. */
const nameOf = r => [r.test || r.plan || r.probe, r.phase, known(r.bytes) &&
	r.probe !== "canary" && r.bytes].filter(Boolean).join(", ");

/* The numbers of a record that are compared: [which, value, unit, interval]. */
function numbers(r) {
	if (r.probe === "canary")
		return ["p50", r.unit === "B/s" ? "p01" : "p99", "mean"].map(k => [k, r[k], r.unit,
			r.interval && r.interval.of === k && r.interval]);
	if (r.probe === "impact")
		return [["impact on " + r.of, r.value, "", r.interval]];
	if (r.bandwidth && r.of !== "step")
		return [["bandwidth", r.bandwidth.median_middle, "B/s"]];
	return [];
}

const valuesOf = records => new Map(records.flatMap(r => numbers(r).filter(
	n => known(n[1]) && n[1] > 0).map(n => [nameOf(r) + "\n" + n[0], n])));

/* Above 1 the first is worse. Undetermined unless both have intervals. */
function verdict(a, b) {
	const up = a[2] === "B/s", v = a[3], w = b[3];
	const worse = up ? b[1] / a[1] : a[1] / b[1];
	if (!v || !w || ![v.lo, v.hi, w.lo, w.hi].every(x => known(x) && x > 0))
		return { worse, word: "" };
	const least = up ? w.lo / v.hi : v.lo / w.hi;
	const most = up ? w.hi / v.lo : v.hi / w.lo;
	return { worse, word: least > 1 + MARGIN ? "worse" :
		most < 1 - MARGIN ? "better" : least >= 1 - MARGIN &&
		most <= 1 + MARGIN ? "same" : "unclear" };
}

const TONE = { same: "unknown", unclear: "unknown", worse: "bad",
	better: "ok" };

function rowsOf(records, than) {
	const other = valuesOf(than);
	return [...valuesOf(records)].filter(([key]) => other.has(key)).map(
		([key, a]) => {
			const [name, of] = key.split("\n"), b = other.get(key);
			const v = verdict(a, b);
			return [name, of, value(a[1], a[2]), value(b[1], b[2]),
				times(v.worse), v.word && pill(v.word, TONE[v.word])];
		});
}

/* other: the run that was chosen, "" for none; than: its records,
 * null if they could not be read. */
export function compareCard(run, records, other, than, runs, go) {
	const same = runs.filter(r => r.run !== run.run && r.state ===
		"finished").sort((a, b) => (b.campaign === run.campaign) -
		(a.campaign === run.campaign));
	const rows = other ? rowsOf(records, list(than)) : [];
	const head = other && ["against ", runLink(other), ". A ratio above " +
		"1× means that this run is worse. Less than 5 % apart, by " +
			"intervals: same. coalctl compare also considers how " +
				"much equal runs differ."];
	return h("section", null, h("h2", null, "Compare ", h("small", null,
		head), h("span", { class: "choices" },
	choice("run to compare with", [["", "no other run"],
		...same.map(r => [r.run, r.run]), ...(other &&
		!same.some(r => r.run === other) ? [[other, other]] : [])],
	other || "", v => go({ with: v })))),
	other && (rows.length === 0 ? h("p", { class: "quiet" },
		than ? "These runs have no measurement in common." :
			"Cannot read the records of the other run.") :
				table([["Measured"],
		["", ""], ["this run", "n"], ["other", "n"], ["ratio", "n"],
		[""]], rows)));
}
