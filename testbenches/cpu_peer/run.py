"""An independent MIPS, Unicorn (QEMU's), executes random programs step by step beside our golden model of `r3000`.

All registers are compared before each instruction, and the memory after each program. Where one traps, the other must.
The programs have no load delay hazards and no coprocessor 0, in which Unicorn's MIPS32 differs from MIPS I. Prints the
seed; --seed repeats a run. Last, a broken trace must be noticed. Exit status 0: every state is the same.
"""

import argparse
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import unicorn
from unicorn import mips_const as mips

ROOT = Path(__file__).resolve().parent.parent.parent
WORDS = 4096
DATA = 0x3000  # the data, to the end; the program is below
FIELDS = ["pc", "hi", "lo"] + [f"r{n}" for n in range(32)]
REGISTERS = [mips.UC_MIPS_REG_PC, mips.UC_MIPS_REG_HI, mips.UC_MIPS_REG_LO]
REGISTERS += [mips.UC_MIPS_REG_0 + n for n in range(32)]
BASE = 28  # the register with an address in the middle of the data
COUNT = 30  # the counter of a loop


def immediate(op, rs, rt, imm):
    return op << 26 | rs << 21 | rt << 16 | imm & 0xFFFF


def register(funct, rs, rt, rd, shift=0):
    return rs << 21 | rt << 16 | rd << 11 | shift << 6 | funct


class Program:
    """Random instructions, most of which go on to the next."""

    def __init__(self, rng):
        self.rng = rng
        self.words = []
        self.loaded = None  # the register that the instruction before loads
        for n in range(1, 32):
            value = rng.choice([rng.getrandbits(32), rng.getrandbits(4), 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF])
            if n == BASE:
                value = (DATA + 4 * WORDS) // 2
            self.words += [immediate(0x0F, 0, n, value >> 16), immediate(0x0D, n, n, value)]
        self.words += [register(0x11, 1, 0, 0), register(0x13, 2, 0, 0)]
        while len(self.words) < DATA // 4 - 64:
            self.block()
        self.words += [rng.choice([0x0C, 0x0D]), 0]  # SYSCALL, BREAK
        self.words += [0] * (DATA // 4 - len(self.words))
        self.words += [rng.getrandbits(32) for _ in range(WORDS - DATA // 4)]

    def source(self):
        while True:
            n = self.rng.choice([self.rng.randrange(1, 9), self.rng.randrange(32)])
            if n != self.loaded:
                return n

    def target(self):
        return self.rng.choice([self.rng.randrange(1, 9), self.rng.randrange(28)])

    def plain(self, loads=True):
        """An instruction, and the register that it loads."""
        rng = self.rng
        rs, rt, rd, bits = self.source(), self.source(), self.target(), rng.getrandbits(16)
        kind = rng.randrange(12 if loads else 9)
        if kind < 3:
            funct = rng.choice([0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B])
            return register(funct, rs, rt, rd), None
        if kind < 5:
            op = rng.choice([0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F])
            return immediate(op, 0 if op == 0x0F else rs, rd, bits), None
        if kind < 7:
            funct = rng.choice([0, 2, 3, 4, 6, 7])
            return register(funct, 0 if funct < 4 else rs, rt, rd, bits & 31 if funct < 4 else 0), None
        if kind == 7:
            funct = rng.choice([0x10, 0x12, 0x11, 0x13, 0x18, 0x19])
            is_from = funct in (0x10, 0x12)
            return register(funct, 0 if is_from else rs, rt if funct > 0x13 else 0, rd if is_from else 0), None
        op = rng.choice([0x28, 0x29, 0x2A, 0x2B, 0x2E] if kind == 8 else [0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26])
        offset = rng.randrange(-0x700, 0x700)
        offset &= {1: ~1, 5: ~1, 3: ~3}.get(op & 7, ~0) if rng.randrange(2000) else ~0
        is_part = op in (0x22, 0x26)
        if self.loaded == BASE:
            return 0, None
        if kind == 8:
            return immediate(op, BASE, rt, offset), None
        return immediate(op, BASE, rd, offset), None if rd == 0 else (rd, is_part)

    def put(self, loads=True):
        word, loaded = self.plain(loads)
        self.words.append(word)
        self.loaded = loaded[0] if loaded else None

    def block(self):
        rng = self.rng
        kind = rng.randrange(40)
        if kind < 30:
            self.put()
        elif kind < 34:  # a branch over some instructions
            length = rng.randrange(1, 5)
            rs, rt = self.source(), self.source()
            here = len(self.words)
            self.words.append(
                rng.choice(
                    [
                        2 << 26 | here + length + 2,
                        3 << 26 | here + length + 2,
                        immediate(4, rs, rt, length + 1),
                        immediate(4, rs, rs, length + 1),
                        immediate(5, rs, rt, length + 1),
                        immediate(6, rs, 0, length + 1),
                        immediate(7, rs, 0, length + 1),
                        *(immediate(1, rs if rs != 31 else 0, rt, length + 1) for rt in (0, 1, 16, 17)),
                    ]
                )
            )
            self.loaded = None
            self.put(loads=False)
            for _ in range(length):
                self.put()
            self.words.append(0)
            self.loaded = None
        elif kind == 34:  # a loop
            length = rng.randrange(1, 5)
            self.words.append(immediate(0x09, 0, COUNT, rng.randrange(1, 6)))
            self.loaded = None
            for _ in range(length):
                self.put()
            self.words += [0, immediate(7, COUNT, 0, -(length + 2)), immediate(0x09, COUNT, COUNT, -1)]
            self.loaded = None
        elif kind == 35:  # a jump to a register
            to = 4 * (len(self.words) + 5)
            link = rng.choice([0, 31, 5])
            self.words += [0, immediate(0x0D, 0, 26, to), register(9, 26, 0, link)]
            self.loaded = None
            self.put(loads=False)
            self.words.append(0)
        elif kind < 38:  # a division, not by zero
            rs = self.source()
            self.words += [0, immediate(0x0D, 27, 27, 1), register(rng.choice([0x1A, 0x1B]), rs, 27, 0)]
            self.words.append(register(0x23, self.rng.randrange(1, 9), 27, 27))
            self.loaded = None
        elif rng.randrange(2):  # what traps on overflow
            rs, rt, rd = self.source(), self.source(), self.target()
            words = [register(0x20, rs, rt, rd), register(0x22, rs, rt, rd), immediate(8, rs, rd, rng.getrandbits(16))]
            small = register(2, 0, rs, rs, 2) if rng.randrange(50) and rs != BASE else 0
            self.words += [small, immediate(0x0C, rt, rt, 0x7FFF) if small and rt != BASE else 0, rng.choice(words)]
            self.loaded = None


def peer(words, steps):
    """The states before each step, whether the last one trapped, and the memory."""
    machine = unicorn.Uc(unicorn.UC_ARCH_MIPS, unicorn.UC_MODE_MIPS32 + unicorn.UC_MODE_LITTLE_ENDIAN)
    machine.mem_map(0, 4 * WORDS)
    machine.mem_write(0, struct.pack(f"<{WORDS}I", *words))
    states = []
    trapped = []

    def before(uc, address, size, user):
        if len(states) == steps:
            uc.emu_stop()
            return
        state = list(uc.reg_read_batch(REGISTERS))
        state[0] = address
        states.append(state)

    def traps(uc, number, user):
        trapped.append(number)
        uc.emu_stop()

    machine.hook_add(unicorn.UC_HOOK_CODE, before)
    machine.hook_add(unicorn.UC_HOOK_INTR, traps)
    try:
        machine.emu_start(0, 4 * WORDS)
    except unicorn.UcError as error:
        trapped.append(error.errno)
    return states, bool(trapped), machine.mem_read(0, 4 * WORDS)


class Ours:
    """The golden model, as a process."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, words, steps):
        self.process.stdin.write(struct.pack(f"<{2 + WORDS}I", steps, WORDS, *words))
        self.process.stdin.flush()
        (count,) = struct.unpack("<I", self.process.stdout.read(4))
        size = 4 * len(FIELDS)
        states = [list(struct.unpack(f"<{len(FIELDS)}I", self.process.stdout.read(size))) for _ in range(count)]
        (trapped,) = struct.unpack("<I", self.process.stdout.read(4))
        return states, bool(trapped), self.process.stdout.read(4 * WORDS)


def difference(ours, theirs):
    """The first difference, in words."""
    for step, (a, b) in enumerate(zip(ours[0], theirs[0])):
        if a != b:
            fields = [f"{f} {x:#x} / {y:#x}" for f, x, y in zip(FIELDS, a, b) if x != y]
            return f"before step {step}, at {a[0]:#x} (ours / Unicorn's): {', '.join(fields)}"
    if len(ours[0]) != len(theirs[0]) or ours[1] != theirs[1]:
        return f"steps and trap: {len(ours[0])} {ours[1]} / {len(theirs[0])} {theirs[1]}"
    if bytes(ours[2]) != bytes(theirs[2]):
        return "the memory differs"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    seed = int(os.environ.get("TSUNAGI_SEED") or random.SystemRandom().getrandbits(32))
    parser.add_argument("--seed", type=int, default=seed, help="default: TSUNAGI_SEED, or a fresh one")
    parser.add_argument("--steps", type=int, default=1_000_000, help="instructions, at least (default %(default)s)")
    program = ROOT / "target" / "debug" / "examples" / "r3000_trace"
    parser.add_argument("--program", type=Path, default=program, help="our golden model")
    args = parser.parse_args()
    print(f"cpu-peer: seed {args.seed} (make cpu-peer ARGS='--seed {args.seed}' repeats it)", flush=True)
    rng = random.Random(args.seed)
    ours = Ours(args.program)
    done = programs = traps = 0
    while done < args.steps:
        words = Program(rng).words
        mine, theirs = ours.run(words, 6000), peer(words, 6000)
        if text := difference(mine, theirs):
            sys.exit(f"cpu-peer: program {programs}: {text}")
        done += len(mine[0])
        programs += 1
        traps += mine[1]
    mine[0][-1][5] ^= 1
    if difference(mine, theirs) is None:
        sys.exit("cpu-peer: a broken trace was not noticed")
    print(f"cpu-peer: {done} instructions of {programs} programs, {traps} of which end in a trap: the same", flush=True)


if __name__ == "__main__":
    main()
