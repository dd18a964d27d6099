"""Turns meson's test logs into lines of results, and lines of results into the closing summary.

testlog.py RESULTS SUITE LOG...  appends "suite, test, PASS or FAIL or SKIP, reason", tabs between
testlog.py RESULTS               prints what was skipped and failed, and the counts as the last line
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import collections
import json
import re
import sys
import textwrap


def row_of(suite, test):
    kind = {"OK": "PASS", "EXPECTEDFAIL": "PASS", "SKIP": "SKIP"}.get(test["result"], "FAIL")
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    lines = re.findall(r"\S.*", text) or [test["result"].lower()]
    # GoogleTest prints the reason for a skip below the place; others print SKIP first, or last.
    reported = (re.findall(r"(?::\d+: Skipped\n+|^SKIP:)(.+)", text, re.MULTILINE)[:1]
            if kind == "SKIP" else [line for line in lines if re.search("FAIL|ERROR|error:", line)])
    reason = "" if kind == "PASS" else (reported or lines)[-1].strip().replace("\t", " ")[:160]
    return suite, test["name"].partition(" / ")[2] or test["name"], kind, reason


def append(results, suite, *logs):
    rows = []
    for path in logs:
        try:
            with open(path, encoding="utf-8") as log:
                rows += [row_of(suite, json.loads(line)) for line in log]
        except (OSError, ValueError):
            rows.append((suite, "meson test", "FAIL", f"no readable log {path}"))
    with open(results, "a", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in rows)


def summary(results):
    tests, counts = collections.defaultdict(list), collections.Counter()
    with open(results, encoding="utf-8") as lines:
        for suite, name, kind, reason in (line.rstrip("\n").split("\t") for line in lines):
            tests[kind, suite, reason].append(name)
            counts[kind] += 1
    for kind, title in ("SKIP", "Skipped"), ("FAIL", "Failed"):
        for (_, suite, reason), names in ((key, tests[key]) for key in tests if key[0] == kind):
            print(f"{title} in suite {suite}" + (f", {reason}:" if reason else ":"))
            print(textwrap.fill(", ".join(names), 100, initial_indent="  ",
                                subsequent_indent="  ", break_on_hyphens=False))
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return 1 if counts["FAIL"] or not counts["PASS"] else 0


if __name__ == "__main__":
    sys.exit((append if sys.argv[2:] else summary)(*sys.argv[1:]))
