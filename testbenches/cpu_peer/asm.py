"""An independent assembler, Keystone, and ours take the same random programs, and must make the same words.

Prints the seed; --seed repeats a run. Last, Keystone gets programs with one instruction changed, and each change must
be seen. RFE is not in its MIPS32, and both get it as a word. Exit status 0: every result is as expected.
"""

import argparse
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LOCK = "testbenches/cpu_peer/requirements.lock"

try:
    import keystone
except ImportError:
    sys.exit(f"Keystone is not installed: {sys.executable} -m pip install --no-deps --require-hashes -r {LOCK}")

NAMES = "zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp fp ra".split()

# Mnemonics, and the operands of each: r a register, l a label, c a register of coprocessor 0, the others by `operand`.
FORMS = {
    "add addu sub subu and or xor nor slt sltu": "r,r,r",
    "sllv srlv srav": "r,r,r",
    "sll srl sra": "r,r,h",
    "mult multu": "r,r",
    "div divu": "z,r,r",
    "mfhi mflo mthi mtlo jr": "r",
    "jalr": "r,r",
    "addi addiu slti sltiu": "r,r,s",
    "andi ori xori": "r,r,u",
    "lui": "r,i",
    "lb lbu lh lhu lw lwl lwr sb sh sw swl swr": "r,s(r)",
    "beq bne": "r,r,l",
    "blez bgtz bltz bgez bltzal bgezal beqz bnez": "r,l",
    "bge bgeu bgt bgtu ble bleu blt bltu": "m,m,l",
    "b j jal": "l",
    "mfc0 mtc0": "r,c",
    "syscall": "k",
    "break": "q,q",
    "move not neg negu": "r,r",
    "li la": "r,w",
    ".word": "e",
}
MNEMONICS = [(name, form) for names, form in FORMS.items() for name in names.split()]
BRANCHES = "jr jalr beq bne blez bgtz bltz bgez bltzal bgezal beqz bnez bge bgeu bgt bgtu ble bleu blt bltu b j jal"
BRANCHES = set(BRANCHES.split())


def near(rng, low, high):
    """A number of the range, often at its ends or near 0."""
    ends = [value for value in (low, high, low + 1, high - 1, -1, 0, 1) if low <= value <= high]
    return rng.choice(ends) if rng.random() < 0.3 else rng.randint(low, high)


def expression(rng, depth=3):
    """An expression of words, with all parentheses."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([str, hex])(rng.randrange(1 << 16))
    left, right = expression(rng, depth - 1), expression(rng, depth - 1)
    shapes = ["({0}+{1})", "({0}-{1})", "({0}&{1})", "({0}|{1})", "(~{0})", "(-{0})", "(({0}&255)*{2})"]
    shapes += ["(({0}&255)<<{2})", "(({0}&65535)>>{2})"]
    return rng.choice(shapes).format(left, right, rng.randrange(16))


def operand(rng, kind, labels):
    """The text of an operand, the same for both assemblers."""
    number = rng.randrange(32)
    # Keystone compares with zero in one instruction.
    return {
        "r": lambda: rng.choice([f"${number}", f"${NAMES[number]}"]),
        "m": lambda: f"${rng.randrange(1, 32)}",
        "z": lambda: "$zero",
        "c": lambda: f"${number}",
        "h": lambda: str(number),
        "s": lambda: rng.choice([str(near(rng, -0x8000, 0x7FFF)), f"%lo({rng.randrange(1 << 32):#x})"]),
        "u": lambda: hex(near(rng, 0, 0xFFFF)),
        "i": lambda: rng.choice([str(near(rng, 0, 0xFFFF)), f"%hi({rng.randrange(1 << 32):#x})"]),
        "w": lambda: str(near(rng, *rng.choice([(-0x8000, 0xFFFF), (-(1 << 31), (1 << 32) - 1)]))),
        "k": lambda: str(near(rng, 0, 0xFFFFF)),
        "q": lambda: str(near(rng, 0, 1023)),
        "l": lambda: f"L{rng.randrange(labels)}",
        "e": lambda: f"({expression(rng)})&0xffffffff",
    }.get(kind, lambda: kind)()


def program(rng, count):
    """Lines of a random program: `count` labels, each before an instruction."""
    lines = []
    for at in range(count):
        name, form = rng.choice(MNEMONICS)
        operands = "".join(operand(rng, kind, count) for kind in form)
        lines.append(f"L{at}: {name} {operands}")
        if name in BRANCHES:
            lines.append("nop")
    return lines


def ours(binary, lines):
    text = "\n".join([".set nohazard", *lines, ""]).replace("div $zero,", "div ").replace("divu $zero,", "divu ")
    made = subprocess.run([binary], input=text, capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"ours refuses a program:\n{made.stderr}")
    return [int(word, 16) for word in made.stdout.split()]


def peers(lines):
    assembler = keystone.Ks(keystone.KS_ARCH_MIPS, keystone.KS_MODE_MIPS32 | keystone.KS_MODE_LITTLE_ENDIAN)
    text = "\n".join([".set noreorder", ".option pic0", *lines])
    code = assembler.asm(text)[0]
    if code is None:
        sys.exit("Keystone refuses a program")
    code = bytes(code)
    return [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--binary", type=Path, help="the built example r3000_asm")
    args = parser.parse_args()
    print(f"cpu-peer asm: seed {args.seed}")
    rng = random.Random(args.seed)
    if args.binary is None:
        build = ["cargo", "build", "--quiet", "--package", "tsunagi", "--example", "r3000_asm"]
        subprocess.run(build, cwd=ROOT, check=True)
        args.binary = ROOT / "target/debug/examples/r3000_asm"
    words = 0
    for number in range(args.programs):
        lines = program(rng, 2000)
        got, wanted = ours(args.binary, lines), peers(lines)
        if got != wanted:
            pairs = enumerate(zip(got, wanted))
            unequal = [f"word {at} is {a:08x}, Keystone's {b:08x}" for at, (a, b) in pairs if a != b]
            sys.exit(f"program {number}: {len(got)} words, Keystone's {len(wanted)}; {', '.join(unequal[:5])}")
        words += len(got)
    caught = 0
    for _ in range(args.programs):
        lines = program(rng, 50)
        at = rng.randrange(len(lines))
        label, colon, _ = lines[at].rpartition(": ")
        twin = [*lines[:at], f"{label}{colon}.word 0xffffffff", *lines[at + 1 :]]
        caught += ours(args.binary, lines) != peers(twin)
    if caught != args.programs:
        sys.exit(f"{args.programs - caught} changed programs were not seen")
    print(f"cpu-peer asm: {words} words of {args.programs} programs equal, {caught} changed programs seen")


if __name__ == "__main__":
    main()
