"""Imports: a module of the tree is followed when a name of it is needed, others stay outside."""

from __future__ import annotations

import ast
import builtins
import sys
from typing import TYPE_CHECKING

from tools.errors import ProbeError
from tools.provenance.forks import finish
from tools.provenance.raising import raised
from tools.provenance.scope import Frame
from tools.provenance.statements import carrying_out
from tools.provenance.values import MISSING, Extern, Lazy, Module, Raised, Value

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

_ONLY_IMPORTS = 60  # lines of a package's __init__ that may exist to import its registering parts


class Imports:
    """The modules of the tree that were reached, by dotted name."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.modules: dict[str, Module] = {}

    def module(self, name: str) -> Module | None:
        """Return a module of the tree, not yet followed; None where it is not there."""
        if name not in self.modules:
            path = self.machine.tree.path_of(name)
            if path is None:
                return None
            names: dict[str, Value] = {"__name__": name, "__file__": path}
            self.modules[name] = Module(name, path, names)
        return self.modules[name]

    def follow(self, module: Module) -> None:
        """Carry out the module's own statements, once."""
        if module.started:
            return
        module.started = True
        machine = self.machine
        try:
            body = machine.tree.parsed(module.path).body
        except ProbeError:
            return
        frame = Frame(machine, module, None, module.names)
        doubt, machine.doubt = machine.doubt, []
        machine.stack.append(frame)
        try:
            with machine.trail.aside():
                self._statements(frame, body)
                finish(frame)
        finally:
            machine.stack.pop()
            machine.doubt = doubt
        module.done = True

    def _statements(self, frame: Frame, body: list[ast.stmt]) -> None:
        made = self.machine.tree.steps
        for node in body:
            if node not in made:
                made[node] = carrying_out([node])
            try:
                made[node](frame)
            except Raised as error:
                self.machine.trouble(frame, error)

    def member(self, module: Module, name: str) -> Value:
        """Return a name of a module, following the module if need be; MISSING if it has none."""
        value = self._present(module, name)
        if value is MISSING:
            self.follow(module)
            value = self._present(module, name)
        if value is MISSING:
            inner = self.module(f"{module.name}.{name}")
            if inner is not None:
                return inner
            hook = module.names.get("__getattr__", MISSING)
            if hook is not MISSING and not name.startswith("__"):
                return self._computed(hook, name)
        return value

    def _computed(self, hook: Value, name: str) -> Value:
        """Return a name that the module makes when it is asked for: once for all, as an import is."""
        machine = self.machine
        doubt, machine.doubt = machine.doubt, []
        try:
            with machine.trail.aside():
                return machine.call(hook, [name], machine.nothing())
        finally:
            machine.doubt = doubt

    def _present(self, module: Module, name: str) -> Value:
        value = module.names.get(name, MISSING)
        if type(value) is Lazy:
            value = module.names[name] = self.resolve(value)
        return value

    def resolve(self, lazy: Lazy) -> Value:
        """Return what an import gives, now that it is needed."""
        module = self.module(lazy.module)
        if module is None:
            return self.machine.outside.attribute(f"{lazy.module}.{lazy.name}".rstrip("."))
        if not lazy.name:
            return module
        value = self.member(module, lazy.name)
        return Extern(f"{lazy.module}.{lazy.name}") if value is MISSING else value

    def bring(self, frame: Frame, name: str, as_name: str | None) -> None:
        """Carry out `import name [as as_name]`."""
        self._require(name)
        top = name if as_name else name.split(".", 1)[0]
        frame.bind(as_name or top, Lazy(top, ""))
        self._if_it_registers(name)

    def bring_from(self, frame: Frame, module: str, name: str, as_name: str) -> None:
        """Carry out `from module import name as as_name`."""
        self._require(module)
        if name == "*":
            self._bring_all(frame, module)
            return
        self._if_it_registers(module)
        self._if_it_registers(f"{module}.{name}")
        frame.bind(as_name, Lazy(module, name))

    def _bring_all(self, frame: Frame, name: str) -> None:
        module = self.module(name)
        if module is None:
            return
        self.follow(module)
        listed = module.names.get("__all__")
        chosen = listed if isinstance(listed, list) else [n for n in module.names if n[0] != "_"]
        for each in chosen:
            frame.bind(each, Lazy(name, each))

    def _require(self, name: str) -> None:
        """Raise Raised(ImportError) for a package that is surely not installed."""
        top = name.split(".", 1)[0]
        if top in self.machine.tree.packages:
            if not self.machine.tree.holds(name):
                raise raised("ModuleNotFoundError", f"No module named {name!r}")
        elif top not in sys.stdlib_module_names and self.machine.outside.installed(top) is False:
            raise raised("ModuleNotFoundError", f"No module named {top!r}")

    def _if_it_registers(self, name: str) -> None:
        path = self.machine.tree.path_of(name)
        if path is None or (name in self.modules and self.modules[name].started):
            return
        package = path.endswith("__init__.py") and "arg_groups" in path
        if package or ("/models/" not in path and self.machine.tree.registers(path)):
            module = self.module(name)
            if module is not None:
                self.follow(module)

    def absolute(self, module: Module, name: str, level: int) -> str:
        """Return the dotted name of a relative import."""
        if not level:
            return name
        parts = module.name.split(".")
        if not module.path.endswith("__init__.py"):
            parts = parts[:-1]
        base = parts[: len(parts) - level + 1]
        return ".".join([*base, name]) if name else ".".join(base)


def is_builtin_name(name: str) -> bool:
    """Whether the language itself knows a name."""
    return hasattr(builtins, name)
