#!/usr/bin/env python3
"""Checks that every message the code names is in the catalogue, with the placeholders it is given.

usage: check_messages.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

ENTRY = re.compile(r'\{\s*"([a-z_]+\.[a-z0-9_]+)"\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+),')
USE = re.compile(r'\b(?:Error|MakeMessage|Text)\(')
ID = re.compile(r'"([a-z_]+\.[a-z0-9_]+)"')


def call_text(text: str, start: int) -> str:
    """The arguments of a call whose opening bracket is at start - 1."""
    depth, i, quoted = 1, start, False
    while i < len(text) and depth:
        c = text[i]
        if quoted:
            if c == "\\":
                i += 1
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c in "({":
            depth += 1
        elif c in ")}":
            depth -= 1
        i += 1
    return text[start:i]


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    catalogue = {}
    for path in (root / "common/base/messages").glob("*.cc"):
        for match in ENTRY.finditer(path.read_text(encoding="utf-8")):
            catalogue[match.group(1)] = set(re.findall(r"\{(\w+)\}", match.group(2)))
    problems, uses = [], 0
    for room in ["common", "core", "server", "agent", "cli"]:
        for path in sorted((root / room).rglob("*.cc")) + sorted((root / room).rglob("*.h")):
            if "common/base/messages" in path.as_posix():
                continue
            text = path.read_text(encoding="utf-8")
            for match in USE.finditer(text):
                arguments = call_text(text, match.end())
                ids = [i for i in ID.findall(arguments) if i.split(".")[0] in {k.split(".")[0] for k in catalogue}]
                # A literal id, and the arguments written beside it; anything else cannot be seen here.
                for name in (i for i in ids if not i.endswith("_")):
                    uses += 1
                    line = text.count("\n", 0, match.start()) + 1
                    where = f"{path.relative_to(root)}:{line}"
                    if name not in catalogue:
                        problems.append(f"{where}: {name} is not in the catalogue")
                    elif len(ids) == 1 and "args" not in arguments:
                        given = set(re.findall(r'\{\s*"(\w+)"\s*,', arguments))
                        if catalogue[name] - given:
                            problems.append(f"{where}: {name} needs {sorted(catalogue[name] - given)}")
    print("\n".join(problems) or f"{uses} uses of {len(catalogue)} messages")
    return 1 if problems or uses == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
