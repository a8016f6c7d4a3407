"""The shared part of the tests."""

import json
import os
import random

SEED = int(os.environ["AXI_PEER_SEED"])
BYTES = int(os.environ["AXI_PEER_BYTES"])
PARAMS = json.loads(os.environ["AXI_PEER_PARAMS"])  # of the top


def rng(name):
    """A random stream of its own for each purpose."""
    return random.Random(f"{SEED}/{name}")


def pauses(name):
    """Alternating runs of activity and of pauses, sometimes a long one."""
    chance = rng(f"pauses/{name}")
    while True:
        for pause in (False, True):
            longest = 40 if chance.random() < 0.1 else 4
            for _ in range(chance.randint(1, longest)):
                yield pause


def say(text):
    """Prints a line that run.py shows."""
    print(f"axi-peer: {text}", flush=True)


def same(what, got, want):
    """Compares byte for byte; returns the number of bytes."""
    if got != want:
        at = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), min(len(got), len(want)))
        raise AssertionError(f"{what}: byte {at:#x} differs: {got[at : at + 4].hex()} for {want[at : at + 4].hex()}")
    return len(want)


def check(what, got, want):
    """Compares two values."""
    assert got == want, f"{what} differs: {got}, not {want}"
