"""Files that are damaged in the ways in which files are."""

from hypothesis import strategies as st


@st.composite
def damaged(draw, contents):
    """The bytes of a file: cut, with bytes replaced, removed, inserted or doubled, in another encoding."""
    content = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(content)))
        kind = draw(st.sampled_from(["cut", "replace", "remove", "insert", "double", "recode"]))
        if kind == "cut":
            del content[at:]
        elif kind == "remove":
            del content[at : at + draw(st.integers(1, 40))]
        elif kind == "double":
            content[at:at] = content[at : at + draw(st.integers(1, 200))]
        elif kind == "recode" and content:
            text = bytes(content).decode("utf-8", "replace")
            content = bytearray(text.encode(draw(st.sampled_from(["utf-16", "utf-32", "cp037"])), "replace"))
        else:
            bytes_ = draw(
                st.binary(min_size=1, max_size=6)
                | st.sampled_from([b"\0", b"\xff\xfe", b"\t", b"\n", b'"', b": ", b"- "])
            )
            content[at : at + (len(bytes_) if kind == "replace" else 0)] = bytes_
    return bytes(content)
