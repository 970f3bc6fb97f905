/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.js - one node: its verdict, its comparison with its peers in the newest
 * runs, its inventory.
 */
import { extra, get, maybe } from "./api.js";
import { card, facts, h, section, table } from "./dom.js";
import { portsCard } from "./links.js";
import { historyPlot } from "./plot.js";
import { learnWhats, nodeTone, TONES, verdictRows } from "./status.js";
import { ago, bytes, digits, iso, known, list, nodeLink, pill, portRate } from
	"./words.js";
import { runsCard } from "./runs.js";

const HISTORY = 12; /* newest runs */

function median(numbers) {
	const a = [...numbers].sort((x, y) => x - y);
	return a.length === 0 ? NaN : a.length % 2 ? a[(a.length - 1) / 2] :
		(a[a.length / 2 - 1] + a[a.length / 2]) / 2;
}

/* A node's good quartile of one record against the median of all nodes':
 * above 1 it is worse than they are. NaN: it was not measured. */
function against(record, name) {
	const pick = n => record.unit === "s" ? n.q25 : n.q75;
	const mine = list(record.nodes).find(n => n.node === name);
	const typical = median(list(record.nodes).map(pick).filter(x => x > 0));
	if (!mine || !(pick(mine) > 0) || !(typical > 0))
		return NaN;
	return record.unit === "s" ? pick(mine) / typical :
		typical / pick(mine);
}

const seen = new Map(); /* run: its quiet canary records; they never change */

async function quietRecords(run) {
	if (!seen.has(run.run)) {
		const all = await extra("runs/" +
			encodeURIComponent(run.run) + "/records?probe=canary");
		if (all === null)
			return [];
		seen.set(run.run, list(all).filter(r => r.phase !==
			"congested" && list(r.nodes).length > 0));
	}
	return seen.get(run.run);
}

/* [{run, x, by: {test: ratio}}], the oldest first. */
async function history(name, runs) {
	const done = runs.filter(r => r.state === "finished").slice(0, HISTORY);
	const rows = await Promise.all(done.map(async run => ({ run: run.run,
		x: run.created_unix_ns / 1e9,
		by: Object.fromEntries((await quietRecords(run)).map(r =>
			[r.test, against(r, name)]).filter(e => known(e[1]))) })));
	return rows.filter(r => Object.keys(r.by).length > 0).reverse();
}

function historyCard(rows) {
	return section("Against its peers", "1× is the median of all nodes; " +
		"above 1× this node is slower", rows.length < 2 ?
		h("p", { class: "quiet" }, "The plot needs two finished runs " +
			"with this node.") : historyPlot(rows));
}

/* Inventory ---------------------------------------------------------------- */

const partsTable = (title, rows, columns) => list(rows).length > 0 &&
	[h("h3", null, title), table(columns.map(c => [c[0]]),
		rows.map(r => columns.map(c => c[1](r))))];

function inventoryCard(inventory) {
	const i = inventory || {};
	const plain = key => r => r[key] === undefined ? "–" : String(r[key]);
	const col = key => [key.replace(/_/g, " "), plain(key)];
	return section("Inventory", null, facts([["Kernel", i.kernel],
		["Cores", i.cores], ["Memory", known(i.memory_bytes) &&
			bytes(i.memory_bytes)]]),
	partsTable("Network", i.nics, [["name", plain("name")],
		["kind", plain("kind")], ["state", r => pill(r.state,
			/^(up|active)$/i.test(r.state) ? "ok" : "unknown")],
		["speed", r => portRate(r.speed_bps)], col("mtu"), col("driver"), col("numa_node"),
		["addresses", r => list(r.addrs).join(" ")]]),
	partsTable("GPUs", i.gpus, [col("pci"), col("vendor"), col("driver"),
		col("numa_node")]),
	partsTable("NUMA", i.numa, [col("node"), col("cpus"), ["memory", r =>
		bytes(r.memory_bytes)]]),
	partsTable("MPI", i.mpi, [col("name"), col("version"),
		col("launcher")]));
}

/* The page ----------------------------------------------------------------- */

const RANK = { ok: "ok", outlier: "warn", late: "warn",
	bad: "bad", lost: "bad", unknown: "unknown" };

function headCard(node, verdict) {
	const tone = nodeTone(node, verdict && new Map([[node.node, verdict]]));
	return h("section", { class: "verdict " + RANK[tone] },
		h("h1", null, node.node, ": ", TONES[tone]),
		facts([...verdictRows(verdict), ["Under way", node.pending],
			["State", [node.state,
			" since ", ago(node.since_unix_ns)]],
			["Maintenance", node.maintenance && ["until ",
			iso(node.maintenance.until_unix_ns), " by ",
			node.maintenance.by, ": ", node.maintenance.text]],
			["Last contact", ago(node.last_seen_unix_ns)],
			["Score", known(node.score) ? digits(node.score) +
				" (robust z of its newest round" +
				(known(node.outlier_threshold) ?
				"; rounds combined, an outlier has " +
				digits(node.outlier_threshold) +
				" or more" : "") + ")" :
				"undetermined"], ["Leaf", node.leaf],
			["Address", node.addr], ["Software", node.software],
			["Runs now", node.run && h("a", { href: "#/run/" +
				encodeURIComponent(node.run) }, node.run)],
			["Busy", node.busy], ["Alarm", node.alarm]]));
}

function leafCard(node, nodes) {
	const peers = list(nodes).filter(n => n.leaf === node.leaf &&
		n.node !== node.node);
	return section("On the same leaf", node.leaf, h("p", null, peers.map(
		(n, i) => [i > 0 && ", ", nodeLink(n.node), known(n.score) &&
			h("span", { class: "quiet" }, " z " +
				digits(n.score))])));
}

export async function nodePage(name) {
	const path = "nodes/" + encodeURIComponent(name);
	const [node, ports, nodes, verdicts, runs] = await Promise.all([
		get(path), extra(path + "/links", true),
		get("nodes?brief=yes"), maybe("verdicts"),
		get("runs?brief=yes&limit=40&node=" + encodeURIComponent(name)),
		learnWhats()]);
	const verdict = list(verdicts).find(v => v.kind === "node" &&
		v.subject === name) || null;
	const rows = await history(name, list(runs));
	return [card("head", [node.state, node.verdict, node.pending, node.since_unix_ns, node.score,
		node.busy, node.alarm, node.run, verdict], () =>
		headCard(node, verdict)),
	card("history", rows, () => historyCard(rows)),
	ports && card("ports", ports, () => portsCard(ports)),
	node.leaf && card("leaf", list(nodes).filter(n => n.leaf === node.leaf),
		() => leafCard(node, nodes)),
	card("inventory", node.inventory, () => inventoryCard(node.inventory)),
	card("runs", runs, () => runsCard(list(runs).slice(0, 10),
		"Runs with this node"))];
}
