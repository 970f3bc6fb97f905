/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.js - the list of runs, and the page of one run.
 */
import { extra, get } from "./api.js";
import { compareCard } from "./compare.js";
import { card, choice, h, section, table } from "./dom.js";
import { cardsOf, headCard, nodeCount, progress, took } from "./run.js";
import { ago, at, isLive, list, now, pill, runLink } from "./words.js";

export function runsCard(runs, title) {
	return section(title || "Runs", null, runs.length === 0 ?
		h("p", { class: "quiet" },
		"No runs yet. Start one: coalctl campaign run gpcnet-quick " +
			"--wait") :
		table([["Run"], ["Campaign", "hide"], ["State"], ["Started"],
			["Took", "n hide"], ["Nodes", "n hide"], ["", "wrap"]],
		runs.map(run => [runLink(run.run), run.campaign,
			pill(run.state), ago(run.started_unix_ns ||
				run.created_unix_ns), took(run), nodeCount(run),
			isLive(run) ? progress(run) : run.state === "finished" ?
				"" : run.text || run.cause || ""])));
}

const RANGES = [["", "any time"], ["1", "a day"], ["7", "a week"],
	["30", "a month"]];
const RUNS_MAX = 1000; /* newest runs that are requested */

/* Filters by campaign, state and time, with the existing values. */
function runChoices(runs, parameters, go) {
	const pick = (name, key, all) => choice(name, [["", all],
		...[...new Set([...runs.map(r => r[key]), parameters.get(name)]
			.filter(Boolean))].sort().map(w => [w, w])],
	parameters.get(name) || "", v => go({ [name]: v }));
	return h("span", { class: "choices" },
		pick("campaign", "campaign", "all campaigns"),
		pick("state", "state", "all states"),
		choice("span of time", RANGES, parameters.get("days") || "",
			v => go({ days: v })));
}

export async function runsPage(parameters, go) {
	const days = Number(parameters.get("days")) || 0;
	const node = parameters.get("node");
	/* The server has more runs than the newest of all. */
	const asked = ["campaign", "node"].filter(n => parameters.get(n)).map(
		n => "&" + n + "=" + encodeURIComponent(parameters.get(n)));
	const runs = list(await get("runs?brief=yes&limit=" + RUNS_MAX +
		asked.join("")));
	const shown = runs.filter(r => ["campaign", "state"].every(n =>
		!parameters.get(n) || r[n] === parameters.get(n)) &&
		(days === 0 || at(r.created_unix_ns) > now() - days * 86400));
	return [card("runs", [shown, [...parameters]], () => {
		const el = runsCard(shown, node ? "Runs with " + node : "Runs");
		el.querySelector("h2").append(runChoices(runs, parameters, go));
		return el;
	})];
}

/* One run ----------------------------------------------------------------- */

let over = { run: null, records: [] }; /* of an ended run: they stay */

async function recordsOf(run, path) {
	if (over.run === run.run)
		return over.records;
	const records = await extra(path + "/records");
	if (!isLive(run) && records !== null)
		over = { run: run.run, records: list(records) };
	return list(records);
}

export async function runPage(id, parameters, go) {
	const path = "runs/" + encodeURIComponent(id);
	const other = parameters.get("with");
	const [run, runs] = await Promise.all([get(path),
		get("runs?brief=yes&limit=200")]);
	const records = await recordsOf(run, path);
	const than = other && await extra("runs/" +
		encodeURIComponent(other) + "/records");
	return [card("head", run, () => headCard(run, path)),
		card("compare", [other, than && than.length, records.length,
			list(runs).map(r => r.run)], () => compareCard(run, records, other, than,
			list(runs), go)),
		...cardsOf(records, parameters, go)];
}
