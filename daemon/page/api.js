/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.js - requests to the collector's API, /api/v1.
 */
import { list } from "./words.js";

const answers = new Map(); /* path: answer of the last turn */
let again = false;

/* Reuse answers of the last turn if yes: for another view of the same data. */
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

let failures = new Map(); /* path: error message */

/* Get optional data of a page; null if the request failed, which the page then
 * shows. mayLack: an older collector does not have the path. */
export async function extra(path, mayLack) {
	try {
		return await get(path);
	} catch (error) {
		if (!mayLack || error.status !== 404)
			failures.set(path, error.message);
		return null;
	}
}

/* [path, why] of all failures since the last call. */
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
