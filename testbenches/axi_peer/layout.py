"""Registers and formats, from the one origin of each machine."""

from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

RTL = Path(__file__).resolve().parent.parent.parent / "rtl"


class Formats:
    """The content of a machine's regs.toml."""

    def __init__(self, machine):
        text = tomllib.loads((RTL / machine / "regs.toml").read_text())
        self._blocks = {block["name"]: {word["name"]: word for word in block["word"]} for block in text["block"]}
        self._constants = {}
        for values in text["constants"]:
            named = self._constants.setdefault(values.get("prefix", ""), {})
            named.update({v["name"]: v["value"] for v in values["value"]})

    def offsets(self, block):
        """Size of a block's words in bytes."""
        return {name: word["offset"] for name, word in self._blocks[block].items()}

    def values(self, prefix):
        """The constants of a prefix."""
        return self._constants[prefix]

    def _bits(self, block, word, field):
        fields = self._blocks[block][word]["field"]
        high, _, low = next(f["bits"] for f in fields if f["name"] == field).partition(":")
        return int(low or high), int(high)

    def put(self, block, word, **fields):
        """The value of a word with these fields, the others zero."""
        return sum(value << self._bits(block, word, name)[0] for name, value in fields.items())

    def get(self, block, word, field, value):
        """A field of a word's value."""
        low, high = self._bits(block, word, field)
        return value >> low & ((1 << (high - low + 1)) - 1)
