# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a node match a pattern's node? Rules 4 to 10 of the contract.

Generic over the syntax tree's own fields, so that statements of newer Pythons (match, except*,
type parameters) need no code of their own.
"""

from __future__ import annotations

import ast
import typing as t

from .pattern import is_wildcard, is_wildcard_statement

# Not part of the meaning: load or store, the u of u"", comments read as types.
IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
# Lists in which `...` is any run of elements. Call and ClassDef have rules of their own below.
ELEMENTS = frozenset({("Tuple", "elts"), ("List", "elts"), ("Set", "elts"), ("With", "items"), ("AsyncWith", "items")})
BODIES = frozenset({"body", "orelse", "finalbody"})

Node = t.TypeVar("Node")


def same_constant(one: object, other: object) -> bool:
    """Type and value: 1 is not True and not 1.0."""
    return type(one) is type(other) and one == other


def matches(pattern: ast.AST, node: ast.AST) -> bool:
    """True where `node` is what `pattern` describes."""
    if is_wildcard(pattern):
        return isinstance(node, ast.expr)
    if type(pattern) is not type(node):
        return False
    rule = _RULES.get(type(pattern))
    if rule is not None:
        return rule(pattern, node)
    return all(_field_matches(pattern, node, name) for name in pattern._fields if name not in IGNORED)


def _field_matches(pattern: ast.AST, node: ast.AST, name: str) -> bool:
    wanted = getattr(pattern, name, None)
    found = getattr(node, name, None)
    if isinstance(wanted, list):
        return isinstance(found, list) and _list_matches(type(pattern).__name__, name, wanted, found)
    if isinstance(wanted, ast.AST):
        return isinstance(found, ast.AST) and matches(wanted, found)
    return same_constant(wanted, found)


def _list_matches(owner: str, name: str, wanted: list[t.Any], found: list[t.Any]) -> bool:
    if name in BODIES:
        # Rule 8: a clause that is written must be there, one that is not must be absent.
        if bool(wanted) != bool(found):
            return False
        return run_matches(wanted, found, is_wildcard_statement)
    if (owner, name) in ELEMENTS:
        return run_matches(wanted, found, _is_wildcard_element)
    return _each_matches(wanted, found)


def _each_matches(wanted: list[t.Any], found: list[t.Any]) -> bool:
    return len(wanted) == len(found) and all(_item_matches(*pair) for pair in zip(wanted, found))


def _item_matches(wanted: t.Any, found: t.Any) -> bool:
    if isinstance(wanted, ast.AST):
        return isinstance(found, ast.AST) and matches(wanted, found)
    return same_constant(wanted, found)


def _is_wildcard_element(node: object) -> bool:
    if isinstance(node, ast.withitem):
        return is_wildcard(node.context_expr) and node.optional_vars is None
    return is_wildcard(node)


def run_matches(wanted: list[Node], found: list[Node], wildcard: t.Callable[[object], bool]) -> bool:
    """The whole of `found`, where each wildcard takes any run of it, also none."""
    at = position = 0
    retry: tuple[int, int] | None = None
    while position < len(found):
        if at < len(wanted) and wildcard(wanted[at]):
            retry = (at + 1, position)
            at += 1
        elif at < len(wanted) and _item_matches(wanted[at], found[position]):
            at += 1
            position += 1
        elif retry is not None:
            retry = (retry[0], retry[1] + 1)
            at, position = retry
        else:
            return False
    return all(wildcard(rest) for rest in wanted[at:])


def _arguments_match(
    wanted: list[ast.expr],
    found: list[ast.expr],
    wanted_keywords: list[ast.keyword],
    found_keywords: list[ast.keyword],
) -> bool:
    """Rules 5 and 7: keywords by name, in any order, exact unless `...` stands among the arguments."""
    open_ended = any(is_wildcard(argument) for argument in wanted)
    if not run_matches(wanted, found, is_wildcard):
        return False
    if len(wanted_keywords) > len(found_keywords) or (not open_ended and len(wanted_keywords) != len(found_keywords)):
        return False
    rest = list(found_keywords)
    for keyword in wanted_keywords:
        for index, candidate in enumerate(rest):
            if keyword.arg == candidate.arg and matches(keyword.value, candidate.value):
                del rest[index]
                break
        else:
            return False
    return True


def _call_matches(pattern: ast.Call, node: ast.Call) -> bool:
    return matches(pattern.func, node.func) and _arguments_match(
        pattern.args, node.args, pattern.keywords, node.keywords
    )


def _class_matches(pattern: ast.ClassDef, node: ast.ClassDef) -> bool:
    if pattern.name != node.name or not _decoration_matches(pattern, node):
        return False
    if (pattern.bases or pattern.keywords) and not _arguments_match(
        pattern.bases, node.bases, pattern.keywords, node.keywords
    ):
        return False
    return run_matches(pattern.body, node.body, is_wildcard_statement)


def _function_matches(pattern: t.Any, node: t.Any) -> bool:
    if pattern.name != node.name or not _decoration_matches(pattern, node):
        return False
    if pattern.returns is not None and (node.returns is None or not matches(pattern.returns, node.returns)):
        return False
    return _parameters_match(pattern.args, node.args) and run_matches(pattern.body, node.body, is_wildcard_statement)


def _decoration_matches(pattern: t.Any, node: t.Any) -> bool:
    """Decorators and type parameters, compared only where written (rule 9)."""
    for name in ("decorator_list", "type_params"):
        wanted = getattr(pattern, name, None)
        if wanted and not _each_matches(wanted, getattr(node, name, None) or []):
            return False
    return True


def _parameters_match(pattern: ast.arguments, node: ast.arguments) -> bool:
    wanted = _parameters(pattern)
    if not wanted:
        return True
    found = _parameters(node)
    if [(kind, arg.arg) for kind, arg, _default in wanted] != [(kind, arg.arg) for kind, arg, _default in found]:
        return False
    for (_kind, arg, default), (_kind2, other, other_default) in zip(wanted, found):
        for part, other_part in ((arg.annotation, other.annotation), (default, other_default)):
            if part is not None and (other_part is None or not matches(part, other_part)):
                return False
    return True


def _parameters(arguments: ast.arguments) -> list[tuple[str, ast.arg, ast.expr | None]]:
    """(kind, parameter, default) in order."""
    positional = arguments.posonlyargs + arguments.args
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults.extend(arguments.defaults)
    result: list[tuple[str, ast.arg, ast.expr | None]] = []
    for index, (arg, default) in enumerate(zip(positional, defaults)):
        result.append(("/" if index < len(arguments.posonlyargs) else "", arg, default))
    if arguments.vararg is not None:
        result.append(("*", arguments.vararg, None))
    result.extend([("=", arg, default) for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults)])
    if arguments.kwarg is not None:
        result.append(("**", arguments.kwarg, None))
    return result


_RULES: dict[type[ast.AST], t.Callable[[t.Any, t.Any], bool]] = {
    ast.Call: _call_matches,
    ast.ClassDef: _class_matches,
    ast.FunctionDef: _function_matches,
    ast.AsyncFunctionDef: _function_matches,
    ast.arguments: _parameters_match,
}
