"""Translator of a one-game jaxpr to C: values, arrays in memory, and loops over their elements."""

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from numpy.typing import NDArray

_TYPES = {
    np.dtype(np.bool_): "u8",
    **{np.dtype(f"{sign}int{bits}"): f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    np.dtype(np.float32): "f32",
}
"""C types by dtype. A bool is a byte of 0 or 1."""
_UNROLLED = 16
"""Rounds of the largest loop that is unrolled, so that the elements of its arrays become variables; with 32, GCC takes
eight times as long for large games, and they play slower."""

Index = NDArray[Any]
Equation = Any
"""A ``JaxprEqn``, whose parameters and variables are of any type."""
Rule = Callable[["Translator", Equation, list["Value"]], Sequence["Value"]]
"""Function that translates one equation: it takes the values of its inputs and returns those of its outputs."""


class Untranslatable(Exception):
    """Raised for a primitive or dtype without a translation; the message names it."""


def ctype(dtype: Any) -> str:
    """Return the C type of a dtype; raises Untranslatable if there is none."""
    if dtype not in _TYPES:
        raise Untranslatable(f"dtype {dtype.name}")
    return _TYPES[dtype]


def literal(value: Any, dtype: Any) -> str:
    """Format a number as a C constant; an integer as its two's complement of 64 bits, cast to its type."""
    if dtype != np.float32:
        return f"(({ctype(dtype)}){int(value) % 2**64}ull)"
    number = float(np.float32(value))
    if np.isfinite(number):
        return f"((f32){number.hex()})"
    return "NAN" if np.isnan(number) else "INFINITY" if number > 0 else "(-INFINITY)"


@dataclass(frozen=True)
class Value:
    """An array as a C expression: one that all elements share, or that of the element at position ``{}`` in memory.

    index: the position of each element.
    """

    dtype: Any
    index: Index
    text: str

    @classmethod
    def of(cls, dtype: Any, text: str, shape: Sequence[int] = ()) -> Self:
        """Make an array whose element i lies at position i, if the elements do not share the expression."""
        index = np.arange(math.prod(shape))
        return cls(dtype, index, text).at(index.reshape(shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.index.shape

    @property
    def is_uniform(self) -> bool:
        """Whether all elements share one expression."""
        return "{}" not in self.text

    @property
    def is_whole(self) -> bool:
        """Whether element i of the array lies at position i in memory, which may hold more elements behind them."""
        return not self.is_uniform and bool(np.array_equal(self.index.ravel(), np.arange(self.index.size)))

    @property
    def base(self) -> str:
        """Name of the variable or array that the expression reads."""
        return self.text.partition("[")[0]

    def at(self, index: Index) -> Self:
        """Select or reshape elements by their positions; a single one becomes an expression."""
        return type(self)(self.dtype, index, self.text.format(index.item()) if index.size == 1 else self.text)

    def broadcast(self, shape: Sequence[int]) -> Self:
        """Repeat elements along axes of size 1 and new leading axes."""
        return self if self.shape == shape else self.at(np.broadcast_to(self.index, shape))


@dataclass
class Loop:
    """A loop over the elements of arrays, to which operations can still be added.

    made: for each array that the loop writes, the variable with the element of this round; empty if there is none.
    """

    size: int
    body: list[str] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)
    known: dict[tuple[str, str], str] = field(default_factory=dict)

    def can_read(self, value: Value) -> bool:
        """Whether the loop does not write the value, or has just the element that its round reads."""
        element = self.made.get(value.base)
        return element is None or (element != "" and value.index.size == self.size and value.is_whole)


class Translator:
    """Builder of a program's lines and tables of constants.

    Operations on arrays share a loop as long as each reads only the element of its own round from the others. Lines
    that are added while a loop is open go before it.
    """

    def __init__(self, rules: dict[str, Rule]) -> None:
        self.lines: list[str] = []
        self._rules = rules
        self.tables: dict[tuple[str, str], str] = {}  # names by type and numbers
        self._names = 0
        self._depth = 1
        self._known = ChainMap[tuple[str, str], str]()
        self._loop: Loop | None = None
        self._body = self.lines

    # Lines and variables

    def name(self, prefix: str) -> str:
        """Make a unique name."""
        self._names += 1
        return f"{prefix}{self._names}"

    def add(self, text: str) -> None:
        """Add a line to the body of the ``loop`` context, or outside of one to the program, before an open loop."""
        self._body.append("  " * self._depth + text)

    def new(self, dtype: Any, expression: str) -> str:
        """Declare a constant with this value and return its name; an earlier one with this value is reused."""
        key = ctype(dtype), expression
        if key not in self._known:
            self._known[key] = name = self.name("v")
            self.add(f"const {key[0]} {name} = {expression};")
        return self._known[key]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Context that puts the lines added in it between braces after ``head``."""
        self.finish_loop()
        self.add(head + " {")
        self._depth += 1
        self._known = self._known.new_child()
        yield
        self.finish_loop()
        self._known = self._known.parents
        self._depth -= 1
        self.add("}")

    # Arrays

    def _table(self, type_: str, texts: Iterable[str]) -> str:
        return self.tables.setdefault((type_, ", ".join(texts)), f"T{len(self.tables)}") + "[{}]"

    def constant(self, array: Any) -> Value:
        """Make a constant array, stored as a table unless all its elements are equal."""
        texts = [literal(number, array.dtype) for number in array.ravel().tolist()]
        text = texts[0] if len(set(texts)) == 1 else self._table(ctype(array.dtype), texts)
        return Value.of(array.dtype, text, array.shape)

    def array(self, like: Any) -> Value:
        """Declare an array with the dtype and shape of ``like``, not set yet, or a variable if it has one element."""
        size = math.prod(like.shape)
        name = self.name("v" if size == 1 else "a")
        self.add(f"{ctype(like.dtype)} {name}{f'[{size}]' if size != 1 else ''};")
        return Value.of(like.dtype, name if size == 1 else name + "[{}]", like.shape)

    def _position(self, index: Index) -> str:
        """Format the position of element ``i``: a linear function of ``i``, or a lookup in a table."""
        flat = index.ravel()
        start, step = int(flat[0]), int(flat[1] - flat[0])
        if not np.array_equal(flat, start + step * np.arange(flat.size)):
            return self._table("u16" if flat.max() < 2**16 else "u32", map(str, flat)).format("i")
        return "i" if (start, step) == (0, 1) else f"{start} + i * {step}"

    @contextmanager
    def loop(self, size: int, *read: Value) -> Iterator[None]:
        """Context inside a loop over ``size`` elements, for code that reads the elements of its round from ``read``.

        The loop that is still open is reused, unless it has another size or writes these values in another order.
        """
        loop = self._loop
        if loop is None or loop.size != size or not all(loop.can_read(value) for value in read):
            self.finish_loop()
            loop = self._loop = Loop(size)
        self._body = loop.body
        self._known = self._known.new_child(loop.known)
        yield
        self._known = self._known.parents
        self._body = self.lines

    def element(self, value: Value) -> str:
        """Return, inside a loop, the variable or expression of a value's element of this round."""
        assert self._loop
        if value.is_uniform:
            return value.text
        return self._loop.made.get(value.base) or self.new(value.dtype, self.place(value))

    def place(self, value: Value) -> str:
        """Return, inside a loop, the assignable expression of a value's element of this round."""
        return value.text if value.is_uniform else value.text.format(self._position(value.index))

    def finish_loop(self) -> None:
        """Write out the open loop, if any; code after it can read all that it computes."""
        loop, self._loop = self._loop, None
        if loop:
            self.add(f"{'UNROLL ' * (loop.size <= _UNROLLED)}for (int i = 0; i < {loop.size}; i++) {{")
            self.lines.extend(f"  {text}" for text in loop.body)
            self.add("}")

    def _finish_what_makes(self, *values: Value) -> None:
        if self._loop and any(value.base in self._loop.made for value in values):
            self.finish_loop()

    def map(self, aval: Any, compute: Callable[..., str], *values: Value) -> Value:
        """Make an array by applying ``compute``, a function of C expressions, to elements of values of one size."""
        if not aval.size:
            return Value.of(aval.dtype, "0", aval.shape)
        if all(value.is_uniform for value in values):
            self._finish_what_makes(*values)
            return Value.of(aval.dtype, self.new(aval.dtype, compute(*(value.text for value in values))), aval.shape)
        array = self.array(aval)
        with self.loop(aval.size, *values):
            self.write(array, self.new(aval.dtype, compute(*map(self.element, values))))
        return array

    def write(self, target: Value, text: str) -> None:
        """Assign, inside a loop, an array's element of this round."""
        assert self._loop
        self.add(f"{self.place(target)} = {text};")
        self._loop.made[target.base] = text if target.is_whole else ""

    def store(self, target: Value, value: Value) -> None:
        """Assign all elements of an array, or of a part of one, before any of them is read."""
        if target.is_uniform and target.index.size:
            self._finish_what_makes(value, target)
            self.add(f"{target.text} = {value.text};")
        elif target.index.size:
            with self.loop(target.index.size, value):
                self.write(target, self.element(value))

    def copy(self, value: Value) -> Value:
        """Copy a value to a new array or variable."""
        self.finish_loop()
        array = self.array(value)
        self.store(array, value)
        self.finish_loop()
        return array

    def memory(self, value: Value) -> Value:
        """Return a value with element i at position i in memory, copied if need be, or uniform."""
        self._finish_what_makes(value)
        return value if value.is_whole or value.is_uniform else self.copy(value)

    # Equations

    def jaxpr(self, jaxpr: Jaxpr, consts: Sequence[Value], args: Sequence[Value]) -> list[Value]:
        """Translate a jaxpr; returns the values of its results."""
        env: dict[Any, Value] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))

        def read(atom: Any) -> Value:
            dtype = atom.aval.dtype
            return self.constant(np.asarray(atom.val, dtype)) if isinstance(atom, Literal) else env[atom]

        eqn: Equation
        for eqn in jaxpr.eqns:
            name = eqn.primitive.name
            if name not in self._rules:
                raise Untranslatable(name)
            outputs = self._rules[name](self, eqn, [read(atom) for atom in eqn.invars])
            for variable, value in zip(eqn.outvars, outputs, strict=True):
                assert value.shape == variable.aval.shape, (name, value.shape, variable.aval.shape)
                env[variable] = value
        return [read(atom) for atom in jaxpr.outvars]

    def closed(self, closed: ClosedJaxpr, args: Sequence[Value]) -> list[Value]:
        """Translate a jaxpr with its constants."""
        return self.jaxpr(closed.jaxpr, [self.constant(np.asarray(const)) for const in closed.consts], args)

    def by_jax(self, function: Callable[..., Any], *args: Value) -> list[Value]:
        """Translate a JAX function of the values."""
        return self.closed(
            jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(arg.shape, arg.dtype) for arg in args)), args
        )
