/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.js - every node as a cell, leaf by leaf. A few hundred are links with
 * their names; more are painted on one canvas, which arrow keys and the
 * pointer walk alike.
 */
import { choice, colour, h } from "./dom.js";
import { digits, href, known, list, plural } from "./words.js";
import { nodeTone, TONES } from "./status.js";

const TILES_MAX = 400; /* more nodes than this are painted */
const SIZES = [24, 18, 14, 11, 9, 7]; /* of a painted cell, pixels */
const HEIGHT_MAX = 720; /* fits on a screen with its headline */
const GAP = 10; /* between leaves */

/* [[leaf, nodes]] in the order of their first node. */
function leaves(nodes) {
	const by = new Map();
	for (const n of nodes) {
		const leaf = n.leaf || "";
		if (!by.has(leaf))
			by.set(leaf, []);
		by.get(leaf).push(n);
	}
	return [...by];
}

const about = n => n.node + ": " + TONES[n.tone] + (known(n.score) ?
	", z " + digits(n.score) : "") + (n.leaf ? ", " + n.leaf : "") +
	(n.state === "busy" ? ", busy" : "");

/* Tiles ------------------------------------------------------------------- */

function tile(n) {
	const note = ["lost", "late", "maintenance"].includes(n.tone) ? n.tone :
		(known(n.score) ? "z " + digits(n.score) : "–") +
		(n.state === "busy" ? " busy" : "");
	return h("a", { class: "node " + n.tone, href: href("node", n.node),
		title: about(n) }, h("b", null, n.node), h("i", null, note));
}

/* tones: by leaf that has a verdict of its own, or of its uplink. */
const tiles = (groups, tones) => h("div", { class: "leaves" }, groups.map(
	([leaf, nodes]) => h("div", { class: tones.has(leaf) ? "leaf " +
		tones.get(leaf) : "leaf" }, leaf && h("h3", null, leaf +
		(tones.has(leaf) ? ": " + TONES[tones.get(leaf)] : "")),
		h("div", { class: "nodes" }, nodes.map(tile)))));

/* Canvas ------------------------------------------------------------------ */

/* Blocks of leaves side by side: each at most 16 cells wide. */
function layout(groups, width, cell) {
	const cols = Math.min(16, Math.max(...groups.map(g => g[1].length)));
	const block = cols * cell + GAP;
	const across = Math.max(1, Math.floor((width + GAP) / block));
	const places = [], frames = [];
	let x = 3, y = 3, tall = 0; /* room for frames at the edge */
	groups.forEach(([leaf, nodes], i) => {
		if (i > 0 && i % across === 0) {
			x = 3;
			y += tall + GAP;
			tall = 0;
		}
		nodes.forEach((node, j) => places.push({ node,
			x: x + j % cols * cell,
			y: y + Math.floor(j / cols) * cell }));
		const rows = Math.ceil(nodes.length / cols);
		frames.push({ leaf, x, y, width: cell *
			Math.min(cols, nodes.length), height: rows * cell });
		tall = Math.max(tall, rows * cell);
		x += block;
	});
	return { places, frames, cell, height: y + tall + 3 };
}

function fit(groups, width) {
	for (const cell of SIZES) {
		const plan = layout(groups, width, cell);
		if (plan.height <= HEIGHT_MAX || cell === SIZES.at(-1))
			return plan;
	}
}

function paint(canvas, plan, width, chosen, tones) {
	const dots = window.devicePixelRatio || 1;
	const g = canvas.getContext("2d");
	const tone = Object.fromEntries(Object.keys(TONES).map(t =>
		[t, colour("tone-" + t)]));
	const ink = colour("ink");
	const side = plan.cell - (plan.cell > 9 ? 2 : 1);
	canvas.width = width * dots;
	canvas.height = plan.height * dots;
	canvas.style.height = plan.height + "px";
	g.scale(dots, dots);
	for (const { node, x, y } of plan.places) {
		g.fillStyle = tone[node.tone];
		g.fillRect(x, y, side, side);
	}
	for (const f of plan.frames.filter(f => tones.has(f.leaf))) {
		g.strokeStyle = tone[tones.get(f.leaf)];
		g.lineWidth = 3;
		g.strokeRect(f.x - 3, f.y - 3, f.width + 5, f.height + 5);
	}
	/* On top of their neighbours: one among ten thousand must be seen. */
	for (const { node, x, y } of plan.places)
		if (node.tone === "outlier" || node.tone === "bad") {
			g.fillStyle = tone[node.tone];
			g.fillRect(x - 2, y - 2, side + 4, side + 4);
			g.strokeStyle = ink;
			g.lineWidth = 1.5;
			g.strokeRect(x - 2, y - 2, side + 4, side + 4);
		}
	const at = plan.places[chosen];
	if (at) {
		g.strokeStyle = colour("focus");
		g.lineWidth = 2.5;
		g.strokeRect(at.x - 1.5, at.y - 1.5, side + 3, side + 3);
	}
}

/* The place nearest to a step from one in a direction, or the same. */
function step(places, from, dx, dy) {
	const a = places[from];
	let best = from, least = Infinity;
	places.forEach((b, i) => {
		const along = (b.x - a.x) * dx + (b.y - a.y) * dy;
		const aside = Math.abs((b.x - a.x) * dy) +
			Math.abs((b.y - a.y) * dx);
		if (along > 0 && along + 8 * aside < least) {
			least = along + 8 * aside;
			best = i;
		}
	});
	return best;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
	ArrowDown: [0, 1] };

function painted(groups, tones) {
	const canvas = h("canvas", { tabindex: 0, role: "application", id:
		"grid-canvas", "aria-label": "nodes by leaf; arrow keys move, " +
		"Enter opens" });
	const said = h("p", { class: "quiet said", "aria-live": "polite" },
		"Point at a cell or use the arrow keys to see its node.");
	let plan = null, width = 0, chosen = -1;
	const choose = i => {
		if (i < 0 || i === chosen)
			return;
		chosen = i;
		said.textContent = about(plan.places[i].node);
		paint(canvas, plan, width, chosen, tones);
	};
	const under = e => plan.places.findIndex(p => e.offsetX >= p.x &&
		e.offsetX < p.x + plan.cell && e.offsetY >= p.y &&
		e.offsetY < p.y + plan.cell);
	const open = () => {
		if (chosen >= 0)
			location.hash = href("node",
				plan.places[chosen].node.node);
	};
	canvas.addEventListener("mousemove", e => choose(under(e)));
	canvas.addEventListener("click", e => {
		choose(under(e));
		open();
	});
	canvas.addEventListener("keydown", e => {
		if (ARROWS[e.key]) {
			e.preventDefault();
			choose(chosen < 0 ? 0 :
				step(plan.places, chosen, ...ARROWS[e.key]));
		} else if (e.key === "Enter") {
			open();
		}
	});
	const room = h("div", null, canvas);
	new ResizeObserver(([e]) => {
		if (Math.floor(e.contentRect.width) === width)
			return; /* only the height changed, by ourselves */
		width = Math.floor(e.contentRect.width);
		plan = fit(groups, width);
		requestAnimationFrame(() => paint(canvas, plan, width, chosen,
			tones));
	}).observe(room);
	return [room, said];
}

/* The card ----------------------------------------------------------------- */

/* Filters by leaf and by state; other nodes are not drawn. */
function choices(all, parameters, go) {
	const names = [...new Set(all.map(n => n.leaf).filter(Boolean))];
	return h("span", { class: "choices" }, names.length > 1 &&
		choice("leaf", [["", "all leaves"], ...names.map(l => [l, l])],
			parameters.get("leaf") || "", v => go({ leaf: v })),
	choice("nodes", [["", "all nodes"], ...Object.entries(TONES).filter(
		([tone]) => all.some(n => n.tone === tone))],
	parameters.get("show") || "", v => go({ show: v })));
}

/* nodes: brief ones. */
export function gridCard(nodes, verdicts, parameters, go) {
	const by = verdicts && new Map(verdicts.filter(v => v.kind ===
		"node").map(v => [v.subject, v]));
	const tones = new Map(list(verdicts).filter(v => v.kind === "leaf" &&
		(v.verdict === "bad" || v.verdict === "warn")).map(v =>
		[v.subject, v.verdict === "bad" ? "bad" : "outlier"]));
	const all = list(nodes).map(n => ({ ...n, tone: nodeTone(n, by) }));
	const leaf = parameters.get("leaf"), show = parameters.get("show");
	const shown = all.filter(n => (!leaf || n.leaf === leaf) && (!show ||
		n.tone === show));
	const groups = leaves(shown);
	const count = tone => shown.filter(n => n.tone === tone).length;
	if (shown.length === 0)
		return h("section", { id: "grid" }, h("h2", null, "Nodes",
			all.length > 0 && choices(all, parameters, go)),
		h("p", { class: "quiet" }, all.length > 0 ? "No node matches " +
			"these filters." :
			"No nodes yet. A node appears here when its agent " +
				"connects."));
	return h("section", { id: "grid", class: shown.length > TILES_MAX ?
		"many" : null }, h("h2", null, "Nodes ", h("small",
		null, plural(shown.length, "node") + (groups.length > 1 ? ", " +
		groups.length + " leaves" : "") + (shown.some(n =>
		known(n.score)) ? "; z: deviation from its peers in its " +
			"newest round, above 0 is worse" : "")), choices(all,
				parameters, go)),
		shown.length > TILES_MAX ? painted(groups, tones) :
			tiles(groups, tones),
		h("p", { class: "legend" }, Object.entries(TONES).filter(
			([tone]) => count(tone) > 0).map(([tone, text]) =>
			h("span", { class: tone }, text + " " + count(tone)))));
}
