"""A Cenju-3 NIC between an AXI4 memory, an AXI4-Lite host and an AXI4-Stream link that returns to the NIC.

All of these are of cocotbext-axi.
"""

import itertools

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiResp, AxiSlave, AxiStreamBus, AxiStreamSink, AxiStreamSource

from bus import Host, Memory, channels, refuse_as, stall
from layout import Formats
from peer import BYTES, rng, same, say

CENJU3 = Formats("cenju3")
STATUS, SIZE = CENJU3.values("STATUS"), CENJU3.values("")
get, put = CENJU3.get, CENJU3.put
MEMORY = 1 << 20
PE = 5
QUEUE, DMA_HEADERS, SOURCE, DEST = 0x0000, 0x4000, 0x10000, 0x80000
RING = 512


def parcel(kind, bytes_, body, dest, dst):
    """A parcel header in the form of a send queue."""
    words = [0] * 8
    values = {
        "HEAD": put("Parcel header", "HEAD", KIND=CENJU3.values("KIND")[kind], END=1, DST=dst),
        "BYTES": bytes_,
        "BODY": body,
        "DEST": dest,
    }
    for name, value in values.items():
        words[CENJU3.offsets("Parcel header")[name] // 4] = value
    return b"".join(word.to_bytes(4, "little") for word in words)


class Bench:
    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())
        cocotb.start_soon(Clock(dut.link_aclk, 7, unit="ns").start())
        self.memory = Memory(MEMORY)
        bus = AxiBus.from_prefix(dut, "m_axi")
        self.axi = AxiSlave(bus, dut.aclk, dut.aresetn, target=self.memory, reset_active_level=False)
        self.host = Host(dut, CENJU3)
        out, back = AxiStreamBus.from_prefix(dut, "m_axis"), AxiStreamBus.from_prefix(dut, "s_axis")
        self.out = AxiStreamSink(out, dut.link_aclk, dut.link_aresetn, reset_active_level=False)
        self.back = AxiStreamSource(back, dut.link_aclk, dut.link_aresetn, reset_active_level=False)
        self.refusal = AxiResp.SLVERR
        self.put = 0
        self.strobes = {"full": 0, "partial": 0}
        self.memory_channels = channels(self.axi)
        self.other_channels = channels(self.host.axi, "host") | {"link out": self.out, "link back": self.back}
        refuse_as(self.axi, lambda: self.refusal)

    def stall(self, memory, others):
        stall(self.memory_channels, memory)
        stall(self.other_channels, others)

    async def _loop_link(self):
        while True:
            await self.back.send(await self.out.recv())

    async def _watch_strobes(self):
        lanes = len(self.dut.m_axi_wstrb)
        while True:
            await RisingEdge(self.dut.aclk)
            if self.dut.m_axi_wvalid.value and self.dut.m_axi_wready.value:
                full = int(self.dut.m_axi_wstrb.value) == (1 << lanes) - 1
                self.strobes["full" if full else "partial"] += 1

    async def start(self):
        self.dut.aresetn.value = 0
        self.dut.link_aresetn.value = 0
        for clock in (self.dut.aclk, self.dut.link_aclk):
            for _ in range(8):
                await RisingEdge(clock)
        self.dut.aresetn.value = 1
        self.dut.link_aresetn.value = 1
        for _ in range(100):
            await RisingEdge(self.dut.aclk)
        cocotb.start_soon(self._loop_link())
        cocotb.start_soon(self._watch_strobes())
        assert await self.host.read("ID") == SIZE["ID_VALUE"]
        await self.host.write("NODE_ID", PE)
        await self.host.write("SQ0_BASE", QUEUE)
        await self.host.write("DHB_BASE", DMA_HEADERS)
        await self.host.write("DHB_SIZE", RING)
        await self.host.write("R_CTRL", put("Registers", "R_CTRL", RUN=1, IE_END=1))

    def queue(self, bytes_, body, dest):
        self.memory[QUEUE + 32 * self.put : QUEUE + 32 * self.put + 32] = parcel("DMA", bytes_, body, dest, PE)
        self.put = (self.put + 1) % SIZE["SEND_RING"]

    async def send(self):
        await self.host.write("SQ0_PUT", self.put)

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

    async def empty_ring(self):
        """The packets since the last time."""
        put_, got = await self.host.read("DHB_PUT"), await self.host.read("DHB_GET")
        await self.host.write("DHB_GET", put_)
        return (put_ - got) % RING


def packets(bytes_):
    return -(-bytes_ // SIZE["PACKET_BODY_MAX"])


@cocotb.test()
async def random_data_goes_out_and_comes_back(dut):
    """At least BYTES, in four rounds: no stalls, a stalling memory, stalling host and link, all stalling."""
    bench = Bench(dut)
    await bench.start()
    chance = rng("parcels")
    checked = total = parcels = 0
    for memory_stalls, other_stalls in ((False, False), (True, False), (False, True), (True, True)):
        bench.stall(memory_stalls, other_stalls)
        bench.memory[SOURCE:MEMORY] = chance.randbytes(MEMORY - SOURCE)
        image = bytearray(bench.memory[:MEMORY])
        sent, count, dest = 0, 0, DEST
        while sent < (BYTES + 3) // 4:
            bytes_ = chance.choice((chance.randint(1, 64), chance.randint(1, 1024), chance.randint(1, 8192)))
            # A source anywhere; destinations one after the other, a gap between them.
            body = chance.randrange(SOURCE, DEST - bytes_, SIZE["ALIGN_BYTES"])
            assert dest + bytes_ <= MEMORY, "--bytes is more than the memory takes"
            image[dest : dest + bytes_] = image[body : body + bytes_]
            bench.queue(bytes_, body, dest)
            dest += 64 + -(-bytes_ // SIZE["ALIGN_BYTES"]) * SIZE["ALIGN_BYTES"]
            sent += bytes_
            count += packets(bytes_)
            parcels += 1
            if chance.random() < 0.5:
                await bench.send()
        assert count < RING, "--bytes is more than the header ring takes"
        total += sent
        await bench.send()
        await bench.rest()
        assert dut.irq.value == 1, "no end interrupt"
        await bench.host.write("R_STAT", put("Registers", "R_STAT", END=1))
        assert await bench.empty_ring() == count, "packets are missing"
        assert get("Registers", "S_STAT", "SENT", await bench.host.read("S_STAT")) == parcels
        assert await bench.host.read("R_DROP") == 0
        # All of memory but the queue and the header ring: what was not written must be as it was.
        checked += same("memory", bytes(bench.memory[SOURCE:MEMORY]), bytes(image[SOURCE:MEMORY]))
    assert total >= BYTES and checked >= 4 * (MEMORY - SOURCE)
    assert min(bench.strobes.values()) > 0, f"not all kinds of strobes: {bench.strobes}"
    say(
        f"{total} bytes of {parcels} parcels sent and received, {checked} bytes of memory compared; "
        f"words written with all strobes {bench.strobes['full']}, with some {bench.strobes['partial']}"
    )


@cocotb.test()
async def refusals_reach_the_status(dut):
    """SLVERR and DECERR of the memory at the header, the body and the destination; later parcels are not affected."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, True)
    bench.memory[SOURCE:MEMORY] = rng("data").randbytes(MEMORY - SOURCE)
    good = bytes(bench.memory[SOURCE : SOURCE + 700])
    seen = 0
    places = (
        # The packet under way ends early, and so is dropped where it arrives.
        (range(SOURCE + 0x8000 + 200, SOURCE + 0x8000 + 201), "BODY_BUS_ERROR", 1),
        (range(DEST + 300, DEST + 301), None, 1),
        (None, "HEADER_BUS_ERROR", 0),
    )
    for bench.refusal, (where, code, dropped) in itertools.product((AxiResp.SLVERR, AxiResp.DECERR), places):
        header = QUEUE + 32 * bench.put
        bench.memory.bad = range(header + 8, header + 9) if where is None else where
        bench.queue(512, SOURCE + 0x8000, DEST)
        bench.queue(700, SOURCE, DEST + 0x10000)
        bench.memory[DEST + 0x10000 : DEST + 0x10000 + 701] = bytes(701)
        before = await bench.host.read("R_DROP")
        await bench.send()
        await bench.rest()
        status = await bench.host.read("S_STAT")
        assert get("Registers", "S_STAT", "HALTED0", status) == (code is not None)
        assert await bench.host.read("R_DROP") == before + dropped
        if code:
            assert get("Registers", "S_STAT", "ERROR0", status) == STATUS[code], f"not {code}"
            bench.memory.bad = range(0)
            await bench.host.write("S_CTRL", put("Registers", "S_CTRL", RESUME0=1))
            await bench.rest()
        same("the parcel after a refusal", bytes(bench.memory[DEST + 0x10000 : DEST + 0x10000 + 701]), good + b"\0")
        await bench.empty_ring()
        seen += 1
    say(f"{seen} refusals of the memory in the status, each with a good parcel after it")


@cocotb.test()
async def what_is_no_register_is_refused(dut):
    """Unknown offsets, read-only registers and partial strobes: SLVERR, and nothing changes."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(False, True)
    refused = await bench.host.is_refused((0x80, 0xFC), "NODE_ID", PE)
    say(f"{refused} accesses that are none refused")
