"""A soak on two Slurm nodes of this machine, of which one is killed twice amid the run (docs/farm.md).

First the node dies with its shard. Then only its `slurmd` dies, and the shard stands still until Slurm has given the
node up; so it ends twice. Each seed must be in the merged result once.
"""

import argparse
import collections
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ["sbatch", "squeue", "scontrol", "sinfo", "slurmctld", "slurmd", "munged"]
SHARDS = 8
SEEDS = 200
# A busy machine takes long; a farm that hangs must end.
PATIENCE = 900


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def farm_py(*words):
    """Exit code and output of a command of farm.py."""
    command = [sys.executable, ROOT / "tools/farm.py", *map(str, words)]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(run.stdout, end="", flush=True)
    return run.returncode, run.stdout


def wait(what, condition):
    """The first true value of the condition."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.5)
    raise AssertionError(f"not within {PATIENCE} s: {what}")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Farm:
    """munged, slurmctld and two slurmd in a folder, by the text of docs/farm.md."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("state", "n0", "n1"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        conf = re.search(r"```conf\n(.*?)```", (ROOT / "docs/farm.md").read_text(), re.DOTALL)[1]
        conf = conf.replace("/srv/farm", str(folder)).replace("HOST", socket.gethostname().split(".")[0])
        for written, port in zip(("27000", "27001", "27002"), free_ports(3)):
            conf = conf.replace(f"Port={written}", f"Port={port}")
        (folder / "slurm.conf").write_text(conf)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")

    def start(self):
        files = [f"--{name}-file={self.folder}/munged.{name}" for name in ("pid", "log", "seed")]
        output("munged", f"--key-file={self.folder}/munge.key", f"--socket={self.folder}/munge.socket", *files)
        output("slurmctld")
        for node in ("n0", "n1"):
            output("slurmd", "-N", node)
        wait("both nodes are idle", lambda: self.states() == {"n0": "idle", "n1": "idle"})

    def states(self):
        rows = subprocess.run(["sinfo", "-hNo", "%N %T"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return dict(row.split() for row in rows.stdout.splitlines())

    def shard_on(self, node):
        """The shard that runs there. Its process has begun."""
        rows = output("squeue", "-h", "-t", "R", "-w", node, "-o", "%K").split()
        return int(rows[0]) if rows and self.sessions(f"{self.folder}/{node}/job") else None

    def sessions(self, word):
        """The sessions with a process that has this word in its command. A step of Slurm is a session."""
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if word in (process / "cmdline").read_text():
                    found.add(os.getsid(int(process.name)))
            except (OSError, UnicodeDecodeError):
                continue
        return found - {os.getsid(0)}

    def send(self, signal, sessions):
        """Sends a signal to each process of these sessions."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.getsid(int(process.name)) in sessions:
                    os.kill(int(process.name), signal)
            except OSError:
                continue

    def kill_slurmd(self, node):
        os.kill(self.pid(node), signal.SIGKILL)

    def pid(self, name):
        return int((self.folder / f"{name}.pid").read_text())

    def end(self):
        """Ends the daemons, and the steps that are left."""
        running = []
        for name in ("n0", "n1", "slurmctld", "munged"):
            try:
                pid = self.pid(name)
                # A daemon that was killed leaves its number behind.
                if Path(f"/proc/{pid}/comm").read_text().strip() in ("slurmd", "slurmctld", "munged"):
                    os.kill(pid, signal.SIGTERM)
                    running.append(pid)
            except (OSError, ValueError):
                continue
        self.send(signal.SIGKILL, self.sessions(f"{self.folder}/"))
        wait("the daemons have ended", lambda: not any(map(alive, running)))


def alive(pid):
    """Also false for a process that has ended and that nobody has asked about."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def given_up(node, farm):
    """Slurm has noticed, and wants to run the shard of the node again."""
    wait(f"{node} is down", lambda: farm.states()[node].startswith("down"))
    print(f"farm-test: {node} is down", flush=True)


def run_again_now():
    """Slurm waits two minutes before it runs a shard again. This test does not."""
    for row in output("squeue", "-h", "-t", "PD", "-o", "%A %r").splitlines():
        job, reason = row.split(maxsplit=1)
        if reason == "BeginTime":
            subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=False)


def test(farm, run, program):
    farm.start()
    options = ["--program", program] if program else []
    code, _ = farm_py("submit", "soak", "cenju3", "--seeds", SEEDS, "--shards", SHARDS, "--out", run, *options)
    assert code == 0, "submit failed"

    dead = wait("a shard runs on n1", lambda: farm.shard_on("n1"))
    farm.kill_slurmd("n1")
    farm.send(signal.SIGKILL, farm.sessions(f"{farm.folder}/n1/job"))
    print(f"farm-test: n1 is killed with shard {dead}", flush=True)
    given_up("n1", farm)
    code, said = farm_py("gather", run)
    lost = re.search(r"shards have no result: (\S+)", said)
    spans = [span.split("-") for span in lost[1].split(",")] if lost else []
    named = any(int(span[0]) <= dead <= int(span[-1]) for span in spans)
    assert code == 1 and named, f"gather does not name the lost shard {dead}"

    output("slurmd", "-N", "n1")
    orphan = wait("a shard runs on n1 again", lambda: farm.shard_on("n1"))
    cut_off = farm.sessions(f"{farm.folder}/n1/job")
    farm.send(signal.SIGSTOP, cut_off)
    farm.kill_slurmd("n1")
    print(f"farm-test: n1 is cut off with shard {orphan}", flush=True)
    given_up("n1", farm)
    farm.send(signal.SIGCONT, cut_off)
    print(f"farm-test: the process of shard {orphan} goes on", flush=True)

    def ended():
        run_again_now()
        return not output("squeue", "-h").strip() and not farm.sessions(f"{farm.folder}/n1/job")

    wait("every shard has ended", ended)
    code, said = farm_py("gather", run)
    assert code == 0, "gather has complaints"
    lines = [json.loads(line) for line in (run / "result.jsonl").read_text().splitlines()]
    assert sorted(line["seed"] for line in lines) == list(range(1, SEEDS + 1)), "not each seed once"
    files = collections.Counter(int(path.name[:4]) for path in (run / "results").iterdir())
    assert set(files) == set(range(1, SHARDS + 1)), files
    assert files[orphan] == 2, f"shard {orphan} was to end twice: {files}"
    assert "came more than once" in said, "gather does not tell what came twice"
    print(f"farm-test: passed: {SEEDS} seeds once each; shard {dead} was lost, shard {orphan} ended twice")


def main():
    args = argparse.ArgumentParser(prog="farm_test.py", description=__doc__.splitlines()[0])
    args.add_argument("--program", help="a built tsunagi (default: builds it)")
    args = args.parse_args()
    os.environ["PATH"] += ":/usr/sbin"
    if absent := [name for name in PROGRAMS if not shutil.which(name)]:
        print(f"farm-test: skipped: no Slurm ({', '.join(absent)} not found): apt-get install slurm-wlm munge")
        return
    if os.geteuid():
        sys.exit("farm-test: slurmd starts steps of other users, so it needs root: run this as root")
    folder = Path(tempfile.mkdtemp(prefix="tsunagi-farm-"))
    # Munge asks for parents that everybody may enter.
    folder.chmod(0o755)
    farm = Farm(folder)
    try:
        test(farm, folder / "run", args.program)
    except (AssertionError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"farm-test: failed: {error}; the logs of Slurm and of the run are in {folder}")
    finally:
        farm.end()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
