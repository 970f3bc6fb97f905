/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.js - select the page by the address below #, and keep it up to date. The
 * address contains the whole state of a view, so that users can share it:
 * #/node/node5, #/?test=lat&days=30.
 */
import { get, maybe, reuse, takeFailures } from "./api.js";
import { campaignPage, campaignsPage, forecastPage } from "./campaigns.js";
import { h } from "./dom.js";
import { offerExports } from "./export.js";
import { jobPage, jobsPage } from "./jobs.js";
import { linksPage } from "./links.js";
import { nodePage } from "./node.js";
import { eventsPage, overview } from "./overview.js";
import { runPage, runsPage } from "./runs.js";
import { list, now, renewTimes, span } from "./words.js";

const REFRESH_MS = 5000;
const REFRESH_MANY_MS = 20000; /* with MANY_NODES */
const MANY_NODES = 2000;

/* Keys and their pages, for users without a pointer. */
const KEYS = { o: "#/", r: "#/runs", c: "#/campaigns", f: "#/forecast",
	e: "#/events", j: "#/jobs", l: "#/links" };

const PAGES = { "": (arg, parameters) => overview(parameters, change),
	runs: (arg, parameters) => runsPage(parameters, change),
	links: (arg, parameters) => linksPage(parameters, change),
	run: (arg, parameters) => runPage(arg, parameters, change),
	node: nodePage, campaigns: campaignsPage, campaign: campaignPage,
	forecast: forecastPage, job: jobPage,
	events: (arg, parameters) => eventsPage(parameters, change),
	jobs: (arg, parameters) => jobsPage(parameters, change) };

const main = document.getElementById("main");

/* Where ------------------------------------------------------------------- */

function where() {
	const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
	const [kind, ...rest] = path.split("/");
	return { kind, arg: decodeURIComponent(rest.join("/")),
		parameters: new URLSearchParams(query || "") };
}

/* The same page with other parameters; "" takes one away. */
function change(more) {
	const { parameters } = where();
	for (const [key, value] of Object.entries(more))
		if (value === "")
			parameters.delete(key);
		else
			parameters.set(key, value);
	const query = parameters.toString();
	location.hash = location.hash.split("?")[0].replace(/^$/, "#/") +
		(query && "?" + query);
}

/* Showing ----------------------------------------------------------------- */

let kept = new Map(); /* id: {key, el} of the cards on the page */

/* What names an element across a renewal, so that it keeps the focus. */
function focusName() {
	const el = document.activeElement;
	return !el || !main.contains(el) ? null : el.id ? "#" +
		CSS.escape(el.id) : el.getAttribute("href") ? "[href=\"" +
		CSS.escape(el.getAttribute("href")) + "\"]" : null;
}

/* A card that did not change stays as it is: selections, focus, zoom. */
function show(cards) {
	const focus = focusName(), next = new Map();
	for (const c of cards.filter(Boolean)) {
		const was = kept.get(c.id);
		if (was && was.key === c.key) {
			next.set(c.id, was);
			continue;
		}
		next.set(c.id, { key: c.key, el: c.make() });
		offerExports(next.get(c.id).el, c.id);
	}
	kept = next;
	const els = [...next.values()].map(c => c.el).filter(Boolean);
	els.forEach((el, i) => {
		if (main.children[i] !== el)
			main.insertBefore(el, main.children[i] || null);
	});
	while (main.children.length > els.length)
		main.lastElementChild.remove();
	if (focus !== null && !main.contains(document.activeElement))
		main.querySelector(focus)?.focus({ preventScroll: true });
}

const failed = error => ({ id: "error", key: error.message, make: () =>
	h("section", { class: "verdict bad" }, h("h1", null,
		"No answer"), h("p", null, error.message)) });

const lacks = all => all.length > 0 && { id: "lacks", key: JSON.stringify(all),
	make: () => h("section", { class: "verdict warn" }, h("h2", null,
		"Some data of this page is missing"), all.map(([path, why]) =>
		h("p", null, path + ": " + why))) };

/* The loop ---------------------------------------------------------------- */

let turn = 0, last_s = null, timer = null, every_ms = REFRESH_MS;

function freshness(error) {
	const el = document.getElementById("fresh");
	el.className = error ? "stale" : "";
	el.textContent = !error ? "live" : last_s === null ? error.message :
		"no answer for " + span(now() - last_s) + ": " + error.message;
}

function markPlace(kind) {
	for (const a of document.querySelectorAll("nav a"))
		if (a.getAttribute("href") === "#/" + kind)
			a.setAttribute("aria-current", "page");
		else
			a.removeAttribute("aria-current");
}

async function refresh(same) {
	const mine = ++turn, { kind, arg, parameters } = where();
	const page = PAGES[kind] || PAGES[""];
	clearTimeout(timer);
	markPlace(kind);
	reuse(same === true);
	takeFailures();
	try {
		const cards = await page(arg, parameters);
		if (mine !== turn)
			return;
		show([...cards, lacks(takeFailures())]);
		renewTimes();
		last_s = now();
		freshness(null);
	} catch (error) {
		if (mine !== turn)
			return;
		if (kept.size === 0 || error.status === 404)
			show([failed(error)]);
		freshness(error);
	}
	document.body.dataset.ready = kind || "overview";
	timer = setTimeout(refresh, every_ms);
}

/* same: another choice on the page that needs no new data. */
function renew(same) {
	kept.clear();
	refresh(same === true);
}

/* Finding, keys, colours --------------------------------------------------- */

const find = document.getElementById("find");
let names = [];

async function learnNames() {
	names = list(await maybe("nodes?brief=yes")).map(n => n.node);
	every_ms = names.length > MANY_NODES ? REFRESH_MANY_MS : REFRESH_MS;
}

function offer() {
	const text = find.value.trim();
	document.getElementById("names").replaceChildren(...names.filter(n =>
		n.includes(text)).slice(0, 20).map(value => h("option",
		{ value })));
}

function findNode(event) {
	event.preventDefault();
	const text = find.value.trim();
	const name = names.includes(text) ? text : names.find(n =>
		n.includes(text));
	if (text === "" || name === undefined) {
		find.setCustomValidity("no node of that name");
		find.reportValidity();
		return;
	}
	find.value = "";
	find.blur();
	location.hash = "#/node/" + encodeURIComponent(name);
}

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
	document.documentElement.dataset.theme = theme;
	document.getElementById("theme").textContent = theme;
	try {
		localStorage.setItem("theme", theme);
	} catch { /* a browser may keep nothing */ }
}

function nextTheme() {
	const now = document.documentElement.dataset.theme;
	setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
	renew();
}

function key(event) {
	if (event.ctrlKey || event.metaKey || event.altKey ||
		/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
		return;
	if (event.key === "/") {
		event.preventDefault();
		find.focus();
	} else if (event.key === "t") {
		nextTheme();
	} else if (KEYS[event.key]) {
		location.hash = KEYS[event.key];
	}
}

function begin() {
	let theme = null;
	try {
		theme = localStorage.getItem("theme");
	} catch { /* as above */ }
	setTheme(THEMES.includes(theme) ? theme : "auto");
	window.addEventListener("hashchange", event => {
		const path = url => new URL(url).hash.split("?")[0];
		const same = path(event.oldURL) === path(event.newURL);
		if (!same)
			window.scrollTo(0, 0);
		renew(same);
	});
	/* Canvases do not follow the reader's colours by themselves. */
	window.matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", renew);
	let width = window.innerWidth;
	window.addEventListener("resize", () => {
		if (window.innerWidth === width)
			return; /* a telephone's bars come and go */
		width = window.innerWidth;
		clearTimeout(timer);
		timer = setTimeout(renew, 200);
	});
	document.addEventListener("visibilitychange", () =>
		document.hidden ? clearTimeout(timer) : refresh());
	document.addEventListener("keydown", key);
	find.addEventListener("focus", learnNames);
	find.addEventListener("input", () => {
		find.setCustomValidity("");
		offer();
	});
	document.getElementById("finder").addEventListener("submit", findNode);
	document.getElementById("theme").addEventListener("click", nextTheme);
	get("version").then(v => {
		document.getElementById("version").textContent = v.version;
		document.getElementById("nav-jobs").hidden = !v.jobs;
	}).catch(() => {});
	learnNames().catch(() => {});
	refresh();
}

begin();
