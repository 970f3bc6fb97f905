/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.js - the summary: outliers, problems for the operator, and the
 * headline. Missing data is never green.
 */
import { maybe } from "./api.js";
import { h, table } from "./dom.js";
import { ago, at, digits, isLive, known, list, nodeLink, now, percent, pill, plural,
	runLink,
	RUN_TONE, span, times } from "./words.js";

/* The state of a node, a key of TONES. */
export const TONES = { ok: "like its peers", outlier: "outlier",
	 bad: "bad", late: "late", lost: "lost", maintenance: "in maintenance",
	unknown: "not measured" };

const VERDICT_TONE = { bad: "bad", warn: "outlier", ok: "ok",
	unknown: "unknown" };

/* verdicts: of the collector, by node, or null if it has none. */
export function nodeTone(node, verdicts) {
	const given = verdicts && verdicts.get(node.node);
	const word = given ? given.verdict : node.verdict;
	if (["lost", "late", "maintenance"].includes(node.state))
		return node.state;
	return VERDICT_TONE[word] || "unknown";
}


/* Verdicts bad and warn, bad ones first. */
export function outliers(verdicts) {
	return list(verdicts).filter(v => v.verdict === "bad" ||
		v.verdict === "warn").sort((a, b) =>
		(a.verdict === "bad" ? 0 : 1) - (b.verdict === "bad" ? 0 : 1));
}

/* The newest of each test and kind; the list begins with the newest. */
export function newestImpacts(impacts) {
	const newest = new Map();
	for (const one of impacts) {
		const key = one.test + " " + one.of;
		if (known(one.value) && !newest.has(key))
			newest.set(key, one);
	}
	return [...newest.values()];
}

function some(names) {
	return names.slice(0, 8).join(", ") + (names.length > 8 ? " and " +
		(names.length - 8) + " more" : "");
}

/* Scheduled campaigns that have not succeeded for three periods. */
function staleCampaigns(d) {
	return d.schedule.filter(c => c.enabled && c.every_s > 0).map(c =>
		[c, d.runs.find(r => r.campaign === c.campaign &&
			r.state === "finished")]).filter(([c, last]) => last &&
		now() - at(last.ended_unix_ns) > 3 * c.every_s).map(([c, last]) =>
		["warn", c.campaign + " last succeeded " + span(now() -
			at(last.ended_unix_ns)) + " ago", "it is due every " +
			span(c.every_s)]);
}

function findings(d, slow) {
	const lost = d.nodes.filter(n => n.state === "lost").map(n => n.node);
	const ended = d.runs.filter(r => !isLive(r) && r.state !== "cancelled");
	const found = d.diags.map(x => [x.severity === "bad" ? "bad" :
		x.severity === "info" ? "unknown" : "warn", x.text, x.remedy]);
	if (lost.length > 0 && !d.diags.some(x => /lost|silent/.test(x.text)))
		found.push([lost.length * 10 > d.nodes.length ? "bad" : "warn",
			plural(lost.length, "agent") + " lost: " + some(lost)]);
	if (slow.length > 0)
		found.push([slow.some(v => v.verdict === "bad") ? "bad" : "warn",
			plural(slow.length, "outlier") + ": " +
			some(slow.map(v => v.subject)), "see below"]);
	if (ended.length > 0 && RUN_TONE[ended[0].state] === "bad")
		found.push(["bad", "the newest run " + ended[0].state + ": " +
			(ended[0].text || ended[0].cause || "no reason given")]);
	return found.concat(staleCampaigns(d));
}

function headline(d, done, slow) {
	const away = d.nodes.filter(n => n.state === "maintenance").length;
	const expected = d.nodes.length - away;
	const reached = d.nodes.filter(n => n.state !== "lost").length - away;
	const worst = newestImpacts(d.impacts).filter(i => i.of === "p99")
		.sort((a, b) => b.value - a.value)[0];
	const parts = [];
	if (d.nodes.length === 0)
		return "No agent has been seen yet";
	if (slow.length > 0)
		parts.push(slow.length === 1 ? slow[0].subject +
			(slow[0].verdict === "bad" ? " is bad" : " is an outlier") :
			plural(slow.length, "outlier"));
	parts.push((reached === expected ?
		"all " + plural(reached, "node") + " report" :
		reached + " of " + plural(expected, "node") + " report") +
		(away > 0 ? ", " + away + " in maintenance" : ""));
	if (worst)
		parts.push("congestion costs up to " + times(worst.value) +
			" at p99");
	else if (!done)
		parts.push("nothing has been measured yet");
	const text = parts.join("; ");
	return slow.length > 0 ? text : text[0].toUpperCase() + text.slice(1);
}

const WORDS = { ok: "OK", warn: "Warning", bad: "Bad",
	unknown: "Unknown" };

export function verdictCard(d) {
	const slow = outliers(d.verdicts);
	const done = d.runs.find(r => r.state === "finished");
	const found = findings(d, slow);
	const rank = ["bad", "warn"].find(r => found.some(f => f[0] === r)) ||
		(d.nodes.length === 0 || !done ? "unknown" : "ok");
	return h("section", { class: "verdict " + rank, id: "verdict",
		"data-verdict": rank },
		h("p", { class: "rank" }, WORDS[rank]),
		h("h1", null, headline(d, done, slow)),
		h("p", { class: "quiet" }, done ? ["Last success: ",
			runLink(done.run), ", ", ago(done.ended_unix_ns), "."] :
			"No run has finished."),
		found.length > 0 && h("ul", null, found.map(f =>
			h("li", { class: f[0] }, f[1],
				f[2] && h("span", null, " · " + f[2])))));
}

/* All clusters of the database; this one is the page's own. */
export const clustersCard = rows => h("section", { id: "clusters" },
	h("h2", null, "Clusters"), table([["Cluster"], ["Verdict"],
		["", "wrap"], ["Collector"], ["Last contact"]], rows.map(c => [
		c.self ? h("b", null, c.cluster) : /^https?:/.test(c.page) ?
			h("a", { href: c.page }, c.cluster) : c.cluster,
		pill(c.verdict, c.verdict), c.text, c.collector,
		ago(c.at_unix_ns)])));

const OBJECTIVE_TONES = { ok: "ok", undetermined: "unknown", fast: "bad",
	spent: "bad" };

/* Error budgets: the share that is left, and the part that spends most. */
export const objectivesCard = rows => h("section", { id: "objectives" },
	h("h2", null, "Objectives"), table([["Objective"], ["State"],
		["Least bandwidth"], ["Promised", "n"], ["Good", "n"],
		["Budget left", "n"], ["", "wrap"]], rows.map(o => [o.name,
		pill(o.state, OBJECTIVE_TONES[o.state] || "warn"),
		percent(o.share) + " of the " + (o.of || "peers"),
		percent(o.target), percent(o.good), percent(o.budget),
		o.text])));

const OUTLIERS_MAX = 24; /* more are an outage, and not readable */

const whats = {}; /* the words of verdicts: their meanings, of the collector */

/* Call before a card with verdicts. An older collector has no meanings. */
export async function learnWhats() {
	if (!whats.node)
		for (const f of await maybe("faults") || [])
			whats[f.what] = f.text;
}

export function outliersCard(rows) {
	return h("section", { id: "outliers" }, h("h2", null, "Outliers"),
		rows.length === 0 ? h("p", { class: "quiet" }, "None.") :
		h("ul", { class: "outliers" }, rows.slice(0, OUTLIERS_MAX).map(v =>
			h("li", { class: v.verdict === "bad" ? "bad" : "warn" },
			h("p", null, h("b", null, v.kind === "node" ?
				nodeLink(v.subject) : v.subject), " ", pill(v.verdict, v.verdict),
				v.what && h("span", { class: "scope" }, " " +
					(whats[v.what] || v.what))),
			h("p", null, v.text),
			v.pending && h("p", null, v.pending),
			h("p", { class: "quiet" }, at(v.since_unix_ns) !== null &&
				["since ", ago(v.since_unix_ns)], known(v.rounds) &&
				" · " + plural(v.rounds, "round"))))),
		rows.length > OUTLIERS_MAX && h("p", { class: "quiet" },
			"and " + (rows.length - OUTLIERS_MAX) + " more"));
}

/* The verdict on one node, for its own page. */
export const verdictRows = v => !v ? [] : [["Verdict", pill(v.verdict,
	v.verdict)], ["Where", whats[v.what] || v.what],
	["Evidence", v.text], ["Noticed", at(v.since_unix_ns) !== null &&
		ago(v.since_unix_ns)],
	["Rounds", v.rounds]];
