/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.js - error counters of ports and GPUs: by class of node, the worst by
 * name, those with more errors than usual; and all of one node.
 */
import { get } from "./api.js";
import { card, choice, h, section, table } from "./dom.js";
import { digits, known, list, nodeLink, percent, pill, plural, portRate,
	span } from "./words.js";

const ROWS_MAX = 300; /* a longer list is not readable */

const count = x => !known(x) ? "–" : Number.isInteger(x) || x >= 10 ?
	Math.round(x).toLocaleString("en") : digits(x);

const NAMES = ["leaf", "port", "kind"]; /* a port of all nodes is a rail */

const fits = (row, parameters, but) => NAMES.every(n => n === but ||
	!parameters.get(n) || row[n] === parameters.get(n));

/* Each offers the values that exist with the other choices. */
function choices(rows, parameters, go) {
	return h("span", { class: "choices" }, NAMES.map(n => {
		const words = [...new Set(rows.filter(r => fits(r, parameters,
			n)).map(r => r[n]).filter(Boolean))].sort((a, b) => a.localeCompare(b,
			"en", { numeric: true }));
		const chosen = parameters.get(n) || "";
		if (chosen && !words.includes(chosen))
			words.push(chosen);
		return choice(n, [["", "every " + n], ...words.map(w => [w, w])],
			chosen, v => go({ [n]: v }));
	}));
}

function classesCard(classes) {
	const kinds = [...new Set(classes.flatMap(c => Object.keys(c.kinds)))];
	return section("By class of node", "share of ports and GPUs that " +
		"counted errors in the last hour", classes.length === 0 ?
		h("p", { class: "quiet" }, "No agent has reported counters " +
			"yet.") :
		table([["Nodes with"], ["Ports", "n"], ...kinds.map(k =>
			[k, "n"])], classes.map(c => [c.class, count(c.ports),
			...kinds.map(k => c.ports > 0 && c.kinds[k] ?
				percent(c.kinds[k].ports / c.ports) : "–")])));
}

function worstCard(rows, chosen) {
	return h("section", null, h("h2", null, "The worst now ",
		h("small", null, "of each kind"), chosen),
	rows.length === 0 ? h("p", { class: "quiet" }, "None.") :
		table([["Node"], ["Port"], ["Leaf", "hide"], ["Kind"],
			["Counter", "wrap"], ["Last hour", "n"],
			["Last day", "n"]],
		rows.map(r => [nodeLink(r.node), r.port, r.leaf, r.kind,
			r.counter, count(r.hour), count(r.day)])));
}

function moreCard(rows) {
	return section("More than usual", "a port is named if it has errors " +
		"in more readings than chance explains",
	rows.length === 0 ? h("p", { class: "quiet" }, "None.") :
		table([["Node"], ["Port"], ["Leaf", "hide"],
			["Counter", "wrap"], ["Errors", "n"], ["In", "n"],
			["Readings", "n"], ["Others", "n"], [""]],
		rows.slice(0, ROWS_MAX).map(r => [nodeLink(r.node), r.port,
			r.leaf, r.counter, count(r.errors), span(r.span_s),
			r.looks_with_errors + " of " + r.looks,
			percent(r.usual), r.named && pill("named", "warn")])),
	rows.length > ROWS_MAX && h("p", { class: "quiet" }, "and " +
		(rows.length - ROWS_MAX) + " more"));
}

export async function linksPage(parameters, go) {
	const [health, links] = await Promise.all([get("links/health"),
		get("links")]);
	const worst = list(health.worst);
	const more = list(links).sort((a, b) => b.named - a.named);
	return [card("link-classes", health.classes, () =>
		classesCard(list(health.classes))),
	card("link-worst", [worst, more, [...parameters]], () =>
		worstCard(worst.filter(r => fits(r, parameters)),
			choices([...worst, ...more], parameters, go))),
	card("link-more", [more, [...parameters]], () =>
		moreCard(more.filter(r => fits(r, parameters))))];
}

/* Of one node; null from a collector that is older. */
export function portsCard(o) {
	const rows = list(o.ports).flatMap(p => {
		const counters = list(p.counters).length > 0 ? p.counters : [{}];
		return counters.map((c, i) => ({ ...c, port: p.port,
			is: i === 0 ? p.is || {} : {} }));
	});
	const slot = is => is.pcie && is.pcie_max && is.pcie !== is.pcie_max ?
		is.pcie + " of " + is.pcie_max : is.pcie || "";
	return section("Ports and GPUs", o.watched ? plural(list(o.ports).length,
		"port") + "; errors of the last hour, of the last day, and " +
			"in total" :
		"the agent reports no counters", table([["Port"], ["State"],
		["Rate", "n"], ["PCIe"], ["Counter", "wrap"], ["Kind"],
		["Hour", "n"], ["Day", "n"], ["All", "n"], [""]],
	rows.map(r => [r.port, r.is.state || "", known(r.is.speed_bps) ?
		portRate(r.is.speed_bps) : "", slot(r.is),
		r.counter || "", r.kind || "", known(r.hour) ? count(r.hour) :
			"", known(r.day) ? count(r.day) : "", known(r.total) ?
			count(r.total) : "", r.named && pill("named", "warn")])));
}
