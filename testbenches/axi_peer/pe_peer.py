"""A PE of EM-4/EM-X between an AXI4-Lite host of cocotbext-axi and two neighbours on its links.

The driver knows docs/machines/emx-registers.md; the neighbours know the rule of room, and which PE follows which.
"""

from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiResp

from bus import Host, channels, stall
from layout import Formats
from peer import BYTES, PARAMS, check, pauses, rng, same, say

FORMATS = Formats("emx")
get, put = FORMATS.get, FORMATS.put
OFFSETS = FORMATS.offsets("Registers")
TYPE, OP, REASON, CAUSE, COUNT, SIZE = (
    FORMATS.values(prefix) for prefix in ("TYPE", "OP", "REASON", "FAULT_CAUSE", "COUNT", "SIZE")
)
COLUMNS, CHANNELS = SIZE["COLUMNS"], SIZE["CHANNELS"]
LINKS = 2
ROWS = 1 << PARAMS["RowBits"]
PES = COLUMNS * ROWS
WORDS = 1 << PARAMS["AddrW"]
LEVELS = PARAMS.get("Levels", 1)
BYPASS = PARAMS.get("WriteBypass", 0)
RINGS = range(WORDS // 8, WORDS // 8 + (LEVELS << (PARAMS["SpillBits"] + 1)))  # of spilled packets
# The tests' memory: the system frame, a frame for each test, code, data.
FRAME, FRAME2, CODE, CODE2, DATA, DATA_WORDS = 0x40, 0x80, 0x1000, 0x1100, 0x2000, 0x400
FP = 15
WORD32 = (1 << 32) - 1
PLACES = {}  # column and row of each PE, as its register tells


def insn(op, a=0, b=0, imm=0, end=0, c=0, kind=0, tag=0):
    """An instruction."""
    imm = imm & 0x1FFFF | c << 13 | tag << 7 | kind
    return put("Instruction", "WORD", OP=OP[op], A=a, B=b, IMM=imm, END=end)


def packet(addr, data, tag=0, kind="THREAD", pe=0, **flags):
    """Both words; `kind` is the name or code of a type."""
    kind = TYPE.get(kind, kind)
    return put("Packet", "W0", ADDR=addr, TYPE=kind, PE=pe, **flags), put("Packet", "W1", DATA=data, TAG=tag)


def to(pe, addr):
    """A global address."""
    return put("Global address", "ADDRESS", PE=pe, ADDR=addr)


def beyond(place, output):
    """The place that an output leads to."""
    column, row = place
    return (column + 1) % COLUMNS, (2 * row + output) % ROWS


class Links:
    """Both neighbours: a packet begins only where there was room a cycle before, and its second word follows."""

    def __init__(self, dut):
        self.dut = dut
        self.due = [[deque() for _ in range(CHANNELS)] for _ in range(LINKS)]  # packets by input and channel
        self.came = [[] for _ in range(LINKS)]  # (channel, words) by output
        self.begun = 0
        self.stalls = False
        self._rest()

    def _rest(self):
        self._second = [None] * LINKS  # the word that follows
        self._first = [None] * LINKS  # the word that came
        self._room = [0, 0]  # of the cycle before, and of this one

    def send(self, words, link=0, channel=0):
        self.due[link][channel].append(words)

    def idle(self):
        return not any(map(any, self.due)) and self._second == self._first == [None] * LINKS

    async def run(self):
        chance = rng("links")
        pausing = [pauses(f"link {number}") for number in range(LINKS * (CHANNELS + 1))]
        while True:
            await RisingEdge(self.dut.aclk)
            if not self.dut.aresetn.value:
                self._rest()
                self.dut.link_in_valid.value = 0
                continue
            self._take()
            self._give(chance, [self.stalls and next(pause) for pause in pausing[:LINKS]])
            closed = [self.stalls and next(pause) for pause in pausing[LINKS:]]
            self._room = [self._room[1], sum((not shut) << at for at, shut in enumerate(closed))]
            self.dut.link_out_room.value = self._room[1]

    def _take(self):
        dut = self.dut
        valid, last = int(dut.link_out_valid.value), int(dut.link_out_last.value)
        if not valid and self._first == [None] * LINKS:
            return
        channel, data = int(dut.link_out_vc.value), int(dut.link_out_data.value)
        for link in range(LINKS):
            word, vc = data >> 39 * link & (1 << 39) - 1, channel >> 2 * link & 3
            first, self._first[link] = self._first[link], None
            if first is not None:
                check("the second word, which follows the first", (valid >> link & 1, last >> link & 1), (1, 1))
                self.came[link].append((first[0], (first[1], word)))
            elif valid >> link & 1:
                check("last of a first word", last >> link & 1, 0)
                check("room for a packet that came", self._room[0] >> (CHANNELS * link + vc) & 1, 1)
                self._first[link] = vc, word

    def _give(self, chance, pausing):
        room, valid, vcs, data, last = int(self.dut.link_in_room.value), 0, 0, 0, 0
        for link in range(LINKS):
            word, self._second[link] = self._second[link], None
            if word is not None:
                valid, last, data = valid | 1 << link, last | 1 << link, data | word << 39 * link
                continue
            open_ = [vc for vc in range(CHANNELS) if self.due[link][vc] and room >> (CHANNELS * link + vc) & 1]
            if open_ and not pausing[link]:
                vc = chance.choice(open_)
                word, self._second[link] = self.due[link][vc].popleft()
                valid, vcs, data = valid | 1 << link, vcs | vc << 2 * link, data | word << 39 * link
                self.begun += 1
        values = {"valid": valid, "vc": vcs, "data": data, "last": last}
        for name, value in values.items():
            getattr(self.dut, f"link_in_{name}").value = value


class Bench:
    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())
        self.host = Host(dut, FORMATS, 8)
        self.links = Links(dut)
        self.pe = 0
        dut.aresetn.value = 0
        cocotb.start_soon(self.links.run())

    def stall(self, host, links):
        stall(channels(self.host.axi, "host"), host)
        self.links.stalls = links

    async def reset(self, pe):
        dut, self.pe = self.dut, pe
        dut.pe.value = pe
        dut.link_out_room.value = 0
        dut.aresetn.value = 0
        await ClockCycles(dut.aclk, 8)
        dut.aresetn.value = 1
        await ClockCycles(dut.aclk, 2)

    async def start(self, pe=None):
        """Learns where the PEs are, and lets one run."""
        for number in () if PLACES else range(PES):
            await self.reset(number)
            said = await self.host.read("PE")
            check("the number of a PE", get("Registers", "PE", "NUMBER", said), number)
            PLACES[number] = tuple(get("Registers", "PE", name, said) for name in ("COLUMN", "ROW"))
        await self.reset(rng("PE").randrange(PES) if pe is None else pe)
        await self.store(0, [CODE])
        for kind, code in (
            ("WRITE", [insn("ST", a=1, b=2, end=1)]),
            ("READ", [insn("LD", a=3, b=2), insn("SEND", a=1, b=3, end=1)]),
        ):
            await self.store(CODE + SIZE["ENTRY"] * TYPE[kind], code)
        await self.host.write("CONTROL", put("Registers", "CONTROL", RUN=1))

    async def access(self, offset, data=None):
        """The response to a read or a write."""
        axi = self.host.axi
        return (await (axi.read(offset, 8) if data is None else axi.write(offset, data))).resp

    async def store(self, addr, words):
        data = b"".join(word.to_bytes(8, "little") for word in words)
        resp = await self.access(OFFSETS["MEMORY"] + 8 * addr, data)
        check(f"the response to a write of memory at {addr:#x}", resp, AxiResp.OKAY)

    async def load(self, addr, count=1):
        answer = await self.host.axi.read(OFFSETS["MEMORY"] + 8 * addr, 8 * count)
        check(f"the response to a read of memory at {addr:#x}", answer.resp, AxiResp.OKAY)
        return bytes(answer.data)

    async def until(self, what, done):
        """Polls."""

        async def poll():
            while not await done():
                pass

        try:
            await with_timeout(poll(), 2, "ms")
        except cocotb.triggers.SimTimeoutError:
            raise AssertionError(f"{what} differs: it does not come") from None

    async def rest(self):
        """Until nothing moves."""

        async def quiet():
            # A word that is on the pins now shows in `busy` later.
            given = self.links.idle()
            await ClockCycles(self.dut.aclk, 30)
            return given and self.links.idle() and not self.dut.busy.value

        await self.until("rest", quiet)

    async def thread(self, frame, code, insns, words=(), offset=1):
        """Loads a frame, from its word 2, and the thread of one of its entries."""
        await self.store(frame, [put("Link to the code", "WORD", CODE=code), 0, *words])
        await self.store(code + SIZE["ENTRY"] * offset, insns)

    async def inject(self, words):
        """A packet from the host."""
        await self.host.write("SEND0", words[0])
        await self.host.write("SEND1", words[1])

    async def told(self):
        """What a thread tells, with its interrupt."""
        cause = put("Registers", "STATUS", TOLD=1)

        async def interrupted():
            await RisingEdge(self.dut.aclk)
            return self.dut.irq.value

        await self.host.write("MASK", cause)
        await self.until("an interrupt", interrupted)
        check("STATUS", await self.host.read("STATUS"), cause)
        value = await self.host.read("TELL")
        await self.host.write("STATUS", cause)
        return value

    async def count(self, name):
        return await self.host.read("COUNTS", 8 * COUNT[name])

    def arrivals(self):
        """The packets of this PE that left: (receiver, words without it), in the order of each link."""
        found = []
        for link, packets in enumerate(self.links.came):
            for channel, (first, second) in packets:
                path = get("Packet", "W0", "PE", first)
                check("the channel of a packet", channel, int(PLACES[self.pe][0] == COLUMNS - 1))
                first -= put("Packet", "W0", PE=path)
                place = beyond(PLACES[self.pe], link)
                hops = 1
                while path > 1:
                    place, path, hops = beyond(place, path & 1), path >> 1, hops + 1
                check("the end of a path", path, 1)
                check("a path that is too long", hops > COLUMNS - 1 + PARAMS["RowBits"], False)
                found.append((next(pe for pe, at in PLACES.items() if at == place), (first, second)))
            packets.clear()
        return found


def transit(chance, place, channel):
    """A packet that only passes, and how it leaves: output, channel, words."""
    hops = [chance.randrange(2) for _ in range(chance.randint(1, COLUMNS - 1))]
    path = 1
    for output in reversed(hops):
        path = path << 1 | output
    data, tag, kind = (chance.getrandbits(bits) for bits in (32, 7, 4))
    words = packet(chance.randrange(WORDS), data, tag, kind)
    at = put("Packet", "W0", PE=1)
    return (
        (words[0] + path * at, words[1]),
        hops[0],
        channel + int(place[0] == COLUMNS - 1),
        (words[0] + (path >> 1) * at, words[1]),
    )


def arrived(words):
    """As on the link to its receiver."""
    return words[0] + put("Packet", "W0", PE=1), words[1]


@cocotb.test()
async def every_number_has_its_place(dut):
    """No two PEs share one, and each PE's next one in its loop is a hop away."""
    bench = Bench(dut)
    await bench.start()
    check("places", len(set(PLACES.values())), PES)
    for pe, place in PLACES.items():
        check(f"the column of PE {pe}", place[0], pe % COLUMNS)
        after = PLACES[pe // COLUMNS * COLUMNS + (pe + 1) % COLUMNS]
        check(f"PE {pe}'s next one is a hop away", after in (beyond(place, 0), beyond(place, 1)), True)
    say(f"{PES} PEs have their places")


# Sends so many words from memory as WRITEs, and tells the receiver of the next word.
COPY = (
    insn("LD", a=3, b=FP, imm=2),
    insn("LD", a=4, b=FP, imm=3),
    insn("LD", a=5, b=3),
    insn("SEND", a=1, b=5, kind=TYPE["WRITE"]),
    insn("ADDI", a=1, b=1, imm=1),
    insn("ADDI", a=3, b=3, imm=1),
    insn("SUBI", a=4, b=4, imm=1),
    insn("BNE", a=4, b=0, imm=-5),
    insn("TELL", a=1, end=1),
)


class Data:
    """What the tests' data must be, and each way to move some words of it."""

    def __init__(self, bench):
        self.bench = bench
        self.chance = rng("data")
        self.image = [self.chance.getrandbits(40) for _ in range(DATA_WORDS)]

    def raw(self, at=0, count=DATA_WORDS):
        return b"".join(word.to_bytes(8, "little") for word in self.image[at : at + count])

    def _value(self, at):
        return get("Memory word", "WORD", "DATA", self.image[at])

    def _written(self, at, data):
        present = get("Memory word", "WORD", "PRESENT", self.image[at])
        self.image[at] = put("Memory word", "WORD", DATA=data, PRESENT=present)

    def _send(self, words):
        self.bench.links.send(arrived(words), self.chance.randrange(LINKS), self.chance.randrange(CHANNELS))

    async def store(self, at, count):
        self.image[at : at + count] = [self.chance.getrandbits(40) for _ in range(count)]
        await self.bench.store(DATA + at, self.image[at : at + count])

    async def load(self, at, count):
        same("a read of memory", await self.bench.load(DATA + at, count), self.raw(at, count))

    async def write(self, at, count):
        """By packets from the neighbours."""
        for place in range(at, at + count):
            data = self.chance.getrandbits(32)
            self._send(packet(DATA + place, data, kind="WRITE"))
            self._written(place, data)
        await self.bench.rest()

    async def read(self, at, count):
        """For answers to other PEs."""
        wanted = {}
        for place in range(at, at + count):
            receiver = self.chance.choice([pe for pe in PLACES if pe != self.bench.pe])
            addr, tag = self.chance.randrange(WORDS), self.chance.getrandbits(7) if PARAMS.get("ReadBypass") else 0
            self._send(packet(DATA + place, to(receiver, addr), tag, "READ"))
            wanted.setdefault(receiver, []).append((tag << 32 | addr, self._value(place)))
        await self.bench.rest()
        compare(self.bench.arrivals(), wanted, ordered=False)

    async def copy(self, at, count):
        """By a thread to any PE."""
        bench = self.bench
        receiver, target = self.chance.choice(list(PLACES)), self.chance.randrange(DATA_WORDS - count)
        if abs(target - at) < count:
            target = at  # no part of its own source
        await bench.thread(FRAME, CODE2, COPY, (DATA + at, count))
        await bench.inject(packet(FRAME + 1, to(receiver, DATA + target)))
        check("what a thread tells", await bench.told(), to(receiver, DATA + target + count))
        await bench.rest()
        values = [self._value(place) for place in range(at, at + count)]
        if receiver == bench.pe:
            for place, value in enumerate(values, target):
                self._written(place, value)
            values = []
        kind = put("Packet", "W0", TYPE=TYPE["WRITE"])
        sent = [(kind + DATA + place, value) for place, value in enumerate(values, target)]
        compare(bench.arrivals(), {receiver: sent} if sent else {})


def compare(found, wanted, ordered=True):
    """Packets by receivers."""
    by_receiver = {}
    for receiver, words in found:
        by_receiver.setdefault(receiver, []).append(words)
    order = list if ordered else sorted
    check("receivers", sorted(by_receiver), sorted(wanted))
    for receiver, words in wanted.items():
        check(f"packets to PE {receiver}", order(by_receiver[receiver]), order(words))


@cocotb.test()
async def random_data_take_every_way(dut):
    """At least BYTES, by host, WRITE, READ and threads: no stalls, a stalling host, stalling links, both."""
    bench = Bench(dut)
    await bench.start()
    data = Data(bench)
    await bench.store(DATA, data.image)
    done = {way.__name__: 0 for way in (data.store, data.load, data.write, data.read, data.copy)}
    total = 0
    for host_stalls, link_stalls in ((False, False), (True, False), (False, True), (True, True)):
        bench.stall(host_stalls, link_stalls)
        moved = 0
        while moved < (BYTES + 3) // 4 or min(done.values()) == 0:
            way = data.chance.choice(list(done))
            count = data.chance.randint(1, 12 if way in ("read", "copy") else 64)
            await getattr(data, way)(data.chance.randrange(DATA_WORDS - count), count)
            done[way] += 1
            moved += 8 * count
        same("memory", await bench.load(DATA, DATA_WORDS), data.raw())
        total += moved
    check("STATUS", await bench.host.read("STATUS"), 0)
    assert total >= BYTES
    say(f"{total} bytes moved: {done}")


@cocotb.test()
async def packets_pass_through(dut):
    """On both links and all channels, in the order of each, with stalls beyond; also past a PE that is halted."""
    bench = Bench(dut)
    chance = rng("transit")
    passed = 0
    for pe in (chance.randrange(0, PES, COLUMNS), chance.randrange(COLUMNS - 1, PES, COLUMNS)):
        await bench.start(pe)
        await bench.thread(FRAME, CODE2, [insn("TRAP", imm=1)])
        for halted, stalls in ((False, False), (False, True), (True, True)):
            bench.stall(False, stalls)
            if halted:
                await bench.inject(packet(FRAME + 1, 0))
                await bench.rest()
            wanted = {}
            for _ in range(300):
                link, channel = chance.randrange(LINKS), chance.randrange(CHANNELS)
                if PLACES[pe][0] == COLUMNS - 1 and channel == CHANNELS - 1:
                    continue  # no packet crosses the seam so often
                words, *leaves = transit(chance, PLACES[pe], channel)
                bench.links.send(words, link, channel)
                wanted.setdefault((leaves[0], leaves[1]), []).append((link, leaves[2]))
                passed += 1
            await bench.rest()
            for (output, channel), packets in wanted.items():
                found = [words for vc, words in bench.links.came[output] if vc == channel]
                check("packets that passed", sorted(found), sorted(words for _, words in packets))
                for link in range(LINKS):
                    mine = [words for come, words in packets if come == link]
                    check("the order of a channel", [words for words in found if words in mine], mine)
            check("packets in all", sum(map(len, bench.links.came)), sum(map(len, wanted.values())))
            for packets in bench.links.came:
                packets.clear()
    say(f"{passed} packets passed")


def signed(word):
    return word - (word >> 31 << 32)


ALU = {
    "ADD": lambda b, c: b + c,
    "SUB": lambda b, c: b - c,
    "AND": lambda b, c: b & c,
    "OR": lambda b, c: b | c,
    "XOR": lambda b, c: b ^ c,
    "SLL": lambda b, c: b << (c & 31),
    "SRL": lambda b, c: b >> (c & 31),
    "SRA": lambda b, c: signed(b) >> (c & 31),
    "SLT": lambda b, c: signed(b) < signed(c),
    "SLTU": lambda b, c: b < c,
}
BRANCH = {
    "BEQ": lambda a, b: a == b,
    "BNE": lambda a, b: a != b,
    "BLT": lambda a, b: signed(a) < signed(b),
    "BGE": lambda a, b: signed(a) >= signed(b),
}


def random_thread(chance):
    """The fields of its instructions. It reads no register that has no value."""
    known, fields, may_be_skipped = [0, 1, 2, FP], [], False
    for _ in range(chance.randint(1, 30)):
        op = chance.choice((*ALU, *(f"{op}I" for op in ALU), *BRANCH, "LUI", "GET", "LD", "ST", "JAL"))
        a, b, c = chance.choice(known), chance.choice(known), chance.choice(known)
        imm = chance.choice((chance.randint(-5, 5), chance.randint(-(1 << 16), (1 << 16) - 1)))
        if op in ALU:
            imm = c << 13
        elif op in BRANCH:
            imm = 2
        elif op == "JAL":
            imm = 1
        elif op == "GET":
            imm = FORMATS.values("SPECIAL")["PE"]
        elif op in ("LD", "ST"):
            b, imm = 0, DATA + chance.randrange(DATA_WORDS)
        if not may_be_skipped and op not in (*BRANCH, "ST"):
            a = chance.randrange(1, FP)
            known.append(a)
        may_be_skipped = op in BRANCH
        fields.append({"op": op, "a": a, "b": b, "imm": imm})
    if may_be_skipped:
        fields.append({"op": "ADD"})
    return [*fields, {"op": "TELL", "a": chance.choice(known), "end": 1}]


def execute(fields, base, pe, registers, memory):
    """What the thread tells."""
    at = 0
    while True:
        op, a, b, imm = (fields[at].get(name, 0) for name in ("op", "a", "b", "imm"))
        left, right, value = registers[b], registers[imm >> 13 & 15], None
        step = 1
        if op in ALU:
            value = ALU[op](left, right)
        elif op[:-1] in ALU:
            value = ALU[op[:-1]](left, imm & WORD32)
        elif op in BRANCH:
            step = imm if BRANCH[op](registers[a], left) else 1
        elif op == "ST":
            memory[imm - DATA] = registers[a]
        elif op == "TELL":
            return registers[a]
        elif op == "LD":
            value = memory[imm - DATA]
        else:
            value = {"LUI": imm << 16, "GET": pe, "JAL": base + at + 1}[op]
        if value is not None and a:
            registers[a] = value & WORD32
        at += step


@cocotb.test()
async def threads_compute(dut):
    """Random threads, started by packets from the host and the links, of one operand and of two."""
    bench = Bench(dut)
    await bench.start()
    chance = rng("threads")
    memory = [chance.getrandbits(32) for _ in range(DATA_WORDS)]
    await bench.store(DATA, memory)
    rounds = 100
    for number in range(rounds):
        bench.stall(number % 2, number // 2 % 2)
        fields, offset = random_thread(chance), chance.randrange(1, SIZE["FRAME"])
        await bench.thread(FRAME, CODE2, [insn(**values) for values in fields], offset=offset)
        operands = [chance.getrandbits(32) for _ in range(2)]
        slot = FRAME + offset
        level = chance.randrange(LEVELS)
        if chance.random() < 0.5:
            first = chance.randrange(2)
            for side in (first, 1 - first):
                words = arrived(packet(slot, operands[side], MATCH=1, SIDE=side, LEVEL=level))
                bench.links.send(words, chance.randrange(LINKS), chance.randrange(CHANNELS))
                await bench.rest()
                check("operands that wait", await bench.host.read("WAITING"), int(side == first))
        else:
            words = packet(slot, operands[0], LEVEL=level)
            operands[1] = slot
            if chance.random() < 0.5:
                await bench.inject(words)
            else:
                bench.links.send(arrived(words), chance.randrange(LINKS), chance.randrange(CHANNELS))
        registers = {0: 0, 1: operands[0], 2: operands[1], FP: FRAME} | dict.fromkeys(range(3, FP))
        entry = CODE2 + SIZE["ENTRY"] * offset
        wanted = execute(fields, entry, bench.pe, registers, memory)
        check("what a thread tells", await bench.told(), wanted)
        check("FRAME", await bench.host.read("FRAME"), FRAME)
        check("threads that started", await bench.count("STARTED"), number + 1)
    same("memory", await bench.load(DATA, DATA_WORDS), b"".join(word.to_bytes(8, "little") for word in memory))
    say(f"{rounds} threads tell what they must")


@cocotb.test()
async def packets_wait_in_order(dut):
    """While RUN is clear, until the memory for packets is full; nothing is lost. Then only reset helps."""
    bench = Bench(dut)
    chance = rng("order")
    spilled = 0
    for stalls, full in ((False, False), (True, False), (True, True)):
        await bench.start()
        bench.stall(False, stalls)
        # Notes what comes.
        notes = (insn("LD", a=3, b=FP, imm=2), insn("ST", a=1, b=3), insn("ADDI", a=3, b=3, imm=1))
        await bench.thread(FRAME, CODE2, [*notes, insn("ST", a=3, b=FP, imm=2, end=1)], (DATA,))
        await bench.host.write("CONTROL", 0)
        most = LEVELS << PARAMS["SpillBits"]
        count = 3 * most if full else most
        sent = [(chance.getrandbits(32), chance.randrange(LEVELS)) for _ in range(count)]
        for data, level in sent:
            bench.links.send(arrived(packet(FRAME + 1, data, LEVEL=level)))

        async def stands():
            begun = bench.links.begun
            await ClockCycles(dut.aclk, 500)
            return bench.links.begun == begun

        await bench.until("an end", stands)
        taken = await bench.count("RECEIVED")
        fatal = put("Registers", "STATUS", FATAL=1)
        check("FATAL", await bench.host.read("STATUS"), fatal if full else 0)
        check(f"room for {taken} packets", taken > 1 << PARAMS["SpillBits"] if full else taken == count, True)
        depth = await bench.host.read("DEPTH")
        now, peak = (get("Registers", "DEPTH", name, depth) for name in ("NOW", "PEAK"))
        check("DEPTH", (now, peak), (taken - 1, taken - 1))  # the next one is prepared already
        await bench.host.write("STATUS", fatal)
        check("FATAL", await bench.host.read("STATUS"), fatal if full else 0)
        if full:
            await bench.host.write("SEND0", packet(FRAME + 1, 0)[0])
            check("SEND1 in FATAL", await bench.access(OFFSETS["SEND1"], bytes(8)), AxiResp.SLVERR)
            for pending in bench.links.due[0]:
                pending.clear()
        check("threads that started", await bench.count("STARTED"), 0)
        await bench.host.write("CONTROL", put("Registers", "CONTROL", RUN=1))

        async def all_started():
            return await bench.count("STARTED") == taken

        await bench.until("threads", all_started)
        await ClockCycles(dut.aclk, 50)
        told = memory_words(await bench.load(DATA, taken))
        for level in range(LEVELS):
            want = [data for data, at in sent[:taken] if at == level]
            check("the order of a level", [data for data in told if data in want], want)
        if LEVELS == 2:
            first = [dict(sent)[data] for data in told]
            # What was taken before stays the next.
            check("the upper level goes first", sum(1 - level for level in first[: sum(first)]) <= 2, True)
        spilled += await bench.count("SPILLED")
    await bench.reset(bench.pe)
    check("STATUS after reset", await bench.host.read("STATUS"), 0)
    check("packets were spilled", spilled > 0, True)
    say(f"{spilled} packets were spilled, and kept their order")


def memory_words(data):
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]


@cocotb.test()
async def packets_are_refused(dut):
    """Each is counted by its reason, the first is kept and raises the interrupt; a good packet follows."""
    bench = Bench(dut)
    await bench.start()
    chance = rng("refused")
    slot = FRAME + 3
    # Reads its operands' difference; sends to a PE that is not there.
    await bench.thread(FRAME, CODE2, [insn("SUB", a=3, b=1, c=2), insn("TELL", a=3, end=1)], offset=3)
    await bench.thread(FRAME2, CODE2 + 0x80, [insn("SEND", a=1, b=2, kind=TYPE["WRITE"], end=1)])
    await bench.inject(packet(slot, 9, MATCH=1, SIDE=1))
    mask = put("Registers", "STATUS", REFUSED=1)
    await bench.host.write("MASK", mask)
    at = chance.choice((RINGS.start, chance.choice(RINGS), RINGS.stop - 1))
    cases = [
        *(("TYPE", packet(slot, 1, kind=kind)) for kind in (8, chance.randrange(8, 16), 15)),
        ("TYPE", packet(slot, 1, kind="WRITE", MATCH=1)),
        ("TYPE", packet(slot, 1, SIDE=1)),
        ("TYPE", packet(FRAME, 1, MATCH=1)),
        ("TYPE", packet(slot, 1, tag=chance.randrange(1, 128))),
        ("TYPE", packet(DATA, 1, tag=chance.randrange(1, 128), kind="WRITE")),
        *(("RANGE", packet(at, 1, kind=kind)) for kind in ("THREAD", "WRITE", "READ", "FREE")),
        *(("RANGE", packet(WORDS << chance.randrange(8), 1, kind=kind)) for kind in ("THREAD", "WRITE", "READ")),
        ("OVERRUN", packet(slot, 8, MATCH=1, SIDE=1)),
        *(("NOWHERE", (packet(0, 0, kind="WRITE", pe=pe)[0], FRAME2 + 1)) for pe in (PES, 1023)),
    ]
    counts = dict.fromkeys(REASON, 0)
    for number, (reason, words) in enumerate(cases):
        bench.stall(number % 2, number % 3)
        if reason == "NOWHERE":
            await bench.inject(packet(FRAME2 + 1, words[0] & WORD32))
        elif number % 2:
            await bench.inject(words)
        else:
            bench.links.send(arrived(words), chance.randrange(LINKS))
        await bench.rest()
        counts[reason] += 1
        # Only the first is kept.
        bench.links.send(arrived(packet(slot, 0, kind=9)))
        await bench.rest()
        counts["TYPE"] += 1
        for name, value in counts.items():
            check(f"refusals for {name}", await bench.host.read("REFUSALS", 8 * REASON[name]), value)
        check("STATUS", (await bench.host.read("STATUS"), int(dut.irq.value)), (mask, 1))
        kept = await bench.host.read("REFUSED0"), await bench.host.read("REFUSED1")
        names = ("ADDR", "TYPE", "SIDE", "MATCH", "LEVEL", *(["PE"] if reason == "NOWHERE" else []))
        for name in names:
            check(f"{name} of {reason}", get("Packet", "W0", name, kept[0]), get("Packet", "W0", name, words[0]))
        check(f"word 1 of {reason}", kept[1], words[1])
        await bench.host.write("STATUS", mask)
        check("STATUS", await bench.host.read("STATUS"), 0)
        check("operands that wait", await bench.host.read("WAITING"), 1)
        check("packets that left", bench.arrivals(), [])
    # The operand that waits is unharmed, and so are the words beside the rings.
    bench.links.send(arrived(packet(slot, 30, MATCH=1)))
    check("the difference", await bench.told(), 21)
    for place in (RINGS.start - 1, RINGS.stop, WORDS - 1):
        bench.links.send(arrived(packet(place, place, kind="WRITE")))
        await bench.rest()
        check("a word", memory_words(await bench.load(place))[0] & WORD32, place)
    say(f"{len(cases)} packets refused")


@cocotb.test()
async def execution_halts(dut):
    """FAULT says where and why; no other thread begins until reset, and the host and the network go on."""
    bench = Bench(dut)
    chance = rng("faults")
    mask = put("Registers", "STATUS", HALTED=1)
    code = chance.getrandbits(17)
    entry = CODE2 + SIZE["ENTRY"]
    bad = chance.choice([RINGS.start, RINGS.stop - 1, WORDS, -1])
    cases = (
        ("CODE", 1, 0, [insn("ADDI", a=3, b=0, imm=1), 0]),
        ("CODE", 0, 0, [chance.getrandbits(26) | 63 << 26]),
        ("FETCH", WORDS - entry, 0, [insn("JALR", a=3, b=0, imm=WORDS)]),
        ("ADDRESS", 1, 0, [insn("ADDI", a=3, b=0, imm=1), insn("LD", a=3, b=0, imm=bad)]),
        ("ADDRESS", 0, 0, [insn("ST", a=3, b=0, imm=bad)]),
        ("TRAP", 0, code, [insn("TRAP", imm=code)]),
    )
    for number, (cause, at, operand, insns) in enumerate(cases):
        await bench.start()
        bench.stall(number % 2, number % 3)
        await bench.host.write("MASK", mask)
        await bench.thread(FRAME, CODE2, insns)
        await bench.thread(FRAME2, CODE2 + 0x80, [insn("TELL", a=1, end=1)])
        await bench.inject(packet(FRAME + 1, 0))
        await bench.rest()
        await bench.host.write("STATUS", mask)
        check("STATUS", (await bench.host.read("STATUS"), int(dut.irq.value)), (mask, 1))
        fault = await bench.host.read("FAULT")
        got = {name: get("Registers", "FAULT", name, fault) for name in ("PC", "CAUSE", "CODE")}
        check("FAULT", got, {"PC": entry + at, "CAUSE": CAUSE[cause], "CODE": operand})
        started = await bench.count("STARTED")
        await bench.inject(packet(FRAME2 + 1, 5))
        bench.links.send(arrived(packet(DATA, number, kind="WRITE")))
        await ClockCycles(dut.aclk, 300)
        check("threads that started", await bench.count("STARTED"), started)
        if BYPASS:
            check("a word that was written", memory_words(await bench.load(DATA))[0] & WORD32, number)
    await bench.start()
    check("FAULT after reset", await bench.host.read("FAULT"), 0)
    await bench.inject(packet(FRAME2 + 1, 5))
    check("what a thread tells", await bench.told(), 5)
    say(f"{len(cases)} faults halt a PE")


@cocotb.test()
async def registers_and_what_is_none(dut):
    """Values stay; SLVERR, HOST_ERRORS and no change for unknown offsets, partial strobes and read-only registers."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(True, False)
    chance = rng("registers")
    causes = put("Registers", "STATUS", HOST=1)
    values = {"SEND0": chance.getrandbits(39), "MASK": chance.getrandbits(4) << 1 & ~causes, "CONTROL": 0}
    for name, value in values.items():
        await bench.host.write(name, value)
    place, word = DATA + chance.randrange(DATA_WORDS), chance.getrandbits(40)
    await bench.store(place, [word])
    beyond_memory = OFFSETS["MEMORY"] + 8 * WORDS
    read_only = ("PE", "FAULT", "FRAME", "TELL", "REFUSED0", "REFUSED1", "DEPTH", "WAITING", "HOST_ERRORS")
    read_only += ("REFUSALS", "COUNTS")
    unknown = (0x70, 0x78, 0xC0, 0xF8, 0x140, 0x1000, 0x7FFFF8, beyond_memory, 0xFFFFF8)
    refused = []
    for offset in unknown:
        refused += [(offset, None), (offset, bytes(8))]
    refused += [(OFFSETS[name], bytes(8)) for name in read_only] + [(OFFSETS["SEND1"], None)]
    for offset in (*(OFFSETS[name] for name in (*values, "STATUS", "SEND1")), OFFSETS["MEMORY"] + 8 * place):
        first = chance.randrange(8)
        refused.append((offset + first, chance.randbytes(chance.randint(1, 8 - first if first else 7))))
    for offset, data in refused:
        check(f"the response at {offset:#x}", await bench.access(offset, data), AxiResp.SLVERR)
    for name, value in values.items():
        check(name, await bench.host.read(name), value)
    check("a word of memory", memory_words(await bench.load(place)), [word])
    check("HOST_ERRORS", await bench.host.read("HOST_ERRORS"), len(refused))
    check("packets", (await bench.host.read("DEPTH"), await bench.count("RECEIVED")), (0, 0))
    check("STATUS", (await bench.host.read("STATUS"), int(dut.irq.value)), (causes, 0))
    await bench.host.write("MASK", causes)
    await bench.host.read("MASK")
    check("the interrupt", int(dut.irq.value), 1)
    await bench.host.write("STATUS", causes)
    await bench.host.read("STATUS")
    check("the interrupt", int(dut.irq.value), 0)
    say(f"{len(values)} registers keep their values, {len(refused)} accesses refused")
