"""An AP1000+ cell, alone on its network, between an AXI4 memory, an AXI4-Lite host and an AXI4 processor.

All of these are of cocotbext-axi.
"""

import itertools

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiMaster, AxiResp, AxiSlave

from bus import Host, Memory, channels, refuse_as, stall
from layout import Formats
from peer import BYTES, rng, same, say

FORMATS = Formats("ap1000p")
PAGES, REGISTERS = 0xA << 32, 0xB << 32

MEMORY = 1 << 20
CONTEXT = 5
TABLES, SPILL, SOURCE, DEST, FLAGS = 0x0, 0x80000, 0x10000, 0x40000, 0x70000
# The process sees all that a cell can have; what lies beyond this one's memory is refused by it.
BEYOND = MEMORY + 0x1000


def table(addr, kind, **fields):
    """A word of a page table that names cell memory."""
    place = FORMATS.values("")["CELL_SPACE"] << 32 | addr
    return place >> 4 | FORMATS.put("Word of a page table", "ENTRY", TYPE=FORMATS.values("ENTRY")[kind], **fields)


class Bench:
    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())
        self.memory = Memory(MEMORY)
        bus = AxiBus.from_prefix(dut, "m_axi")
        self.axi = AxiSlave(bus, dut.aclk, dut.aresetn, target=self.memory, reset_active_level=False)
        self.host = Host(dut, FORMATS)
        self.window = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn, reset_active_level=False)
        self.refusal = AxiResp.SLVERR
        refuse_as(self.axi, lambda: self.refusal)

    def stall(self, memory, others):
        stall(channels(self.axi), memory)
        stall(channels(self.host.axi, "host") | channels(self.window, "window"), others)

    def word(self, addr):
        return int.from_bytes(self.memory[addr : addr + 4], "little")

    def _set_word(self, addr, value):
        self.memory[addr : addr + 4] = value.to_bytes(4, "little")

    async def start(self):
        dut = self.dut
        dut.tx_credit_i.value = 0
        for name in ("valid", "vc", "data", "last"):
            getattr(dut, f"rx_{name}_i").value = 0
        dut.aresetn.value = 0
        for _ in range(8):
            await RisingEdge(dut.aclk)
        dut.aresetn.value = 1
        for _ in range(8):
            await RisingEdge(dut.aclk)
        first = TABLES + 0x4000
        self._set_word(TABLES + 4 * CONTEXT, table(first, "TABLE"))
        self._set_word(first, table(0, "PAGE", ACCESS=3))
        assert await self.host.read("ID") == FORMATS.values("")["ID_VALUE"]
        await self.host.write("CONTEXT_TABLE", TABLES)
        await self.host.write("CONTEXT", CONTEXT)
        await self.host.write("ENABLE", 0x3FF)
        # A limit above the maximum becomes the maximum.
        most = FORMATS.values("")["SPILL_UNITS"]
        for limit in (most + 1, 127):
            region = FORMATS.put("Registers", "SPILL_REGION", BASE=SPILL >> 19, LIMIT=limit)
            await self.host.write("SPILL_REGION", region)
            assert FORMATS.get("Registers", "SPILL_REGION", "LIMIT", await self.host.read("SPILL_REGION")) == most

    async def put(self, words, dest, source, dest_flag=0, source_flag=0, beats=8):
        """A PUT to the cell itself: eight words to the page of its kind, in bursts of `beats`.

        In bursts with a fixed address, cocotbext-axi 0.1.28 puts every other beat on wrong lanes; `cell_axi.rs` tests
        these bursts.
        """
        values = [0] * 8
        names = {"LENGTH": words, "DEST": dest, "DEST_FLAG": dest_flag, "SOURCE": source, "SOURCE_FLAG": source_flag}
        for name, value in names.items():
            values[FORMATS.offsets("Command")[name] // 4] = value
        data = b"".join(value.to_bytes(4, "little") for value in values)
        addr = PAGES | FORMATS.values("KIND")["PUT"] << 12
        for at in range(0, 32, 4 * beats):
            answer = await self.window.write(addr + at, data[at : at + 4 * beats], size=2)
            assert answer.resp == AxiResp.OKAY, "a command is refused"

    async def rest(self):
        """Until nothing moves."""

        async def quiet():
            while self.dut.busy.value:
                await RisingEdge(self.dut.aclk)

        for _ in range(2):
            await with_timeout(quiet(), 4, "ms")
            for _ in range(200):
                await RisingEdge(self.dut.aclk)


@cocotb.test()
async def puts_to_the_cell_itself(dut):
    """At least BYTES, in four rounds: no stalls, a stalling memory, stalling host and processor, all stalling."""
    bench = Bench(dut)
    await bench.start()
    chance = rng("puts")
    checked = total = commands = 0
    for memory_stalls, other_stalls in ((False, False), (True, False), (False, True), (True, True)):
        bench.stall(memory_stalls, other_stalls)
        moved = 0
        while moved < (BYTES + 3) // 4:
            bench.memory[SOURCE:FLAGS] = chance.randbytes(FLAGS - SOURCE)
            image = bytearray(bench.memory[:MEMORY])
            dest, flags = DEST, [0, 0]
            for _ in range(8):
                words = chance.choice((chance.randint(0, 8), chance.randint(1, 64), chance.randint(1, 1024)))
                source = chance.randrange(SOURCE, DEST - 4 * words, 4)
                image[dest : dest + 4 * words] = image[source : source + 4 * words]
                await bench.put(words, dest, source, FLAGS, FLAGS + 4, chance.choice((1, 2, 4, 8)))
                dest += 4 * words + 4 * chance.randint(1, 9)
                flags = [flag + 1 for flag in flags]
                moved += 4 * words
                commands += 1
            assert dest <= FLAGS
            for at, count in zip((FLAGS, FLAGS + 4), flags):
                value = int.from_bytes(image[at : at + 4], "little") + count
                image[at : at + 4] = (value & 0xFFFFFFFF).to_bytes(4, "little")
            await bench.rest()
            # All of memory: what was not written must be as it was.
            checked += same("memory", bytes(bench.memory[:MEMORY]), bytes(image))
        total += moved
        assert dut.irq.value == 0 and await bench.host.read("CAUSE") == 0, "an interrupt"
    assert total >= BYTES
    say(f"{total} bytes of {commands} PUTs, {checked} bytes of memory compared")


@cocotb.test()
async def communication_registers_by_the_window(dut):
    """A load returns the stored value."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(False, True)
    chance = rng("registers")
    for register in range(0, 128, 7):
        value = chance.randbytes(4)
        assert (await bench.window.write(REGISTERS + 4 * register, value, size=2)).resp == AxiResp.OKAY
        answer = await bench.window.read(REGISTERS + 4 * register, 4, size=2)
        assert answer.resp == AxiResp.OKAY
        same(f"communication register {register}", bytes(answer.data), value)
    say("19 communication registers filled and taken")


@cocotb.test()
async def what_is_no_access_is_refused(dut):
    """SLVERR, and nothing changes: at the registers, and at the window."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(False, True)
    refused = await bench.host.is_refused((0x98, 0xF8), "CONTEXT", CONTEXT)
    # There are 64 K pages, for writes of 32-bit words only, and 128 registers of 32 bits.
    for addr, bytes_ in ((PAGES, 4), (REGISTERS + 512, 4), (REGISTERS, 8), (8 << 32, 4)):
        assert (await bench.window.read(addr, bytes_)).resp == AxiResp.SLVERR, f"a read of {addr:#x}"
        refused += 1
    for addr, bytes_ in ((PAGES, 8), (PAGES, 2), (PAGES | 1 << 28, 4), (REGISTERS + 512, 4)):
        assert (await bench.window.write(addr, bytes(bytes_))).resp == AxiResp.SLVERR, f"a write of {addr:#x}"
        refused += 1
    assert await bench.host.read("CAUSE") == 0, "a refused access has another effect"
    say(f"{refused} invalid accesses refused")


@cocotb.test()
async def refusals_of_the_memory_are_reported(dut):
    """SLVERR and DECERR at the source and at the destination: no flag counts, and later transfers are not affected."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, True)
    bench.memory[SOURCE:FLAGS] = rng("data").randbytes(FLAGS - SOURCE)
    bench.memory[FLAGS : FLAGS + 8] = bytes(8)
    good = bytes(bench.memory[SOURCE : SOURCE + 160])
    seen = 0
    places = (("source", SOURCE + 0x8000, 1), ("dest", DEST + 0x8000, 0), ("source", BEYOND, 1), ("dest", BEYOND, 0))
    for bench.refusal, (end, at, cut) in itertools.product((AxiResp.SLVERR, AxiResp.DECERR), places):
        bench.memory.bad = range(at + 100, at + 101)
        ends = {"source": SOURCE + 0x8000, "dest": DEST + 0x8000} | {end: at}
        await bench.put(40, ends["dest"], ends["source"], FLAGS)
        await bench.rest()
        cause = await bench.host.read("CAUSE")
        wanted = {"CUT": cut, "BROKEN": 1}
        got = {name: FORMATS.get("Registers", "CAUSE", name, cause) for name in wanted}
        assert got == wanted, f"{end} at {at:#x}: {got}, not {wanted}"
        assert dut.irq.value == 1, "no interrupt"
        assert bench.word(FLAGS) == seen, "the flag counts what failed"
        bench.memory.bad = range(0)
        await bench.host.write("CAUSE", 0x3FF)
        bench.memory[DEST : DEST + 164] = bytes(164)
        await bench.put(40, DEST, SOURCE, FLAGS)
        await bench.rest()
        same("the PUT after a refusal", bytes(bench.memory[DEST : DEST + 164]), good + bytes(4))
        seen += 1
        assert bench.word(FLAGS) == seen, "the flag does not count"
        assert dut.irq.value == 0 and await bench.host.read("CAUSE") == 0, "an interrupt"
    say(f"{seen} refusals of the memory told, each with a good PUT after it")
