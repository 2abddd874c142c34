# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorded tree: what is noticed, what is given back, and what is never lost."""

from __future__ import annotations

import base64
import hashlib
import os
import stat

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils import _source_manifest as manifests
from ansible_collections.inferops.blackwell.plugins.module_utils._source_manifest_states import (
    Request,
    record,
    restored,
    verify,
)

SERVER = "sglang/srt/server_args.py"


@pytest.fixture
def tree(tmp_path):
    """A small package with a nested directory, a script, bytecode, a link and a file that is not text."""
    root = tmp_path / "src"
    (root / "sglang/srt/__pycache__").mkdir(parents=True)
    (root / "sglang/__init__.py").write_text("")
    (root / SERVER).write_text("value = 1\n")
    (root / "sglang/srt/__pycache__/server_args.cpython-311.pyc").write_bytes(b"stale")
    (root / "sglang/run.sh").write_text("#!/bin/sh\n")
    (root / "sglang/run.sh").chmod(0o755)
    (root / "sglang/table.bin").write_bytes(b"\xff\x00\xfe")
    (root / "sglang/alias.py").symlink_to("__init__.py")
    (root / "other").mkdir()
    (root / "other/x.py").write_text("not ours\n")
    return root


@pytest.fixture
def request_for(tree, tmp_path):
    def make(**options):
        return Request(
            root=tree,
            package="sglang",
            manifest=tmp_path / "source-manifest.json",
            archive=tmp_path / "source.tar.gz",
            **options,
        )

    return make


@pytest.fixture
def recorded(request_for):
    return record(request_for())


def sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


class TestRecord:
    def test_names_every_file_of_the_package_but_no_bytecode(self, recorded, request_for):
        files = manifests.load(request_for().manifest)["files"]
        assert sorted(files) == [
            "sglang/__init__.py",
            "sglang/alias.py",
            "sglang/run.sh",
            SERVER,
            "sglang/table.bin",
        ]
        assert files[SERVER] == {"sha256": sha256(b"value = 1\n"), "size": 10}
        assert files["sglang/alias.py"] == {"link": "__init__.py"}
        assert recorded["changed"]

    def test_that_exists_is_kept_though_the_tree_has_changed(self, recorded, tree, request_for):
        (tree / SERVER).write_text("patched = 1\n")
        again = record(request_for())
        assert not again["changed"]
        assert again["digest"] == recorded["digest"]

    def test_is_made_anew_when_its_archive_is_gone(self, recorded, request_for):
        request_for().archive.unlink()
        assert record(request_for())["changed"]
        assert request_for().archive.exists()

    def test_writes_nothing_in_check_mode_and_predicts_the_same(self, tree, request_for):
        predicted = record(request_for(check_mode=True))
        assert not request_for().manifest.exists()
        assert not request_for().archive.exists()
        assert record(request_for()) == predicted

    def test_gives_the_same_archive_for_the_same_bytes(self, recorded, tree, request_for):
        before = request_for().archive.read_bytes()
        os.utime(tree / SERVER, (1, 1))
        request_for().archive.unlink()
        record(request_for())
        assert request_for().archive.read_bytes() == before

    def test_without_the_package_says_what_root_means(self, tree, request_for):
        with pytest.raises(manifests.ManifestError, match="directory that contains the package"):
            manifests.scan(tree / "sglang", "sglang")


class TestWheelRecord:
    @staticmethod
    def write(tree, contents):
        info = tree / "sglang-0.5.9.dist-info"
        info.mkdir()
        rows = [
            f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
            for path, data in contents.items()
        ]
        (info / "RECORD").write_text("\n".join([*rows, "sglang-0.5.9.dist-info/RECORD,,"]) + "\n")

    def test_equal_files_are_said_to_be_the_wheel_s(self, tree):
        for name in ("alias.py", "run.sh", "table.bin"):
            (tree / "sglang" / name).unlink()
        self.write(tree, {"sglang/__init__.py": b"", SERVER: b"value = 1\n"})
        found = manifests.compare_to_record(tree, "sglang", manifests.scan(tree, "sglang"))
        assert found["compared"] == 2
        assert found["differing"] == []

    def test_changed_missing_and_added_files_are_named(self, tree):
        self.write(tree, {"sglang/__init__.py": b"", SERVER: b"value = 2\n", "sglang/gone.py": b"x"})
        found = manifests.compare_to_record(tree, "sglang", manifests.scan(tree, "sglang"))
        assert found["differing"] == [
            "sglang/alias.py",
            "sglang/gone.py",
            "sglang/run.sh",
            SERVER,
            "sglang/table.bin",
        ]

    def test_an_editable_install_s_record_names_no_file_of_the_package(self, tree):
        self.write(tree, {"__editable__.sglang-0.5.9.pth": b""})
        assert manifests.compare_to_record(tree, "sglang", manifests.scan(tree, "sglang")) is None


class TestVerify:
    def test_an_untouched_tree_matches_whatever_its_bytecode(self, recorded, tree, request_for):
        (tree / "sglang/srt/__pycache__/new.cpython-311.pyc").write_bytes(b"new")
        result = verify(request_for())
        assert result["matches"]
        assert not result["changed"]

    def test_changed_missing_and_extra_files_are_listed_with_hashes(self, recorded, tree, request_for):
        (tree / SERVER).write_text("value = 2\n")
        (tree / "sglang/table.bin").unlink()
        (tree / "sglang/extra.py").write_text("x")
        result = verify(request_for())
        assert not result["matches"]
        assert result["changed_files"] == [
            {"path": SERVER, "sha256_expected": sha256(b"value = 1\n"), "sha256_found": sha256(b"value = 2\n")}
        ]
        assert [entry["path"] for entry in result["missing_files"]] == ["sglang/table.bin"]
        assert result["missing_files"][0]["sha256_found"] is None
        assert [entry["path"] for entry in result["extra_files"]] == ["sglang/extra.py"]

    def test_a_link_that_became_a_file_is_a_change(self, recorded, tree, request_for):
        (tree / "sglang/alias.py").unlink()
        (tree / "sglang/alias.py").write_text("")
        assert [entry["path"] for entry in verify(request_for())["changed_files"]] == ["sglang/alias.py"]

    def test_files_of_a_patch_set_are_left_out_by_path_or_glob(self, recorded, tree, request_for):
        (tree / SERVER).write_text("patched\n")
        (tree / "sglang/srt/ours.py").write_text("ours\n")
        assert verify(request_for(excepted=[SERVER, "sglang/srt/our*.py"]))["matches"]
        assert not verify(request_for(excepted=[SERVER]))["matches"]

    def test_without_a_record_the_message_says_how_to_make_one(self, tree, request_for):
        with pytest.raises(manifests.ManifestError, match="state=recorded"):
            verify(request_for())

    def test_a_damaged_record_is_named(self, recorded, request_for):
        request_for().manifest.write_text('{"format": 1, ')
        with pytest.raises(manifests.ManifestError, match="source-manifest.json"):
            verify(request_for())


class TestRestore:
    def test_gives_changed_and_missing_files_back_and_keeps_what_was_there(self, recorded, tree, request_for, tmp_path):
        (tree / SERVER).write_text("value = 2\n")
        (tree / "sglang/table.bin").unlink()
        (tree / "sglang/run.sh").unlink()
        result = restored(request_for(aside=tmp_path / "aside"))
        assert result["restored"] == ["sglang/run.sh", SERVER, "sglang/table.bin"]
        assert result["matches"]
        assert (tree / SERVER).read_text() == "value = 1\n"
        assert (tree / "sglang/table.bin").read_bytes() == b"\xff\x00\xfe"
        assert stat.S_IMODE((tree / "sglang/run.sh").stat().st_mode) == 0o755
        assert (tmp_path / "aside" / SERVER).read_text() == "value = 2\n"

    def test_takes_stale_bytecode_away(self, recorded, tree, request_for):
        (tree / SERVER).write_text("value = 2\n")
        restored(request_for())
        assert list((tree / "sglang/srt/__pycache__").iterdir()) == []

    def test_does_not_write_through_a_hard_link(self, recorded, tree, request_for, tmp_path):
        (tree / SERVER).write_text("value = 2\n")
        os.link(tree / SERVER, tmp_path / "cache.py")
        restored(request_for())
        assert (tmp_path / "cache.py").read_text() == "value = 2\n"

    def test_without_differences_changes_nothing(self, recorded, request_for, tmp_path):
        result = restored(request_for(aside=tmp_path / "aside"))
        assert not result["changed"]
        assert result["aside"] == ""
        assert not (tmp_path / "aside").exists()

    def test_of_named_files_leaves_the_others_and_takes_a_named_extra_away(self, recorded, tree, request_for, tmp_path):
        (tree / SERVER).write_text("value = 2\n")
        (tree / "sglang/__init__.py").write_text("mine\n")
        (tree / "sglang/extra.py").write_text("extra\n")
        result = restored(request_for(files=[SERVER, "sglang/extra.py"], aside=tmp_path / "aside"))
        assert result["restored"] == ["sglang/extra.py", SERVER]
        assert (tree / "sglang/__init__.py").read_text() == "mine\n"
        assert not (tree / "sglang/extra.py").exists()
        assert (tmp_path / "aside/sglang/extra.py").read_text() == "extra\n"

    def test_leaves_extra_files_unless_told(self, recorded, tree, request_for):
        (tree / "sglang/extra.py").write_text("extra\n")
        assert restored(request_for())["restored"] == []
        assert restored(request_for(remove_extra=True))["restored"] == ["sglang/extra.py"]

    def test_in_check_mode_shows_the_same_and_touches_nothing(self, recorded, tree, request_for, tmp_path):
        (tree / SERVER).write_text("value = 2\n")
        predicted = restored(request_for(check_mode=True, aside=tmp_path / "aside"))
        assert (tree / SERVER).read_text() == "value = 2\n"
        assert not (tmp_path / "aside").exists()
        real = restored(request_for(aside=tmp_path / "aside"))
        assert (predicted["changed"], predicted["restored"], predicted["diff"]) == (
            real["changed"],
            real["restored"],
            real["diff"],
        )
        assert real["diff"][0]["before"] == "value = 2\n"
        assert real["diff"][0]["after"] == "value = 1\n"

    def test_from_an_archive_of_other_bytes_is_refused_before_anything_moves(self, recorded, tree, request_for):
        (tree / "sglang/table.bin").write_bytes(b"other")
        (tree / SERVER).write_text("value = 2\n")
        manifests.write_archive(tree, ["sglang/table.bin", SERVER], request_for().archive)
        with pytest.raises(manifests.ManifestError, match="does not hold the recorded bytes"):
            restored(request_for())
        assert (tree / SERVER).read_text() == "value = 2\n"

    def test_from_a_truncated_archive_is_refused(self, recorded, tree, request_for):
        (tree / SERVER).write_text("value = 2\n")
        data = request_for().archive.read_bytes()
        request_for().archive.write_bytes(data[: len(data) // 2])
        with pytest.raises(manifests.ManifestError, match="cannot be read"):
            restored(request_for())

    def test_of_an_unknown_path_or_an_excepted_one_is_refused(self, recorded, request_for):
        with pytest.raises(manifests.ManifestError, match="sglang/none.py"):
            restored(request_for(files=["sglang/none.py"]))
        with pytest.raises(manifests.ManifestError, match="at once"):
            restored(request_for(files=[SERVER], excepted=["sglang/srt/*"]))
