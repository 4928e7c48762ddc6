"""Sixteen numbers in single precision that a compiled loop keeps in the processor's registers.

A loop that adds to an array reads and writes it at every step. Sums that are added to lanes stay in registers
until they are stored.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

LANES = 16
"""Numbers of one value: a register of 512 bits, or several narrower ones."""

VECTOR = ir.VectorType(ir.FloatType(), LANES)
NOTHING = ir.Constant(VECTOR, ir.Undefined)
ALIGNMENT = 4
"""Rows begin anywhere in memory."""


class Lanes(types.Type):
    """The type of such a value."""

    def __init__(self) -> None:
        super().__init__("lanes")


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """How the compiler holds it: as a vector."""

    def __init__(self, manager: Any, of_type: Any) -> None:
        super().__init__(manager, of_type, VECTOR)  # type: ignore[no-untyped-call]


lanes: Any = Lanes()


def _address(context: Any, builder: Any, array_type: Any, array: Any, position: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [position]), VECTOR.as_pointer())


@intrinsic
def _load(typing: Any, array: Any, position: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *values), align=ALIGNMENT)

    return lanes(array, types.intp), generate


@intrinsic
def _store(typing: Any, array: Any, position: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _address(context, builder, signature.args[0], *values[:2])
        builder.store(values[2], address, align=ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def _zeros(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return ir.Constant(VECTOR, [0.0] * LANES)

    return lanes(), generate


@intrinsic
def _everywhere(typing: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        index = ir.IntType(32)
        first = builder.insert_element(NOTHING, values[0], index(0))
        return builder.shuffle_vector(first, NOTHING, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))

    return lanes(types.float32), generate


@intrinsic
def _times(typing: Any, one: Any, other: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fmul(*values, flags=["contract"])

    return lanes(lanes, lanes), generate


@intrinsic
def _plus(typing: Any, one: Any, other: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fadd(*values, flags=["contract"])

    return lanes(lanes, lanes), generate


# Called inside compiled functions only; numba passes what is in between.
load: Any = _load
"""``load(array, position)``: the 16 numbers that begin there, in an array of one dimension. Nobody checks
that they are inside."""

store: Any = _store
"""``store(array, position, value)``: write them there."""

zeros: Any = _zeros
"""``zeros()``: all 0."""

everywhere: Any = _everywhere
"""``everywhere(number)``: the same number 16 times."""

times: Any = _times
"""``times(one, other)``: number by number. Where it is added to something, it may not be rounded before."""

plus: Any = _plus
"""``plus(one, other)``: number by number."""
