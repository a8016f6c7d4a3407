"""The tests that depend on the seed, each under many seeds.

The linker tells which programs may depend on it: one that never reads `TSUNAGI_SEED` does not contain its name. A
program depends on the seed, too, if it starts one that does. Each test of these programs runs once, and the harness
tells whether it read the seed. This is kept for the next run of the same programs. Under each seed every reader runs in
a process of its own, the longest first, so no core waits for the end of a program. The end lists the failures, each
with a line that repeats it.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VARIABLE = "TSUNAGI_SEED"
# It hands the variable to its child processes, and its own tests run no reader of it.
HANDS_ON = "rtl-flow"
# The harness makes the file that this names when a test reads the seed.
READ = "TSUNAGI_SEED_READ"
# Broken twins have a seed of their own. Tests in modules named `criteria` are not random. The campaign has its own
# command, and more seeds.
SKIPPED = ["twin", "criteria::", "a_sample_of_seeds_breaks_nothing"]
# Tests at a time.
JOBS = os.cpu_count() or 1
KEPT = Path("target/soak-readers.json")


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
    """The test programs that read the variable, or start a program that does."""
    code = {one["executable"]: Path(one["executable"]).read_bytes() for one in built}
    programs = [one["executable"] for one in built if not one["profile"]["test"] and package(one) != HANDS_ON]
    names = [VARIABLE, *(path for path in programs if VARIABLE.encode() in code[path])]
    tests = [one for one in built if one["profile"]["test"] and package(one) != HANDS_ON]
    return [one for one in tests if any(name.encode() in code[one["executable"]] for name in names)]


def package(test):
    """Name of its package."""
    path, name = test["package_id"].split("#")
    return name.split("@")[0] if "@" in name else Path(path).name


def target(test):
    """The options of `cargo test` that choose this test."""
    kind = test["target"]["kind"][0]
    return f"-p {package(test)} " + (f"--{kind} {test['target']['name']}" if kind in ("test", "bin") else "--lib")


def start(test, arguments, **variables):
    """Runs a test program."""
    folder = Path(test["manifest_path"]).parent
    env = os.environ | {"CARGO_MANIFEST_DIR": str(folder)} | variables
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    return subprocess.run([test["executable"], *arguments], cwd=folder, env=env, **both)


def names(test):
    """The names of a program's tests, without those that are skipped."""
    listed = re.findall(r"^(\S+): test$", start(test, ["--list"]).stdout, re.MULTILINE)
    return [name for name in listed if not any(word in name for word in SKIPPED)]


def reads(test, name):
    """Whether this test reads the seed, and its seconds. One that fails counts: it may not have come that far."""
    with tempfile.TemporaryDirectory() as folder:
        read = Path(folder) / "read"
        started = time.monotonic()
        result = start(test, ["--exact", name], **{READ: str(read)})
        return read.exists() or result.returncode != 0, time.monotonic() - started


def at_once(work, tests):
    """The results of this work for each of the tests, as many at a time as there are cores."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(lambda test: work(*test), tests))


def readers(built, programs):
    """The number of tests of these programs, and those that read the seed, the longest first."""
    # Cargo names them in any order.
    paths = {program["executable"]: program for program in sorted(programs, key=lambda one: one["executable"])}
    code = hashlib.sha256(json.dumps([*paths]).encode())
    for path in sorted(one["executable"] for one in built):
        code.update(path.encode() + Path(path).read_bytes())
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if kept.get("code") != code.hexdigest():
        all_tests = [(path, name) for path, program in paths.items() for name in names(program)]
        found = at_once(lambda path, name: reads(paths[path], name), all_tests)
        chosen = [(took, *test) for test, (is_reader, took) in zip(all_tests, found, strict=True) if is_reader]
        kept = {"code": code.hexdigest(), "tests": len(all_tests), "readers": sorted(chosen, reverse=True)}
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        whole = KEPT.with_suffix(f".{os.getpid()}")
        whole.write_text(json.dumps(kept))
        whole.replace(KEPT)
    return kept["tests"], [(paths[path], name) for _, path, name in kept["readers"]]


def run(test, name, seed, out):
    """The line that repeats this test's failure, if it fails."""
    result = start(test, ["--exact", name], **{VARIABLE: str(seed)})
    if not result.returncode:
        return []
    log = out / f"{test['target']['name']}-{name.replace('::', '-')}-{seed}.log"
    log.write_text(result.stdout)
    return [f"{VARIABLE}={seed} cargo test {target(test)} -- --exact {name}   # {log}"]


def under(seed, tests, out):
    """What `run` says of each of these tests."""
    return at_once(lambda test, name: run(test, name, seed, out), tests)


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
    built = build()
    chosen = depends(built)
    count, random = readers(built, chosen)
    if not random:
        sys.exit(f"soak: no test reads {VARIABLE}, so a soak shows nothing")
    failed = []
    for seed in range(first, first + args.seeds):
        started = time.monotonic()
        found = sorted(sum(under(seed, random, args.out), []))
        failed += found
        took = time.monotonic() - started
        print(f"soak: {VARIABLE}={seed}: {len(found) or 'none'} failed, {took:.0f} s", flush=True)
    which = f"{len(random)} of {count} tests in {len(chosen)} programs read the seed"
    result = f"{len(failed)} failed" if failed else "every test passed"
    print(f"soak: seeds {first} to {first + args.seeds - 1}, {which}: {result}")
    for line in failed:
        print(line)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
