"""What PyPI `jinja2`, set up as chat templates expect, renders: an oracle of TokenizationTests.

Reads {"cases": [{"template": TEXT, "variables": JSON TEXT}, ...]} from the file named first; writes
{"results": [{"text": TEXT} or {"error": CLASS}, ...]} to the file named second.
"""

import json
import sys

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    """`{% generation %} … {% endgeneration %}` prints what stands in it."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body).set_lineno(line)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def environment():
    result = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    result.filters["tojson"] = tojson
    result.globals["raise_exception"] = raise_exception
    return result


def render(case):
    try:
        variables = json.loads(case["variables"])
        return {"text": environment().from_string(case["template"]).render(**variables)}
    except Exception as error:
        return {"error": type(error).__name__}


if __name__ == "__main__":
    with open(sys.argv[1]) as source:
        cases = json.load(source)["cases"]
    with open(sys.argv[2], "w") as target:
        json.dump({"results": [render(case) for case in cases]}, target)
