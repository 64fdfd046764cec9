"""[[summaries]] of hosts.toml: a summary a day, or one sentence that says what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import Settings, SettingsError, load
from bot.settings.schedule import WEEK

HOSTS = '[hosts.CT129]\ngroups = ["A6000"]\n[hosts.CT130]\n'


def read(folder: Path, text: str) -> Settings | str:
    path = folder / "hosts.toml"
    path.write_text(HOSTS + text, encoding="utf-8")
    try:
        return load({"PERFSLEUTH_HOSTS": str(path)})
    except SettingsError as why:
        return str(why)


def test_a_summary_names_its_channel_and_has_the_rest_by_default(tmp_path: Path) -> None:
    found = read(tmp_path, '[[summaries]]\nchannel = "C0GPU"\n')
    assert isinstance(found, Settings)
    (one,) = found.summaries
    assert (one.channel, one.at, one.zone, one.days, one.groups) == (
        "C0GPU", "08:30", "UTC", WEEK, (),
    )  # fmt: skip
    assert found.of_groups(one.groups) == ("CT129", "CT130")


def test_days_are_a_text_or_a_list_and_groups_have_no_case(tmp_path: Path) -> None:
    text = '[[summaries]]\nchannel = "C0GPU"\nat = "07:00"\nzone = "Europe/Berlin"\n'
    one = read(tmp_path, f'{text}days = "mon-fri"\ngroups = ["a6000"]\n')
    other = read(tmp_path, f'{text}days = ["mon", "fri"]\n')
    assert isinstance(one, Settings)
    assert isinstance(other, Settings)
    assert one.summaries[0].days == WEEK[:5]
    assert one.of_groups(one.summaries[0].groups) == ("CT129",)
    assert other.summaries[0].days == ("mon", "fri")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "[[summaries]] no. 1: channel is missing."),
        ('channel = "#gpu"', "[[summaries]] no. 1: channel: '#gpu' is no channel: write its id, as C0123ABCD."),
        ('channel = "C1"\nat = "8:30"', "at: '8:30' is no time of day: write it as 08:30."),
        ('channel = "C1"\nzone = "Berlin"', "zone: 'Berlin' is no time zone: name one as Europe/Berlin, or UTC."),
        ('channel = "C1"\ndays = "weekdays"', "days: 'weekdays' names no days: write mon-fri, or sat,sun, or daily."),
        ('channel = "C1"\nhour = 8', "[[summaries]] no. 1: hour is unknown here; see how it is spelt."),
        ('channel = "C1"\ngroups = ["b200"]', "[[summaries]] names the group b200, and no host is in it."),
        (
            'channel = "C1"\n[[summaries]]\nchannel = "C1"\nat = "09:00"',
            "[[summaries]] tells all twice in C1: once a day is enough.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    said = read(tmp_path, f"[[summaries]]\n{text}\n")
    assert isinstance(said, str)
    assert said.endswith(says)
    assert "\n" not in said


def test_one_summary_in_single_brackets_is_told_of_the_double_ones(tmp_path: Path) -> None:
    said = read(tmp_path, '[summaries]\nchannel = "C1"\n')
    assert isinstance(said, str)
    assert said.endswith("each summary is a table [[summaries]] of its own, in double brackets.")
