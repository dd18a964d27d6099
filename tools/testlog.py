"""Turns meson's test logs into lines of results, and lines of results into the closing summary.

testlog.py SUITE LOG...      prints "suite, test, PASS or FAIL or SKIP, reason", separated by tabs
testlog.py --summary FILE    prints what was skipped and failed, and the counts as the last line
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import re
import sys
import textwrap

KINDS = {"OK": "PASS", "EXPECTEDFAIL": "PASS", "SKIP": "SKIP"}  # others failed


def reason_for(test, kind):
    """The test's own reason why it skipped or failed."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if kind == "SKIP":
        # GoogleTest puts the reason below the place; others print SKIP first, or last.
        told = re.search(r":\d+: Skipped\n+(.+)|^SKIP:(.+)", text, re.MULTILINE)
        lines += [next(filter(None, told.groups()))] if told else []
    else:
        lines += [line for line in lines if re.search("FAIL|ERROR|error:", line)][-1:]
    return lines[-1].strip().replace("\t", " ")[:160] if lines else test["result"].lower()


def print_results(suite, paths):
    for path in paths:
        with open(path, encoding="utf-8") as log:
            for test in map(json.loads, log):
                kind = KINDS.get(test["result"], "FAIL")
                name = test["name"].partition(" / ")[2] or test["name"]  # without the project
                print(suite, name, kind, "" if kind == "PASS" else reason_for(test, kind), sep="\t")


def summary(path):
    with open(path, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    for kind, title in ("SKIP", "Skipped"), ("FAIL", "Failed"):
        reasons = {}
        for suite, name, _, reason in (row for row in rows if row[2] == kind):
            reasons.setdefault((suite, reason), []).append(name)
        for (suite, reason), names in reasons.items():
            print(f"{title} in suite {suite}" + (f", {reason}:" if reason else ":"))
            print(textwrap.fill(", ".join(names), 100, initial_indent="  ",
                                subsequent_indent="  ", break_on_hyphens=False))
    counts = {kind: sum(row[2] == kind for row in rows) for kind in ("PASS", "FAIL", "SKIP")}
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return 1 if counts["FAIL"] or not counts["PASS"] else 0


if __name__ == "__main__":
    sys.exit(summary(sys.argv[2]) if sys.argv[1] == "--summary" else print_results(sys.argv[1],
                                                                                   sys.argv[2:]))
