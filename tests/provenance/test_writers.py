"""A file is read for its syntax where it can write an argument, and no other one is."""

from __future__ import annotations

import pytest

from tools.provenance.writers import can_write, writer_of


@pytest.mark.parametrize(
    ("text", "can"),
    [
        ("server_args.page_size = 64", True),
        ("self.server_args.graph.decode.max_bs += 1", True),
        ("args.page_size = 1", True),
        ("kv_args.page_size = 1", False),
        ("kv_args.page_size += 1", False),
        ("server_args.page_size == 64", False),
        ("if args.page_size:\n    pass", False),
        ("setattr(x, name, 1)", True),
        ("self.override(page_size=1)", True),
        ("declare_resolution(source='x')", True),
        ("@register_hook\ndef f(): ...", True),
        ("class ServerArgs:\n    page_size: int = 1", True),
    ],
)
def test_a_text_that_assigns_calls_or_registers_can_write(text: str, can: bool) -> None:
    assert can_write(text) is can


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("self.page_size = 1", True),
        ("self.page_size: int", False),
        ("a.page_size, b.x = 1, 2", True),
        ("x.page_size.decode //= 2", True),
        ("{'page_size': 1}", True),
        ('getattr(x, "page_size")', True),
        ("f(page_size=1)", True),
        ("f(kv_page_size=1)", False),
        ("page_size=1", False),
        ("f(\n page_size=1)", True),
        ("f(page_size==1)", False),
        ("self.page_size == 1", False),
        ("self.page_sizes = 1", False),
    ],
)
def test_a_text_may_write_one_field_by_assignment_key_or_keyword(text: str, may: bool) -> None:
    assert writer_of("page_size")(text) is may
