/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.js - jobs of the batch system, for permitted users: was it the network?
 */
import { get } from "./api.js";
import { card, choice, facts, h, section, table } from "./dom.js";
import { ago, at, digits, href, iso, known, list, nodeLink, now, percent, pill,
	plural, seconds, span, times } from "./words.js";

const RANGES = [["1", "a day"], ["7", "a week"], ["30", "a month"]];
const DAY_NS = 86400e9;
const WHENS = ["before", "during", "after"];
const TONE = { RUNNING: "info", R: "info", COMPLETED: "ok", CD: "ok",
	PENDING: "unknown" };

const jobLink = job => h("a", { href: href("job", job.job) }, job.job);
const lasts = job => at(job.start_unix_ns) === null ? NaN :
	(at(job.end_unix_ns) || now()) - at(job.start_unix_ns);
const hours = node_s => digits(node_s / 3600);
const statePill = job => pill(job.state, TONE[job.state] || "warn");

/* Lists --------------------------------------------------------------------- */

const worstCard = rows => section("Jobs with the most node-hours on slow " +
	"nodes and leaves",
	"node-hours in which a node or leaf of the job was slow",
	rows.length === 0 ? h("p", { class: "quiet" }, "None.") :
	table([["Node-hours", "n"], ["Job"], ["Name"], ["Owner", "hide"],
		["Began"], ["Lasts", "n hide"], ["Nodes", "n hide"]],
	rows.map(j => [hours(j.exposed_node_s), jobLink(j), j.name, j.owner,
		ago(j.start_unix_ns), span(lasts(j)), j.node_count])));

const jobsCard = (rows, days, go) => h("section", { id: "jobs" }, h("h2", null,
	"Jobs ", h("small", null, "newest start first"),
	h("span", { class: "choices" }, choice("span of time", RANGES, days,
		v => go({ days: v })))),
rows.length === 0 ? h("p", { class: "quiet" }, "No jobs in this time.") :
	table([["Job"], ["Name"], ["Owner", "hide"], ["State"], ["Began"],
		["Lasts", "n hide"], ["Nodes", "n hide"], ["", "wrap hide"]],
	rows.map(j => [jobLink(j), j.name, j.owner, statePill(j),
		ago(j.start_unix_ns), span(lasts(j)), j.node_count, j.nodes])));

const signed = x => (x > 0 ? "+" : "") + percent(x);

/* The cost of jobs to others; the collector decides which jobs it blames. */
const costsCard = rows => section("Cost of jobs to jobs on the same links",
	"estimated from canaries that share uplinks with the jobs",
		table([["Name of the jobs"],
		["", ""], ["Test"], ["Cost", "n"], ["95 % interval", "n"],
		["Per operation", "n hide"], ["Jobs", "n hide"],
		["Confounded", "n hide"]],
	rows.map(o => [o.name, o.blamed ? pill("costs", "warn") : "", o.test,
		signed(o.cost), known(o.lo) ? signed(o.lo) + " – " +
			signed(o.hi) : "too few samples",
		known(o.cost_s) ? seconds(o.cost_s) : "", o.jobs,
		o.steps_confounded])));

export async function jobsPage(parameters, go) {
	const chosen = parameters.get("days");
	const days = RANGES.some(r => r[0] === chosen) ? chosen : "7";
	const from = "from_unix_ns=" + BigInt(Math.max(0, Math.floor(Date.now() *
		1e6 - days * DAY_NS)));
	const { jobs } = await get("version");
	const [rows, worst, costs, nccl] = await Promise.all([
		get("jobs?limit=200&" + from),
		get("jobs/worst?limit=20&" + from),
		jobs === "all" ? get("jobs/costs?" + from) : [],
		get("jobs/nccl")]);
	return [list(nccl).length > 0 && card("nccl", nccl, ncclCard),
		card("worst", worst, () => worstCard(list(worst))),
		list(costs).length > 0 && card("costs", costs, () =>
			costsCard(costs)),
		card("jobs", [rows, days], () => jobsCard(list(rows), days, go))];
}

const NCCL = { progresses: "ok", unread: "unknown" };

const ncclCard = rows => section("State reported by NCCL",
	"ranks and counts of collectives, from the RAS service of NCCL",
		table([["Job"],
		["State"], ["Since"], ["Communicators", "n hide"],
		["", "wrap"]],
	rows.map(row => [jobLink(row), pill(row.state, NCCL[row.state] || "bad"),
		row.state === "progresses" ? "" : ago(row.since_unix_ns),
		row.comms, row.text])));

/* One job -------------------------------------------------------------------- */

function headCard(job) {
	const node_s = lasts(job) * job.node_count;
	return h("section", { class: "verdict " + (job.exposed_node_s > 0 ?
		"warn" : list(job.verdicts).length > 0 ? "unknown" : "ok") },
	h("h1", null, "Job " + job.job + ": ", job.exposed_node_s > 0 ?
		"a node or leaf was slow in " + hours(job.exposed_node_s) +
		" of its " + hours(node_s) + " node-hours" :
		"no node or leaf was found slow while it ran"),
	facts([["Name", job.name], ["Owner", job.owner],
		["State", statePill(job)], ["Began", iso(job.start_unix_ns)],
		["Ended", at(job.end_unix_ns) !== null && [iso(job.end_unix_ns),
			job.end_is_guess && ", or later", job.backwards &&
			"; its reported end is earlier"]],
		["Nodes", plural(job.node_count, "node") + ": " + job.nodes]]));
}

const part = row => [row.kind === "node" ? nodeLink(row.subject) : row.subject,
	" ", percent(row.share)];

function expectationCard(expectation) {
	const rows = WHENS.filter(when => expectation[when]);
	return section("Available bandwidth", "of the slowest node or leaf " +
		"of the job, compared with normal ones", rows.length === 0 ?
		h("p", { class: "quiet" }, "No bandwidth of its nodes was " +
			"measured before, during or after the job.") :
		table([["When"], ["Share", "n"], ["Measured"], ["Slow", "wrap"],
			["Not measured", "wrap hide"]], rows.map(when => {
			const then = expectation[when];
			return [when, percent(then.share), ago(then.at_unix_ns),
				list(then.slow).map((row, i) => [i > 0 && ", ",
					part(row)]), list(then.unknown).join(" ")];
		})));
}

const foundCard = (title, rows, word) => section(title, null, table([["When"],
	["Of"], ["At"], [""], ["", "wrap"]], rows.map(row => [row.when,
	row.kind === "node" || (!row.verdict && row.kind !== "job") ?
		nodeLink(row.subject) : row.subject,
	ago(row.at_unix_ns), word(row), row.text])));

const impactsCard = rows => section("Impact of congestion on canaries",
	"of all nodes", table([["Test"], ["Of"], ["before", "n"],
		["during", "n"], ["after", "n"]], rows.map(row => [row.test,
		row.of, ...WHENS.map(when => times(row[when]))])));

export async function jobPage(id) {
	const jobs = list(await get("jobs/" + encodeURIComponent(id)));
	return jobs.flatMap(job => {
		const name = what => [what, job.job, job.start_unix_ns].join("-");
		return [card(name("head"), job, () => headCard(job)),
			job.nccl && card(name("nccl"), job.nccl, () =>
				ncclCard([job.nccl])),
			card(name("expectation"), job.expectation || {},
				expectationCard),
			list(job.verdicts).length > 0 && card(name("verdicts"),
				job.verdicts, rows => foundCard("Verdicts", rows,
					row => pill(row.verdict, row.verdict))),
			list(job.events).length > 0 && card(name("events"),
				job.events, rows => foundCard("Events", rows,
					row => row.kind)),
			list(job.impacts).length > 0 && card(name("impacts"),
				job.impacts, impactsCard)];
	});
}
