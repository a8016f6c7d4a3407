"""Registers and formats of Cenju-3, from the one origin that everything else is generated from."""

from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

ORIGIN = Path(__file__).resolve().parent.parent.parent / "rtl" / "cenju3" / "regs.toml"
_text = tomllib.loads(ORIGIN.read_text())
_blocks = {block["name"]: {word["name"]: word for word in block["word"]} for block in _text["block"]}
_constants = {values.get("prefix", ""): {v["name"]: v["value"] for v in values["value"]} for values in _text["constants"]}

REG = {name: word["offset"] for name, word in _blocks["Registers"].items()}
KIND = _constants["KIND"]
STATUS = _constants["STATUS"]
SIZE = _constants[""]


def _bits(word, field):
    high, _, low = next(f["bits"] for f in word["field"] if f["name"] == field).partition(":")
    return int(low or high), int(high)


def put(block, word, **fields):
    """The value of a word with these fields, the others zero."""
    return sum(value << _bits(_blocks[block][word], name)[0] for name, value in fields.items())


def get(block, word, field, value):
    """A field of a word's value."""
    low, high = _bits(_blocks[block][word], field)
    return value >> low & ((1 << (high - low + 1)) - 1)


def parcel(kind, bytes_, body, dest, dst):
    """A parcel header, as it stands in a send queue."""
    words = [0] * 8
    values = {
        "HEAD": put("Parcel header", "HEAD", KIND=KIND[kind], END=1, DST=dst),
        "BYTES": bytes_,
        "BODY": body,
        "DEST": dest,
    }
    for name, value in values.items():
        words[_blocks["Parcel header"][name]["offset"] // 4] = value
    return b"".join(word.to_bytes(4, "little") for word in words)
