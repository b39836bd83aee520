"""JSON from outside is taken when it has one meaning, and refused with every reason when not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from agentworks.rules.strict_json import NotStrictJson, child, exact_number, parse, text_problem

HALF = 512 * 1024  # half a mebibyte


def problems(raw: bytes | str, **asked: Any) -> list[str]:
    with pytest.raises(NotStrictJson) as refused:
        parse(raw, **asked)
    return refused.value.problems


# ── keys (C28) ───────────────────────────────────────────────────────────────────────────────


def test_a_key_that_appears_twice_is_refused_by_name() -> None:
    body = '{"target":"agent:worker","target":"agent:reviewer","message":"x"}'
    assert problems(body) == ['the key "target" appears twice']


def test_a_key_is_found_twice_however_deep_and_named_with_its_place() -> None:
    assert problems('{"a":[{},{"b":{"GROUP":1,"GROUP":1}}]}') == [
        'a[1].b: the key "GROUP" appears twice'
    ]


def test_an_escaped_spelling_is_the_same_key() -> None:
    assert problems(rb'{"args":{"GROUP":"staging","G\u0052OUP":"prod"}}') == [
        'args: the key "GROUP" appears twice'
    ]


# ── numbers (C30) ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "number", [2**53 + 1, 2512292042121000001, 2**64, 10**30, -(2**63) - 1, 10**4299]
)
def test_an_integer_of_any_size_keeps_all_its_digits(number: int) -> None:
    assert parse(str(number)) == number


def test_an_integer_longer_than_can_be_read_is_refused_with_its_place() -> None:
    assert problems('{"n":[' + "9" * 4301 + "]}") == [
        "n[0]: the integer has more than 4,300 digits"
    ]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_in_json_is_refused(word: str) -> None:
    assert problems('{"x":' + word + "}") == [f"x: {word} is not a JSON value"]


def test_a_number_beyond_a_double_is_refused() -> None:
    assert problems("[1e400]") == ["[0]: the number 1e400 is too large"]


@pytest.mark.parametrize("text", ["149.00000000000000000001", "9007199254740993.0", "1e-400"])
def test_a_number_that_would_become_another_whole_number_is_refused(text: str) -> None:
    assert problems(text) == [f"the number {text} would be rounded"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("149.0", 149.0),
        ("9007199254740992.0", 2.0**53),
        ("0.1", 0.1),
        ("1e2", 100.0),
        ("1e23", 1e23),
        ("0.30000000000000000001", 0.3),
        ("0e99999999999999999999", 0.0),
        (f"{2**80 + 2**30}.0", float(2**80 + 2**30)),
    ],
)
def test_other_doubles_are_read_as_everywhere(text: str, value: float) -> None:
    assert parse(text) == value


@pytest.mark.parametrize("text", ["0.1", "1e2", "0.10", "-3.5", "5e-324", "123456789012345680000"])
def test_an_exact_number_comes_back_as_an_equal_decimal(text: str) -> None:
    assert exact_number(text) == float(text)


@pytest.mark.parametrize(
    "text", ["1e400", "1e-400", "0.10000000000000000001", "9999999999999999", "4e-324"]
)
def test_a_number_that_loses_digits_is_not_exact(text: str) -> None:
    assert exact_number(text) is None


# ── text ─────────────────────────────────────────────────────────────────────────────────────


def test_nul_and_half_characters_are_refused_naming_the_field() -> None:
    body = rb'{"args":{"NOTE":"a\u0000b","LIST":["\ud800"],"\udc00":1}}'
    assert problems(body) == [
        "args.NOTE: has a NUL character",
        "args.LIST[0]: has half of a surrogate pair",
        'args: the key "\\udc00" has half of a surrogate pair',
    ]


def test_an_unescaped_nul_is_named_too() -> None:
    assert problems(b'{"args":{"NOTE":"a\x00b"}}') == [
        "not JSON: Invalid control character at line 1 column 19",
        "args.NOTE: has a NUL character",
    ]


def test_whole_pairs_and_escaped_backslashes_are_text() -> None:
    assert parse(rb'["\ud83d\ude00","\\u0000","\\ud800"]') == ["😀", "\\u0000", "\\ud800"]


@pytest.mark.parametrize(
    "raw", [b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\xaf"', '"é"'.encode("latin-1")]
)
def test_bytes_that_are_not_utf_8_are_refused(raw: bytes) -> None:
    assert problems(raw) == ["not valid UTF-8 at byte 1"]


def test_utf_16_is_refused() -> None:
    assert problems('{"a":1}'.encode("utf-16")) == ["not valid UTF-8 at byte 0"]
    assert problems('{"a":1}'.encode("utf-16-le"))


def test_a_byte_order_mark_is_refused() -> None:
    assert problems(b"\xef\xbb\xbf{}") == ["begins with a byte order mark; leave it out"]
    assert problems("\ufeff{}") == ["begins with a byte order mark; leave it out"]


def test_text_given_as_str_obeys_the_same_rules() -> None:
    assert problems('"\ud800"') == ["has half of a surrogate pair"]
    assert text_problem("a\0b") == "has a NUL character"
    assert text_problem("\udfff") == "has half of a surrogate pair"
    assert text_problem("é😀") is None


# ── form ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("[1] x", "text after the value at line 1 column 5"),
        ("{} {}", "text after the value at line 1 column 4"),
        ("01", "text after the value at line 1 column 2"),
        ("+1", "Expecting value at line 1 column 1"),
        ("\uff11\uff14\uff19", "Expecting value at line 1 column 1"),
        ("'a'", "Expecting value at line 1 column 1"),
        ("\x00", "Expecting value at line 1 column 1"),
        ("```json\n{}\n```", "Expecting value at line 1 column 1"),
        ('{"a":1,}', "Expecting property name enclosed in double quotes at line 1 column 8"),
        ('"abc', "Unterminated string starting at line 1 column 1"),
    ],
    ids=repr,
)
def test_what_is_not_json_is_refused_with_the_place(raw: str, what: str) -> None:
    assert problems(raw) == [f"not JSON: {what}"]


def test_depth_64_is_read_and_65_refused() -> None:
    assert parse("[" * 64 + "]" * 64)
    assert problems("[" * 65 + "]" * 65) == ["nested deeper than 64 levels"]
    assert problems('{"a":' * 65 + "1" + "}" * 65) == ["nested deeper than 64 levels"]
    assert parse("[[1]]", depth_max=2)
    assert problems("[[[1]]]", depth_max=2) == ["nested deeper than 2 levels"]


def test_brackets_inside_strings_have_no_depth() -> None:
    for text in ("[" * 100, '"' + "{" * 100, "\\" + "[" * 100, '\\"[' * 100, "[" * 100 + "\\"):
        assert parse(json.dumps([text])) == [text]
        assert problems(json.dumps(text) + "[" * 65)


def test_a_long_string_hides_its_brackets_and_no_others() -> None:
    for length in (65_530, 65_536, 65_540, 200_000):
        text = json.dumps(["x" * length + "[" * 100, "]" * 100])
        assert parse(text)
        assert problems(text[:-1] + "," + "[" * 64 + "]" * 65) == ["nested deeper than 64 levels"]


def test_every_problem_is_told_at_once_and_never_without_end() -> None:
    assert problems('{"a":1,"a":NaN,"b":[1e999,"\\u0000"]}') == [
        'the key "a" appears twice',
        "a: NaN is not a JSON value",
        "b[0]: the number 1e999 is too large",
        "b[1]: has a NUL character",
    ]
    many = problems("[" + "NaN," * 1000 + "1]")
    assert len(many) == 21
    assert many[-1] == "and more of the kind"


def test_paths_begin_where_the_text_lies() -> None:
    assert problems('{"a":1,"a":2}', at="args") == ['args: the key "a" appears twice']
    assert problems("{", at="args")[0].startswith("args: not JSON: ")
    assert problems("NaN", at="args.X") == ["args.X: NaN is not a JSON value"]
    assert child("args", 'a "key"') == 'args["a \\"key\\""]'


Json = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats(allow_nan=False).filter(lambda each: abs(each) != float("inf"))
    | some.text(some.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: some.lists(inner) | some.dictionaries(some.text("abc é"), inner),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(Json, some.booleans())
def test_everything_python_writes_is_read_back_the_same(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert repr(parse(text.encode())) == repr(value)


@settings(max_examples=300, deadline=None)
@given(some.binary() | some.text('[]{}",:\\u0d8\0truefalsn1.e+-é\ud800 ').map(str))
def test_any_bytes_are_read_or_refused_and_nothing_else(raw: bytes | str) -> None:
    try:
        parse(raw)
    except NotStrictJson as refused:
        assert refused.problems
        assert "\n".join(refused.problems).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 2 * HALF,
        b'{"a":' * (2 * HALF // 5),
        b"[" + b"[]," * (2 * HALF // 3) + b"1]",
        b'["' + b"\\\\" * HALF + b'"]',
        b'["' + b"\\u0041" * (HALF // 3) + b'"]',
        b"[" + b'"\\ud83d",' * (HALF // 5) + b"1]",
        b'"' * 2 * HALF,
        b"1" * 2 * HALF,
        b"1." + b"0" * 2 * HALF,
        b"1e-" + b"9" * 2 * HALF,
        b"[" + b"NaN," * (HALF // 2) + b"1]",
        b"{" + b'"a":1,' * (HALF // 3) + b'"a":1}',
        b"\n" * 2 * HALF + b"x",
    ],
    ids=lambda body: repr(body[:12]),
)
def test_a_mebibyte_of_anything_are_read_or_refused(body: bytes) -> None:
    """In a second or less; the suite's time limit ends what would grow with the square."""
    try:
        parse(body)
    except NotStrictJson as refused:
        assert len(refused.problems) <= 21
