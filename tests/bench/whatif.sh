#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# whatif.sh - predictions of coalctl whatif, compared with measured times: for
# each class of link of the lab, a part is made slow or is cut.
#
# COALMINE_BENCH_WHATIF_CASES (100) cases. COALMINE_BENCH_WHATIF_FILE keeps
# them: cases in this file are not measured again.
cases=${COALMINE_BENCH_WHATIF_CASES:-100}
file=${COALMINE_BENCH_WHATIF_FILE:-$(mktemp)}

# It fails if too few cases are within their intervals; the table shows that.
"$COALMINE_SOURCE/tests/lab/test_jobs.sh" whatif "$cases" "$file" >&2
[ "$(wc -l <"$file")" -ge "$cases" ] || {
	echo "$(wc -l <"$file") of $cases cases were measured" >&2
	exit 1
}
[ -n "${COALMINE_BENCH_WHATIF_FILE-}" ] || trap 'rm -rf "$file" "$file.begun"' EXIT

cat <<'END'
Lab: 3 leaves with 4 hosts each, 200 Mbit/s, uplinks 400 Mbit/s by four cables to
two spines. In each case an allreduce, allgather or alltoall of 2 to 8 MiB on 2 to
8 nodes is predicted for a changed part, then the part is changed and the
collective is measured. Within: the measured time is in the predicted interval of
95 %. Width: upper end over lower end. Ratio: measured time over the geometric
middle of the interval. Medians.

| changed part | cases | within | faster | slower | width | ratio |
|---|---:|---:|---:|---:|---:|---:|
END
awk '
function sort(x, n,    i, k, t)
{
	for (i = 2; i <= n; i++)
		for (k = i; k > 1 && x[k] < x[k - 1]; k--) {
			t = x[k]; x[k] = x[k - 1]; x[k - 1] = t
		}
}
function put(name, class, least,    i, n, is_in, fast, w, r)
{
	for (i = 1; i <= NR; i++) {
		if ((class != "" && of[i] != class) || times[i] < least)
			continue
		n++
		w[n] = hi[i] / lo[i]
		r[n] = got[i] / sqrt(lo[i] * hi[i])
		is_in += lo[i] <= got[i] && got[i] <= hi[i]
		fast += got[i] < lo[i]
	}
	sort(w, n)
	sort(r, n)
	if (n > 0)
		printf "| %s | %d | %d | %d | %d | %.2f | %.2f |\n", name, n,
		    is_in, fast, n - is_in - fast, w[int((n + 1) / 2)],
		    r[int((n + 1) / 2)]
	inside = is_in
}
# The share of the width, as a logarithm, that contains 95 of 100 cases.
function enough(    i, u)
{
	for (i = 1; i <= NR; i++) {
		u[i] = log(got[i] / sqrt(lo[i] * hi[i])) / log(hi[i] / lo[i])
		u[i] = 2 * (u[i] < 0 ? -u[i] : u[i])
	}
	sort(u, NR)
	return u[int(0.95 * NR + 0.999)]
}
{ of[NR] = $2; lo[NR] = $6; got[NR] = $7; hi[NR] = $8; times[NR] = $10 }
END {
	put("a link of a node, slow", "node", 0)
	put("all uplinks of a leaf, slow", "leaf", 0)
	put("one cable of four, cut", "cable", 0)
	put("one cable of four, slow, adaptive routes", "slow-cable", 0)
	put("one cable of four, slow, fixed routes", "fixed-routes", 0)
	put("both cables to a spine, cut", "bundle", 0)
	put("a spine, down", "spine", 0)
	put("a node, down", "gone", 0)
	put("all that become at least 5 % slower", "", 1.05)
	put("all", "", 0)
	# Wilson (1927)
	p = inside / NR; z = 1.96; m = z * z / NR
	d = z * sqrt(p * (1 - p) / NR + m / (4 * NR)) / (1 + m)
	c = (p + m / 2) / (1 + m)
	printf "\n%d of %d cases are within the interval: %.0f %%, with the " \
	    "95 %% confidence interval %.0f to %.0f %%.\n", inside, NR,
	    100 * p, 100 * (c - d), 100 * (c + d)
	printf "%.0f %% of the width of each interval, as a logarithm, would " \
	    "contain 95 of 100 cases.\n", 100 * enough()
}' "$file"
