"""What the benches of a bus share: a memory that refuses, and pauses on every channel."""

from cocotbext.axi import AxiResp, MemoryRegion

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


def refuse_as(slave, refusal):
    """cocotbext-axi refuses with SLVERR only; here it is what `refusal()` says at the time."""
    for channel, field in ((slave.read_if.r_channel, "rresp"), (slave.write_if.b_channel, "bresp")):

        async def as_said(word, send=channel.send, field=field):
            if getattr(word, field) == AxiResp.SLVERR:
                setattr(word, field, refusal())
            await send(word)

        channel.send = as_said


def channels(agent, name=""):
    """The five channels of a master or slave, each by the name of its pauses."""
    read, write = agent.read_if, agent.write_if
    found = {"AR": read.ar_channel, "R": read.r_channel, "AW": write.aw_channel, "W": write.w_channel, "B": write.b_channel}
    return {f"{name} {channel}".strip(): found[channel] for channel in found}


def stall(named, on):
    """From now on these pause at random, or never."""
    for name, channel in named.items():
        channel.clear_pause_generator()
        channel.pause = False
        if on:
            channel.set_pause_generator(pauses(name))
