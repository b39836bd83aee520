"""Goldens: each pinned value is a file under fixtures/golden/, reviewed like the protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "fixtures" / "golden"


class Golden(JSONSnapshotExtension):
    """fixtures/golden/<test module>/<test name>.json, keys in the order the server sends them.

    The folder keeps the test module's whole name, or syrupy cannot relate a file to its test.
    A value that JSON has no form for raises TypeError: a golden holds what goes over the wire.
    """

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(GOLDEN / Path(test_location.filepath).stem)

    def serialize(self, data: Any, **_: Any) -> str:
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """`assert golden == exchange` compares with the file; `make golden` rewrites it."""
    return snapshot.use_extension(Golden)
