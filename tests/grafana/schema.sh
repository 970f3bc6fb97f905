#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# schema.sh [--check] - make third_party/dashboard.schema.json from Grafana's npm
# package; --check only compares. Tests use the file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
file=$here/third_party/dashboard.schema.json
types=node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @grafana/schema@13.2.3 \
    ts-json-schema-generator@2.4.0
npx ts-json-schema-generator --path "$types" --type Dashboard \
    --no-type-check --additional-properties >schema.json
if [ "${1-}" = --check ]; then
	cmp schema.json "$file"
else
	cp schema.json "$file"
fi
