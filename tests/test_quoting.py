"""Text files whose quotes, line ends or headers are not what they seem are read as written, or the cause is named."""

import csv
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mentions import raises
from pair_files import tsv

from heuristic_core.config.splits import Split
from heuristic_core.data.columns import DataError
from heuristic_core.data.readers import read_columns

ROWS = [["a", "Is it?", "x"], ["b", "Was it?", "y"], ["c", "Will it?", "x"]]
HEADER = ["first", "second", "answer"]


def written(path, rows, delimiter="\t", **options):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n", **options).writerows([HEADER, *rows])
    return path


def fails(path, *tokens, quoting=None, needed=HEADER):
    with raises(DataError, path, *tokens):
        read_columns(path, None, needed, quoting=quoting)


# ---- quoted TSVs


def with_texts(*texts):
    return [[text, *row[1:]] for text, row in zip(texts, ROWS, strict=True)]


QUOTED = {
    "doubled": (with_texts('"No", he said', "b", "c"), {}),
    "a tab": (with_texts("a\tb", "b", "c"), {}),
    "a line break": (with_texts("one", "two\nlines", "c"), {}),
    "a line break with as many fields": (with_texts("one", 'two\nx\ty\t"z"', "c"), {}),
    "all fields": (ROWS, {"quoting": csv.QUOTE_ALL}),
    "all fields of one row": (ROWS[:1], {"quoting": csv.QUOTE_ALL}),
    "all text": (ROWS[:1], {"quoting": csv.QUOTE_NONNUMERIC}),
    "all fields, a doubled quote beside them": (with_texts('4" wide', "b", "c"), {"quoting": csv.QUOTE_ALL}),
}


@pytest.mark.parametrize("kind", QUOTED)
def test_a_tsv_that_is_quoted_is_noticed_and_read_once_it_is_said(tmp_path, kind):
    rows, options = QUOTED[kind]
    path = written(tmp_path / "a.tsv", rows, **options)
    fails(path, "`quoting: double`", "`quoting: none`")
    result = read_columns(path, None, HEADER, quoting="double")
    assert [list(row) for row in zip(*result.values.values(), strict=True)] == rows


MANY = {
    "a comma, as Excel writes them": lambda n: ['"Well, no"'] * n + ["plain"],
    "every field of a column": lambda n: [f'"{number}"' for number in range(n)],
    "all fields that hold a comma": lambda n: ['"Yes, he said"', "plain", '"a,b"', "b"] * (n // 2),
}


@pytest.mark.parametrize("kind", MANY)
def test_many_fields_in_quotes_are_noticed_and_few_are_quotations(tmp_path, kind):
    for count, name in ((10, "many.tsv"), (8, "few.tsv"), (2, "two.tsv")):
        rows = [[text, "b", "x"] for text in MANY[kind](count)]
        tsv(tmp_path / name, HEADER, rows)
        if name == "many.tsv":
            fails(tmp_path / name, "line 2", "`quoting: double`")
        else:
            assert read_columns(tmp_path / name, None, ["first"]).values["first"] == [first for first, *_ in rows]


def test_one_stray_quote_does_not_hide_that_fields_are_quoted(tmp_path):
    rows = [['"He said ""a"""', "a", "x"], ['"She said ""b"""', "b", "y"], ['5" wide', "c", "x"]]
    tsv(tmp_path / "a.txt", HEADER, rows)
    fails(tmp_path / "a.txt", "line 2", "`quoting: double`")
    values = read_columns(tmp_path / "a.txt", None, ["first"], quoting="double").values["first"]
    assert values == ['He said "a"', 'She said "b"', '5" wide']


PLAIN = {
    "no quote": ["a", "b, c", "d"],
    "stray": ['He said "no".', "b", '5" wide'],
    "one sentence in quotes, commas elsewhere": ['"Never again."', "b, c", "d"],
    "two, and a stray one": ['"Yes, I do."', '"No, I do not."', 'the "best" one'],
    "one with a comma": ['"Yes, I do."', "b", "c"],
    "two that hold the only commas": ['"Yes, he said"', '"No, she said"', "c"],
    "a whole column": ['"Yes."', '"No."', '"Never, ever."'],
    "open": ['"Go', "b", "c"],
    "halves": ['"Go', 'home"', '"and', 'stay"'],
    "two quotes": ['""', "b", "c"],
}


@pytest.mark.parametrize("kind", PLAIN)
def test_quotes_that_are_of_the_text_stay(tmp_path, kind, caplog):
    rows = [[text, "b", "x"] for text in PLAIN[kind]]
    tsv(tmp_path / "a.tsv", HEADER, rows)
    assert read_columns(tmp_path / "a.tsv", None, ["first"]).values["first"] == PLAIN[kind]
    assert not caplog.messages


def test_quotes_are_of_the_text_where_that_is_said(tmp_path):
    rows = [['"a ""b"""', "b", "x"], ['"c"', "d", "y"]]
    tsv(tmp_path / "a.tsv", HEADER, rows)
    assert read_columns(tmp_path / "a.tsv", None, ["first"], quoting="none").values["first"] == [rows[0][0], '"c"']
    (tmp_path / "b.csv").write_text('first,second,answer\n"a ""b""",c,x\nsay "d,e,y\n')
    assert read_columns(tmp_path / "b.csv", None, ["first"], quoting="none").values["first"] == ['"a ""b"""', 'say "d']
    (tmp_path / "c.csv").write_text("first,second,answer\na,b,x\na,b,c,y\n")
    fails(tmp_path / "c.csv", "line 3", 4, 3, quoting="none")


def test_quoting_is_of_csv_and_tsv_alone(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"first": "a"}\n')
    fails(tmp_path / "a.jsonl", "quoting", "'double'", "csv", "tsv", quoting="double", needed=["first"])
    with pytest.raises(ValueError, match="quoting"):
        Split(file="a.tsv", sentences=("a", "b"), quoting="minimal")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1))
def test_what_pandas_writes_is_read_where_quoting_is_double(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("pandas")
    frame = pd.DataFrame(rows, columns=["x", "y"])
    frame.to_csv(folder / "a.tsv", sep="\t", index=False)
    frame.to_csv(folder / "a.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    for name in ("a.tsv", "a.csv"):
        result = read_columns(folder / name, None, ["x", "y"], quoting="double")
        assert list(zip(*result.values.values(), strict=True)) == rows


# ---- quotes out of their places


@pytest.mark.parametrize(
    ("lines", "line", "quoted"),
    [
        (["a,b,x", '"open,b,x', "c,d,y"], 3, "'\"open,b,x'"),
        (['a,"open,x', 'c,"d, e",y', "f,g,y"], 2, "'\"open,x'"),
        (['"two', 'lines","open,x', "c,d,y"], 3, "'\"open,x'"),
        (["", "a,b,x", "", '"open,b,x'], 5, "'\"open,b,x'"),
        (["a,b,x", 'a,"b" c,x'], 3, "'\"b\"'"),
        (['"a", "b, c", x'], 2, "' \"b, c\", x'"),
        (["a,b,x", 'a,  "b",x'], 3, "'  \"b\",x'"),
        (["a,b,x", 'a,\xa0"b, c",x'], 3, "'\\xa0\"b, c\",x'"),
    ],
)
def test_a_quote_out_of_its_place_is_named_with_the_line_on_which_it_stands(tmp_path, lines, line, quoted):
    for end in ("\n", "\r\n"):
        path = tmp_path / f"{len(end)}.csv"
        path.write_text(end.join([",".join(HEADER), *lines, ""]), newline="", encoding="utf-8")
        fails(path, f"line {line}", quoted)


def test_a_space_and_a_quote_inside_a_field_are_of_the_text(tmp_path):
    texts = [' "a"', 'He said, "no"', ', "b, c"', 'x\n, "y"', 'She said "never" again']
    path = written(tmp_path / "a.csv", [[text, "b", "x"] for text in texts], delimiter=",")
    with open(path, "a") as file:
        file.write(' "odd" one,b,x\n')
    assert read_columns(path, None, ["first"]).values["first"] == [*texts, ' "odd" one']


@pytest.mark.parametrize("length", [131_073, 1_000_000])
def test_a_field_of_any_length_is_read_and_pythons_limit_stays(tmp_path, length):
    before = csv.field_size_limit()
    for name, quoting in (("a.csv", None), ("b.tsv", "double")):
        path = written(tmp_path / name, [["long, " * (length // 6 + 1), "b", "x"]], "," if "csv" in name else "\t")
        assert len(read_columns(path, None, ["first"], quoting=quoting).values["first"][0]) >= length
    assert csv.field_size_limit() == before
    fails(written(tmp_path / "c.csv", [["a", "b"]], ","), "line 2")
    assert csv.field_size_limit() == before


# ---- line ends and headers


@pytest.mark.parametrize("text", ["first\tsecond\tanswer\ra\tb\tx\r", "first\tsecond\tanswer\ra\tb\tx\rc\td\ty\n"])
def test_a_tsv_whose_lines_end_in_a_carriage_return_alone_is_named(tmp_path, text):
    (tmp_path / "a.tsv").write_text(text, newline="")
    fails(tmp_path / "a.tsv", "line 1", "'\\r'")
    (tmp_path / "b.tsv").write_text("first\tsecond\tanswer\n" + text, newline="")
    fails(tmp_path / "b.tsv", "line 2", "'\\r'")
    (tmp_path / "a.csv").write_text(text.replace("\t", ","), newline="")
    assert read_columns(tmp_path / "a.csv", None, ["answer"]).values["answer"][0] == "x"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("ending", "quoting"), [("csv", None), ("tsv", "double"), ("jsonl", None)])
def test_where_a_line_end_is_no_text_lines_may_end_in_any_way(tmp_path, end, ending, quoting):
    if ending == "jsonl":
        lines = [json.dumps(dict(zip(HEADER, row, strict=True))) for row in ROWS]
    else:
        lines = [{"csv": ",", "tsv": "\t"}[ending].join(row) for row in [HEADER, *ROWS]]
    (tmp_path / f"a.{ending}").write_text(end.join([*lines, ""]), newline="")
    result = read_columns(tmp_path / f"a.{ending}", None, HEADER, quoting=quoting)
    assert [list(row) for row in zip(*result.values.values(), strict=True)] == ROWS


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("answer\xa0", "'answer\\xa0'"),
        ("answer ", "'answer '"),
        ("an\u200bswer", "'an\\u200bswer'"),
        ("\ufeffanswer", "'\\ufeffanswer'"),
        ("Answer", "Answer"),
        ("'answer'", "'answer'"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_a_column_whose_name_is_another_one_by_invisible_characters_is_shown(tmp_path, name, seen, ending):
    path, frame = tmp_path / f"a.{ending}", pd.DataFrame([["a", "b", "x"]], columns=["first", "second", name])
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, sep={"csv": ",", "tsv": "\t"}[ending], index=False)
    fails(path, "'answer'", "first", "second", seen)


def test_composed_and_decomposed_names_are_told_apart(tmp_path):
    (tmp_path / "a.csv").write_text("first,re\u0301ponse\na,x\n", encoding="utf-8")
    fails(tmp_path / "a.csv", "'re\\u0301ponse'", "'réponse'", needed=["first", "réponse"])


def test_a_header_that_is_not_parted_as_the_format_says_is_shown_in_short(tmp_path):
    (tmp_path / "a.csv").write_text("first;second;answer\na, b;c;x\n")
    fails(tmp_path / "a.csv", "'first'", "first;second;answer", "';'")
    (tmp_path / "c.tsv").write_text("first,second,answer\na,b,x\n")
    fails(tmp_path / "c.tsv", "'first'", "','", "`format: csv`")
    (tmp_path / "d.csv").write_text("first\tsecond\tanswer\na\tb\tx\n")
    fails(tmp_path / "d.csv", "'first'", "'\\t'", "`format: tsv`")
    (tmp_path / "b.csv").write_text(",".join(f"c{i}" for i in range(500)) + "\n")
    fails(tmp_path / "b.csv", "c19", 480)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_two_columns_of_a_name_are_an_error_where_the_column_is_used(tmp_path, place):
    names = [*HEADER, HEADER[place], "note", "note"]
    row = ["a", "b", "x", "other", "1", "2"]
    for ending, delimiter in (("csv", ","), ("tsv", "\t")):
        (tmp_path / f"a.{ending}").write_text(f"{delimiter.join(names)}\n{delimiter.join(row)}\n")
    pd.DataFrame([row], columns=[*HEADER, "d", "note", "n"]).to_parquet(tmp_path / "b.parquet")
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(tmp_path / "b.parquet").rename_columns(names), tmp_path / "a.parquet")
    others = [name for name in HEADER if name != HEADER[place]]
    for ending in ("csv", "tsv", "parquet"):
        fails(tmp_path / f"a.{ending}", 2, repr(HEADER[place]), place + 1, 4)
        for most in (None, 1):
            assert list(read_columns(tmp_path / f"a.{ending}", None, others, most).values) == others


def test_a_key_that_a_json_object_has_twice_is_named(tmp_path):
    good = '{"first": "a", "second": "the word \\"answer\\"", "answer": "answer", "more": {"answer": 1}}\n'
    (tmp_path / "a.jsonl").write_text(good)
    assert read_columns(tmp_path / "a.jsonl", None, HEADER).values["answer"] == ["answer"]
    (tmp_path / "a.jsonl").write_text(good + '{"first": "a", "answer": "x", "second": "b", "answer": "y"}\n')
    fails(tmp_path / "a.jsonl", "line 2", "'answer'")


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path):
    text = "first,second,answer\n" + "a,b,x\n" * 5000 + "naïve,b,x\n"
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    fails(tmp_path / "a.csv", "line 5002", "UTF-8", "na\\xefve")
    (tmp_path / "b.csv").write_bytes(text.encode("utf-16"))
    fails(tmp_path / "b.csv", "UTF-16", "UTF-8")
    (tmp_path / "c.jsonl").write_text('{"first": "a"}\n{"first": "\\ud800"}\n')
    fails(tmp_path / "c.jsonl", "line 2", "\\ud800", needed=["first"])
