"""Tables "paper | ours" of one or several runs: for the terminal, as Markdown, as JSON."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import math
import os
from dataclasses import dataclass, field

import bench_tables
from bench_runs import BenchError, load_json

FORMAT = "cudatransform papers 1"
DASH = "–"


def load_data(path):
    """The papers' tables, with all rows and cells written out."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    for paper in data["papers"]:
        rows = {table["id"]: table["rows"] for table in paper["tables"]}
        for table in paper["tables"]:
            ours = {**paper["common"]["ours"], **table.get("ours", {})}
            table.update({**paper["common"], **table, "ours": ours})
            if isinstance(table["rows"], str):
                table["rows"] = rows[table["rows"]]
            for row in table["rows"]:
                row.setdefault("paper", [None] * len(table["columns"]))
    return data


def load_run(path):
    """A run that tools/papers has written. Raises BenchError."""
    run = load_json(path)
    if not isinstance(run, dict) or run.get("format") != FORMAT:
        raise BenchError(f"{path}: not a run of tools/papers ({FORMAT!r})")
    return run


def significant(value, digits):
    """This many significant digits, without an exponent."""
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):.{max(places, 0)}f}"


FORMATS = {"psnr6": "{:.6f}".format, "rate": lambda value: significant(value, 4),
           "seconds": lambda value: significant(value, 3),
           "ms": lambda value: significant(value, 3),
           "factor": lambda value: significant(value, 3)}


def value_text(value, form):
    return "infinite" if value == "inf" else FORMATS[form](value)


@dataclass
class Shown:
    """A table as texts, with what its marks mean."""
    header: list
    rows: list
    reasons: list = field(default_factory=list)

    def mark(self, reason):
        if reason not in self.reasons:
            self.reasons.append(reason)
        return f"[{self.reasons.index(reason) + 1}]"


def run_names(runs):
    return ["ours"] if len(runs) == 1 else [f"ours {chr(ord('A') + i)}" for i in range(len(runs))]


def our_text(shown, run, key, form):
    cell = run["cells"].get(key)
    if cell is None:
        return f"{DASH} {shown.mark('this run did not measure it')}"
    if "missing" in cell:
        return f"{DASH} {shown.mark(cell['missing'])}"
    text = value_text(cell["value"], form)
    return f"{text} {shown.mark(cell['remark'])}" if "remark" in cell else text


def is_in_paper(table):
    return any(value is not None for row in table["rows"] for value in row["paper"])


def show(paper, table, runs):
    in_paper = is_in_paper(table)
    names = (["paper"] if in_paper else []) + run_names(runs)
    single = not in_paper and len(runs) == 1
    shown = Shown([""] + [column if single else f"{column}: {name}"
                          for column in table["columns"] for name in names], [])
    # Columns without a row of the paper are ours alone.
    empty = {index for index in range(len(table["columns"]))
             if all(index >= len(row["paper"]) or row["paper"][index] is None
                    for row in table["rows"])}
    for row in table["rows"]:
        form = row.get("format", table["format"])
        texts = [row["title"]]
        for index, column in enumerate(table["columns"]):
            if in_paper:
                printed = row["paper"][index]
                texts.append(printed if printed is not None else
                             f"{DASH} {shown.mark(table['paper_missing'])}")
            key = "/".join((paper["id"], table["id"], row["id"], column))
            texts += [our_text(shown, run, key, form) for run in runs]
        shown.rows.append(texts)
    if in_paper and empty:
        drop = {1 + index * len(names) for index in empty}
        shown.header, *shown.rows = [[text for place, text in enumerate(line) if place not in drop]
                                     for line in [shown.header, *shown.rows]]
    return shown


def heading(table):
    unit = f", {table['unit']}" if table["unit"] else ""
    return f"{table['number']}: {table['title']}{unit}"


def machine_text(run):
    machine = run["machine"]
    cores = machine.get("cores", "?")
    text = f"{machine.get('cpu', 'unknown CPU')}, {cores} core{'' if cores == '1' else 's'}"
    if machine.get("highway_target"):
        text += f" ({machine['highway_target']})"
    text += f", {machine['device']}" if machine.get("device") else ", no GPU"
    if machine.get("compiler"):
        text += f"; {machine['compiler']}"
    text += f"; {run['date']}; the run took {run['seconds']:.0f} s"
    if (run["others"] or 0) >= 0.02:
        text += f"; others used {100 * run['others']:.0f} % of the processors' time meanwhile"
    if run["quick"]:
        text += "; a quick run of small planes: figures are not comparable with the paper's"
    return text


def files_text(run):
    parts = [f"picture {run['picture']}" if run["picture"] else "no picture",
             f"JPEG file {run['jpeg']}" if run["jpeg"] else "no JPEG file"]
    return ", ".join(parts)


def legend(runs):
    """One sentence a run."""
    return [f"{name[0].upper()}{name[1:]}: {machine_text(run)}; {files_text(run)}."
            for name, run in zip(run_names(runs), runs)]


def notes_of(table, shown):
    notes = list(table["notes"])
    if not is_in_paper(table):
        notes.append(table["paper_missing"][0].upper() + table["paper_missing"][1:] + ".")
    marks = [f"[{number}] {reason}" for number, reason in enumerate(shown.reasons, 1)]
    return notes, marks


def chosen(data, wanted):
    return [paper for paper in data["papers"] if paper["id"] in wanted]


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(text.ljust(widths[0]) if i == 0 else text.rjust(widths[i])
                      for i, text in enumerate(row)).rstrip() for row in rows]


def text_table(shown):
    heads = [name.split(": ", 1) for name in shown.header]
    top = [head[0] for head in heads]
    if not any(len(head) > 1 for head in heads):
        return aligned([shown.header, *shown.rows])
    # The name of a column appears once, above its first cell.
    once = [name if index == 0 or name != top[index - 1] else "" for index, name in enumerate(top)]
    return aligned([once, [head[-1] if len(head) > 1 else "" for head in heads], *shown.rows])


def text(data, wanted, runs):
    lines = []
    for paper in chosen(data, wanted):
        lines += ["", paper["name"].upper(), paper["citation"], f"Its machine: {paper['machine']}."]
        lines += legend(runs)
        for table in paper["tables"]:
            shown = show(paper, table, runs)
            notes, marks = notes_of(table, shown)
            lines += ["", heading(table), *text_table(shown), *notes, *marks]
    return "\n".join(lines[1:]) + "\n"


def markdown(data, wanted, runs, pictures=()):
    """`pictures`: links to the figures that have been drawn."""
    links = {os.path.basename(link): link for link in pictures}
    parts = ["# The papers' tables, with ours",
             "Tables that four papers and projects printed, with this project's figures. "
             "`tools/papers` measures and writes this page; `tools/papers --from RUN.json ...` "
             "compares runs of several machines. A dash's number refers to its reason below the "
             "table. Figures of a paper are as printed.",
             "\n".join("- " + sentence for sentence in legend(runs))]
    for paper in chosen(data, wanted):
        parts += [f"## {paper['name']}", paper["citation"], f"Its machine: {paper['machine']}.",
                  *paper["text"]]
        for table in paper["tables"]:
            shown = show(paper, table, runs)
            notes, marks = notes_of(table, shown)
            parts += [f"### {heading(table)}", bench_tables.markdown(shown.header, shown.rows)]
            parts += [" ".join(notes)] if notes else []
            parts += ["  \n".join(marks)] if marks else []
        for figure in paper["figures"]:
            if figure["file"] in links:
                parts += [f"### {figure['number']}: {figure['title']}",
                          f"![{figure['number']}]({links[figure['file']]})"]
    return "\n\n".join(parts) + "\n"
