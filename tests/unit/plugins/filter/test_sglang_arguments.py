# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import argparse

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.inferops.blackwell.plugins.filter.sglang_arguments import (
    SECRETS,
    FilterModule,
    sglang_arguments,
)
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, ["--option"]),
        (False, []),
        (None, []),
        ([], []),
        ("EAGLE3", ["--option", "EAGLE3"]),
        ("", ["--option", ""]),
        (0, ["--option", "0"]),
        (0.8, ["--option", "0.8"]),
        ("true", ["--option", "true"]),
        (-1, ["--option=-1"]),
        ("-x", ["--option=-x"]),
        (["-x"], ["--option=-x"]),
        ([1, 2, 4], ["--option", "1", "2", "4"]),
        ({"a": [1, None], "b": "ü"}, ["--option", '{"a":[1,null],"b":"\\u00fc"}']),
        ([{"a": 1}, "b"], ["--option", '{"a":1}', "b"]),
    ],
)
def test_each_kind_of_value_has_one_form(value: object, words: list[str]) -> None:
    assert sglang_arguments({"option": value}) == words


@pytest.mark.parametrize(
    "name", ["mem-fraction-static", "mem_fraction_static", "--mem-fraction-static", "mem-fraction_static"]
)
def test_dashes_and_underscores_are_the_same_name(name: str) -> None:
    assert sglang_arguments({name: 0.5}) == ["--mem-fraction-static", "0.5"]


def test_both_spellings_of_one_option_are_refused_and_named() -> None:
    with pytest.raises(AnsibleFilterError, match="twice, as 'tp-size' and as 'tp_size'"):
        sglang_arguments({"tp-size": 8, "tp_size": 4})


@pytest.mark.parametrize("name", ["", "--", "a b", "tp=8", "-x", "a--b", "ü", "x;y", 3])
def test_what_cannot_be_an_option_is_refused(name: object) -> None:
    with pytest.raises(AnsibleFilterError, match="is not the name of an SGLang option"):
        sglang_arguments({name: 1})


@pytest.mark.parametrize("name", sorted(SECRETS))
@pytest.mark.parametrize("spell", [str, lambda name: name.replace("-", "_")])
def test_a_secret_is_refused_with_the_variable_to_use_and_is_not_shown(name: str, spell: object) -> None:
    with pytest.raises(AnsibleFilterError) as refused:
        sglang_arguments({spell(name): "hunter2"})  # type: ignore[operator]
    assert SECRETS[name] in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_secret_that_is_switched_off_is_no_secret() -> None:
    assert sglang_arguments({"api-key": None, "admin_api_key": False}) == []


@pytest.mark.parametrize("value", [[True], [None], [["a"]], ["a", False]])
def test_a_list_of_something_else_than_values_is_refused(value: object) -> None:
    with pytest.raises(AnsibleFilterError, match="among its values"):
        sglang_arguments({"option": value})


def test_one_of_several_values_may_not_look_like_an_option() -> None:
    with pytest.raises(AnsibleFilterError, match="starts with a dash"):
        sglang_arguments({"option": ["a", "--port"]})


@pytest.mark.parametrize("value", ["a\nb", "a\0b", ["a", "b\nc"]])
def test_what_a_line_of_a_launch_file_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(AnsibleFilterError, match="line break"):
        sglang_arguments({"option": value})


@pytest.mark.parametrize("value", ["--", ["--"], ["a", "--"]])
def test_the_end_of_the_options_is_no_value(value: object) -> None:
    with pytest.raises(AnsibleFilterError, match="ends the options"):
        sglang_arguments({"option": value})


@pytest.mark.parametrize("options", [["--tp", 8], "--tp 8", 3])
def test_something_else_than_a_dictionary_is_refused(options: object) -> None:
    with pytest.raises(AnsibleFilterError, match="is a dictionary"):
        sglang_arguments(options)


def test_the_user_overrides_and_removes_defaults_in_either_spelling() -> None:
    defaults = {"dtype": "float32", "mem-fraction-static": 0.1, "disable-overlap-schedule": True}
    given_options = {"mem_fraction_static": 0.4, "disable_overlap_schedule": False, "log-level": "info"}
    assert sglang_arguments(given_options, defaults=defaults) == [
        *("--dtype", "float32", "--mem-fraction-static", "0.4", "--log-level", "info"),
    ]


def test_managed_options_stand_first_and_win_over_defaults() -> None:
    words = sglang_arguments({"tp": 8}, defaults={"port": 1}, managed={"port": 30000})
    assert words == ["--port", "30000", "--tp", "8"]


def test_a_managed_option_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match="--port is set by the role"):
        sglang_arguments({"port": 1}, managed={"port": 30000})


def test_a_reserved_option_is_refused_with_the_name_of_its_variable() -> None:
    with pytest.raises(AnsibleFilterError, match="--port is set by the variable server_port"):
        sglang_arguments({"port": 1}, managed={"port": 30000}, reserved={"port": "server_port"})
    assert sglang_arguments({"tp": 1}, reserved={"port": "server_port"}) == ["--tp", "1"]


def test_the_input_stays_as_it_was() -> None:
    options = {"a_b": [1], "c": {"d": 1}}
    sglang_arguments(options, defaults={"e": 1})
    assert options == {"a_b": [1], "c": {"d": 1}}


VALUES = st.text(st.characters(exclude_characters="\n\0")).filter(lambda text: text != "--")


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{3,6}(-[a-z]{1,4}){0,2}", fullmatch=True),
        st.one_of(st.booleans(), st.integers(), VALUES),
        max_size=6,
    ).filter(lambda options: not SECRETS.keys() & options.keys() and "help" not in options)
)
def test_argparse_reads_back_what_was_given(options: dict[str, object]) -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name, value in options.items():
        parser.add_argument(f"--{name}", dest=name, **({"action": "store_true"} if isinstance(value, bool) else {}))  # type: ignore[arg-type]
    read = vars(parser.parse_args(sglang_arguments(options)))
    assert read == {name: value if isinstance(value, bool) else str(value) for name, value in options.items()}


def test_the_filter_is_found_under_its_name() -> None:
    assert FilterModule().filters() == {"sglang_arguments": sglang_arguments}
