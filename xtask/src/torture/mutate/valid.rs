//! Valid files: graphs in every format, and the seeds of the fuzz targets.

use std::path::Path;

/// A valid file.
pub(super) struct Valid {
    pub(super) format: &'static str,
    pub(super) extension: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Formats: extension, and name for `--format`.
pub(super) const FORMATS: [(&str, &str); 11] = [
    ("txt", "edge-list"),
    ("csv", "edge-list"),
    ("tsv", "edge-list"),
    ("gr", "dimacs"),
    ("pace.gr", "pace"),
    ("graph", "metis"),
    ("mtx", "matrix-market"),
    ("npz", "npz"),
    ("sg", "gap"),
    ("wsg", "gap"),
    ("wpg", "wpg"),
];

/// Graphs, written in each format that can hold them.
pub(super) const GRAPHS: [&str; 9] = [
    "kron:5 --weights random:1..9",
    "kron:4",
    "uniform:4 --weights random:0..4000000000",
    "grid:4x5 --weights random:1..100",
    "names.csv",
    "floats.txt",
    "negative.txt",
    "numbers.txt",
    "directed.txt --directed",
];

/// Edge lists with features that generators lack: names, floats, negative weights, gaps between numbers.
pub(super) const TEXTS: [(&str, &str); 5] = [
    ("names.csv", "from,to,price\nlisboa,porto,3.5\nporto,\"vila, nova\",2\nvila nova,lisboa,1e3\nß,lisboa,0.25\n"),
    ("floats.txt", "0 1 0.1\n1 2 1e-300\n2 3 1e300\n3 0 2.5\n0 2 7\n4 4 1\n"),
    ("negative.txt", "0 1 5\n1 2 -3\n2 3 2\n0 3 9\n3 4 -1\n"),
    ("numbers.txt", "# from to\n7 1000000007\n1000000007 42 \n42 18446744073709551615\n7 42\n"),
    ("directed.txt", "5 1\n1 2\n2 5\n2 3\n3 3\n3 4\n4 0\n"),
];

/// The seeds of the fuzz targets, some of them written by other programs.
pub(super) fn corpus() -> Vec<Valid> {
    const SEEDS: [(&str, &str, &str); 24] = [
        ("dimacs/seed-edge", "dimacs", "gr"),
        ("dimacs/seed-sp", "dimacs", "gr"),
        ("edge_list/seed-csv", "edge-list", "csv"),
        ("edge_list/seed-names", "edge-list", "txt"),
        ("edge_list/seed-semicolons", "edge-list", "csv"),
        ("gap/seed-sg", "gap", "sg"),
        ("gap/seed-wsg", "gap", "wsg"),
        ("gml/seed-networkx", "gml", "gml"),
        ("graphml/seed-networkx", "graphml", "graphml"),
        ("node_link/seed-d3", "json", "json"),
        ("node_link/seed-networkx", "json", "json"),
        ("pajek/seed-lists", "pajek", "net"),
        ("pajek/seed-mixed", "pajek", "net"),
        ("matrix_market/seed-pattern", "matrix-market", "mtx"),
        ("matrix_market/seed-real", "matrix-market", "mtx"),
        ("metis/seed-both", "metis", "graph"),
        ("metis/seed-weights", "metis", "graph"),
        ("npz/seed-npz", "npz", "npz"),
        ("npz/seed-scipy-coo-float32", "npz", "npz"),
        ("npz/seed-scipy-csr-int64", "npz", "npz"),
        ("pace/seed-tw", "pace", "gr"),
        ("wpg/seed-names", "wpg", "wpg"),
        ("wpg/seed-wpg", "wpg", "wpg"),
        ("detect/seed-mtx", "matrix-market", "mtx"),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let read = |&(name, format, extension): &(&str, &'static str, &'static str)| {
        let bytes = std::fs::read(folder.join(name)).ok()?;
        Some(Valid { format, extension, bytes })
    };
    SEEDS.iter().filter_map(read).collect()
}
