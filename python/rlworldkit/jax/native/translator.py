"""Translator of a one-game jaxpr to C: variables, arrays in memory, and loops over their elements."""

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from rlworldkit.jax.native.values import Index, Untranslatable, Value, ctype, in_memory, literal, uniform

_UNROLLED = 16
"""Rounds of the largest loop that is unrolled, so that the elements of its arrays become variables; with 32, GCC takes
eight times as long for large games, and they play slower."""

Equation = Any
"""A ``JaxprEqn``, whose parameters and variables are of any type."""
Rule = Callable[["Translator", Equation, list[Value]], Sequence[Value]]
"""Function that translates one equation: it takes the values of its inputs and returns those of its outputs."""


@dataclass
class Loop:
    """A loop over the elements of arrays, to which operations can still be added.

    made: for each array that the loop writes, the variable with the element of this round; empty if there is none.
    """

    size: int
    body: list[str] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)
    known: dict[tuple[str, str], str] = field(default_factory=dict)


class Translator:
    """Builder of a program's lines and tables of constants.

    Operations on arrays share a loop as long as each reads only the element of its own round from the others. Lines
    that are added while a loop is open go before it.
    """

    def __init__(self, rules: dict[str, Rule]) -> None:
        self.lines: list[str] = []
        self._rules = rules
        self._tables: dict[str, str] = {}
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

    def new(self, dtype: str, expression: str) -> str:
        """Declare a constant with this value and return its name; an earlier one with this value is reused."""
        key = dtype, expression
        if key not in self._known:
            self._known[key] = name = self.name("v")
            self.add(f"const {ctype(dtype)} {name} = {expression};")
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
        name = self._tables.setdefault(f"{type_} {{}}[] = {{{', '.join(texts)}}};", f"T{len(self._tables)}")
        return name + "[{}]"

    @property
    def tables(self) -> list[str]:
        """Declarations of the tables of constants."""
        return ["TABLE " + text.replace("{}", name, 1) for text, name in self._tables.items()]

    def constant(self, array: Any) -> Value:
        """Make a constant array, stored as a table unless all its elements are equal."""
        dtype, texts = array.dtype.name, [literal(number, array.dtype.name) for number in array.ravel().tolist()]
        if len(set(texts)) == 1:
            return uniform(dtype, texts[0], array.shape)
        return in_memory(dtype, self._table(ctype(dtype), texts), array.shape)

    def array(self, dtype: str, shape: Sequence[int]) -> Value:
        """Declare an array whose elements are not set yet, or a variable if there is only one."""
        size = int(np.prod(shape))
        name = self.name("v" if size == 1 else "a")
        self.add(f"{ctype(dtype)} {name}{f'[{size}]' if size != 1 else ''};")
        return in_memory(dtype, name if size == 1 else name + "[{}]", shape)

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
        if self._loop and not (self._loop.size == size and all(self._is_in_step(value, size) for value in read)):
            self.finish_loop()
        self._loop = self._loop or Loop(size)
        self._body = self._loop.body
        self._known = self._known.new_child(self._loop.known)
        yield
        self._known = self._known.parents
        self._body = self.lines

    def _is_in_step(self, value: Value, size: int) -> bool:
        assert self._loop
        if value.base not in self._loop.made:
            return True
        return bool(self._loop.made[value.base]) and value.index.size == size and value.is_whole

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

    def map(self, aval: Any, compute: Callable[..., str], *values: Value) -> Value:
        """Make an array by applying ``compute``, a function of C expressions, to elements of values of one size."""
        dtype = aval.dtype.name
        if not aval.size:
            return uniform(dtype, "0", aval.shape)
        if all(value.is_uniform for value in values):
            self._finish_what_makes(*values)
            return uniform(dtype, self.new(dtype, compute(*(value.text for value in values))), aval.shape)
        array = self.array(dtype, aval.shape)
        with self.loop(aval.size, *values):
            text = self.new(dtype, compute(*map(self.element, values)))
            self.write(array, text)
        return array

    def write(self, target: Value, text: str) -> None:
        """Assign, inside a loop, an array's element of this round."""
        assert self._loop
        self.add(f"{self.place(target)} = {text};")
        self._loop.made[target.base] = text if target.is_whole else ""

    def _finish_what_makes(self, *values: Value) -> None:
        if self._loop and any(value.base in self._loop.made for value in values):
            self.finish_loop()

    def store(self, target: Value, value: Value) -> None:
        """Assign all elements of an array, or of a part of one, before any of them is read."""
        if not target.index.size:
            return
        if target.is_uniform:
            self._finish_what_makes(value, target)
            self.add(f"{target.text} = {value.text};")
        else:
            with self.loop(target.index.size, value):
                self.write(target, self.element(value))

    def copy(self, value: Value) -> Value:
        """Copy a value to a new array or variable."""
        self.finish_loop()
        array = self.array(value.dtype, value.index.shape)
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
                assert value.index.shape == variable.aval.shape, (name, value.index.shape, variable.aval.shape)
                env[variable] = value
        return [read(atom) for atom in jaxpr.outvars]

    def closed(self, closed: ClosedJaxpr, args: Sequence[Value]) -> list[Value]:
        """Translate a jaxpr with its constants."""
        return self.jaxpr(closed.jaxpr, [self.constant(np.asarray(const)) for const in closed.consts], args)

    def by_jax(self, function: Callable[..., Any], *args: Value) -> list[Value]:
        """Translate a JAX function of the values."""
        shapes = [jax.ShapeDtypeStruct(value.index.shape, value.dtype) for value in args]
        return self.closed(jax.make_jaxpr(function)(*shapes), args)
