#!/usr/bin/env python3
"""Checks that rooms include only what docs/architecture.md allows, and gRPC only at the edges.

usage: check_includes.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

# Room -> what it may include, as path prefixes. The first prefix that matches a file names its room.
ROOMS = {
    "common/base/": ["common/base/", "assay/v1/"],
    "common/": ["common/", "assay/v1/"],
    "core/": ["core/", "common/base/", "common/hash/", "assay/v1/"],
    "server/rpc/": ["server/rpc/", "server/dispatch/", "core/", "common/", "assay/v1/"],
    "server/": ["server/", "core/", "common/", "assay/v1/"],
    "agent/": ["agent/", "core/", "common/", "assay/v1/"],
    "cli/": ["cli/", "core/", "common/", "assay/v1/"],
}
GRPC_ALLOWED = ["common/rpc/", "server/rpc/", "server/app/", "agent/session/", "agent/main.cc", "agent/enrolment/", "cli/"]
INTERNAL = re.compile(r"^(core|common|server|agent|cli|assay/v1)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    problems = []
    checked = 0
    for room in ["common", "core", "server", "agent", "cli"]:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".cc", ".h"):
                continue
            name = path.relative_to(root).as_posix()
            allowed = next(prefixes for prefix, prefixes in ROOMS.items() if name.startswith(prefix))
            checked += 1
            for include in INCLUDE.findall(path.read_text(encoding="utf-8")):
                if INTERNAL.match(include) and not any(include.startswith(prefix) for prefix in allowed):
                    problems.append(f"{name} includes {include}: allowed are {', '.join(allowed)}")
                speaks_grpc = include.startswith(("grpcpp/", "grpc/")) or include.endswith(".grpc.pb.h")
                if speaks_grpc and not any(name.startswith(prefix) for prefix in GRPC_ALLOWED):
                    problems.append(f"{name} includes {include}: gRPC belongs into {', '.join(GRPC_ALLOWED)}")
    print("\n".join(problems) or f"{checked} files keep to their rooms")
    return 1 if problems or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
