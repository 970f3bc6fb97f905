#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# words.sh [TREE] - messages, option texts and manual pages use the terms that
# readers search for: no string of C and no line of a manual has an expression
# of the table below. Comments are not checked.
. "$(dirname "$0")/lib.sh"

# An expression (Python, as a whole word) and what to write instead.
words='
nobody|somebody|whoever|whom = no client, no collector, a user, the node
believed = trusted, accepted, verified
trouble = contention, error, failure
complain(s|ts?|ed)? = error, failure, warning
mend(s|ed|ing)? = fix
heard = received, last contact
anew = again, retry
beside = compared with, in addition to, concurrently with, next to
likewise = repeat the words
go(es)? on|stays? away = continue, restart; be unreachable
by itself|of its own|in earnest = automatically, separate
(is|are|was|were) (told|said) = is reported, logged, printed, sent
(is|are) none|(?<![Tt]here )(is|are) no(?= )(?! longer| more) = is not a valid X, missing, malformed
allowed (is|are) = expected, valid values
so (many|long|much) = this many, for this long, N, up to N
left (out|there) = skipped, not accepted, stays on the node
(stands?|lies?) in = is in, is stored in
(its|their) like = peers, other ports of this kind
(that|those) of its = repeat the noun
'
# A file and a text that is correct in this file.
except='
agents/main.c "nobody"
'
files '*.c' '*.h' '*.inc' '*.1' '*.5' '*.7' '*.8' |
    grep -E '^(agents|common|ctl|daemon|docs|etc|lab|pki|probes|schema)/' |
    WORDS=$words EXCEPT=$except python3 -c '
import os, re, sys

def rows(name, sep):
    return [line.split(sep, 1) for line in os.environ[name].split("\n") if line]

words = [(re.compile(rf"\b(?:{word})(?!\w)"), instead)
         for word, instead in rows("WORDS", " = ")]
string = re.compile(r"""/\*.*?\*/|\x27(?:[^\x27\\\n]|\\.)\x27|"""
                    r"""("(?:[^"\\\n]|\\.)*")""", re.S)
exceptions, used, bad = rows("EXCEPT", " "), [], 0

def texts(path, text):
    """(line, text) of strings of C and lines of manuals."""
    if not path.endswith((".c", ".h", ".inc")):
        yield from enumerate(text.split("\n"), 1)
        return
    for m in string.finditer(text):
        if m.group(1):
            yield text.count("\n", 0, m.start()) + 1, m.group(1)

for path in sys.stdin.read().split():
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for n, line in texts(path, text):
        for word, instead in words:
            m = word.search(line)
            if not m:
                continue
            right = [e for e in exceptions if e[0] == path and e[1] in line]
            used += right
            if right:
                continue
            print(f"{path}:{n}: \"{m.group()}\": write {instead}")
            bad = 1
for e in exceptions:
    if e not in used and os.path.exists(e[0]):
        print(f"tests/lint/words.sh: {e[0]} does not have {e[1]}")
        bad = 1
sys.exit(bad)
' || exit 1
