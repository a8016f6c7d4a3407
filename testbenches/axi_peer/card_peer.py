"""A DIMMnet-1 card between an AXI4 memory, an AXI4 host and an AXI4-Stream link that returns to the card.

All of these are of cocotbext-axi. The driver knows docs/machines/dimmnet1-registers.md.
"""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiMaster, AxiResp, AxiSlave, AxiStreamBus, AxiStreamSink, AxiStreamSource

from bus import Memory, channels, refuse_as, stall
from layout import Formats
from peer import BYTES, rng, same, say

FORMATS = Formats("dimmnet1")
get, put = FORMATS.get, FORMATS.put
OFFSETS = FORMATS.offsets("Registers")
TYPE, REASON, STOP, GO, SIZE = (FORMATS.values(prefix) for prefix in ("TYPE", "REASON", "STOP", "GO", "SIZE"))
MEMORY = 1 << 20
STAMP = 0x2A05
PAGE = SIZE["PAGE"]
# Regions and their virtual pages; CONST and SINK are SOURCE with fewer rights. SOURCE and DEST together have as many
# pages as PATLB has entries.
SOURCE, DEST, LLCM, CONST, SINK, NONE = 1, 2, 3, 4, 5, 60
FIRST = {SOURCE: 0x100, DEST: 0x100 + SIZE["TLB"] // 2}
REGION_BYTES = PAGE * SIZE["TLB"] // 2
# lui $8, 0x8001; lui $9, 0x1234; ori $9, $9, 0x5678; sw $9, 0x100($8); loop: beq $0, $0, loop; nop
PROGRAM = (0x3C088001, 0x3C091234, 0x35295678, 0xAD090100, 0x1000FFFF, 0)
STORED, STORED_AT = 0x12345678, 0x100


def address(region, offset):
    return put("Packet header", "W2", REGION=region, OFFSET=offset)


def rva(region, stamp=STAMP):
    return put("RVATLB entry", "KEY", PGID=stamp, REGION=region, VALID=1)


def pa(page, stamp=STAMP):
    return put("PATLB entry", "KEY", PAGE=page, PGID=stamp, VALID=1)


def push(region, offset, data, slot, **flags):
    """A packet of a window."""
    flags = {"TYPE": TYPE["PUSH"], "ACK_REQ": 1, "LENGTH": len(data)} | flags
    first, second = put("Packet header", "W0", **flags), put("Packet header", "W1", TAG=slot)
    words = first, second, address(region, offset), 0, 0, 0
    return b"".join(word.to_bytes(8, "little") for word in words) + data


class Bench:
    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())
        cocotb.start_soon(Clock(dut.link_aclk, 7, unit="ns").start())
        self.memory = Memory(MEMORY)
        bus = AxiBus.from_prefix(dut, "m_axi")
        self.axi = AxiSlave(bus, dut.aclk, dut.aresetn, target=self.memory, reset_active_level=False)
        self.host = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn, reset_active_level=False)
        out, back = AxiStreamBus.from_prefix(dut, "m_axis"), AxiStreamBus.from_prefix(dut, "s_axis")
        self.out = AxiStreamSink(out, dut.link_aclk, dut.link_aresetn, reset_active_level=False)
        self.back = AxiStreamSource(back, dut.link_aclk, dut.link_aresetn, reset_active_level=False)
        self.refusal = AxiResp.SLVERR
        self.forge = None  # changes the bytes of the next packet on the link
        refuse_as(self.axi, lambda: self.refusal)
        self.frames = rng("frames").sample(range(MEMORY // PAGE), SIZE["TLB"])

    def stall(self, memory, others):
        stall(channels(self.axi), memory)
        stall(channels(self.host, "host") | {"link out": self.out, "link back": self.back}, others)

    def place(self, region, offset):
        """Address in memory of a region's byte."""
        return self.frames[FIRST[region] - FIRST[SOURCE] + offset // PAGE] * PAGE + offset % PAGE

    def spread(self, region, offset, bytes_):
        """The addresses of several."""
        return [self.place(region, at) for at in range(offset, offset + bytes_)]

    async def _loop_link(self):
        while True:
            frame = await self.out.recv()
            if self.forge:
                frame.tdata, self.forge = self.forge(frame.tdata), None
            await self.back.send(frame)

    async def store(self, offset, data):
        """Any bytes; the response."""
        return (await self.host.write(offset, data)).resp

    async def write(self, register, value, at=0):
        resp = await self.store(OFFSETS[register] + at, value.to_bytes(8, "little"))
        assert resp == AxiResp.OKAY, f"{register} refuses {value:#x}"

    async def read(self, register, at=0):
        answer = await self.host.read(OFFSETS[register] + at, 8)
        assert answer.resp == AxiResp.OKAY, f"{register} refuses to be read"
        return int.from_bytes(answer.data, "little")

    async def field(self, register, field, at=0):
        return get("Registers", register, field, await self.read(register, at))

    async def until(self, register, field, value):
        """Polls."""

        async def poll():
            while await self.field(register, field) != value:
                pass

        await with_timeout(poll(), 4, "ms")

    async def region(self, region, **base):
        bytes_ = SIZE["LLCM"] if "LLCM" in base else REGION_BYTES
        words = rva(region), put("RVATLB entry", "BASE", **base), put("RVATLB entry", "BOUND", BYTES=bytes_)
        for at, word in enumerate(words):
            await self.write("RVATLB", word, 8 * at)

    async def page(self, page):
        await self.write("PATLB", pa(page))
        await self.write("PATLB", put("PATLB entry", "FRAME", PAGE=self.frames[page - FIRST[SOURCE]]), 8)

    async def start(self):
        dut = self.dut
        dut.aresetn.value = dut.link_aresetn.value = 0
        for clock in (dut.aclk, dut.link_aclk):
            for _ in range(8):
                await RisingEdge(clock)
        dut.aresetn.value = dut.link_aresetn.value = 1
        for _ in range(100):
            await RisingEdge(dut.aclk)
        cocotb.start_soon(self._loop_link())
        self.memory[0:MEMORY] = rng("memory").randbytes(MEMORY)
        await self.write("NODE", 0)
        await self.write("PGID", STAMP)
        await self.write("TLB_FLUSH", 0)
        for page in range(FIRST[SOURCE], FIRST[SOURCE] + SIZE["TLB"]):
            await self.page(page)
        await self.region(SOURCE, PAGE=FIRST[SOURCE], READ=1, WRITE=1)
        await self.region(DEST, PAGE=FIRST[DEST], READ=1, WRITE=1)
        await self.region(CONST, PAGE=FIRST[SOURCE], READ=1)
        await self.region(SINK, PAGE=FIRST[SOURCE], WRITE=1)
        await self.region(LLCM, PAGE=0, LLCM=1, OTF=1)
        await self.write("CONTROL", put("Registers", "CONTROL", RECEIVE=1))

    async def rest(self):
        """Until nothing moves."""

        async def quiet():
            def busy():
                link = not self.out.empty() or not self.back.idle() or self.back.active
                return self.dut.busy.value or self.dut.link_busy.value or link

            while busy():
                await RisingEdge(self.dut.aclk)

        for _ in range(2):
            await with_timeout(quiet(), 4, "ms")
            for _ in range(400):
                await RisingEdge(self.dut.aclk)

    async def kick(self, packet, window=0):
        await self.until("WINDOWS", f"BUSY{window}", 0)
        assert await self.store(OFFSETS[f"WINDOW{window}"], packet) == AxiResp.OKAY
        await self.write(f"KICK{window}", 0)

    async def rdma(self, kind, local, remote, bytes_, slot):
        await self.until("RDMA", "FULL", 0)
        await self.write("RDMA_WHAT", put("Packet header", "W0", TYPE=TYPE[kind], ACK_REQ=1))
        await self.write("RDMA_LOCAL", address(*local))
        await self.write("RDMA_REMOTE", address(*remote))
        await self.write("RDMA_LENGTH", put("Registers", "RDMA_LENGTH", BYTES=bytes_, SLOT=slot))

    async def slots_are_good(self):
        """Every packet has its positive answer."""
        for slot in range(SIZE["SLOTS"]):
            assert await self.read("SLOTS", 8 * slot) == 0, f"slot {slot}"

    async def load(self, program):
        code = b"".join(word.to_bytes(4, "little") for word in program)
        assert await self.store(OFFSETS["SRAM"], code) == AxiResp.OKAY


@cocotb.test()
async def random_data_goes_out_and_comes_back(dut):
    """At least BYTES in four rounds: no stalls, a stalling memory, stalling host and link, all stalling."""
    bench = Bench(dut)
    await bench.start()
    chance = rng("packets")
    sent = {"BOTF": 0, "PUSH": 0, "PULL": 0}
    checked = total = 0
    for memory_stalls, other_stalls in ((False, False), (True, False), (False, True), (True, True)):
        bench.stall(memory_stalls, other_stalls)
        bench.memory[0:MEMORY] = chance.randbytes(MEMORY)
        image = bytearray(bench.memory[:MEMORY])
        moved = dest = 0
        while moved < (BYTES + 3) // 4 or min(sent.values()) == 0:
            kind = chance.choice(list(sent))
            longest = SIZE["BOTF"] if kind == "BOTF" else chance.choice((64, 1024, 9000))
            bytes_ = chance.randint(1, longest)
            if kind == "BOTF" and dest % PAGE + bytes_ > PAGE:
                dest += PAGE - dest % PAGE
            assert dest + bytes_ <= REGION_BYTES, "--bytes is more than the region takes"
            slot = chance.randrange(SIZE["SLOTS"])
            if kind == "BOTF":
                data = chance.randbytes(bytes_)
                await bench.kick(push(DEST, dest, data, slot, F_SEQ=chance.randrange(2)), chance.randrange(2))
            else:
                at = chance.randrange(0, REGION_BYTES - bytes_, 8)
                data = bytes(image[i] for i in bench.spread(SOURCE, at, bytes_))
                here, there = ((SOURCE, at), (DEST, dest)) if kind == "PUSH" else ((DEST, dest), (SOURCE, at))
                await bench.rdma(kind, here, there, bytes_, slot)
            for i, byte in zip(bench.spread(DEST, dest, bytes_), data):
                image[i] = byte
            # A gap between them, as the next one begins at a word.
            dest += (bytes_ + 7) // 8 * 8 + 8 * chance.randint(0, 9)
            moved += bytes_
            sent[kind] += 1
        await bench.rest()
        # All of memory: what was not written must be as it was.
        checked += same("memory", bytes(bench.memory[:MEMORY]), bytes(image))
        await bench.slots_are_good()
        assert await bench.field("RDMA", "ERROR") == 0 and await bench.read("STATUS") == 0
        total += moved
    assert total >= BYTES
    say(f"{total} bytes received, packets and descriptors {sent}; {checked} bytes of memory compared")


@cocotb.test()
async def slots_count_answers(dut):
    """Packets wait on the link while RECEIVE is clear, and their slots say how many answers are due."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, True)
    await bench.write("CONTROL", 0)
    before = await bench.read("COUNTS")
    for count in range(1, 8):
        await bench.kick(push(DEST, 512 * count, bytes([count]) * (2 * count + 1), 9), count % 2)
        await bench.until("WINDOWS", f"BUSY{count % 2}", 0)
        assert await bench.field("SLOTS", "OPEN", 8 * 9) == count
    await bench.kick(push(DEST, 0, b"x", 9, ACK_REQ=0))
    await bench.until("WINDOWS", "BUSY0", 0)
    assert await bench.field("SLOTS", "OPEN", 8 * 9) == 7, "a packet without answer counts"
    await bench.write("CONTROL", put("Registers", "CONTROL", RECEIVE=1))
    await bench.rest()
    await bench.slots_are_good()
    accepted = await bench.read("COUNTS") - before
    assert accepted == 8, f"{accepted} packets accepted, not 8"
    say("7 answers counted in a slot")


@cocotb.test()
async def stores_to_aotf_pages_reach_llcm(dut):
    """Any run of bytes within a word, through several entries of the header TLB."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, True)
    chance = rng("aotf")
    image = bytearray(chance.randbytes(SIZE["LLCM"]))
    assert await bench.store(OFFSETS["LLCM"], bytes(image)) == AxiResp.OKAY
    pages = {chance.randrange(64): part for part in range(3)}
    for page, part in pages.items():
        words = (
            put("Packet header", "W0", TYPE=TYPE["OTF"], ACK_REQ=1),
            put("Packet header", "W1", PGID=STAMP, TAG=part),
            address(LLCM, part * PAGE),
        )
        for at, word in enumerate(words):
            await bench.write("HEADER_TLB", word, 32 * page + 8 * at)
    for _ in range(200):
        page, at, first = chance.choice(list(pages)), chance.randrange(0, PAGE, 8), chance.randrange(8)
        data = chance.randbytes(chance.randint(1, 8 - first))
        assert await bench.store(OFFSETS["AOTF"] + PAGE * page + at + first, data) == AxiResp.OKAY
        place = pages[page] * PAGE + at + first
        image[place : place + len(data)] = data
    # The host's own stores take any bytes, too.
    for _ in range(20):
        at = chance.randrange(3 * PAGE, SIZE["LLCM"] - 40)
        data = chance.randbytes(chance.randint(1, 40))
        assert await bench.store(OFFSETS["LLCM"] + at, data) == AxiResp.OKAY
        image[at : at + len(data)] = data
    await bench.rest()
    answer = await bench.host.read(OFFSETS["LLCM"], SIZE["LLCM"])
    assert answer.resp == AxiResp.OKAY
    same("LLCM", bytes(answer.data), bytes(image))
    await bench.slots_are_good()
    assert await bench.read("AOTF_LOST") == 0
    say(f"200 stores to AOTF pages, {SIZE['LLCM']} bytes of LLCM compared")


@cocotb.test()
async def refusals_are_told_and_counted(dut):
    """By slot, counter and interrupt; memory is as it was, and a good packet follows."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, True)
    mask = put("Registers", "STATUS", REFUSED=1)
    await bench.write("MASK", mask)

    def restamped(packet):
        return packet[:8] + (STAMP ^ 0x0100).to_bytes(2, "little") + packet[10:]

    bad = range(bench.place(DEST, 0x2064), bench.place(DEST, 0x2064) + 1)
    cases = (
        # A region that RVATLB lacks is a matter of the processor, which does not run.
        ("UNSERVED", push(DEST, 0, b"a" * 99, 3), restamped, range(0)),
        ("UNSERVED", push(NONE, 0, b"a" * 99, 3), None, range(0)),
        ("RIGHTS", push(CONST, 0, b"b" * 99, 3), None, range(0)),
        ("RANGE", push(DEST, REGION_BYTES, b"c" * 9, 3), None, range(0)),
        ("RANGE", push(DEST, PAGE - 8, b"d" * 9, 3), None, range(0)),
        ("LENGTH", push(DEST, 0x804, b"e" * 9, 3), None, range(0)),
        ("BUS", push(DEST, 0x2000, b"f" * 200, 3), None, bad),
    )
    for bench.refusal in (AxiResp.SLVERR, AxiResp.DECERR):
        for reason, packet, bench.forge, bench.memory.bad in cases:
            image = bytearray(bench.memory[:MEMORY])
            counter = 8 * REASON[reason]
            before = await bench.read("COUNTS", counter)
            await bench.kick(packet)
            await bench.rest()
            slot = await bench.read("SLOTS", 8 * 3)
            got = {name: get("Registers", "SLOTS", name, slot) for name in ("OPEN", "NACKS", "REASON")}
            assert got == {"OPEN": 0, "NACKS": 1, "REASON": REASON[reason]}, f"{reason}: {got}"
            assert await bench.read("COUNTS", counter) == before + 1, f"{reason} is not counted"
            assert await bench.read("STATUS") == mask and dut.irq.value == 1, "no interrupt"
            bench.memory.bad = range(0)
            if reason == "BUS":  # what was written before and behind the bad word counts for nothing
                for at in bench.spread(DEST, 0x2000, 200):
                    image[at] = bench.memory[at]
            await bench.write("SLOTS", 0, 8 * 3)
            await bench.write("STATUS", mask)
            await bench.kick(push(DEST, 0x3000, b"good", 4))
            await bench.rest()
            for at, byte in zip(bench.spread(DEST, 0x3000, 4), b"good"):
                image[at] = byte
            same(f"memory after {reason}", bytes(bench.memory[:MEMORY]), bytes(image))
            await bench.slots_are_good()
            assert dut.irq.value == 0, "an interrupt"
    say(f"{2 * len(cases)} packets refused, each with a good one after it")


@cocotb.test()
async def rdma_tells_its_errors(dut):
    """Memory refuses what is to be read; descriptors that are none."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, True)
    place = bench.place(SOURCE, 0x1040)
    cases = (
        ("BUS", (SOURCE, 0x1000), (DEST, 0), 160, range(place, place + 1)),
        ("LENGTH", (SOURCE, 0x1000), (DEST, 0), 0, range(0)),
        ("LENGTH", (SOURCE, 0x1004), (DEST, 0), 8, range(0)),
        ("LENGTH", (SOURCE, 0x1000), (DEST, 2), 8, range(0)),
        ("RANGE", (SOURCE, REGION_BYTES), (DEST, 0), 8, range(0)),
        ("RIGHTS", (SINK, 0), (DEST, 0), 8, range(0)),
        ("UNSERVED", (NONE, 0), (DEST, 0), 8, range(0)),
    )
    for reason, local, remote, bytes_, bench.memory.bad in cases:
        await bench.rdma("PUSH", local, remote, bytes_, 5)
        await bench.rest()
        error = await bench.field("RDMA", "ERROR")
        assert error == REASON[reason], f"{reason}: {error}"
        await bench.write("SLOTS", 0, 8 * 5)
    bench.memory.bad = range(0)
    data = bytes(bench.memory[i] for i in bench.spread(SOURCE, 8, 5000))
    await bench.rdma("PUSH", (CONST, 8), (DEST, 16), 5000, 5)
    await bench.rest()
    assert await bench.field("RDMA", "ERROR") == 0
    same("a good descriptor", bytes(bench.memory[i] for i in bench.spread(DEST, 16, 5000)), data)
    await bench.slots_are_good()
    say(f"{len(cases)} descriptors end with their reasons")


@cocotb.test()
async def registers_and_what_is_none(dut):
    """Values stay; SLVERR, HOST_ERRORS and no change for unknown offsets, partial strobes and read-only registers."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(False, True)
    chance = rng("registers")
    values = {name: chance.getrandbits(64) for name in ("RDMA_LOCAL", "RDMA_REMOTE", "CALL")}
    values |= {"WATCHDOG": chance.getrandbits(32), "PATIENCE": chance.getrandbits(16), "NODE": chance.getrandbits(6)}
    values |= {"PGID": chance.getrandbits(16), "MASK": 0}
    for name, value in values.items():
        await bench.write(name, value)
    refused = 0
    for offset in (0x400, 0x1018, 0x1180, 0x2048, 0x21A0, 0x5038, 0x6130, 0x7FF8, 0xC000, 0x14000, 0x140000, 0xFFFFF8):
        assert (await bench.host.read(offset, 8)).resp == AxiResp.SLVERR, f"a read of {offset:#x}"
        assert await bench.store(offset, bytes(8)) == AxiResp.SLVERR, f"a write of {offset:#x}"
        refused += 2
    for name in ("WINDOWS", "RDMA", "TIME", "COUNTS", "STRAYS", "HOST_ERRORS", "RX_STOP", "RX_PAGE", "RDMA_KEY"):
        assert await bench.store(OFFSETS[name], bytes(8)) == AxiResp.SLVERR, f"a write of {name}"
        refused += 1
    for name in values:
        first = chance.randrange(8)
        last = chance.randrange(first, 8 if first else 7)
        resp = await bench.store(OFFSETS[name] + first, bytes(last - first + 1))
        assert resp == AxiResp.SLVERR, f"bytes {first} to {last} of {name}"
        refused += 1
    for name in ("RX_GO", "RDMA_GO", "RX_HEADER"):  # nothing is stopped
        assert await bench.store(OFFSETS[name], bytes([1]) + bytes(7)) == AxiResp.SLVERR, f"{name} without a stop"
        refused += 1
    for name, value in values.items():
        assert await bench.read(name) == value, f"{name} does not keep its value"
    assert await bench.read("HOST_ERRORS") == refused
    causes = put("Registers", "STATUS", HOST=1)
    assert await bench.read("STATUS") == causes and dut.irq.value == 0
    await bench.write("MASK", causes)
    await bench.read("MASK")
    assert dut.irq.value == 1, "no interrupt"
    await bench.write("STATUS", causes)
    await bench.read("STATUS")
    assert dut.irq.value == 0, "an interrupt that was cleared"
    say(f"{len(values)} registers keep their values, {refused} accesses refused")


@cocotb.test()
async def the_processor_runs(dut):
    """It stores to LLCM; its SRAM is the host's only while it rests. Then the host serves stops in its stead."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, True)
    await bench.load(PROGRAM)
    answer = await bench.host.read(OFFSETS["SRAM"], 4 * len(PROGRAM))
    same("SRAM", bytes(answer.data), b"".join(word.to_bytes(4, "little") for word in PROGRAM))
    await bench.write("LLCM", 0, STORED_AT)
    await bench.write("CONTROL", put("Registers", "CONTROL", RUN=1, RECEIVE=1, POLL=1))

    async def stored():
        while await bench.read("LLCM", STORED_AT) != STORED:
            pass

    await with_timeout(stored(), 1, "ms")
    assert (await bench.host.read(OFFSETS["SRAM"], 8)).resp == AxiResp.SLVERR, "SRAM of a running processor"

    await bench.write("TLB_FLUSH", 0)
    data = rng("stops").randbytes(333)
    await bench.kick(push(DEST, PAGE, data, 7))
    await bench.until("RX_STOP", "STOPPED", 1)
    assert await bench.field("RX_STOP", "CAUSE") == STOP["RVATLB"]
    assert await bench.read("RX_PAGE") == rva(DEST)
    assert await bench.read("RX_HEADER", 16) == address(DEST, PAGE)
    await bench.region(DEST, PAGE=FIRST[DEST], WRITE=1)
    await bench.write("RX_GO", put("Registers", "RX_GO", WHAT=GO["CONTINUE"]))
    await bench.until("RX_STOP", "CAUSE", STOP["PATLB"])
    await bench.until("RX_STOP", "STOPPED", 1)
    assert await bench.read("RX_PAGE") == pa(FIRST[DEST] + 1)
    await bench.page(FIRST[DEST] + 1)
    await bench.write("RX_GO", put("Registers", "RX_GO", WHAT=GO["CONTINUE"]))
    await bench.until("SLOTS", "OPEN", 0)

    # A message, for which there is no firmware.
    await bench.kick(push(DEST, PAGE, data, 8, TYPE=TYPE["MESSAGE"]))
    await bench.until("RX_STOP", "STOPPED", 1)
    assert await bench.field("RX_STOP", "CAUSE") == STOP["TYPE"]
    assert await bench.field("RX_STOP", "TYPE") == TYPE["MESSAGE"]
    await bench.write("RX_GO", put("Registers", "RX_GO", WHAT=GO["NACK"], REASON=REASON["OVERFLOW"]))
    await bench.write("CONTROL", put("Registers", "CONTROL", RECEIVE=1))
    await bench.rest()
    slot = await bench.read("SLOTS", 8 * 8)
    assert get("Registers", "SLOTS", "REASON", slot) == REASON["OVERFLOW"]
    assert await bench.read("SLOTS", 8 * 7) == 0
    same("the packet behind its stops", bytes(bench.memory[i] for i in bench.spread(DEST, PAGE, 333)), data)
    say("a store of the processor seen, 3 stops of the receiver served")
