# SPDX-License-Identifier: Apache-2.0
#
# rules.awk - what promtool lets pass and Prometheus takes wrongly: a family in
# pieces, a series twice, a histogram without +Inf or with falling buckets, a
# counter that is no number, a sample without TYPE.

function complain(text)
{
	print NR ": " text ": " $0
	bad = 1
}

# The family that a sample's name belongs to.
function family_of(name,    base)
{
	if (name in type)
		return name
	base = name
	if (sub(/_(bucket|sum|count)$/, "", base) &&
	    (type[base] == "histogram" || type[base] == "summary"))
		return base
	return ""
}

/^# TYPE / {
	if ($3 in type)
		complain("a second TYPE")
	type[$3] = $4
	current = $3
	next
}
/^#/ || /^$/ { next }
{
	series = $0
	value = $NF
	sub(/ [^ ]*$/, "", series)
	name = series
	sub(/\{.*/, "", name)
	family = family_of(name)
	if (family == "")
		complain("no TYPE")
	else if (family != current)
		complain("its family is in pieces")
	if (series in seen)
		complain("twice")
	seen[series] = 1
	if (type[family] == "counter" && value !~ /^[0-9.e+]+$/)
		complain("a counter that is no number")
}
name ~ /_bucket$/ && type[family] == "histogram" {
	rest = series
	bound = series
	sub(/.*le="/, "", bound)
	sub(/".*/, "", bound)
	sub(/,?le="[^"]*"/, "", rest)
	if (rest in last && value + 0 < last[rest] + 0)
		complain("a falling bucket")
	last[rest] = value
	closed[rest] = bound == "+Inf"
}
END {
	for (rest in closed)
		if (!closed[rest]) {
			print rest ": no +Inf at its end"
			bad = 1
		}
	exit bad
}
