/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaigns.js - campaigns, their schedules and the forecast of runs.
 */
import { extra, get, maybe } from "./api.js";
import { card, facts, h, s, section, table } from "./dom.js";
import { roomFor } from "./bars.js";
import { matrixCard } from "./matrix.js";
import { runsCard } from "./runs.js";
import { ago, at, bytes, digits, href, iso, known, list, now, percent, pill,
	runLink, span } from "./words.js";

const FORECAST_S = 24 * 3600;
const STARTS_MAX = 300; /* of one campaign: more are a solid line anyway */

const every = c => c.every_s > 0 ? span(c.every_s) : c.at || "only on request";
const due = c => !c.enabled ? "off" : at(c.next_unix_ns) === null ? "–" :
	ago(c.next_unix_ns);
const lastOf = c => c.last_state ? [pill(c.last_state), c.last_run && [" ",
	runLink(c.last_run)]] : "–";
const campaignLink = c => h("a", { href: href("campaign", c.campaign) },
	c.campaign);

export async function campaignsPage() {
	const rows = list(await get("campaigns"));
	return [card("campaigns", rows, () => section("Campaigns", null,
		rows.length === 0 ? h("p", { class: "quiet" }, "No " +
			"campaigns. A campaign is a file in the folder " +
				"collector.campaign_dir of the collector.") :
		table([["Campaign"], ["About", "wrap hide"], ["Class", "hide"],
			["Every"], ["Next"], ["Last"]], rows.map(c =>
			[campaignLink(c), c.ok ? c.about : h("span", { class:
				"pill bad" }, c.error), c.class || "", c.ok ?
				every(c) : "", c.ok ? due(c) : "", lastOf(c)]))))];
}

export async function campaignPage(name) {
	const path = encodeURIComponent(name);
	const [c, runs] = await Promise.all([get("campaigns/" + path),
		get("runs?brief=yes&limit=30&campaign=" + path)]);
	const matrix = await matrixCard(list(runs));
	return [card("head", [c.ok, c.enabled, c.next_unix_ns, c.last_state],
		() => h("section", { class: "verdict " + (c.ok === false ?
			"bad" : "unknown") }, h("h1", null, name),
		h("p", null, c.about), facts([["Error", c.error],
			["Class", c.class], ["MPI", c.mpi],
			["Launcher", c.launcher], ["Nodes", c.nodes],
			["Every", every(c)], ["Window", c.window],
			["Next", due(c)], ["Last", lastOf(c)],
			["From", c.source]]))),
	matrix, card("runs", runs, () => runsCard(list(runs), "Runs")),
	c.text && card("text", c.text, () => section("File", null,
		h("pre", null, c.text)))];
}

/* Forecast ----------------------------------------------------------------- */

/* Starts of one schedule in the next day; the forecast of newer collectors has
 * those that fit. */
function startsOf(c) {
	const first = at(c.next_unix_ns), end = now() + FORECAST_S;
	const starts = [];
	if (!c.enabled || first === null)
		return starts;
	for (let t = first; t <= end && starts.length < STARTS_MAX;
		t += c.every_s) {
		starts.push({ at_s: t, fits: true });
		if (!(c.every_s > 0))
			break;
	}
	return starts;
}

function plans(schedule, forecast) {
	if (forecast === null || forecast.length === 0)
		return schedule.map(c => [c.campaign, startsOf(c)]);
	const by = new Map(schedule.map(c => [c.campaign, []]));
	for (const p of forecast) {
		if (!by.has(p.campaign))
			by.set(p.campaign, []);
		by.get(p.campaign).push({ at_s: at(p.at_unix_ns),
			fits: p.answer !== "missed", why: p.why });
	}
	return [...by];
}

function lane(starts, W, x) {
	return s("svg", { viewBox: "0 0 " + W + " 22", height: 22, role: "img",
		"aria-label": starts.length + " starts" },
		s("line", { class: "rule", x1: 0, x2: W, y1: 11, y2: 11 }),
		starts.filter(p => known(p.at_s)).map(p => s("rect", { class:
			p.fits ? "fits" : "misfits", x: x(p.at_s) - 1.5, y: 3,
			width: 3, height: 16 }, s("title", null,
			iso(p.at_s * 1e9) + (p.why ? ": " + p.why : "")))));
}

function forecastCard(rows) {
	const W = roomFor(1) - 180, from = now();
	const x = t => (t - from) / FORECAST_S * W;
	const hours = [0, 6, 12, 18, 24];
	const axis = s("svg", { viewBox: "0 0 " + W + " 16", height: 16,
		"aria-hidden": true }, hours.map(t => s("text", { x: Math.min(
			W - 26, x(from + t * 3600)), y: 12 }, t === 0 ? "now" :
			"+" + t + " h")));
	return section("The next 24 hours", null, rows.length === 0 ?
		h("p", { class: "quiet" }, "No campaign has a schedule.") :
		h("div", { class: "lanes" }, rows.map(([name, starts]) => [
			h("a", { href: href("campaign", name) }, name),
			lane(starts, W, x)]), h("span"), axis),
	rows.some(r => r[1].some(p => !p.fits)) && table([["Campaign"],
		["At"], ["Reason for not running", "wrap"]], rows.flatMap(
		([name, starts]) => starts.filter(p => !p.fits).slice(0, 20)
			.map(p => [name, iso(p.at_s * 1e9), p.why || "–"]))));
}

/* Usage of the hourly budget. */
function budgetCard(budget) {
	const amount = { bytes, node_seconds: x => digits(x) + " node s",
		link_share: percent };
	const tell = (key, x) => known(x) ? amount[key](x) : "–";
	return section("Budget per hour", null, table([["What"],
		["Used", "n"], ["Reserved", "n"], ["Limit", "n"]],
	Object.keys(amount).filter(key => budget[key]).map(key => {
		const b = budget[key];
		return [key.replace("_", " "), tell(key, b.used),
			tell(key, b.reserved), known(b.limit) && b.limit > 0 ?
				tell(key, b.limit) : "no limit"];
	})), budget.refused > 0 && h("p", { class: "quiet" }, "Runs missed " +
		"because of the budget or a blackout: " + budget.refused));
}

export async function forecastPage() {
	const [schedule, forecast, budget] = await Promise.all([
		get("schedule"), maybe("forecast?hours=24"),
		extra("budget", true)]);
	const rows = plans(list(schedule), forecast);
	const scheduled = list(schedule);
	return [card("forecast", [rows.map(r => [r[0], r[1].length]), Math.floor(
		now() / 60)], () => forecastCard(rows)),
	budget && card("budget", budget, () => budgetCard(budget)),
	card("schedule", scheduled, () => section("Schedule", null,
		table([["Campaign"], ["Every"], ["Next"], ["Last"]],
		scheduled.map(c => [campaignLink(c), every(c), due(c),
			lastOf(c)]))))];
}
