"""A jaxpr of one game as lines of C: control flow, variables, and loops over arrays in memory."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from rlworldkit.jax.native.values import (
    IN_MEMORY_FROM,
    Index,
    Texts,
    Untranslatable,
    Value,
    constant,
    ctype,
    expressions,
    linear,
    uniform,
)

Equation = Any
"""A ``JaxprEqn``, whose parameters and variables are of any type."""
Rule = Callable[["Translator", Equation, list[Value]], Sequence[Value]]
"""Translates one equation: given the values of its inputs, those of its outputs."""


@dataclass
class Loop:
    """A loop over the elements of arrays in memory that may still grow: its body, and what was computed in it.

    known: of an array that the loop makes, the variable that holds the element of this round.
    """

    size: int
    body: list[str] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    scope: dict[tuple[str, str], str] = field(default_factory=dict)


class Translator:
    """Collects the lines of a program, at the depth at which each stands, and its tables of constants.

    Operations on arrays in memory share a loop while each needs nothing of the others but the element of its own round.
    Lines that are added in the meantime stand before that loop.
    """

    def __init__(self, rules: dict[str, Rule]) -> None:
        self.lines: list[tuple[int, str]] = []
        self.tables: dict[tuple[str, tuple[str, ...]], str] = {}
        self._rules = rules
        self._names = 0
        self._depth = 1
        self._scopes: list[dict[tuple[str, str], str]] = [{}]
        self._open: Loop | None = None
        self._inside: Loop | None = None

    # Lines and variables

    def name(self, prefix: str) -> str:
        """A name that nothing else has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def add(self, text: str) -> None:
        """Add a line."""
        if self._inside:
            self._inside.body.append(text)
        else:
            self.lines.append((self._depth, text))

    def declare(self, text: str) -> None:
        """Add a line that stands before an open loop."""
        self.lines.append((self._depth, text))

    def new(self, type_: str, expression: str) -> str:
        """A constant of the C type with this value; the same one where it was computed before."""
        scopes = [*self._scopes, self._inside.scope] if self._inside else self._scopes
        for scope in scopes:
            if (type_, expression) in scope:
                return scope[type_, expression]
        name = self.name("v")
        self.add(f"const {type_} {name} = {expression};")
        scopes[-1][type_, expression] = name
        return name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines between braces behind ``head``."""
        self.finish_loop()
        self.add(head + " {")
        self._depth += 1
        self._scopes.append({})
        yield
        self.finish_loop()
        self._scopes.pop()
        self._depth -= 1
        self.add("}")

    # Arrays in memory

    def table(self, type_: str, texts: Sequence[str]) -> str:
        """The name of a table of constants."""
        return self.tables.setdefault((type_, tuple(texts)), f"T{len(self.tables)}")

    def array(self, dtype: str, shape: Sequence[int]) -> Value:
        """A new array in memory, its elements not set yet."""
        name = self.name("a")
        index = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        self.declare(f"{ctype(dtype)} {name}[{index.size}];")
        return Value(dtype, index, name=name)

    def position(self, index: Index, variable: str = "i") -> str:
        """``index[variable]`` as a C expression, if need be from a table."""
        flat = index.ravel()
        found = linear(flat, variable)
        if found is not None:
            return found
        type_ = "u8" if flat.max() < 2**8 else "u16" if flat.max() < 2**16 else "u32"
        return f"{self.table(type_, [str(each) for each in flat])}[{variable}]"

    @contextmanager
    def loop(self, size: int, *read: Value) -> Iterator[Loop]:
        """The inside of a loop over ``size`` elements that may read these values of its own round.

        It is the loop that is still open, unless that one has another size or makes what is read in another order.
        """
        if self._open and (self._open.size != size or any(not self._in_step(each, size) for each in read)):
            self.finish_loop()
        self._open = self._open or Loop(size)
        self._inside, before = self._open, self._inside
        yield self._open
        self._inside = before

    def _in_step(self, value: Value, size: int) -> bool:
        is_made_here = self._open is not None and value.name in self._open.known
        return not is_made_here or (value.index.size == size and value.is_whole)

    def element(self, value: Value) -> str:
        """Inside a loop, the variable of a value's element of this round."""
        if not value.name:
            return value.first
        assert self._inside is not None
        if value.name in self._inside.known:
            return self._inside.known[value.name]
        return self.new(ctype(value.dtype), value.element(self.position(value.index)))

    def finish_loop(self) -> None:
        """Write the open loop, behind which all that it made can be read."""
        loop, self._open = self._open, None
        if loop:
            self.lines.append((self._depth, f"for (int i = 0; i < {loop.size}; i++) {{"))
            self.lines.extend((self._depth + 1, text) for text in loop.body)
            self.lines.append((self._depth, "}"))

    def elements(self, value: Value) -> Texts:
        """Each element of a value as an expression that can be read from here on."""
        if self._open and value.name in self._open.known:
            self.finish_loop()
        return value.each()

    def memory(self, value: Value) -> Value:
        """A value in memory, element i at position i."""
        if value.name:
            if self._open and value.name in self._open.known:
                self.finish_loop()
            if value.is_whole:
                return value
        else:
            made = expressions(value.dtype, value.each())
            if not any(text[0].islower() for text in made.texts):  # constants, and no variables
                return replace(made, name=self.table(ctype(value.dtype), made.texts))
        return self._stored(value)

    def _stored(self, value: Value) -> Value:
        array = self.array(value.dtype, value.shape)
        self.store(array, value)
        return array

    def broadcast(self, value: Value, shape: Sequence[int]) -> Value:
        """A value repeated along the axes of length 1, and those that it lacks in front."""
        if value.is_uniform:
            return uniform(value.dtype, value.first, shape)
        value = value if value.name else self.memory(value)
        return value.at(np.broadcast_to(value.index, tuple(shape)))

    def copy(self, value: Value) -> Value:
        """The same values in an array of their own."""
        self.finish_loop()
        return self._stored(value)

    def store(self, target: Value, value: Value) -> None:
        """Set all elements of an array in memory that nobody has read yet, or a part of one."""
        if value.name or value.is_uniform:
            with self.loop(target.index.size, value):
                self.add(f"{target.element(self.position(target.index))} = {self.element(value)};")
            self.finish_loop()
        else:
            for place, text in zip(target.index.flat, value.each().flat, strict=True):
                self.declare(f"{target.element(place)} = {text};")

    def settled(self, value: Value) -> Value:
        """A value as its size has it: small ones as elements, large ones in memory unless all elements are the same."""
        if value.index.size < IN_MEMORY_FROM:
            return expressions(value.dtype, self.elements(value)) if value.name else value
        return value if value.name or value.is_uniform else self.memory(value)

    # Equations

    def jaxpr(self, jaxpr: Jaxpr, consts: Sequence[Value], args: Sequence[Value]) -> list[Value]:
        """Translate a jaxpr; gives the values of its results."""
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
                env[variable] = self.settled(value)
        return [read(atom) for atom in jaxpr.outvars]

    def constant(self, value: Any) -> Value:
        """A constant array."""
        return self.settled(constant(np.asarray(value)))

    def closed(self, closed: ClosedJaxpr, args: Sequence[Value]) -> list[Value]:
        """Translate a jaxpr with its constants."""
        consts = [self.constant(const) for const in closed.consts]
        return self.jaxpr(closed.jaxpr, consts, args)
