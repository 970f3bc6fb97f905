/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.js - the HTML report of one run, which coalctl writes: the cards of
 * the page over the data in the file. It loads nothing and needs no network.
 */
import { h } from "./dom.js";
import { offerExports } from "./export.js";
import { cardsOf, headCard } from "./run.js";

const main = document.getElementById("main");
const { run, records, headline } = JSON.parse(document.getElementById("data").textContent);
const parameters = new URLSearchParams();

/* Links of the page lead nowhere in a file. */
function withoutLinks(el) {
	for (const a of el.querySelectorAll("a[href^='#']"))
		a.replaceWith(...a.childNodes);
	return el;
}

function show() {
	const cards = cardsOf(records, parameters, more => {
		for (const [name, value] of Object.entries(more))
			parameters.set(name, value);
		show();
	}).filter(Boolean);
	const head = withoutLinks(headCard(run));
	head.querySelector("h1").after(h("p", null, headline));
	main.replaceChildren(head);
	for (const c of cards) {
		const el = c.make();
		if (!el)
			continue;
		main.append(withoutLinks(el));
		offerExports(el, run.run + "-" + c.id);
	}
	if (cards.length === 0)
		main.append(h("p", { class: "quiet" }, "Nothing was measured."));
}

document.title = run.run;
show();
let width = window.innerWidth;
window.addEventListener("resize", () => {
	if (window.innerWidth !== width)
		show();
	width = window.innerWidth;
});
