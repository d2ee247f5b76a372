"""docs/errors.md is what the table says."""

from pathlib import Path

from booking.error_table import TABLE, ErrorCode
from booking.errors_page import WHO, WHO_BY_ROW, page

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "errors.md"


def test_the_document_is_printed_from_the_table() -> None:
    assert DOCUMENT.read_text() == page(), "run: python -m booking.errors_page > docs/errors.md"


def test_every_failure_has_an_owner() -> None:
    assert set(WHO) == set(ErrorCode)
    assert set(WHO_BY_ROW) <= set(TABLE)


def test_each_row_is_one_line_of_seven_cells() -> None:
    lines = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(lines) == len(TABLE)
    assert {line.replace("\\|", "").count("|") for line in lines} == {8}
