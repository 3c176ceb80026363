"""Tables of packages that have Arrow's PyCapsule interface, which are read without PyArrow."""

import sys

import numpy as np
import pytest

import warpath

TAILS, HEADS, WEIGHTS = [0, 1, 0, 2], [1, 2, 2, 0], [5, 7, 20, 1]
COLUMNS = {"source": TAILS, "target": HEADS, "weight": WEIGHTS}
EXPECTED = [[0, 5, 12], [8, 0, 7], [1, 6, 0]]
NAMES = {"source": ["zoo", "é", "zoo", "Z"], "target": ["é", "Z", "Z", "zoo"], "weight": WEIGHTS}
IN_ORDER = ["Z", "zoo", "é"]


def check(graph):
    np.testing.assert_array_equal(graph.apsp().distances, EXPECTED)


def check_names(graph):
    assert graph.labels == IN_ORDER
    zoo, e, z = (graph.vertex(name) for name in ("zoo", "é", "Z"))
    distances = graph.apsp().distances
    np.testing.assert_array_equal(distances[np.ix_([zoo, e, z], [zoo, e, z])], EXPECTED)


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow")


@pytest.fixture
def pl():
    return pytest.importorskip("polars")


@pytest.fixture
def no_pyarrow(monkeypatch):
    """Whoever imports PyArrow fails."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)


def test_polars(pl, no_pyarrow):
    check(warpath.Graph(pl.DataFrame(COLUMNS)))
    check_names(warpath.Graph(pl.DataFrame(NAMES)))
    frame = pl.DataFrame(NAMES)
    for kind in (pl.Categorical, pl.Enum(IN_ORDER + ["of no edge"])):
        check_names(warpath.Graph(frame.with_columns(pl.col("source", "target").cast(kind))))
    chunks = pl.concat([pl.DataFrame(COLUMNS)[:1], pl.DataFrame(COLUMNS)[1:1], pl.DataFrame(COLUMNS)[1:]], rechunk=False)
    assert chunks.n_chunks() > 1
    check(warpath.Graph(chunks))
    assert warpath.Graph(pl.DataFrame({"source": [], "target": []})).vertices == 0
    check(warpath.Graph(pl.DataFrame({"note": [None] * 4, **COLUMNS})))
    with pytest.raises(ValueError, match="column 'target' has missing values"):
        warpath.Graph(pl.DataFrame({"source": [1], "target": [None]}))


def test_duckdb(no_pyarrow):
    duckdb = pytest.importorskip("duckdb")
    rows = ", ".join(map(str, zip(TAILS, HEADS, WEIGHTS)))
    relation = duckdb.sql(f"select * from (values {rows}) as edges(source, target, weight)")
    check(warpath.Graph(relation))


def test_nanoarrow(no_pyarrow):
    nanoarrow = pytest.importorskip("nanoarrow")
    columns = {name: nanoarrow.c_array(values, nanoarrow.int64()) for name, values in COLUMNS.items()}
    schema = nanoarrow.struct({name: nanoarrow.int64() for name in columns})
    table = nanoarrow.c_array_from_buffers(schema, len(TAILS), buffers=[None], children=columns.values())
    check(warpath.Graph(nanoarrow.ArrayStream(table)))


def test_pyarrow(pa):
    table = pa.table(COLUMNS)
    check(warpath.Graph(table))
    check(warpath.Graph(table.to_batches()[0]))
    check(warpath.Graph(table.to_reader(max_chunksize=1)))
    check(warpath.Graph(pa.concat_tables([table[:1], table[1:]])))
    # The rows of a slice lie within longer buffers.
    longer = pa.table({name: [9, *values, 9] for name, values in COLUMNS.items()})
    check(warpath.Graph(longer.slice(1, 4)))
    check(warpath.Graph(pa.table({"a": HEADS, "b": WEIGHTS, "c": TAILS}), source="c", target="a", weight="b"))
    assert warpath.Graph(table, vertices=7).vertices == 7
    assert not warpath.Graph(table, directed=False).directed
    assert warpath.Graph(table.select(["source", "target"])).weight_type == "unit"


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers(pa, kind):
    schema = pa.schema([(name, kind) for name in COLUMNS])
    table = pa.table(COLUMNS, schema)
    check(warpath.Graph(table))
    for column in range(3):
        encoded = table.set_column(column, table.field(column).name, table.column(column).dictionary_encode())
        check(warpath.Graph(encoded))


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_names(pa, kind):
    schema = pa.schema([("source", kind), ("target", kind), ("weight", "int64")])
    table = pa.table(NAMES, schema)
    check_names(warpath.Graph(table))
    chunks = pa.Table.from_batches(table.to_batches(max_chunksize=3))
    check_names(warpath.Graph(chunks))
    if kind != "string_view":
        check_names(warpath.Graph(table.set_column(0, "source", table.column("source").dictionary_encode())))
        encoded = chunks.set_column(0, "source", chunks.column("source").dictionary_encode())
        # A dictionary may have what no edge has.
        check_names(warpath.Graph(encoded.slice(0, 4)))
        assert warpath.Graph(encoded.slice(1, 1)).labels == ["Z", "é"]


def test_names_are_in_the_order_of_numpy(pa):
    random = np.random.default_rng(1)
    letters = np.array(list("aZ0_é~ß€😀"))
    tails, heads = (["".join(random.choice(letters, random.integers(0, 4))) for _ in range(200)] for _ in range(2))
    table = pa.Table.from_batches(pa.table({"source": tails, "target": heads}).to_batches(max_chunksize=64))
    graph = warpath.Graph(table)
    labels, numbers = np.unique(tails + heads, return_inverse=True)
    assert graph.labels == labels.tolist()
    expected = warpath.Graph((numbers[:200], numbers[200:]))
    np.testing.assert_array_equal(graph.edges(), expected.edges())


def test_integers_beside_names_are_names(pa):
    graph = warpath.Graph(pa.table({"source": [10, -9], "target": ["a", "10"]}))
    assert graph.labels == ["-9", "10", "a"]
    assert graph.edges()[0].tolist() == [0, 1] and graph.edges()[1].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "kind", "weight_type"),
    [
        ([1, 2**32 - 1], "int64", "u32"),
        ([1, -(2**31)], "int64", "i32"),
        ([1, 2**31], "uint64", "u32"),
        ([1, 2], "int16", "u32"),
        ([1, -2], "int8", "i32"),
        ([0.5, 2.0], "float16", "f32"),
        ([0.5, 2.0], "float32", "f32"),
        ([0.1, 2.0], "float64", "f64"),
        ([True, True], "bool", "unit"),
        ([True, False], "bool", "u32"),
    ],
)
def test_weights(pa, values, kind, weight_type):
    if kind == "float16":
        values = np.array(values, np.float16)
    table = pa.table({"source": [0, 1], "target": [1, 2], "weight": pa.array(values, kind)})
    # In one batch, in several, and where all are beyond those of the first.
    for table in (table, pa.Table.from_batches(table.to_batches(max_chunksize=1)), table.take([1, 0])):
        graph = warpath.Graph(table)
        assert graph.weight_type == weight_type
        if weight_type != "unit":
            np.testing.assert_array_equal(graph.weights, np.array(values))
        else:
            assert graph.weights is None


def test_wide_weights_are_refused(pa):
    for values, kind in ([1, 2**32], "int64"), ([-1, 2**31], "int64"), ([2**31, -1], "int64"), ([0, 2**64 - 1], "uint64"):
        table = pa.table({"source": [0, 1], "target": [1, 2], "weight": pa.array(values, kind)})
        for chunks in (table, pa.Table.from_batches(table.to_batches(max_chunksize=1))):
            with pytest.raises(ValueError, match="32 bits"):
                warpath.Graph(chunks)


@pytest.mark.parametrize("column", ["source", "target", "weight"])
@pytest.mark.parametrize("encoded", [False, True])
def test_missing_values_are_refused(pa, column, encoded):
    columns = {name: pa.array(values) for name, values in {**COLUMNS, column: [0, None, 1, 2]}.items()}
    if encoded:
        columns[column] = columns[column].dictionary_encode()
    with pytest.raises(ValueError, match=f"column '{column}' has missing values"):
        warpath.Graph(pa.table(columns))
    with pytest.raises(ValueError, match=f"column '{column}' has missing values"):
        warpath.Graph(pa.table({**COLUMNS, column: pa.nulls(4)}))
    # Of a dictionary whose values are missing, too; and only of columns that count.
    if not encoded:
        dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 0]), pa.array([1, None]))
        with pytest.raises(ValueError, match=f"column '{column}' has missing values"):
            warpath.Graph(pa.table({**COLUMNS, column: dictionary}))
        check(warpath.Graph(pa.table({**COLUMNS, "other": [None, None, 1, 2]})))


@pytest.mark.parametrize("column", ["source", "target", "weight"])
def test_columns_of_other_types_are_refused(pa, column):
    from datetime import date
    from decimal import Decimal

    for values in ([[1]], [{"a": 1}], [b"a"], [date(2020, 1, 1)], [Decimal("1.5")]):
        with pytest.raises(TypeError, match=f"column '{column}'"):
            warpath.Graph(pa.table({"source": [0], "target": [1], "weight": [2], column: values}))
    for values in ([0.5], [True]) if column != "weight" else (["5"],):
        with pytest.raises(TypeError, match=f"column '{column}'"):
            warpath.Graph(pa.table({"source": [0], "target": [1], "weight": [2], column: values}))
    # Nobody asks for the others.
    assert warpath.Graph(pa.table({"source": [0], "target": [1], "other": [[1]]})).arcs == 1


def test_numbers_of_vertices_have_to_fit(pa):
    for value in (-1, 2**32 - 1, 2**40):
        with pytest.raises(ValueError, match=f"column 'target': {value} is out of range"):
            warpath.Graph(pa.table({"source": [0], "target": [value]}))


def test_columns_are_found_or_missed(pa):
    table = pa.table({"a": TAILS, "b": HEADS})
    with pytest.raises(KeyError, match="source="):
        warpath.Graph(table)
    with pytest.raises(KeyError, match="no column 'z'"):
        warpath.Graph(table, source="z", target="b")
    twice = pa.Table.from_arrays([pa.array(TAILS), pa.array(HEADS), pa.array(HEADS)], names=["from", "to", "to"])
    with pytest.raises(KeyError, match="2 columns 'to'"):
        warpath.Graph(twice)


def test_streams_that_fail(pa):
    def batches():
        yield pa.record_batch({"source": [0], "target": [1]})
        raise RuntimeError("the source has gone")

    schema = pa.schema([("source", "int64"), ("target", "int64")])
    with pytest.raises(ValueError, match="the source has gone"):
        warpath.Graph(pa.RecordBatchReader.from_batches(schema, batches()))
    with pytest.raises(ValueError, match="not of rows"):
        warpath.Graph(pa.chunked_array([TAILS]))
    rows = [{"source": 0, "target": 1}, {"source": 1, "target": 2}]
    assert warpath.Graph(pa.chunked_array([pa.array(rows)])).arcs == 2
    assert warpath.Graph(pa.chunked_array([pa.array(rows)[1:]])).edges()[1].tolist() == [2]
    with pytest.raises(ValueError, match="rows are missing"):
        warpath.Graph(pa.chunked_array([pa.array([*rows, None])]))

    class Once:
        """A table that hands out one stream."""

        capsule = pa.table(COLUMNS).__arrow_c_stream__()

        def __arrow_c_stream__(self):
            return self.capsule

    check(warpath.Graph(Once()))
    with pytest.raises(ValueError, match="read before"):
        warpath.Graph(Once())

    class Broken:
        """Something else than a stream."""

        def __arrow_c_stream__(self):
            return pa.array(TAILS).__arrow_c_array__()[1]

    with pytest.raises(ValueError):
        warpath.Graph(Broken())


def test_streams_need_the_interpreter_on_other_threads(pa):
    import threading

    def batches():
        for tail, head in zip(TAILS, HEADS):
            # A thread that can't run while another one holds the interpreter.
            made = []
            thread = threading.Thread(target=lambda: made.append(pa.record_batch({"source": [tail], "target": [head]})))
            thread.start()
            thread.join()
            yield made[0]

    schema = pa.schema([("source", "int64"), ("target", "int64")])
    graph = warpath.Graph(pa.RecordBatchReader.from_batches(schema, batches()))
    assert graph.arcs == 4
