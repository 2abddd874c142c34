# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same edits as a LibCST codemod: what somebody would write who does not use the engine.

It parses, inserts and writes. It makes no backup, proves nothing and cannot go back.
"""

from __future__ import annotations

import typing as t
from pathlib import Path

import libcst
import libcst.matchers as m

Statement = t.Union[libcst.BaseStatement, libcst.BaseSmallStatement]
Body = t.Sequence[libcst.BaseStatement]

_OPTION = m.SimpleString('"--speculative-accept-threshold-acc"')
_DRAFT = m.Call(
    func=m.Attribute(value=m.Attribute(value=m.Name("self"), attr=m.Name("draft_worker")), attr=m.Name("draft"))
)

_ADD_ARGUMENT = m.Call(m.Attribute(m.Name("parser"), m.Name("add_argument")), [m.Arg(_OPTION), m.ZeroOrMore()])
_DRAFT_FIRST = m.IndentedBlock([m.SimpleStatementLine([m.AnnAssign(value=_DRAFT)]), m.ZeroOrMore()])

# The anchors of the recipe for 0.5.9, as matchers; a codemod has them in its code.
ANCHORS: dict[tuple[str, str], m.BaseMatcherNode] = {
    ("ServerArgs", "after"): m.AnnAssign(target=m.Name("speculative_accept_threshold_acc")),
    ("ServerArgs.add_cli_args", "after"): m.Expr(_ADD_ARGUMENT),
    ("", "after"): m.ImportFrom(module=m.Attribute(attr=m.Name("base_spec_worker"))),
    ("EAGLEWorkerV2.forward_batch_generation", "before"): m.With(body=_DRAFT_FIRST),
}


class Codemod(libcst.CSTTransformer):
    """Edits by scope; `in` and one of `at`, `after` and `before`, as in a recipe."""

    def __init__(self, edits: t.Sequence[dict[str, t.Any]]) -> None:
        super().__init__()
        self._edits = {
            (edit.get("in", ""), edit.get("at") or ("after" if "after" in edit else "before")): edit for edit in edits
        }
        self._scope: list[str] = []
        self.done = 0

    def _new(self, place: str) -> list[libcst.BaseStatement]:
        edit = self._edits.get((".".join(self._scope), place))
        if edit is None:
            return []
        self.done += 1
        return list(libcst.parse_module(edit["insert"]).body)

    def visit_ClassDef(self, node: libcst.ClassDef) -> None:
        self._scope.append(node.name.value)

    def visit_FunctionDef(self, node: libcst.FunctionDef) -> None:
        self._scope.append(node.name.value)

    def leave_ClassDef(self, original_node: libcst.ClassDef, updated_node: libcst.ClassDef) -> libcst.BaseStatement:
        return self._leave(updated_node)

    def leave_FunctionDef(
        self, original_node: libcst.FunctionDef, updated_node: libcst.FunctionDef
    ) -> libcst.BaseStatement:
        return self._leave(updated_node)

    def _leave(self, node: t.Any) -> libcst.BaseStatement:
        start, end = self._new("start"), self._new("end")
        self._scope.pop()
        if not start and not end:
            return node
        body = list(node.body.body)
        at = 1 if node.get_docstring() is not None else 0
        return node.with_changes(body=node.body.with_changes(body=[*body[:at], *start, *body[at:], *end]))

    def leave_SimpleStatementLine(
        self, original_node: libcst.SimpleStatementLine, updated_node: libcst.SimpleStatementLine
    ) -> t.Any:
        return self._beside(original_node.body[0], updated_node)

    def leave_With(self, original_node: libcst.With, updated_node: libcst.With) -> t.Any:
        return self._beside(original_node, updated_node)

    def _beside(self, anchor: libcst.CSTNode, node: libcst.BaseStatement) -> t.Any:
        scope = ".".join(self._scope)
        for place in ("before", "after"):
            matcher = ANCHORS.get((scope, place))
            if matcher is not None and (scope, place) in self._edits and m.matches(anchor, matcher):
                new = self._new(place)
                return libcst.FlattenSentinel([*new, node] if place == "before" else [node, *new])
        return node


def patch(root: Path, files: t.Sequence[dict[str, t.Any]]) -> None:
    for file in files:
        path = root / file["path"]
        if "content" in file:
            path.write_text(file["content"])
            continue
        codemod = Codemod(file["edits"])
        module = libcst.parse_module(path.read_bytes())
        path.write_bytes(module.visit(codemod).bytes)
        assert codemod.done == len(file["edits"]), f"{file['path']}: {codemod.done} of {len(file['edits'])} edits done"
