"""Soak, mutants and tests by seed on the nodes of a Slurm cluster (docs/farm.md).

A run has a folder. Slurm runs its shards as one array, and each shard leaves a file of JSON Lines there. Slurm may run
a shard twice, as the process of a lost node can go on. So each result has a key, and `gather` counts a key once.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Slurm starts about two elements a second, so a shard is to take this long at least.
SHORTEST = 60
# Slurm's default limit of an array.
MOST = 1000
NO_SLURM = (
    "sbatch was not found: install Debian's packages slurm-wlm and munge (needs root; docs/farm.md), "
    "or use `make soak`, which needs no Slurm"
)


def stop(message):
    sys.exit(f"farm: {message}")


def write(path, text):
    """Writes a file that is whole as soon as it has its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with part.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def commit():
    """Name of the sources: the commit, with a hash of the changes that are in none."""
    git = ["git", "-C", str(ROOT)]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        changes = subprocess.run([*git, "diff", "--binary", "HEAD"], check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        stop(f"{ROOT} has no commit that git can name, and results are kept by commit: use a clone")
    return head + ("+" + hashlib.sha256(changes).hexdigest()[:12] if changes else "")


# Submission


def submit(args):
    if not shutil.which("sbatch"):
        stop(NO_SLURM)
    out = args.out.resolve()
    if (out / "farm.json").exists():
        stop(f"{args.out} has a run already: name another folder, or use `resubmit {args.out}`")
    plan = {"commit": commit(), "kind": args.kind, "cpus": args.cpus}
    if args.kind == "mutants":
        if "+" in plan["commit"]:
            stop("the tree has changes in no commit, and each shard of mutants clones the commit: commit them")
        # YoWASP has a folder of its own at this place.
        if out.is_relative_to("/tmp"):
            stop(f"{args.out} lies in /tmp, where the proofs cannot run: name another folder")
    for name in ("results", "logs", "failures", "work"):
        (out / name).mkdir(parents=True, exist_ok=True)
    shards = PREPARE[args.kind](args, plan, out)
    plan["shards"] = args.shards or shards
    if plan["shards"] > plan.get("seeds", MOST):
        stop(f"--shards {plan['shards']}: there are only {plan['seeds']} seeds")
    write(out / "farm.json", json.dumps(plan, indent=2) + "\n")
    try:
        sbatch(out, plan, f"1-{plan['shards']}")
    except SystemExit:
        (out / "farm.json").unlink()
        raise


def prepare_soak(args, plan, out):
    """The program, and the number of shards by its speed."""
    plan |= {"machine": args.machine, "first": args.first, "seeds": args.seeds}
    shutil.copy2(args.program or build("--release", "--package", "tsunagi", "--bin", "tsunagi"), out / "tsunagi")
    few = min(args.seeds, 4)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=out / "work") as work:
        run = subprocess.run(
            soak_command(plan | {"seeds": few}, out, ["--out", work]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    if run.returncode not in (0, 1):
        stop(f"a first run of {few} seeds cannot end: {run.stderr.decode(errors='replace').strip()}")
    seconds = (time.monotonic() - started) / few * args.seeds
    if args.shards and seconds / args.shards < SHORTEST:
        print(f"farm: shards of about {seconds / args.shards:.0f} s; from {SHORTEST} s on, Slurm's own time is small")
    # Half as long again, as speeds differ.
    return max(1, min(int(seconds / SHORTEST / 1.5), args.seeds, MOST))


def build(*options):
    """The path of a program that Cargo builds."""
    command = [os.environ.get("CARGO", "cargo"), "build", "--message-format=json-render-diagnostics", *options]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        stop("the program cannot be built; see Cargo's errors above")
    paths = [json.loads(line).get("executable") for line in run.stdout.splitlines()]
    return next(path for path in reversed(paths) if path)


def prepare_test(args, plan, _out):
    """Builds the tests, which all shards use."""
    plan |= {"only": args.only, "first": args.first, "seeds": args.seeds}
    chosen_tests(plan)
    return min(args.seeds, MOST)


def prepare_mutants(_args, _plan, _out):
    """Each shard builds its own models, which takes longest. So there are few."""
    return 8


SHARDS = {"soak": f"by the speed, {SHORTEST} s or more each", "mutants": "8", "test": "one for each seed"}
PREPARE = {"soak": prepare_soak, "mutants": prepare_mutants, "test": prepare_test}


def sbatch(out, plan, array):
    element = [sys.executable, str(ROOT / "tools/farm.py"), "element", str(out)]
    command = ["sbatch", "--parsable", "--requeue", "--open-mode=append", f"--array={array}"]
    command += [f"--job-name=tsunagi-{plan['kind']}", f"--cpus-per-task={plan['cpus']}", f"--chdir={ROOT}"]
    command += [f"--output={out}/logs/%a.log", "--wrap", shlex.join(element)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        stop("sbatch refused the array for the reason above (docs/farm.md shows how to set up one machine)")
    print(f"farm: job {run.stdout.strip()}, shards {array} of {plan['shards']}; next: gather {out}")


def resubmit(args):
    """Submits the shards without a result."""
    if not shutil.which("sbatch"):
        stop(NO_SLURM)
    out = args.dir.resolve()
    plan = plan_of(out)
    lost = sorted(missing(plan, Results().read_run(out)))
    if not lost:
        stop(f"{args.dir}: every shard has its result")
    sbatch(out, plan, spans(lost))


def plan_of(out):
    path = out / "farm.json"
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        stop(f"{path} is missing: {out} is no folder of `farm.py submit`")


# One shard, on a node


def element(args):
    """Runs a shard. A failed seed is a result, so the end is 0; without a result it is 1."""
    out, shard = args.dir, int(os.environ.get("SLURM_ARRAY_TASK_ID") or stop("only Slurm calls `element`"))
    plan = plan_of(out)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=out / "work", prefix=f"{shard}-") as work:
        lines = RUN[plan["kind"]](plan, out, shard, Path(work))
    named = [{"commit": plan["commit"], "kind": plan["kind"]} | line for line in lines]
    named.append({"end": {"shard": shard, "seconds": round(time.monotonic() - started, 1)}})
    # Each attempt has a file of its own, so a contradiction of two attempts is seen.
    path = out / "results" / f"{shard:04}-{secrets.token_hex(4)}.jsonl"
    write(path, "".join(json.dumps(line) + "\n" for line in named))
    print(f"farm: shard {shard} of {plan['shards']}: {len(lines)} results in {path}")


def soak_command(plan, out, options):
    command = [out / "tsunagi", "soak", *([plan["machine"]] if plan["machine"] else [])]
    numbers = {"--seeds": plan["seeds"], "--first": plan["first"], "--jobs": plan["cpus"]}
    return [*command, *(str(word) for pair in numbers.items() for word in pair), *options]


def run_soak(plan, out, shard, work):
    options = ["--shard", f"{shard}/{plan['shards']}", "--json", work / "lines", "--out", out / "failures"]
    return lines_of(soak_command(plan, out, options), work / "lines", out)


def run_mutants(plan, out, shard, work):
    """A clone for each shard, as a run writes its changed RTL into the tree."""
    tree = work / "tree"
    git = ["git", "-c", "advice.detachedHead=false"]
    subprocess.run([*git, "clone", "--quiet", "--shared", "--no-checkout", ROOT, tree], check=True)
    subprocess.run([*git, "checkout", "--quiet", plan["commit"]], cwd=tree, check=True)
    (tree / ".tools").symlink_to(ROOT / ".tools")
    part = f"{shard}/{plan['shards']}"
    command = [os.environ.get("CARGO", "cargo"), "run", "--quiet", "--package", "rtl-flow", "--", "mutants"]
    command += ["--shard", part, "--jobs", str(plan["cpus"]), "--json", work / "lines"]
    return [line | {"shard": part} for line in lines_of(command, work / "lines", tree)]


def lines_of(command, path, folder):
    """Runs a command that writes a line of JSON for each result, and ends with 1 if one of them failed."""
    run = subprocess.run(command, cwd=folder, env=os.environ | {"CARGO_NET_OFFLINE": "true"})
    if run.returncode not in (0, 1) or not path.exists():
        stop(f"the command ended with {run.returncode} and has no results: {shlex.join(map(str, command))}")
    return [json.loads(line) for line in path.read_text().splitlines()]


def chosen_tests(plan):
    """The tests of `make soak`, or those of the programs that `--only` names, each with its program."""
    import soak

    built = soak.build()
    tests = soak.depends(built)
    chosen = [test for test in tests if re.search(plan["only"], soak.target(test))]
    if not chosen:
        names = ", ".join(soak.target(test) for test in tests)
        stop(f"--only {plan['only']}: no test program that depends on the seed matches; there are: {names}")
    return soak.readers(built, chosen)[1]


def run_test(plan, out, shard, _work):
    import soak

    os.chdir(ROOT)
    tests = chosen_tests(plan)
    seeds = [seed for seed in range(plan["first"], plan["first"] + plan["seeds"]) if shard_of(plan, seed) == shard]
    lines = [
        {"test": f"{soak.target(test)} -- --exact {name}", "seed": seed, "failed": failed}
        for seed in seeds
        for (test, name), failed in zip(tests, soak.under(seed, tests, out / "failures"), strict=True)
    ]
    # All shards share this tree, so a change during the run makes the results nameless.
    if commit() != plan["commit"]:
        stop(f"{ROOT} is no longer at {plan['commit']}, so these results belong to no commit: submit the run again")
    return lines


def shard_of(plan, seed):
    """As `tsunagi soak --shard` deals the seeds."""
    return seed % plan["shards"] + 1


RUN = {"soak": run_soak, "mutants": run_mutants, "test": run_test}


# Results


def key_of(line):
    """Commit, kind, machine (or test or file), and seed (or mutant)."""
    kind = line.get("kind") or next(kind for kind, field in FIELDS.items() if field in line)
    if kind == "mutants":
        which = f"{line['line']}: {line['change']}" + (f" at byte {line['at']}" if "at" in line else "")
    else:
        which = line["seed"]
    return line.get("commit") or "no commit", kind, line[FIELDS[kind]], which


# The field that names what a result is of.
FIELDS = {"soak": "machine", "test": "test", "mutants": "file"}


def survives(line):
    fate = line["fate"]
    return not line["excused"] and (fate == "unseen" or "alive" in fate)


def verdict(kind, line):
    """What two results of one key must agree in. Which test notices a mutant first depends on the time."""
    if kind == "mutants":
        return "survives" if survives(line) else "noticed or excused"
    if kind == "test":
        return [text.split("   #")[0] for text in line["failed"]]
    return {name: value for name, value in line.items() if name not in ("commit", "kind", "build")}


def failures_of(kind, line):
    """The lines that repeat its failures, each with what failed."""
    if kind == "soak" and line["broken"]:
        return [(line["broken"], f"tsunagi soak {line['machine']} --first {line['seed']} --seeds 1")]
    if kind == "test":
        return [("failed", text) for text in line["failed"]]
    if kind == "mutants" and survives(line):
        part = line.get("shard", "1/1")
        return [("survives", f"make mutants ARGS='--shard {part} --file {line['file']}'")]
    return []


class Results:
    """Results by their keys, each with the place that it was read from."""

    def __init__(self, commit=None):
        self.commit = commit
        self.of = {}
        self.twice = 0
        self.contradictions = {}

    def read(self, path):
        """Takes a file of JSON Lines in; the ends of shards in it."""
        if not path.is_file():
            stop(f"{path} does not exist: name folders of `submit`, or files of `tsunagi soak --json`")
        ends = []
        for number, text in enumerate(path.read_text().splitlines(), 1):
            place = f"{path}:{number}"
            try:
                line = json.loads(text)
                if "end" in line:
                    ends.append(line["end"])
                    continue
                line.setdefault("commit", self.commit or line.get("build", "no commit"))
                self.take(line, place)
            except (ValueError, KeyError, TypeError, StopIteration):
                stop(f"{place}: no line of a result: delete the file, and run its part again")
        return ends

    def take(self, line, place):
        key = key_of(line)
        line["kind"] = key[1]
        before, first = self.of.setdefault(key, (line, place))
        if first == place:
            return
        self.twice += 1
        if verdict(key[1], before) != verdict(key[1], line):
            self.contradictions.setdefault(key, [first]).append(place)

    def read_run(self, out):
        """Takes all files of a run in; the ends of its shards."""
        return [end for path in sorted((out / "results").glob("*.jsonl")) for end in self.read(path)]


def missing(plan, ends):
    return set(range(1, plan["shards"] + 1)) - {end["shard"] for end in ends}


def spans(numbers):
    """As 1-3,7, which Slurm reads, too."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def complaints(out, plan, ends, results):
    """The shards of a run without a result, and the seeds that a shard left out."""
    lost = missing(plan, ends)
    if lost:
        yield f"{out}: {len(lost)} of {plan['shards']} shards have no result: {spans(sorted(lost))}"
    for shard in sorted(lost):
        log = out / "logs" / f"{shard}.log"
        said = log.read_text(errors="replace").strip() if log.exists() else ""
        if said:
            yield f"{log} ends with: {said.splitlines()[-1]}"
    if lost:
        yield f"{out}: `squeue` shows the shards that wait or run; `resubmit {out}` runs the missing ones again"
    if "seeds" in plan:
        seen = {key[2:] for key in results.of if key[:2] == (plan["commit"], plan["kind"])}
        for name in sorted({name for name, _ in seen}):
            for seed in range(plan["first"], plan["first"] + plan["seeds"]):
                if shard_of(plan, seed) not in lost and (name, seed) not in seen:
                    yield f"{out}: seed {seed} of {name} is not in the result of shard {shard_of(plan, seed)}"


def gather(args):
    results, bad = Results(args.commit), []
    for path in args.paths:
        if path.is_dir():
            plan, ends = plan_of(path), results.read_run(path)
            bad += complaints(path, plan, ends, results)
            took = [end["seconds"] for end in ends]
            if took and max(took) < SHORTEST:
                print(f"farm: {path}: the longest shard took {max(took)} s; fewer shards have less of Slurm's own time")
        else:
            results.read(path)
    known = Results()
    for path in args.known:
        known.read(path)
    old = {key[1:] for key, (line, _) in known.of.items() if failures_of(key[1], line)}
    for key, places in results.contradictions.items():
        bad.append(f"contradiction: {named(key)}: {' and '.join(places)} differ; the seed does not determine it")
        # It counts for neither.
        del results.of[key]
    kept = sorted(results.of.items(), key=lambda item: (item[0][:3], str(item[0][3]).zfill(20)))
    merged = args.out or (args.paths[0] / "result.jsonl" if args.paths[0].is_dir() else None)
    if merged:
        write(merged, "".join(json.dumps(line) + "\n" for _, (line, _) in kept))
    failed = report(kept, old, results.twice)
    for text in bad:
        print(f"farm: {text}", file=sys.stderr)
    sys.exit(bool(bad or failed or not kept))


def named(key):
    commit, kind, name, which = key
    return f"{kind} {name} {'' if kind == 'mutants' else 'seed '}{which} at {commit[:12]}"


def report(kept, old, twice):
    """Prints the counts, and the failures with the lines that repeat them; the number of failures."""
    counts, failed = collections.Counter(), collections.Counter()
    rows = {False: [], True: []}
    for key, (line, _) in kept:
        group = key[:2] + (str(Path(key[2]).parent) if key[1] == "mutants" else key[2],)
        found = failures_of(key[1], line)
        counts[group] += 1
        failed[group] += bool(found)
        rows[key[1:] in old] += [[named(key), what, text] for what, text in found]
    table(["commit", "kind", "of", "results", "failed"], [[g[0][:12], *g[1:], counts[g], failed[g]] for g in counts])
    again = f"; {twice} came more than once and count once" if twice else ""
    print(f"farm: {len(kept)} results, {failed.total()} failed{again}")
    for known, title in ((False, "new failure"), (True, "known failure")):
        if rows[known]:
            print()
            table([title, "what", "line that repeats it"], rows[known])
    return failed.total()


def table(header, rows):
    rows = [list(map(str, row)) for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def arguments():
    args = argparse.ArgumentParser(prog="farm.py", description=__doc__.splitlines()[0])
    commands = args.add_subparsers(required=True, metavar="COMMAND")
    sub = commands.add_parser("submit", help="submit a run as one array").add_subparsers(dest="kind", required=True)
    kinds = {
        "soak": sub.add_parser("soak", help="`tsunagi soak` (docs/soak.md)"),
        "mutants": sub.add_parser("mutants", help="`make mutants` (docs/mutants.md), all mutants"),
        "test": sub.add_parser("test", help="the tests of `make soak`"),
    }
    kinds["soak"].add_argument("machine", nargs="?", help="the machine (default: all with a campaign)")
    kinds["soak"].add_argument("--program", type=Path, help="a built tsunagi (default: builds it)")
    kinds["test"].add_argument("--only", default="", metavar="REGEX", help="only test programs with a matching name")
    for kind, parser in kinds.items():
        if kind != "mutants":
            parser.add_argument("--seeds", type=positive, default=1000, help="number of seeds (default: 1000)")
            parser.add_argument("--first", type=int, default=1, help="the first seed (default: 1)")
        parser.add_argument("--shards", type=positive, help=f"number of shards (default: {SHARDS[kind]})")
        parser.add_argument("--cpus", type=positive, default=1, help="processors of a shard (default: 1)")
        parser.add_argument("--out", type=Path, default=Path("out/farm"), help="folder of the run, seen by all nodes")
        parser.set_defaults(run=submit)
    again = commands.add_parser("resubmit", help="submit the shards that have no result")
    again.add_argument("dir", type=Path, help="folder of a run")
    again.set_defaults(run=resubmit)
    one = commands.add_parser("element", help="run a shard; Slurm calls this")
    one.add_argument("dir", type=Path)
    one.set_defaults(run=element)
    all_of = commands.add_parser("gather", help="merge results; ends with 0 if all are there and none failed")
    all_of.add_argument("paths", type=Path, nargs="+", help="folders of runs, and files of `--json`")
    all_of.add_argument("--out", type=Path, help="the merged file (default: result.jsonl of the first folder)")
    all_of.add_argument("--known", type=Path, nargs="*", default=[], help="earlier results; their failures are not new")
    all_of.add_argument("--commit", help="the commit of files that name none (default: the hash of the program)")
    all_of.set_defaults(run=gather)
    return args.parse_args()


if __name__ == "__main__":
    chosen = arguments()
    chosen.run(chosen)
