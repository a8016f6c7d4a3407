"""The tests that depend on the seed, each under many seeds.

The linker tells which tests depend on it: a program that never reads `TSUNAGI_SEED` does not contain its name. A test
depends on the seed, too, if it starts a program that does. The end lists the failures, each with a line that repeats
it.
"""

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import time
from pathlib import Path

VARIABLE = "TSUNAGI_SEED"
# It hands the variable to its child processes, and its own tests run no reader of it.
HANDS_ON = "rtl-flow"
# Broken twins have a seed of their own. Tests in modules named `criteria` are not random.
SKIPPED = ["twin", "criteria::"]


def build():
    """All programs and tests of the workspace, as Cargo describes them."""
    command = [os.environ.get("CARGO", "cargo"), "test", "--workspace", "--no-run"]
    command.append("--message-format=json-render-diagnostics")
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit("soak: the tests cannot be built; see Cargo's errors above")
    messages = [json.loads(line) for line in run.stdout.splitlines()]
    return [message for message in messages if message.get("executable")]


def depends(built):
    """The tests that read the variable, or start a program that does."""
    code = {one["executable"]: Path(one["executable"]).read_bytes() for one in built}
    programs = [one["executable"] for one in built if not one["profile"]["test"] and package(one) != HANDS_ON]
    names = [VARIABLE, *(path for path in programs if VARIABLE.encode() in code[path])]
    tests = [one for one in built if one["profile"]["test"]]
    readers = [one for one in tests if package(one) != HANDS_ON]
    return tests, [one for one in readers if any(name.encode() in code[one["executable"]] for name in names)]


def package(test):
    """Name of its package."""
    path, name = test["package_id"].split("#")
    return name.split("@")[0] if "@" in name else Path(path).name


def target(test):
    """The options of `cargo test` that choose this test."""
    kind = test["target"]["kind"][0]
    return f"-p {package(test)} " + (f"--{kind} {test['target']['name']}" if kind in ("test", "bin") else "--lib")


def run(test, seed, out):
    """Lines that repeat the failures."""
    folder = Path(test["manifest_path"]).parent
    env = os.environ | {VARIABLE: str(seed), "CARGO_MANIFEST_DIR": str(folder)}
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    skipped = [word for name in SKIPPED for word in ("--skip", name)]
    result = subprocess.run([test["executable"], *skipped], cwd=folder, env=env, **both)
    if not result.returncode:
        return []
    log = out / f"{test['target']['name']}-{seed}.log"
    log.write_text(result.stdout)
    line = f"{VARIABLE}={seed} cargo test {target(test)}"
    failed = re.findall(r"^test (\S+) \.\.\. FAILED$", result.stdout, re.MULTILINE)
    lines = [f"{line} -- --exact {name}" for name in failed] or [line]
    return [f"{line}   # {log}" for line in lines]


def main():
    args = argparse.ArgumentParser(prog="soak", description=__doc__.splitlines()[0])
    args.add_argument("--seeds", type=int, default=10, help="number of seeds")
    usual = os.environ.get(VARIABLE)
    args.add_argument("--first", default=usual, help=f"the first seed (default: {VARIABLE}, else a fresh one)")
    args.add_argument("--out", type=Path, default=Path("out/soak"), help="folder for the output of failing tests")
    args = args.parse_args()
    if args.seeds < 1:
        sys.exit("soak: SEEDS must be at least 1")
    first = int(args.first, 0) if args.first else secrets.randbits(48)
    args.out.mkdir(parents=True, exist_ok=True)
    tests, chosen = depends(build())
    if not chosen:
        sys.exit(f"soak: no test reads {VARIABLE}, so a soak shows nothing")
    failed = []
    for seed in range(first, first + args.seeds):
        started = time.monotonic()
        found = [line for test in chosen for line in run(test, seed, args.out)]
        failed += found
        took = time.monotonic() - started
        print(f"soak: {VARIABLE}={seed}: {len(found) or 'none'} failed, {took:.0f} s", flush=True)
    which = f"{len(chosen)} of {len(tests)} test programs depend on the seed"
    result = f"{len(failed)} failed" if failed else "every test passed"
    print(f"soak: seeds {first} to {first + args.seeds - 1}, {which}: {result}")
    for line in failed:
        print(line)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
