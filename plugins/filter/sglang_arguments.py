# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SGLang's options as one dictionary, turned into the words of a command line."""

from __future__ import annotations

DOCUMENTATION = r"""
name: sglang_arguments
author:
  - inferops contributors (@inferops)
version_added: 0.1.0
short_description: Turn a dictionary of SGLang options into command line arguments
description:
  - Names are written as SGLang writes its flags, with dashes or with underscores; leading dashes are optional.
  - V(true) gives the bare flag. V(false) and V(null) leave the option out. A list gives several values.
    A dictionary becomes JSON. Everything else is one value.
  - An option that stands there in both spellings is refused, and so is a secret, because the command line of a
    process is readable by everybody on the host.
positional: _input
options:
  _input:
    description: The options.
    type: dict
    required: true
  defaults:
    description: Options that hold where O(_input) says nothing. V(false) in O(_input) takes one of them away.
    type: dict
    default: {}
  managed:
    description: Options whose value does not come from O(_input). They stand first.
    type: dict
    default: {}
  reserved:
    description: Names of options that O(_input) may not hold, each with the variable that sets it instead.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Show what SGLang will be started with
  ansible.builtin.debug:
    msg: "{{ options | inferops.blackwell.sglang_arguments }}"
  vars:
    options:
      speculative_algorithm: EAGLE3
      speculative-num-steps: 3
      cuda-graph-bs: [1, 2, 4, 8]
      json-model-override-args: {rope_theta: 500000}
      enable-metrics: true
      disable-radix-cache: false
    # => --speculative-algorithm EAGLE3 --speculative-num-steps 3 --cuda-graph-bs 1 2 4 8
    #    --json-model-override-args {"rope_theta":500000} --enable-metrics
"""

RETURN = r"""
_value:
  description:
    - The words, in the order of the dictionary.
    - A value that starts with a dash is joined to its option with C(=).
  type: list
  elements: str
"""

import json  # noqa: E402
import re  # noqa: E402
import typing as t  # noqa: E402
from collections.abc import Mapping  # noqa: E402

from ansible.errors import AnsibleFilterError  # noqa: E402

# Option -> what to do instead. SGLang reads the keys from the file behind --config as well.
SECRETS = {
    "api-key": "set server_api_key",
    "admin-api-key": "set server_admin_api_key",
    "hf-token": "set HF_TOKEN in server_environment",
    "huggingface-token": "set HF_TOKEN in server_environment",
    "ssl-keyfile-password": "give the service a key file without a passphrase that only its user can read",
}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*")


def _option(name: t.Any) -> str:
    """The option as SGLang spells it, without the leading dashes."""
    option = str(name).strip()
    option = option[2:] if option.startswith("--") else option
    option = option.replace("_", "-")
    if not _NAME.fullmatch(option):
        raise AnsibleFilterError(
            f"{name!r} is not the name of an SGLang option. Write it as SGLang does, without a value in it: "
            "'mem-fraction-static: 0.8'"
        )
    return option


def _normalised(options: t.Any, what: str) -> dict[str, t.Any]:
    """The same dictionary under normalised names; the same option twice is an error."""
    if not isinstance(options, Mapping):
        raise AnsibleFilterError(f"{what} is a dictionary of SGLang options, got {type(options).__name__}: {options!r}")
    spelled: dict[str, t.Any] = {}
    values: dict[str, t.Any] = {}
    for name, value in options.items():
        option = _option(name)
        if option in spelled:
            raise AnsibleFilterError(
                f"{what} has the option --{option} twice, as {str(spelled[option])!r} and as {str(name)!r}: keep one"
            )
        spelled[option] = name
        values[option] = value
    return values


def _word(option: str, value: t.Any) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value, separators=(",", ":"))
    if value is None or isinstance(value, (bool, list, tuple)):
        raise AnsibleFilterError(
            f"--{option} has {value!r} among its values: a list holds strings, numbers and dictionaries. "
            "Quote true, false and null where the words are meant"
        )
    word = str(value)
    if word == "--":
        raise AnsibleFilterError(f"the value of --{option} is --, which no command line can carry: it ends the options")
    if "\n" in word or "\0" in word:
        raise AnsibleFilterError(f"the value of --{option} holds a line break or a zero byte: {word!r}")
    return word


def _words(option: str, value: t.Any) -> list[str]:
    """What one option adds to the command line."""
    if value is None or value is False or value == []:
        return []
    if value is True:
        return [f"--{option}"]
    if isinstance(value, (list, tuple)):
        words = [_word(option, item) for item in value]
        dashed = [word for word in words if word.startswith("-")]
        if dashed and len(words) > 1:
            raise AnsibleFilterError(
                f"{dashed[0]!r} among the values of --{option} starts with a dash: SGLang would read it as an option"
            )
    else:
        words = [_word(option, value)]
    if len(words) == 1 and words[0].startswith("-"):
        return [f"--{option}={words[0]}"]
    return [f"--{option}", *words]


def sglang_arguments(
    options: t.Any,
    defaults: Mapping[str, t.Any] | None = None,
    managed: Mapping[str, t.Any] | None = None,
    reserved: Mapping[str, str] | None = None,
) -> list[str]:
    """Dictionary of SGLang options -> list of words; see DOCUMENTATION for the rules.

    Raises AnsibleFilterError for a name that cannot be an option, an option given twice, a value that the
    command line cannot carry, a secret, and an option that belongs to a variable of its own.
    """
    given = _normalised({} if options is None else options, "the dictionary")
    own = _normalised(managed or {}, "managed")
    for option, variable in (reserved or {}).items():
        if _option(option) in given:
            raise AnsibleFilterError(f"--{_option(option)} is set by the variable {variable}: set it there")
    for option in own:
        if option in given:
            raise AnsibleFilterError(f"--{option} is set by the role itself: leave it out")
    for option, instead in SECRETS.items():
        if given.get(option) not in (None, False):
            raise AnsibleFilterError(
                f"--{option} would show a secret to everybody who can list the processes of the host: {instead}"
            )
    base = {option: value for option, value in _normalised(defaults or {}, "defaults").items() if option not in own}
    merged = {**own, **base, **given}
    return [word for option, value in merged.items() for word in _words(option, value)]


class FilterModule:
    """Filters of this file, for Ansible's loader."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"sglang_arguments": sglang_arguments}
