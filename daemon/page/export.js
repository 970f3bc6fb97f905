/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.js - export a card as a file: its tables as CSV, its picture as PNG.
 * Cards need no code for it; the files are made from the elements of the page.
 */
import { colour, h } from "./dom.js";

const SCALE = 2; /* dots of a picture for one of the page */
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "opacity",
	"stroke-dasharray", "font-size", "font-family", "text-anchor"];

/* Quote texts that a spreadsheet program would interpret as formulas. */
function quoted(text) {
	const formula = /^[=@\t\r]/.test(text) || (/^[+-]/.test(text) &&
		!/^[+-][\d.,]+( ?[%\w/]+)?$/.test(text));
	const safe = formula ? "'" + text : text;
	return /[",\r\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' :
		safe;
}

/* Write absolute times, as "3 min ago" has no meaning later. */
function cellText(cell) {
	const time = cell.querySelector("time");
	return (time ? time.getAttribute("datetime") : cell.textContent).trim();
}

export const csvOf = el => [...el.querySelectorAll("table")].map(t =>
	[...t.querySelectorAll("tr")].map(row => [...row.children].map(cell =>
		quoted(cellText(cell))).join(",")).join("\r\n")).join("\r\n\r\n") +
	"\r\n";

/* A drawing with the colours that the style sheet gives it, which a picture
 * outside of the page does not have. */
function inlined(svg) {
	const copy = svg.cloneNode(true);
	const from = [svg, ...svg.querySelectorAll("*")];
	[copy, ...copy.querySelectorAll("*")].forEach((el, i) => {
		const style = getComputedStyle(from[i]);
		for (const name of STYLES)
			el.setAttribute(name, style.getPropertyValue(name));
	});
	const box = svg.getBoundingClientRect();
	copy.setAttribute("width", box.width);
	copy.setAttribute("height", box.height);
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	return new Promise((done, fail) => {
		const image = new Image();
		image.onload = () => done(image);
		image.onerror = () => fail(new Error("no picture"));
		image.src = "data:image/svg+xml," + encodeURIComponent(
			new XMLSerializer().serializeToString(copy));
	});
}

/* Draw all pictures of a card at their places, and the text between them. */
export async function pngOf(card) {
	const all = card.getBoundingClientRect();
	const canvas = h("canvas", { width: all.width * SCALE,
		height: all.height * SCALE });
	const g = canvas.getContext("2d");
	g.scale(SCALE, SCALE);
	g.fillStyle = colour("card");
	g.fillRect(0, 0, all.width, all.height);
	for (const el of card.querySelectorAll("svg, canvas")) {
		const b = el.getBoundingClientRect();
		g.drawImage(el.tagName === "CANVAS" ? el : await inlined(el),
			b.x - all.x, b.y - all.y, b.width, b.height);
	}
	const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const el = texts.currentNode.parentElement;
		if (el.closest("svg, select, button") ||
			texts.currentNode.data.trim() === "")
			continue;
		const range = document.createRange();
		range.selectNodeContents(texts.currentNode);
		const b = range.getBoundingClientRect();
		const style = getComputedStyle(el);
		g.font = style.fontWeight + " " + style.fontSize + " " +
			style.fontFamily;
		g.fillStyle = style.color;
		g.textBaseline = "middle";
		g.fillText(texts.currentNode.data.trim(), b.x - all.x,
			b.y - all.y + b.height / 2);
	}
	return new Promise(done => canvas.toBlob(done, "image/png"));
}

function save(name, blob) {
	const url = URL.createObjectURL(blob);
	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* Add export buttons to the headline of a card. */
export function offerExports(el, id) {
	const head = el && el.querySelector && el.querySelector("h2");
	if (!head)
		return;
	const button = (word, make) => {
		const b = h("button", { type: "button", class: "export",
			id: "export-" + id + "-" + word, "aria-label": "save " +
			head.firstChild.textContent.trim() + " as " + word },
		word);
		b.addEventListener("click", async () => save("coalmine-" + id +
			"." + word, await make(el)));
		head.append(" ", b);
	};
	/* A .plot element gets its plot when its width is known. */
	if (el.querySelector("canvas, svg, .plot"))
		button("png", pngOf);
	if (el.querySelector("table"))
		button("csv", card => new Blob([csvOf(card)],
			{ type: "text/csv" }));
}
