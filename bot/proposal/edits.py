"""A wish becomes edits of one command line: every flag by the installed version, or a sentence why not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.proposal.flags import Flags, Spelled
from bot.proposal.wanted import NotPossible
from tools.change import Change, Edit
from tools.change.change import Value
from tools.change.edits import edited, edits_for
from tools.knowledge.fields import public_names
from tools.sglang.environment import allowed

# What would make another server of it, or open it to others: none of it is a test of speed.
_NOT_TRIED = frozenset({
    "port", "host", "model_path", "model", "served_model_name", "tokenizer_path", "config", "nnodes", "node_rank",
    "dist_init_addr", "trust_remote_code", "load_format", "nccl_port", "base_gpu_id", "gpu_id_step",
})  # fmt: skip
_NOT_SET = frozenset({"LD_PRELOAD", "LD_LIBRARY_PATH"})  # they load code
_ON, _OFF = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_VALUE_CHARS = 500


@dataclass(frozen=True)
class Server:
    """What runs, as far as a change of it must know: command line, --config file, variables.

    `old` is without secrets; `variables` are names, `values` those values that are known;
    `elsewhere` are flags that its unit takes from a variable or a script.
    """

    old: tuple[str, ...]
    variables: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    config: str | None = None
    in_config: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """A change that holds for this version, by its names; `notes` are to be known before."""

    change: Change
    edits: tuple[Edit, ...]
    new: tuple[str, ...]
    notes: tuple[str, ...]


def checked(change: Change, server: Server, flags: Flags) -> Checked:
    """Return the edits of its command line; raise NotPossible with what is wrong, and what was meant."""
    notes: list[str] = []
    wanted: dict[str, Value] = {}
    for name, value in change.set.items():
        flag = _found(name, server, flags)
        wanted[flag.dest] = _checked(flag, value)
        notes += _remarks(flag, name)
    out = [_found(name, server, flags).dest for name in change.unset]
    off = [
        name for name, value in wanted.items() if value is False and not _of(flags, name).negation
    ]
    for name in (*out, *off):
        _stands(_of(flags, name), server)
    env, gone = dict(_env(change, server)), tuple(_gone(change, server.variables))
    kept = {name: value for name, value in wanted.items() if name not in off}
    if refused := flags.refused(kept, (*out, *off)):
        raise NotPossible(f"This version would not start with it: {refused}.")
    edits = (*_edits(kept, (*out, *off), server, flags),)
    new = edited(server.old, edits)
    if new == server.old and not env and not gone:
        raise NotPossible("It runs like that already: there is nothing to try.")
    made = Change(set=kept, unset=(*out, *off), env=env, unset_env=gone)
    return Checked(made, edits, new, tuple(notes))


def _edits(
    kept: Mapping[str, Value], out: Sequence[str], server: Server, flags: Flags
) -> Iterator[Edit]:
    """Yield what `edits_for` makes; lists and switches with a negation have words of their own."""
    own = {
        name: words
        for name, value in kept.items()
        if (words := _own_words(_of(flags, name), value))
    }
    plain = {name: value for name, value in kept.items() if name not in own}
    if plain or out:
        change = Change(set=plain, unset=tuple(out))
        yield from edits_for(
            change, flags.all, server.old, config=server.config, in_config=server.in_config
        )
    for name, words in own.items():
        taken = edits_for(Change(unset=(name,)), flags.all, server.old)[0]
        yield Edit(drop=taken.drop, takes=taken.takes, add=words)


def _own_words(flag: Spelled, value: Value) -> tuple[str, ...]:
    if flag.takes is None:
        return (flag.name, *str(value).replace(",", " ").split())
    return (flag.negation,) if value is False and flag.negation else ()


def _of(flags: Flags, dest: str) -> Spelled:
    found = flags.find(dest)
    if found is None:
        raise AssertionError("it was found under this name before")
    return found


def _found(name: str, server: Server, flags: Flags) -> Spelled:
    found = flags.find(name)
    word = f"--{name.lstrip('-').replace('_', '-')}"
    if found is None:
        alike = [f"--{one.replace('_', '-')}" for one in flags.alike(name)]
        meant = f" Did you mean {' or '.join(alike)}?" if alike else ""
        if instead := flags.instead(name):
            meant = f" It is gone from this version: {instead}."
        raise NotPossible(f"{word} is no flag of this version, by {flags.known_by}.{meant}")
    if found.dest in _NOT_TRIED:
        raise NotPossible(f"{word} would make another server of it: change it by hand.")
    if found.dest not in public_names():
        raise NotPossible(
            f"That may be a secret, which I neither show nor keep; change it by hand: {word}."
        )
    if {one.lstrip("-").replace("-", "_") for one in server.elsewhere} & _words_of(found):
        raise NotPossible(
            f"Its unit takes {found.name} from a variable or a script: change it there, by hand."
        )
    return found


def _words_of(flag: Spelled) -> set[str]:
    return {flag.dest, *(name.lstrip("-").replace("-", "_") for name in flag.names)}


def _stands(flag: Spelled, server: Server) -> None:
    """See that there is something to take out."""
    if flag.dest in server.in_config:
        return
    taken = edits_for(Change(unset=(flag.dest,)), (flag,), server.old)[0].drop
    if not any(word.partition("=")[0] in taken for word in server.old):
        raise NotPossible(
            f"{flag.name} is not on its command line, so there is nothing to take out; "
            "a variable or the engine itself may set it."
        )


def _checked(flag: Spelled, value: Value) -> Value:
    if flag.takes == 0:
        said = str(value).lower()
        if said not in (*_ON, *_OFF):
            raise NotPossible(f"{flag.name} is a switch: give it true or false.")
        return said in _ON
    if isinstance(value, bool):
        raise NotPossible(f"{flag.name} takes a value: give it one, or unset it.")
    words = str(value).replace(",", " ").split() if flag.takes is None else [str(value)]
    if not words or not all(_sane(word) for word in words):
        raise NotPossible(f"{flag.name} cannot be given that value.")
    for word in words:
        _fits(flag, word)
    return value


def _sane(word: str) -> bool:
    return 0 < len(word) <= _VALUE_CHARS and word.isprintable() and not word.startswith("--")


def _fits(flag: Spelled, word: str) -> None:
    if flag.choices and word not in flag.choices:
        some = ", ".join(flag.choices[:20])
        raise NotPossible(f"{flag.name} takes one of {some} in this version, not {word}.")
    if flag.type in ("int", "float") and not _numeric(word, flag.type):
        kind = "a whole number" if flag.type == "int" else "a number"
        raise NotPossible(f"{flag.name} takes {kind}, not {word}.")


def _numeric(word: str, kind: str) -> bool:
    try:
        (int if kind == "int" else float)(word)
    except ValueError:
        return False
    return True


def _remarks(flag: Spelled, asked: str) -> Iterator[str]:
    word = asked.lstrip("-").replace("-", "_")
    if word not in _words_of(flag):
        yield f"--{word.replace('_', '-')} is called {flag.name} in this version."
    if flag.deprecated:
        instead = f": {flag.instead} is to be used in its place" if flag.instead else ""
        yield f"{flag.name} is deprecated in this version{instead}."


def _env(change: Change, server: Server) -> Iterator[tuple[str, str]]:
    for name, value in change.env.items():
        if not allowed(name) or name in _NOT_SET:
            raise NotPossible(
                f"{name} is no variable that I may set; those of CUDA, NCCL, PyTorch, Triton and the engines are."
            )
        if not value.isprintable() or len(value) > _VALUE_CHARS:
            raise NotPossible(f"{name} cannot be given that value.")
        if server.values.get(name) != value:
            yield name, value


def _gone(change: Change, variables: Collection[str]) -> Iterator[str]:
    for name in change.unset_env:
        if not allowed(name) or name in _NOT_SET:
            raise NotPossible(f"{name} is no variable that I may take out.")
        if name not in variables:
            raise NotPossible(f"{name} is not in the server's environment.")
        yield name
