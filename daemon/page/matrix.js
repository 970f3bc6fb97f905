/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.js - impact of each congestor on each canary, from the newest finished
 * run of each mix of congestors of a campaign, as in coalctl matrix.
 */
import { extra } from "./api.js";
import { card, h, section, table } from "./dom.js";
import { impactMatrix } from "./heat.js";
import { known, list, runLink, times } from "./words.js";

const RUNS_MAX = 16; /* that are checked, newest first */
const told = new Map(); /* by run: records of finished runs do not change */

async function mixOf(run) {
	if (!told.has(run)) {
		const path = "runs/" + encodeURIComponent(run) +
			"/records?probe=";
		const [begin, impacts] = await Promise.all(["begin", "impact"]
			.map(probe => extra(path + probe)));
		if (begin === null || impacts === null)
			return { run, impacts: [] };
		const options = list(begin).map(r => r.options || {});
		told.set(run, { run, mix: options.map(o => o["congestor.mix"])
			.find(Boolean) || "default",
		impacts: list(impacts).filter(i => known(i.value)) });
	}
	return told.get(run);
}

const lines = mixes => table([["Congestors"], ["Run"], ["Canary"], ["of"],
	["impact", "n"], ["95 % interval", "n"]], mixes.flatMap(m =>
	m.impacts.map((i, at) => [at === 0 ? m.mix : "", at === 0 ?
		runLink(m.run) : "", i.test, i.of, times(i.value), i.interval &&
		known(i.interval.lo) && known(i.interval.hi) ?
		times(i.interval.lo) + " – " + times(i.interval.hi) : "–"])));

/* null if fewer than two mixes have an impact. */
export async function matrixCard(runs) {
	const all = (await Promise.all(runs.filter(r => r.state === "finished")
		.slice(0, RUNS_MAX).map(r => mixOf(r.run))))
		.filter(m => m.impacts.length > 0);
	const mixes = all.filter((m, i) => all.findIndex(o => o.mix ===
		m.mix) === i);
	if (mixes.length < 2)
		return null;
	const cells = mixes.flatMap(m => m.impacts.map(i => ({ ...i,
		congestor: m.mix })));
	return card("matrix", mixes.map(m => m.run), () => section(
		"Which congestor hurts which canary",
		"impact at p99, of the newest run with each mix of congestors",
		impactMatrix(cells, times), h("details", null,
			h("summary", null, "intervals"), lines(mixes))));
}
