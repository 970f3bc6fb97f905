/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dom.js - elements from plain values. Text goes into the page as text, never
 * as HTML.
 */
const SVG = "http://www.w3.org/2000/svg";

function fill(el, attrs, kids) {
	for (const [key, value] of Object.entries(attrs || {}))
		if (value !== undefined && value !== null && value !== false)
			el.setAttribute(key, value);
	for (const kid of kids.flat(9))
		if (kid !== null && kid !== undefined && kid !== false)
			el.append(kid);
	return el;
}

export const h = (tag, attrs, ...kids) =>
	fill(document.createElement(tag), attrs, kids);
export const s = (tag, attrs, ...kids) =>
	fill(document.createElementNS(SVG, tag), attrs, kids);

/* Let contents that are wider than the page scroll, with keys too. */
export function scroller(kid) {
	const el = h("div", { class: "scroll" }, kid);
	new ResizeObserver(() => {
		if (el.scrollWidth > el.clientWidth) {
			el.tabIndex = 0;
			el.setAttribute("role", "group");
			el.setAttribute("aria-label", "scrolls sideways");
		} else {
			for (const name of ["tabindex", "role", "aria-label"])
				el.removeAttribute(name);
		}
	}).observe(el);
	return el;
}

/* heads: [text, class?]; a row has a cell for each. */
export function table(heads, rows) {
	const cell = (tag, head, kid) => h(tag, { class: head[1] || null }, kid);
	return scroller(h("table", null,
		h("thead", null, h("tr", null,
			heads.map(head => cell("th", head, head[0])))),
		h("tbody", null, rows.map(row => h("tr", null,
			row.map((kid, i) => cell("td", heads[i], kid)))))));
}

/* Facts as a list of terms, without unknown ones. */
export const facts = rows => h("dl", null, rows.filter(r => r[1] !== null &&
	r[1] !== undefined && r[1] !== "" && r[1] !== false).map(r =>
	[h("dt", null, r[0]), h("dd", null, r[1])]));

export const section = (title, note, ...kids) => h("section", null,
	h("h2", null, title, " ", note && h("small", null, note)), kids);

/* A card of the page, which is drawn again only if data has changed. */
export const card = (id, data, make) =>
	({ id, key: JSON.stringify(data), make: () => make(data) });

/* A list to choose from; change(value) is called with the new choice. */
export function choice(label, options, chosen, change) {
	const el = h("select", { "aria-label": label, id: "choose-" + label
		.replace(/\W+/g, "-") }, options.map(([value, text]) =>
		h("option", { value, selected: value === chosen ? "" : null },
			text)));
	el.addEventListener("change", () => change(el.value));
	return el;
}

/* The colour that the style sheet gives to a name, for canvases, which do not
 * support variables. */
export function colour(name, opacity = 1) {
	const probe = document.getElementById("fresh");
	probe.style.color = "var(--" + name + ")";
	const rgb = getComputedStyle(probe).color;
	probe.style.color = "";
	return opacity === 1 ? rgb : rgb.replace("rgb(", "rgba(")
		.replace(")", ", " + opacity + ")");
}
