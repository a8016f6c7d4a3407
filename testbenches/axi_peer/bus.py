"""The shared part of the bus benches: a refusing memory, a host with named registers, and pauses on every channel."""

from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp, MemoryRegion

from peer import pauses


class Refused(Exception):
    pass


class Memory(MemoryRegion):
    """Memory that refuses bytes of `bad`, and all beyond its end."""

    def __init__(self, size):
        super().__init__(size)
        self.bad = range(0)

    async def _read(self, address, length, **kwargs):
        self._check(address, length)
        return await super()._read(address, length, **kwargs)

    async def _write(self, address, data, **kwargs):
        self._check(address, len(data))
        await super()._write(address, data, **kwargs)

    def _check(self, address, length):
        if address < self.bad.stop and self.bad.start < address + length:
            raise Refused


class Host:
    """A machine's registers over AXI4-Lite, by their names, each of some bytes."""

    def __init__(self, dut, formats, bytes_=4):
        self.axi = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.aclk, dut.aresetn, reset_active_level=False)
        self._offsets = formats.offsets("Registers")
        self._bytes = bytes_

    async def write(self, register, value):
        answer = await self.axi.write(self._offsets[register], value.to_bytes(self._bytes, "little"))
        assert answer.resp == AxiResp.OKAY, f"{register} refuses {value:#x}"

    async def read(self, register, at=0):
        answer = await self.axi.read(self._offsets[register] + at, self._bytes)
        assert answer.resp == AxiResp.OKAY, f"{register} refuses to be read"
        return int.from_bytes(answer.data, "little")

    async def is_refused(self, unknown, register, value):
        """Unknown offsets, the read-only ID and a part of a register's word: SLVERR, and the register keeps its value.

        Returns the number of accesses.
        """
        for offset in unknown:
            assert (await self.axi.read(offset, 4)).resp == AxiResp.SLVERR
            assert (await self.axi.write(offset, bytes(4))).resp == AxiResp.SLVERR
        parts = ((b"\1", 0), (b"\1\2", 0), (b"\1\2\3", 1), (b"\1", 3))
        for data, at in parts:
            assert (await self.axi.write(self._offsets[register] + at, data)).resp == AxiResp.SLVERR
            assert await self.read(register) == value
        assert (await self.axi.write(self._offsets["ID"], bytes(4))).resp == AxiResp.SLVERR
        return 2 * len(unknown) + len(parts) + 1


def refuse_as(slave, refusal):
    """cocotbext-axi refuses only with SLVERR; here the response is the current value of `refusal()`."""
    for channel, field in ((slave.read_if.r_channel, "rresp"), (slave.write_if.b_channel, "bresp")):

        async def as_said(word, send=channel.send, field=field):
            if getattr(word, field) == AxiResp.SLVERR:
                setattr(word, field, refusal())
            await send(word)

        channel.send = as_said


def channels(agent, name=""):
    """The five channels of a master or slave, each by the name of its pauses."""
    read, write = agent.read_if, agent.write_if
    found = {"AR": read.ar_channel, "R": read.r_channel}
    found |= {"AW": write.aw_channel, "W": write.w_channel, "B": write.b_channel}
    return {f"{name} {channel}".strip(): found[channel] for channel in found}


def stall(named, on):
    """Makes these channels pause at random, or never."""
    for name, channel in named.items():
        channel.clear_pause_generator()
        channel.pause = False
        if on:
            channel.set_pause_generator(pauses(name))
