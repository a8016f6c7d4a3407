"""`axi_slave` between the AXI4 master of cocotbext-axi and a window of memory that answers at its own pace."""

from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiBurstType, AxiBus, AxiLockType, AxiMaster, AxiResp

from bus import channels, stall
from peer import BYTES, pauses, rng, same, say

SIZE = 1 << 15  # of the window; it refuses what is beyond


class Window:
    """Answers in order; takes at most four requests ahead."""

    def __init__(self, dut):
        self.dut = dut
        self.memory = bytearray(rng("window").randbytes(SIZE))
        self.lanes = len(dut.win_req_wstrb_o)
        self.requests = 0

    def _answer(self):
        dut = self.dut
        strobes = int(dut.win_req_wstrb_o.value)
        word = int(dut.win_req_addr_o.value) // self.lanes * self.lanes
        self.requests += 1
        if word >= SIZE:
            return 0, 1
        if not dut.win_req_write_o.value:
            # Bytes that were not asked for are not said.
            bytes_ = [self.memory[word + i] if strobes >> i & 1 else 0x55 for i in range(self.lanes)]
            return int.from_bytes(bytes(bytes_), "little"), 0
        data = int(dut.win_req_wdata_o.value).to_bytes(self.lanes, "little")
        for i in range(self.lanes):
            if strobes >> i & 1:
                self.memory[word + i] = data[i]
        return 0, 0

    async def run(self):
        dut = self.dut
        due = deque()
        ready_pauses, answer_pauses = pauses("window ready"), pauses("window answers")
        while True:
            offered = bool(due) and not next(answer_pauses)
            dut.win_req_ready_i.value = int(len(due) < 4 and not next(ready_pauses))
            dut.win_rsp_valid_i.value = int(offered)
            if offered:
                dut.win_rsp_rdata_i.value, dut.win_rsp_err_i.value = due[0]
            while True:
                await RisingEdge(dut.clk_i)
                if dut.win_req_valid_o.value and dut.win_req_ready_i.value:
                    due.append(self._answer())
                    dut.win_req_ready_i.value = 0
                if not offered:
                    break
                if dut.win_rsp_ready_o.value:
                    due.popleft()
                    break


async def start(dut):
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    window = Window(dut)
    master = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.clk_i, dut.rst_i)
    dut.rst_i.value = 1
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_i.value = 0
    await RisingEdge(dut.clk_i)
    cocotb.start_soon(window.run())
    stall(channels(master), True)
    return window, master


@cocotb.test()
async def reads_and_writes_of_every_shape(dut):
    """At least BYTES, any address and length, every beat size, wrapping or not; the memory equals the model."""
    window, master = await start(dut)
    model = bytearray(window.memory)
    chance = rng("accesses")
    sizes = range(window.lanes.bit_length())
    moved = 0
    while moved < BYTES:
        size = chance.choice(sizes)
        shape = {"size": size, "burst": AxiBurstType.INCR}
        if chance.random() < 0.3:
            # From anywhere in its block, in one burst: twice its length stays within 4 KB. Only whole words: in a
            # shorter block cocotbext-axi 0.1.28 continues to the next lanes instead of the block's first.
            shape["burst"] = AxiBurstType.WRAP
            length = chance.choice([beats << size for beats in (2, 4, 8, 16) if beats << size >= window.lanes])
            block = chance.randrange(0, 4096 - 2 * length, length) + 4096 * chance.randrange(SIZE // 4096)
            at = block + chance.randrange(0, length, 1 << size)
            places = [*range(at, block + length), *range(block, at)]
        else:
            lengths = [chance.randint(1, most) for most in (16, 300, 2000)]
            length = min(chance.choice(lengths), 256 << size)
            at = chance.randrange(SIZE - length)
            places = range(at, at + length)
        if chance.random() < 0.5:
            data = chance.randbytes(length)
            assert (await master.write(at, data, **shape)).resp == AxiResp.OKAY
            for place, byte in zip(places, data):
                model[place] = byte
        else:
            answer = await master.read(at, length, **shape)
            assert answer.resp == AxiResp.OKAY
            same(f"read of {length} bytes at {at:#x}", bytes(answer.data), bytes(model[place] for place in places))
        moved += length
    same("window", bytes(window.memory), bytes(model))
    say(f"{moved} bytes read and written, {window.requests} requests to the window, its {SIZE} bytes compared")


@cocotb.test()
async def what_must_be_refused_is(dut):
    """Exclusive accesses do not reach the window; an access that the window refuses returns SLVERR."""
    window, master = await start(dut)
    before = bytes(window.memory)
    for length in (1, 4, 64):
        lock = AxiLockType.EXCLUSIVE
        assert (await master.read(0x100, length, lock=lock)).resp == AxiResp.SLVERR, "an exclusive read is not refused"
        written = await master.write(0x100, bytes(length), lock=lock)
        assert written.resp == AxiResp.SLVERR, "an exclusive write is not refused"
    assert window.requests == 0, "an exclusive access reached the window"
    assert (await master.read(SIZE - 8, 16)).resp == AxiResp.SLVERR
    assert (await master.write(SIZE, bytes(4))).resp == AxiResp.SLVERR
    same("window", bytes(window.memory), before)
    say("6 exclusive and 2 refused accesses answered with SLVERR")
