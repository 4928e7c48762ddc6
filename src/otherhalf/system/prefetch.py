"""A hint to the processor, for compiled loops that read memory in random order."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

READ, KEEP, DATA = 0, 3, 1
"""What is going to happen there: it is read, more than once, and is not code."""

LINE = 16
"""Numbers in single precision of a cache line."""


@intrinsic
def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Ask for the memory of ``array[index]``, of one dimension, without waiting for it.

    A row that is somewhere in a large matrix takes longer to arrive than to add. Asked for some rows before
    its turn, it is there. Nothing is read: a position outside the array does no harm.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        address = builder.bitcast(builder.gep(data, [values[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        hint = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", (cgutils.voidptr_t,), hint)
        builder.call(function, [address, number(READ), number(KEEP), number(DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch: Any = _prefetch
"""Called with an array and a position; numba passes what is in between."""


@register_jitable
def prefetch_row(numbers: Any, start: Any, width: int) -> None:
    """Ask for ``numbers[start : start + width]``, in single precision."""
    for v in range(0, width, LINE):
        prefetch(numbers, start + v)
