/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.js - numbers, times and states as people read them.
 */
import { h } from "./dom.js";

export const known = x => typeof x === "number" && isFinite(x);
export const list = x => Array.isArray(x) ? x : [];

export function digits(x) {
	const a = Math.abs(x);
	return x.toFixed(a >= 100 || a === 0 ? 0 : a >= 10 ? 1 : 2);
}

function scaled(x, steps, unit) {
	for (const [from, name] of steps)
		if (Math.abs(x) >= from)
			return digits(x / from) + " " + name;
	return digits(x) + " " + unit;
}
export const seconds = x => scaled(x, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"],
	[1e-9, "ns"]], "s");
/* Sizes and rates are binary, as in coalctl and in the tables of the engine. */
export const rate = x => scaled(x, [[2 ** 30, "GiB/s"], [2 ** 20, "MiB/s"],
	[1024, "KiB/s"]], "B/s");
export const bytes = x => scaled(x, [[2 ** 30, "GiB"], [2 ** 20, "MiB"],
	[1024, "KiB"]], "B");
export const value = (x, unit) => !known(x) ? "–" :
	unit === "s" ? seconds(x) : unit === "B/s" ? rate(x) : digits(x);
/* Rates of ports are decimal bits, as their makers and coalctl have them. */
export const portRate = x => !known(x) ? "–" :
	Number((x / 1e9).toPrecision(4)) + " Gbit/s";
export const times = x => known(x) ? digits(x) + "×" : "–";
export const percent = x => known(x) ? digits(x * 100) + " %" : "–";
export const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");

/* Times ------------------------------------------------------------------- */

export function span(s) {
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

/* Seconds since 1970, or null. */
export const at = ns => known(ns) && ns > 0 ? ns / 1e9 : null;
export const now = () => Date.now() / 1000;
export const iso = ns => at(ns) === null ? undefined :
	new Date(at(ns) * 1000).toISOString().replace(/\.\d+Z$/, "Z");

function spoken(el) {
	const t = Number(el.dataset.at);
	return t > now() ? "in " + span(t - now()) : span(now() - t) + " ago";
}

/* A relative time that is updated: "3 min ago". */
export function ago(ns) {
	if (at(ns) === null)
		return "–";
	const el = h("time", { datetime: iso(ns), title: iso(ns),
		"data-at": at(ns) });
	el.textContent = spoken(el);
	return el;
}

/* Update all elements of ago(); called at every turn. */
export function renewTimes() {
	for (const el of document.querySelectorAll("time[data-at]"))
		el.textContent = spoken(el);
}

/* States ------------------------------------------------------------------ */

export const RUN_TONE = { finished: "ok", running: "info", starting: "info",
	pending: "unknown", overdue: "warn", missed: "warn",
	cancelled: "unknown", preempted: "unknown", failed: "bad",
	"timed-out": "bad", nonstart: "bad" };
export const pill = (word, tone) => h("span", { class: "pill " +
	(tone || RUN_TONE[word] || "unknown") }, word || "unknown");
export const isLive = run => ["pending", "starting", "running", "overdue"]
	.includes(run.state);

/* Links -------------------------------------------------------------------- */

export const href = (kind, name) => "#/" + kind + "/" +
	encodeURIComponent(name);
export const nodeLink = name => h("a", { href: href("node", name) }, name);
export const runLink = name => h("a", { href: href("run", name) }, name);
