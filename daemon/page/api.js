/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.js - what the collector answers below /api/v1.
 */
import { list } from "./words.js";

const answers = new Map(); /* path: what the last turn was told */
let again = false;

/* Whether what was told at the last turn will do: another look at the same. */
export function reuse(yes) {
	again = yes;
	if (!yes)
		answers.clear();
}

export async function get(path) {
	if (again && answers.has(path))
		return answers.get(path);
	const reply = await fetch("/api/v1/" + path);
	const body = await reply.json();
	if (!reply.ok) {
		const error = new Error(body.error ? body.error.message :
			reply.status);
		error.status = reply.status;
		throw error;
	}
	answers.set(path, body);
	return body;
}

let failures = new Map(); /* path: what was told instead */

/* What a page has beside its subject: without it the page goes on, and says so;
 * null then. mayLack: an older collector does not know it. */
export async function beside(path, mayLack) {
	try {
		return await get(path);
	} catch (error) {
		if (!mayLack || error.status !== 404)
			failures.set(path, error.message);
		return null;
	}
}

/* [path, why] of all that failed since the last call. */
export function takeFailures() {
	const all = [...failures];
	failures = new Map();
	return all;
}

/* A list that an older collector may not have: null then. */
export async function maybe(path) {
	try {
		return list(await get(path));
	} catch (error) {
		if (error.status === 404)
			return null;
		throw error;
	}
}
