"""Message classes from a compact list of facts: name, number and type of each field.

tensorboard ships most of TensorFlow's messages (`tensorboard.compat.proto`); the modules beside this one
declare the rest. A declaration reads

    message Feature
      bytes_list 1 BytesList oneof kind
    message Features
      feature 1 map string Feature
    enum Header.Endianness
      LITTLE 0

with one field a line: name, number, `repeated` or `map KEY` where it applies, type, `oneof GROUP` where it
applies. A dot in a message's or enum's name nests it in an earlier message; a message may be declared first
and its fields given later. A type is a proto3 scalar, a name declared here, or a name of an imported module.

The messages are proto3 and live under package `tfexp` in protobuf's default pool, for two reasons: their
names never meet TensorFlow's (package `tensorflow`) or tensorboard's, so all three load into one process; and
fields may have tensorboard's types (TensorShapeProto, VersionDef, ...), which a message of a private pool
could not hold. A package name is on no wire, so the bytes are TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tfexp"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS: dict[str, Any] = {
    name.removeprefix("TYPE_").lower(): number
    for name, number in _Field.Type.items()
    if name not in ("TYPE_MESSAGE", "TYPE_ENUM", "TYPE_GROUP")
}


def define(name: str, facts: str, imports: Sequence[ModuleType] = ()) -> dict[str, Any]:
    """The message classes, by their dotted names, of the declaration `facts` (see above).

    `name` must be unique among all definitions; `imports` are `*_pb2` modules whose types the fields use.
    Raises ValueError for a line that cannot be read or a type that is not known.
    """
    file = descriptor_pb2.FileDescriptorProto(name=f"{_PACKAGE}/{name}.proto", package=_PACKAGE, syntax="proto3")
    file.dependency.extend(module.DESCRIPTOR.name for module in imports)
    types = _types_of(imports)
    messages: dict[str, Any] = {}
    enums: dict[str, Any] = {}
    declared = _declarations(facts)
    for kind, dotted, _ in declared:
        if dotted in messages:
            continue  # reopened below its nested types
        parent, _, short = dotted.rpartition(".")
        owner = messages[parent] if parent else file
        if kind == "message":
            messages[dotted] = (owner.nested_type if parent else owner.message_type).add(name=short)
            types[dotted] = (_Field.TYPE_MESSAGE, f".{_PACKAGE}.{dotted}")
        else:
            enums[dotted] = owner.enum_type.add(name=short)
            types[dotted] = (_Field.TYPE_ENUM, f".{_PACKAGE}.{dotted}")
    # Fields last: a field may have a type that is declared below it.
    for kind, dotted, body in declared:
        for words in body:
            if kind == "message":
                _add_field(messages[dotted], dotted, words, types)
            else:
                enums[dotted].value.add(name=words[0], number=int(words[1]))

    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        dotted: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{dotted}")) for dotted in messages
    }


def _types_of(imports: Sequence[ModuleType]) -> dict[str, tuple[Any, str]]:
    """What fields may have as types from other modules: by its name, its kind and its full name."""
    types: dict[str, tuple[Any, str]] = {}
    for module in imports:
        messages, enums = module.DESCRIPTOR.message_types_by_name, module.DESCRIPTOR.enum_types_by_name
        types |= {short: (_Field.TYPE_MESSAGE, "." + found.full_name) for short, found in messages.items()}
        types |= {short: (_Field.TYPE_ENUM, "." + found.full_name) for short, found in enums.items()}
    return types


def _declarations(facts: str) -> list[tuple[str, str, list[list[str]]]]:
    """Each `message` or `enum` of the facts: which of the two it is, its dotted name, and the words of each of its lines."""
    declared: list[tuple[str, str, list[list[str]]]] = []
    for words in filter(None, map(str.split, facts.splitlines())):
        match words:
            case ["message" | "enum" as kind, dotted]:
                declared.append((kind, dotted, []))
            case _:
                declared[-1][2].append(words)
    return declared


def _add_field(message: Any, dotted: str, words: list[str], types: dict[str, Any]) -> None:
    """One field line of message `dotted`, onto its DescriptorProto."""
    name, number, *rest = words
    field = message.field.add(name=name, number=int(number), label=_Field.LABEL_OPTIONAL)
    if rest[-2:-1] == ["oneof"]:
        group = rest[-1]
        rest = rest[:-2]
        groups = [known.name for known in message.oneof_decl]
        if group not in groups:
            message.oneof_decl.add(name=group)
            groups.append(group)
        field.oneof_index = groups.index(group)
    if rest[0] == "repeated":
        field.label = _Field.LABEL_REPEATED
        rest = rest[1:]
    elif rest[0] == "map":
        # A map is a repeated nested message of a fixed form (protobuf's encoding guide).
        field.label = _Field.LABEL_REPEATED
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        _add_field(entry, dotted, ["key", "1", rest[1]], types)
        _add_field(entry, dotted, ["value", "2", rest[2]], types)
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{dotted}.{entry.name}"
        return
    if len(rest) != 1 or not (rest[0] in _SCALARS or rest[0] in types):
        raise ValueError(f"message {dotted}: cannot read the field {' '.join(words)!r}")
    if rest[0] in types:
        field.type, field.type_name = types[rest[0]]
    else:
        field.type = _SCALARS[rest[0]]
