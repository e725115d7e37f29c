"""What strangers may send: messages of any kind with anything in them, and bytes that are no message at all."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from hypothesis import strategies as st

INTEGERS: Final = (0, 1, -1, 2, 3, 64, 1000, 1001, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**64 - 1)
HOSTILE: Final = (
    "",
    " ",
    "\0",
    "\n",
    "a\r\nlevel=error event=forged",
    "\x1b[2J",
    "\u202e",
    "\ufeff",
    "\N{PILE OF POO}" * 50,
    "' or 1=1 --",
    "%s%n{0}",
    "../../etc/passwd",
    "A" * 65,
    "A" * 201,
    "9" * 5_000,
)
TOML: Final = (
    *("[", "]", "{", "}", '"', "=", ".", "\n", "#", "-1", "1e400", "nan", "true", "1979-05-27", "[options]\n"),
    *("[" * 3_000, "{a=" * 3_000, "a." * 3_000, "9" * 5_000),
)
"""What means something in a spec."""
_NOT_UTF8: Final = b"\xff\xfe\xc3\x28"
_RANGES: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-(2**31), 2**31 - 1),
}


def texts(words: Sequence[str]) -> st.SearchStrategy[str]:
    """Words that mean something, hostile ones, and any others."""
    return st.one_of(st.sampled_from(words), st.sampled_from(HOSTILE), st.text(max_size=20))


def integers(least: int, most: int) -> st.SearchStrategy[int]:
    """Small ones, those at a boundary, and any others."""
    edges = [edge for edge in INTEGERS if least <= edge <= most]
    return st.one_of(st.sampled_from(edges), st.integers(max(least, -5), 5), st.integers(least, most))


def messages(descriptor: Descriptor, words: Sequence[str]) -> st.SearchStrategy[Message]:
    """Any message of a kind; the words stand wherever a text does."""
    fields = {field.name: _values(field, words) for field in descriptor.fields}
    return st.fixed_dictionaries({}, optional=fields).map(lambda given: build(descriptor, given))


def nearly(good: Message, words: Sequence[str]) -> st.SearchStrategy[Message]:
    """A message that is good but for up to two of its fields."""
    descriptor: Any = good.DESCRIPTOR
    kept = {field.name: getattr(good, field.name) for field, _ in good.ListFields()}
    other = st.one_of([st.tuples(st.just(field.name), _values(field, words)) for field in descriptor.fields])
    return st.lists(other, max_size=2).map(lambda changes: build(descriptor, kept | dict(changes)))


def build(descriptor: Descriptor, given: dict[str, Any]) -> Message:
    """The message with these fields."""
    return message_factory.GetMessageClass(descriptor)(**given)


def _values(field: FieldDescriptor, words: Sequence[str]) -> st.SearchStrategy[Any]:
    one = _value(field, words)
    return st.lists(one, max_size=5) if field.is_repeated else one


def _value(field: FieldDescriptor, words: Sequence[str]) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return messages(field.message_type, words)
    if field.cpp_type in _RANGES:
        return integers(*_RANGES[field.cpp_type])
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return st.booleans()
    assert field.cpp_type == FieldDescriptor.CPPTYPE_STRING, field.full_name
    return st.binary(max_size=100) if field.type == FieldDescriptor.TYPE_BYTES else texts(words)


def edited(good: str) -> st.SearchStrategy[str]:
    """A text with a few of its characters gone and others in their place."""
    edit = st.tuples(
        st.integers(0, len(good)), st.integers(0, 6), st.one_of(st.text(max_size=6), st.sampled_from(TOML))
    )
    return st.lists(edit, min_size=1, max_size=4).map(lambda edits: _edit(good, edits))


def _edit(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    for place, gone, instead in edits:
        text = text[:place] + instead + text[place + gone :]
    return text


# Bytes ---------------------------------------------------------------------------------------------------------------


def spoiled(good: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Messages as they should be, and with what happens to bytes; and bytes that never were a message."""
    return st.one_of(
        good,
        st.builds(bytes.__add__, good, unknown_fields()),
        st.builds(_cut, good, st.integers(0, 200)),
        st.builds(_flipped, good, st.integers(0), st.integers(1, 255)),
        st.builds(bytes.__add__, good, st.integers(1, 15).map(not_utf8)),
        st.binary(max_size=200),
    )


def unknown_fields() -> st.SearchStrategy[bytes]:
    """Fields that no message has."""
    return st.lists(st.builds(_field, st.integers(200, 2**29 - 1), st.binary(max_size=50)), max_size=3).map(b"".join)


def not_utf8(number: int) -> bytes:
    """A field of that number which, where it is a text, is none."""
    return _field(number, _NOT_UTF8)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    groups = [value >> shift & 0x7F for shift in range(0, max(1, value.bit_length()), 7)]
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])


def _cut(good: bytes, length: int) -> bytes:
    return good[:length]


def _flipped(good: bytes, place: int, bits: int) -> bytes:
    if not good:
        return bytes((bits,))
    place %= len(good)
    return good[:place] + bytes((good[place] ^ bits,)) + good[place + 1 :]


# HTTP/2 --------------------------------------------------------------------------------------------------------------

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame as HTTP/2 has them; the stream's number has 31 bits."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def frames() -> st.SearchStrategy[bytes]:
    """Frames of known and unknown kinds with anything in them, of right and wrong lengths."""
    payloads = st.one_of(st.binary(max_size=64), st.sampled_from([b"\0" * 8, b"\0" * 4, b"\xff" * 600]))
    streams = st.one_of(st.sampled_from([0, 1, 2, 3, 2**31 - 1]), st.integers(0, 2**32 - 1))
    return st.builds(frame, st.integers(0, 12), st.integers(0, 255), streams, payloads)


def noise() -> st.SearchStrategy[bytes]:
    """What may come in at a port that speaks HTTP/2."""
    settings = frame(4, 0, 0, b"")
    spoken: Iterable[bytes] = (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0", b"SSH-2.0-x\r\n", b"\0" * 5_000)
    return st.one_of(
        st.binary(max_size=500),
        st.sampled_from(tuple(spoken)),
        st.integers(1, len(PREFACE)).map(lambda length: PREFACE[:length]),
        st.lists(frames(), max_size=8).map(lambda sent: PREFACE + settings + b"".join(sent)),
        st.builds(lambda sent, cut: (PREFACE + settings + sent)[: len(PREFACE) + cut], frames(), st.integers(0, 40)),
    )
