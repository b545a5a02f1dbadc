#!/usr/bin/env python3
"""Writes a manual page for every command, from what the program says of itself:

    $ afm-bench --experimental-dump-help | packaging/manual.py 0.1.0 2026-11-21 man1
    $ man -l man1/afm-bench-run.1

A command within a command has a page of its own: afm-bench-trace-export.1. Needs Python alone.
"""
import json
import os
import re
import sys

PROGRAM = "afm-bench"
EXIT_STATUS = (
    ("0", "Done."), ("1", "A measured check failed."), ("2", "The command line is wrong."),
    ("3", "An input file is bad."), ("4", "The environment cannot do it."))


def roff(text):
    """Text as troff prints it: nothing in it is a request, a hyphen stays one for copying."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def paragraphs(text):
    """A discussion as troff: examples stay lines, everything else is filled."""
    lines = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        is_example = re.match(r"\s*Examples?:", part) or all(
            line.startswith((" ", "\t")) for line in part.splitlines())
        if is_example:
            lines += [".PP", ".nf", ".RS 4", *map(roff, part.strip("\n").splitlines()), ".RE", ".fi"]
        else:
            lines += [".PP", roff(" ".join(part.split()))]
    return lines


def spelled(name):
    return ("-" if name["kind"] in ("short", "longWithSingleDash") else "--") + name["name"]


def usage(argument):
    """An argument as the synopsis has it."""
    value = rf"\fI{roff(argument.get('valueName', 'value'))}\fR"
    if argument["kind"] == "positional":
        text = value
    else:
        text = rf"\fB{roff(spelled(argument['preferredName']))}\fR"
        text += f" {value}" if argument["kind"] == "option" else ""
    text += " ..." if argument["isRepeating"] else ""
    return f"[{text}]" if argument["isOptional"] else text


def described(argument):
    """An argument's paragraph."""
    value = rf"\fI{roff(argument.get('valueName', 'value'))}\fR"
    if argument["kind"] == "positional":
        head = value
    else:
        head = ", ".join(rf"\fB{roff(spelled(name))}\fR" for name in argument["names"])
        head += f" {value}" if argument["kind"] == "option" else ""
    words = " ".join(argument.get("abstract", "").split())
    if argument.get("discussion"):
        words += " " + " ".join(argument["discussion"].split())
    values = argument.get("allValues", [])
    if any(not re.search(rf"\b{re.escape(value)}\b", words) for value in values):
        words += f" One of {', '.join(values)}."
    if argument.get("defaultValue") and argument["kind"] != "flag":
        words += f" Default: {argument['defaultValue']}."
    return [".TP", head, roff(words.strip()) or "."]


def shown(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def page(command, path, version, date):
    """The lines of a command's page."""
    name = "-".join(path)
    arguments = shown(command.get("arguments"))
    commands = [c for c in shown(command.get("subcommands")) if c["commandName"] != "help"]
    abstract = command.get("abstract", "").rstrip(".")
    abstract = abstract[:1].lower() + abstract[1:]
    lines = [
        f'.TH "{roff(name.upper())}" 1 "{date}" "{PROGRAM} {version}" "User Commands"',
        ".SH NAME", rf"{roff(name)} \- {roff(abstract)}",
        ".SH SYNOPSIS", ".nh", ".ad l", rf"\fB{roff(' '.join(path))}\fR"]
    lines += ([r"\fIcommand\fR [\fIargument\fR ...]"] if commands else []) + [
        usage(a) for a in arguments if a.get("names", [{}])[0].get("name") not in ("h", "version")]
    lines += [".ad b", ".hy", ".SH DESCRIPTION", roff(command.get("abstract", ""))]
    lines += paragraphs(command["discussion"]) if command.get("discussion") else []
    if commands:
        lines.append(".SH COMMANDS")
        for inner in commands:
            lines += [".TP", rf"\fB{roff('-'.join([*path, inner['commandName']]))}\fR(1)",
                      roff(inner.get("abstract", ""))]
    for title, kinds in (("ARGUMENTS", ["positional"]), ("OPTIONS", ["option", "flag"])):
        chosen = [a for a in arguments if a["kind"] in kinds]
        if chosen:
            lines.append(f".SH {title}")
            for argument in chosen:
                lines += described(argument)
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_STATUS:
        lines += [".TP", code, meaning]
    if len(path) > 1:
        lines += [".SH SEE ALSO", rf"\fB{roff('-'.join(path[:-1]))}\fR(1)"]
    return lines


def write(command, path, version, date, folder):
    with open(f"{folder}/{'-'.join(path)}.1", "w", encoding="ascii") as file:
        file.write("\n".join(page(command, path, version, date)) + "\n")
    for inner in shown(command.get("subcommands")):
        if inner["commandName"] != "help":
            write(inner, [*path, inner["commandName"]], version, date, folder)


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    version, date, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    write(json.load(sys.stdin)["command"], [PROGRAM], version, date, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
