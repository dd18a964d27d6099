"""Turns meson's test logs into lines of results, and lines of results into the closing summary.

testlog.py SUITE LOG...      prints "suite, test, PASS or FAIL or SKIP, reason", separated by tabs
testlog.py --summary FILE    prints what was skipped and failed, and the counts as the last line
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import re
import sys
import textwrap

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def reason_for(test):
    """The test's own reason why it skipped or failed."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        reason = test["result"].lower()
    elif test["result"] in SKIPPED:
        # GoogleTest puts the reason below the place; others print SKIP first, or last.
        places = [i for i, line in enumerate(lines[:-1]) if re.search(r":\d+: Skipped$", line)]
        told = [line.partition(":")[2].strip() for line in lines if line.startswith("SKIP:")]
        reason = lines[places[0] + 1] if places else told[0] if told else lines[-1]
    else:
        told = [line for line in lines if re.search("FAIL|ERROR|error:", line)]
        reason = told[-1] if told else lines[-1]
    return reason.replace("\t", " ")[:160]


def results_of(suite, paths):
    for path in paths:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                result = test["result"]
                name = test["name"].partition(" / ")[2] or test["name"]  # without the project
                if result in PASSED:
                    yield suite, name, "PASS", ""
                else:
                    kind = "SKIP" if result in SKIPPED else "FAIL"
                    yield suite, name, kind, reason_for(test)


def print_by_reason(title, rows):
    reasons = {}
    for suite, name, _, reason in rows:
        reasons.setdefault((suite, reason), []).append(name)
    for (suite, reason), names in reasons.items():
        print(f"{title} in suite {suite}" + (f", {reason}:" if reason else ":"))
        print(textwrap.fill(", ".join(names), 100, initial_indent="  ", subsequent_indent="  ",
                            break_on_hyphens=False))


def summary(path):
    with open(path, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    print()
    print_by_reason("Skipped", [row for row in rows if row[2] == "SKIP"])
    print_by_reason("Failed", [row for row in rows if row[2] == "FAIL"])
    counts = {kind: sum(row[2] == kind for row in rows) for kind in ("PASS", "FAIL", "SKIP")}
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return 1 if counts["FAIL"] or not counts["PASS"] else 0


def main(arguments):
    if arguments[:1] == ["--summary"]:
        return summary(arguments[1])
    for row in results_of(arguments[0], arguments[1:]):
        print("\t".join(row))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
