r"""Keys as text, as HBase's ``Bytes.toStringBinary`` writes them: bytes other than printable ASCII are ``\xNN``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Union

_ESCAPED = re.compile(rb"\\x([0-9A-Fa-f]{2})")


def escape(key: bytes) -> str:
    """Returns a key as text."""
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte != ord("\\") else f"\\x{byte:02X}"
        for byte in key
    )


def unescape(text: str) -> bytes:
    """Returns the key of a text of :func:`escape`; characters beyond ASCII stand for their UTF-8."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), text.encode())


def to_bytes(key: Union[bytes, bytearray, str]) -> bytes:
    """Returns a key as bytes; of text, its UTF-8."""
    return key.encode() if isinstance(key, str) else bytes(key)


def ascending(splits: Iterable[Union[bytes, bytearray, str]]) -> list[bytes]:
    """Returns split points as bytes, which must ascend."""
    if isinstance(splits, (str, bytes, bytearray)):
        raise TypeError("splits must be a list of rows, not one row")
    keys = [to_bytes(key) for key in splits]
    for left, right in zip(keys, keys[1:]):
        if left >= right:
            raise ValueError(
                f"splits must ascend, but {escape(left)} does not sort before {escape(right)}"
            )
    return keys


def splits_option(splits: Iterable[Union[bytes, bytearray, str]]) -> str:
    r"""Return split points as the text of the option ``splits``.

    They are separated by commas, with ``\xNN`` for commas in them and for bytes that are no printable ASCII, as the
    option ``--splits`` of the command line.

    >>> import pyhfile.spark
    >>> pyhfile.spark.splits_option([b"row-01000", b"row-02000,\xff"])
    'row-01000,row-02000\\x2C\\xFF'

    :param splits: the start rows of all regions of the table but the first, ascending.
    :raises ValueError: if the rows do not ascend.
    """
    return ",".join(escape(key).replace(",", "\\x2C") for key in ascending(splits))


def parse_splits(text: str) -> list[bytes]:
    """Returns the split points of the option ``splits``."""
    return ascending(unescape(part) for part in text.split(",")) if text else []
