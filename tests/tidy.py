#!/usr/bin/env python3
"""Runs clang-tidy over every translation unit of the product in a build folder.

usage: tests/tidy.py BUILD_FOLDER JOBS
"""
import concurrent.futures
import json
import re
import subprocess
import sys


def main() -> int:
    folder, jobs = sys.argv[1], int(sys.argv[2])
    with open(f"{folder}/compile_commands.json") as file:
        commands = json.load(file)
    units = sorted(
        {
            entry["file"]
            for entry in commands
            if re.search(r"/(core|common|server|agent|cli)/", entry.get("output", "") + "/" + entry["file"])
            and "/tests/" not in entry.get("output", "")
            and "/proto/" not in entry["file"]
            and "_test.dir" not in entry["file"]
        }
    )

    def check(unit: str):
        command = ["clang-tidy", "-p", folder, "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                   "--header-filter=.*/(core|common|server|agent|cli)/.*", unit]
        return unit, subprocess.run(command, capture_output=True, text=True)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for unit, result in pool.map(check, units):
            if result.returncode != 0:
                failed += 1
                print(result.stdout)
                errors = [line for line in result.stderr.splitlines() if "error" in line]
                print("\n".join(errors))
    print(f"clang-tidy: {len(units)} units, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
