/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.js - the first page: the current state of the cluster, and the log.
 */
import { extra, get, maybe } from "./api.js";
import { impactCard } from "./bars.js";
import { card, choice, h, section, table } from "./dom.js";
import { gridCard } from "./grid.js";
import { impactPlot } from "./plot.js";
import { runsCard } from "./runs.js";
import { clustersCard, learnWhats, newestImpacts, objectivesCard, outliers,
	outliersCard, verdictCard } from "./status.js";
import { ago, known, list, nodeLink, runLink } from "./words.js";

const RANGES = [["1", "a day"], ["7", "a week"], ["30", "a month"],
	["365", "a year"]];
const DAY_NS = 86400e9;

/* A series has runs of one campaign: by default the newest run's. */
export function campaignOf(impacts, parameters) {
	const wanted = parameters.get("campaign");
	return impacts.some(i => i.campaign === wanted) ? wanted :
		impacts[0]?.campaign;
}

function timeCard(impacts, parameters, go) {
	const days = parameters.get("days") || "7";
	const of = parameters.get("of") || "p99";
	const campaigns = [...new Set(impacts.map(i => i.campaign))].sort();
	const campaign = campaignOf(impacts, parameters);
	const kind = impacts.filter(i => i.campaign === campaign &&
		i.of === of && known(i.value));
	const tests = [...new Set(kind.map(i => i.test))].sort();
	const test = parameters.get("test") || "";
	const chosen = tests.includes(test) ? [test] : tests;
	return h("section", { id: "impact" }, h("h2", null,
		"Impact over time ", h("small", null, "each point is a run"),
		h("span", { class: "choices" },
		campaigns.length > 1 && choice("campaign", campaigns.map(c =>
			[c, c]), campaign, v => go({ campaign: v })),
		choice("test", [["", "all tests"], ...tests.map(t => [t, t])],
			tests.includes(test) ? test : "", v => go({ test: v })),
		choice("statistic", [["p99", "p99"], ["mean", "mean"]], of, v =>
			go({ of: v })),
		choice("span of time", RANGES, days, v => go({ days: v })))),
	kind.length === 0 ? h("p", { class: "quiet" }, "No impacts in this " +
		"time.") :
		impactPlot(kind, chosen));
}

const briefNode = n => [n.node, n.state, n.leaf, n.verdict, known(n.score) ?
	Math.round(n.score * 10) : null];

export async function overview(parameters, go) {
	const days = Number(parameters.get("days")) || 7;
	const from = Math.max(0, Math.floor(Date.now() * 1e6 - days * DAY_NS));
	const [nodes, runs, impacts, diags, schedule, verdicts, clusters,
		objectives] =
		await Promise.all([get("nodes?brief=yes"),
			get("runs?brief=yes&limit=30"),
			get("impacts?limit=10000&from_unix_ns=" + BigInt(from)),
			get("diags"), get("schedule"), maybe("verdicts"),
			extra("clusters", true), extra("objectives", true),
			learnWhats()]);
	const d = { nodes: list(nodes), runs: list(runs),
		impacts: list(impacts), diags: list(diags),
		schedule: list(schedule), verdicts };
	const chosen = campaignOf(d.impacts, parameters);
	const newest = newestImpacts(d.impacts.filter(i =>
		i.campaign === chosen));
	newest.sort((a, b) => a.test + (a.of === "p99" ? 0 : 1) <
		b.test + (b.of === "p99" ? 0 : 1) ? -1 : 1);
	const slow = outliers(verdicts);
	const few = d.runs.slice(0, 12);
	return [card("verdict", [d.nodes.map(briefNode), few, newest, d.diags,
		verdicts], () => verdictCard(d)),
	list(clusters).length > 1 && card("clusters", clusters.map(c =>
		[c.cluster, c.verdict, c.text, c.page, c.at_unix_ns]), () =>
		clustersCard(clusters)),
	(slow.length > 0 || d.nodes.length > 0) && card("outliers", slow, () =>
		outliersCard(slow)),
	list(objectives).length > 0 && card("objectives", objectives.map(o =>
		[o.name, o.state, o.text]), () => objectivesCard(objectives)),
	card("grid", [d.nodes.map(briefNode), verdicts, parameters.get("leaf"),
		parameters.get("show")], () => gridCard(d.nodes, verdicts,
		parameters, go)),
	d.impacts.length > 0 && card("time", [d.impacts.length, newest,
		[...parameters]], () => timeCard(d.impacts, parameters, go)),
	card("impact", newest, () => impactCard(newest, "Congestion impact",
		newest.length > 0 && [newest[0].campaign, ", ",
			ago(newest[0].at_unix_ns)])),
	card("runs", few, () => runsCard(few))];
}

const EVENTS_MAX = 300;

/* Newest first: of a kind, or "" of all; of each run its newest event only. */
export function eventRows(events, kind) {
	const runs = new Set();
	return events.filter(e => (kind === "" || e.kind === kind) &&
		(e.kind !== "run" || (!runs.has(e.subject) &&
			runs.add(e.subject))));
}

const eventOf = e => e.kind === "run" ? runLink(e.subject) :
	e.kind === "agent" || e.kind === "link" ? nodeLink(e.subject) :
	e.subject;

export async function eventsPage(parameters, go) {
	const events = list(await get("events?limit=10000")).reverse();
	const kinds = [...new Set(events.map(e => e.kind))].sort();
	const kind = parameters.get("kind") || "";
	const rows = eventRows(events, kind).slice(0, EVENTS_MAX);
	return [card("events", [kind, kinds, rows.map(e => e.id)], () =>
		section(["Events ", h("span", { class: "choices" },
			choice("kind", [["", "all kinds"], ...kinds.map(k =>
				[k, k])], kind, v => go({ kind: v })))],
		"newest first; only the newest event of each run",
			rows.length === 0 ?
		h("p", { class: "quiet" }, "No events yet.") : table([["When"],
			["Kind"], ["Of"], ["", "wrap"]], rows.map(e =>
			[ago(e.at_unix_ns), e.kind, eventOf(e), e.text]))))];
}
