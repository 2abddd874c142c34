# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random Python files in random clothes, and random edits of them (Hypothesis strategies)."""

from __future__ import annotations

import typing as t

from hypothesis import strategies as st

WORDS = ("a", "bc", "é", "日本", "x y", "it's", "#", "\\\\")
COMMENTS = ("", "", "", "  # note", "  # naïve", "  # \\")


class Mark(t.NamedTuple):
    """A call with a number of its own, and the scope it stands in."""

    pattern: str
    scope: str | None


class Module(t.NamedTuple):
    data: bytes
    marks: list[Mark]
    scopes: list[str]
    safe: str  # text that the encoding has


class Builder:
    """Draws statements; `unit` is one level of indentation, `newline` a line end, or None for mixed ones."""

    def __init__(
        self, draw: t.Callable[[t.Any], t.Any], unit: str, newline: str | None, words: t.Sequence[str]
    ) -> None:
        self.draw = draw
        self.unit = unit
        self.newline = newline
        self.words = words
        self.text: list[str] = []
        self.marks: list[Mark] = []
        self.scopes: list[str] = []
        self.count = 0

    def line(self, depth: int, text: str) -> None:
        newline = self.newline or self.draw(st.sampled_from(["\n", "\r\n"]))
        self.text.append(self.unit * depth + text + newline)

    def call(self, scope: str | None) -> str:
        self.count += 1
        self.marks.append(Mark(f"mark_{self.count}(...)", scope))
        return f'mark_{self.count}("{self.draw(st.sampled_from(self.words))}")'

    def comment(self) -> str:
        text = self.draw(st.sampled_from(COMMENTS))
        return "" if "ï" in text and "é" not in self.words else str(text)

    def block(self, depth: int, scope: str | None) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(depth, scope)

    def statement(self, depth: int, scope: str | None) -> None:
        kinds = ["call", "assign", "semicolon", "oneline", "long", "string", "blank", "continued"]
        if depth < 3:
            kinds += ["if", "def", "class", "try", "with"]
        kind = self.draw(st.sampled_from(kinds))
        getattr(self, "_" + kind)(depth, scope)

    def _call(self, depth: int, scope: str | None) -> None:
        self.line(depth, self.call(scope) + self.comment())

    def _assign(self, depth: int, scope: str | None) -> None:
        self.line(depth, f"v = [{self.call(scope)}, {{**v}}, f'{{{self.call(scope).split('(')[0]}}}']{self.comment()}")
        del self.marks[-1]

    def _semicolon(self, depth: int, scope: str | None) -> None:
        self.line(
            depth, f"{self.call(scope)}; {self.call(scope)}" + self.draw(st.sampled_from(["", ";"])) + self.comment()
        )

    def _oneline(self, depth: int, scope: str | None) -> None:
        self.line(depth, f"if v: {self.call(scope)}{self.comment()}")

    def _long(self, depth: int, scope: str | None) -> None:
        self.line(depth, "v = (")
        self.line(depth, f"        {self.call(scope)},  # inside")
        self.line(0, f")[{self.call(scope)}]{self.comment()}")

    def _string(self, depth: int, scope: str | None) -> None:
        self.line(depth, f'v = """{self.draw(st.sampled_from(self.words)).replace(chr(92), "")}')
        self.line(0, f'  text """, {self.call(scope)}')

    def _continued(self, depth: int, scope: str | None) -> None:
        self.line(depth, "v = \\")
        self.line(0, f"  {self.call(scope)}")

    def _blank(self, depth: int, scope: str | None) -> None:
        self.line(0, self.draw(st.sampled_from(["", "   ", "\f", "# alone"])))
        self._call(depth, scope)

    def _if(self, depth: int, scope: str | None) -> None:
        self.line(depth, f"if {self.call(scope)}:{self.comment()}")
        self.block(depth + 1, scope)
        if self.draw(st.booleans()):
            self.line(depth, f"elif {self.call(scope)}:")
            self.block(depth + 1, scope)
        if self.draw(st.booleans()):
            self.line(depth, "else:")
            self.block(depth + 1, scope)

    def _with(self, depth: int, scope: str | None) -> None:
        self.line(depth, f"with {self.call(scope)} as w, {self.call(scope)}:")
        self.block(depth + 1, scope)

    def _try(self, depth: int, scope: str | None) -> None:
        self.line(depth, "try:")
        self.block(depth + 1, scope)
        self.line(depth, f"except {self.call(scope)} as e:{self.comment()}")
        self.block(depth + 1, scope)
        if self.draw(st.booleans()):
            self.line(depth, "finally:")
            self.block(depth + 1, scope)

    def _def(self, depth: int, scope: str | None) -> None:
        self.count += 1
        name = f"f{self.count}"
        if self.draw(st.booleans()):
            self.line(depth, f"@{self.call(scope)}{self.comment()}")
        prefix = self.draw(st.sampled_from(["", "async "]))
        self.line(depth, f"{prefix}def {name}(a={self.call(scope)}, *b, k, **c):{self.comment()}")
        self._body(depth, scope, name)

    def _class(self, depth: int, scope: str | None) -> None:
        self.count += 1
        name = f"C{self.count}"
        self.line(depth, f"class {name}({self.call(scope)}):")
        self._body(depth, scope, name)

    def _body(self, depth: int, scope: str | None, name: str) -> None:
        inner = f"{scope}.{name}" if scope else name
        self.scopes.append(inner)
        if self.draw(st.booleans()):
            self.line(depth + 1, '"""Doc.')
            self.line(0, '  more"""')
        self.block(depth + 1, inner)


@st.composite
def modules(draw: t.Callable[[t.Any], t.Any]) -> Module:
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "shift_jis"]))
    lacking = {"latin-1": "日本", "shift_jis": "é"}.get(encoding)
    words = [word for word in WORDS if word != lacking]
    builder = Builder(
        draw,
        draw(st.sampled_from(["    ", "\t", "  "])),
        draw(st.sampled_from(["\n", "\n", "\r\n", "\r", None])),
        words,
    )
    if encoding in ("latin-1", "shift_jis"):
        builder.line(0, f"# -*- coding: {encoding} -*-")
    builder.block(0, None)
    builder.block(0, None)
    text = "".join(builder.text)
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return Module(text.encode(encoding), builder.marks, builder.scopes, words[2])


def inserted(number: int, safe: str) -> st.SearchStrategy[str]:
    return st.sampled_from(
        [
            f"new_{number} = 1",
            f"new_{number}(\n    '{safe}',\n)  # why\n",
            f"# {safe}\nif new_{number}:\n    a = '''x\n y'''\nelse:\n    b()\n",
            f'def new_{number}(a):\n    """Doc.\n\n    More.\n    """\n    return f"{{a}} {safe}"\n',
            f"\nfor new_{number} in []:\n    pass\n",
        ]
    )


@st.composite
def edits_of(draw: t.Callable[[t.Any], t.Any], module: Module) -> list[dict[str, t.Any]]:
    """One to three edits; some will be refused, which is fine."""
    edits: list[dict[str, t.Any]] = []
    for number in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["after", "before", "replace", "at"]))
        insert = draw(inserted(number, module.safe))
        if kind == "at":
            edit = {"at": draw(st.sampled_from(["start", "end"])), "insert": insert}
            scope = draw(st.sampled_from([None, *module.scopes]))
        else:
            mark = draw(st.sampled_from(module.marks))
            edit, scope = {kind: mark.pattern, "insert": insert}, mark.scope
            if kind == "replace":
                edit["insert"] = draw(st.sampled_from([f"new_{number}(1)", f"new_{number}(\n    1)", ""]))
        if scope:
            edit["in"] = scope
        edits.append(edit)
    return edits
