#!/usr/bin/env python3
"""Writes flashrig/_records/*.py from the schemas of results in docs/: one class for each object, one field for each key.

A test holds the files against the schemas; `tools/records.py` renews them.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
OUT = HERE.parent / "flashrig" / "_records"
KINDS = ["run", "whatif", "lifetime", "fit", "review"]
#: Answers of a card's control socket, by docs/control-api.openapi.json.
ANSWERS = ["Status", "Module", "Pulled", "Smart", "Export", "Client", "Settings", "Power", "Scrub", "Trimmed", "Ownership"]
#: A longer module is divided.
MAX_LINES = 650
PLAIN = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}


class Schema:
    """The classes of one schema, each before those that use it."""

    def __init__(self, file: str, definitions: list[str]) -> None:
        self.file = file
        self.root: dict[str, Any] = json.loads((DOCS / file).read_text())
        self.defs: dict[str, Any] = self.root
        for key in definitions:
            self.defs = self.defs.get(key, {})
        self.written: dict[str, str] = {}

    def modules(self, name: str, roots: dict[str, dict[str, Any]]) -> dict[str, str]:
        """The texts of the module and, where it is long, of the one that it begins with: the classes that its roots need."""
        for root, schema in roots.items():
            self.record(root, schema)
        classes = list(self.written.items())
        ends, lines = 0, 0
        if sum(text.count("\n") for _, text in classes) > MAX_LINES:
            while lines < MAX_LINES * 3 // 4:
                lines += classes[ends][1].count("\n") + 2
                ends += 1
        parts = {f"{name}_parts.py": self.module(dict(classes[:ends]), [])} if ends else {}
        known = [known for known, _ in classes[:ends]]
        imports = [f"from .{name}_parts import {one} as {one}" for one in known]
        return {**parts, f"{name}.py": self.module(dict(classes[ends:]), imports)}

    def module(self, written: dict[str, str], imports: list[str]) -> str:
        """The text of some classes."""
        uses_any = any(re.search(r"\bAny\b", text) for text in written.values())
        uses_literal = any("Literal[" in text for text in written.values())
        names = [name for name, used in (("Any", uses_any), ("Literal", uses_literal)) if used]
        lines = [
            f'"""Fields of docs/{self.file}. Written by tools/records.py; do not edit."""',
            "",
            "from __future__ import annotations",
            "",
        ]
        if names:
            lines += [f"from typing import {', '.join(names)}", ""]
        lines += ["from .._record import Record", *imports, ""]
        return "\n".join(lines) + "\n\n" + "\n\n".join(written.values())

    def record(self, name: str, schema: dict[str, Any]) -> str:
        """Writes the class of an object, after the classes that it needs; returns its name."""
        if name in self.written:
            return name
        required = set(schema.get("required", []))
        fields, nested, names = [], [], []
        for key, value in schema["properties"].items():
            python, of = self.type(value, name + camel(key))
            if key not in required and not python.endswith("None"):
                python += " | None"
            field = identifier(key)
            fields.append(f"    {field}: {python}")
            described = value.get("description") or self.described(value)
            if described:
                fields += docstring(described, 4)
            if of:
                nested.append(f'"{field}": {of}')
            if field != key:
                names.append(f'"{field}": "{key}"')
        lines = [f"class {name}(Record):"]
        lines += docstring(schema.get("description") or f"The object `{name}` of the schema.", 4)
        lines.append("")
        lines += fields
        lines += closing("_nested", nested)
        lines += closing("_keys", names)
        self.written[name] = "\n".join(lines) + "\n"
        return name

    def described(self, value: dict[str, Any]) -> str:
        """The description of what a reference names."""
        if "$ref" in value:
            text: str = self.defs[value["$ref"].split("/")[-1]].get("description", "")
            return text
        return ""

    def type(self, value: dict[str, Any], name: str) -> tuple[str, str | None]:
        """The annotation of a value, and the class of the records in it."""
        if "$ref" in value:
            reference = value["$ref"].split("/")[-1]
            return self.type(self.defs[reference], camel(reference))
        for several in ("anyOf", "oneOf"):
            if several in value and "properties" not in value:
                types = [self.type(one, f"{name}{i or ''}") for i, one in enumerate(value[several])]
                records = [of for _, of in types if of]
                union = " | ".join(dict.fromkeys(python for python, _ in types))
                if len(set(records)) > 1:
                    return union, "(" + ", ".join(dict.fromkeys(records)) + ",)"
                return union, records[0] if records else None
        if "const" in value:
            return type(value["const"]).__name__, None
        if "enum" in value:
            return "Literal[" + ", ".join(json.dumps(one) for one in value["enum"]) + "]", None
        kind = value.get("type", "any")
        if isinstance(kind, list):
            types = [self.type({**value, "type": one}, name) for one in kind]
            return " | ".join(python for python, _ in types), next((of for _, of in types if of), None)
        if kind == "array":
            python, of = self.type(value.get("items", {}), name)
            return f"list[{python}]", of
        if kind == "object":
            if "properties" in value:
                return (self.record(name, value),) * 2
            more = value.get("additionalProperties")
            if isinstance(more, dict) and more:
                python, of = self.type(more, name)
                return f"dict[str, {python}]", of
            return "dict[str, Any]", None
        return PLAIN.get(kind, "Any"), None


def camel(name: str) -> str:
    """`lat_ns` as LatNs."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def identifier(key: str) -> str:
    """A key as a name of Python."""
    name = re.sub(r"\W", "_", key)
    return f"{name}_" if keyword.iskeyword(name) else name


def docstring(text: str, indent: int) -> list[str]:
    """A docstring of at most 120 columns."""
    space = " " * indent
    text = text.replace("\\", "\\\\").replace('"', "'").strip()
    if len(text) + indent + 6 <= 120:
        return [f'{space}"""{text}"""']
    lines = textwrap.wrap(text, 117 - indent)
    return [f'{space}"""{lines[0]}'] + [space + line for line in lines[1:]] + [f'{space}"""']


def closing(name: str, pairs: list[str]) -> list[str]:
    """A table of the class."""
    if not pairs:
        return []
    line = f"    {name} = {{{', '.join(pairs)}}}"
    if len(line) <= 120:
        return ["", line]
    return ["", f"    {name} = {{"] + [f"        {pair}," for pair in pairs] + ["    }"]


def main() -> int:
    """Renews the files; with --check, only tells whether they are as they should be."""
    check = sys.argv[1:] == ["--check"]
    texts = {}
    for kind in KINDS:
        schema = Schema(f"{kind}-result.schema.json", ["$defs"])
        texts.update(schema.modules(kind, {camel(kind): schema.root}))
    api = Schema("control-api.openapi.json", ["components", "schemas"])
    texts.update(api.modules("control", {name: api.defs[name] for name in ANSWERS}))
    texts["__init__.py"] = '"""Fields of the results, by their schemas in docs/."""\n'
    stale = [name for name, text in texts.items() if not (OUT / name).is_file() or (OUT / name).read_text() != text]
    for name in stale:
        if check:
            print(f"flashrig/_records/{name} is not what docs/ says: run python/tools/records.py", file=sys.stderr)
        else:
            OUT.mkdir(exist_ok=True)
            (OUT / name).write_text(texts[name])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
