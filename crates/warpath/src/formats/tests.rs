//! Tests for all text formats: round trips, malformed input, damage, any number of threads.

use super::*;
use crate::ErrorKind;
use crate::graph::{Csr, Labels, StringLabels, Unit, VertexId, Weight, WeightKind, Weights, with_weights};
use crate::testing::{Random, TestWeight, graphs_of_every_shape, size};

const TEXT_FORMATS: [Format; 3] = [Format::EdgeList, Format::Dimacs, Format::Pace];

fn text_of(graph: &Graph, format: Format) -> String {
    let mut bytes = Vec::new();
    WriteOptions::new().format(format).write_to(graph, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn read_text(text: impl Into<Vec<u8>>, options: &ReadOptions) -> Result<Graph> {
    options.read_bytes("test", text.into())
}

/// Tails, heads and weights. Decimals are read in 64 bits; `narrow` rounds them to 32.
fn arcs(graph: &Graph, narrow: bool) -> Vec<(VertexId, VertexId, u64)> {
    let bits = |weight: f64| if narrow { f64::from(weight as f32).to_bits() } else { weight.to_bits() };
    graph.edges().map(|(u, v, weight)| (u, v, bits(weight))).collect()
}

fn names(graph: &Graph) -> Vec<String> {
    (0..graph.vertices() as VertexId).map(|v| graph.name(v).into_owned()).collect()
}

fn round_trips<W: TestWeight>() {
    let keep = ReadOptions::new().parallel_edges(ParallelEdges::Keep);
    for seed in 0..size(4, 1) {
        for (name, graph) in graphs_of_every_shape::<W>(seed).into_iter().step_by(size(1, 4)) {
            let narrow = W::KIND == WeightKind::F32;
            let again = read_text(text_of(&graph, Format::EdgeList), &keep).expect(&name);
            assert_eq!(again.is_directed(), graph.is_directed(), "{name}");
            assert_eq!(again.csr().offsets(), graph.csr().offsets(), "{name}");
            assert_eq!(arcs(&again, narrow), arcs(&graph, narrow), "{name}");
            assert_eq!(names(&again), names(&graph), "{name}");
            let again = read_text(text_of(&graph, Format::Dimacs), &keep).expect(&name);
            assert_eq!(again.csr().offsets(), graph.csr().offsets(), "{name}");
            assert_eq!(arcs(&again, narrow), arcs(&graph, narrow), "{name}");
            if !graph.is_directed() && W::KIND == WeightKind::Unit {
                let again = read_text(text_of(&graph, Format::Pace), &keep).expect(&name);
                assert!(!again.is_directed(), "{name}");
                assert_eq!(arcs(&again, narrow), arcs(&graph, narrow), "{name}");
            }
        }
    }
}

#[test]
fn what_is_written_reads_back_as_it_was() {
    round_trips::<Unit>();
    round_trips::<u32>();
    round_trips::<i32>();
    round_trips::<f32>();
    round_trips::<f64>();
}

#[test]
fn numbers_survive_to_the_last_bit() {
    let mut random = Random(7);
    let mut finite = || loop {
        let value = f64::from_bits(random.next());
        if value.is_finite() && value != 0.0 {
            return value;
        }
    };
    let weights: Vec<f64> =
        (0..size(5000, 20)).map(|_| finite()).chain([f64::MAX, f64::MIN_POSITIVE, 5e-324, -1e-7]).collect();
    let edges: Vec<_> = weights.iter().enumerate().map(|(v, &weight)| (0, v as VertexId, weight)).collect();
    let graph = Graph::from_edges(edges).unwrap();
    for format in [Format::EdgeList, Format::Dimacs] {
        let again = read_text(text_of(&graph, format), &ReadOptions::new()).unwrap();
        assert_eq!(arcs(&again, false), arcs(&graph, false), "{format}");
    }
    let graph = Graph::from_edges([(0, 1, i32::MIN), (0, 2, i32::MAX), (2, 1, -1)]).unwrap();
    let again = read_text(text_of(&graph, Format::EdgeList), &ReadOptions::new()).unwrap();
    assert_eq!((arcs(&again, false), again.weight_kind()), (arcs(&graph, false), WeightKind::I32));
}

#[test]
fn names_of_every_kind_survive() {
    let strings = |names: &[&str]| {
        let mut labels = StringLabels::new();
        names.iter().for_each(|name| {
            labels.intern(name).unwrap();
        });
        Labels::Strings(labels)
    };
    for labels in [
        Labels::range(1, 5),
        Labels::range(u64::from(u32::MAX), 5),
        Labels::Integers(vec![3, 5, 8, 1 << 20, 1 << 40]),
        Labels::Integers(vec![0, 1, 2, 3, u64::MAX - 1]),
        strings(&["a", "b", "c", "d", "e"]),
        strings(&["source", "target", "c", "007", "7"]),
        strings(&["#a", "New York", "say \"hi\"", "", "ü,;|%"]),
        strings(&["-1", "1.5", "p", "%", "99999999999999999999999"]),
    ] {
        for directed in [Direction::Directed, Direction::Undirected] {
            // Vertex 3 has no edge.
            let edges = [(0, 1, 4_u32), (1, 2, 5), (2, 2, 1), (0, 4, 0)];
            let graph = GraphBuilder::new().labels(labels.clone()).direction(directed).build_from(edges).unwrap();
            let text = text_of(&graph, Format::EdgeList);
            let again = read_text(text.clone(), &ReadOptions::new()).expect(&text);
            let named = |graph: &Graph| {
                let mut edges: Vec<_> = graph
                    .edges()
                    .map(|(u, v, w)| (graph.name(u).into_owned(), graph.name(v).into_owned(), w as u32))
                    .collect();
                edges.sort();
                let mut names = names(graph);
                names.sort();
                (edges, names)
            };
            assert_eq!(named(&again), named(&graph), "{text}");
        }
    }
    let broken = GraphBuilder::new().labels(strings(&["a\nb"])).build_from([(0, 0)]).unwrap();
    assert!(WriteOptions::new().format(Format::EdgeList).write_to(&broken, &mut Vec::new()).is_err());
}

/// The edges by name, such as `a-b:5`.
fn edges_of(text: &str, options: &ReadOptions) -> String {
    match read_text(text, options) {
        Ok(graph) => {
            let edges = graph.edges().map(|(u, v, w)| format!("{}-{}:{w}", graph.name(u), graph.name(v)));
            edges.chain([format!("{} {}", graph.vertices(), graph.weight_kind())]).collect::<Vec<_>>().join(" ")
        }
        Err(error) => format!("{error}"),
    }
}

#[test]
fn edge_lists_of_every_layout() {
    let auto = ReadOptions::new().format(Format::EdgeList);
    for (text, expected) in [
        ("", "0 unit"),
        ("\n\n# nothing\n", "0 unit"),
        ("0 1", "0-1:1 2 unit"),
        ("\u{feff}0 1\r\n1 2\r\n", "0-1:1 1-2:1 3 unit"),
        ("1\t2\n  2 \t 3  \n\n", "1-2:1 2-3:1 3 unit"),
        ("1,2\n2, 3\n", "1-2:1 2-3:1 3 unit"),
        ("1;2;3\n2;3;4\n", "1-2:3 2-3:4 3 u32"),
        ("# a|b|type\n1|20|-1\n20|3|1\n", "1-20:-1 20-3:1 3 i32"),
        ("1 2 0.5\n2 3 4\n", "1-2:0.5 2-3:4 3 f64"),
        ("6,2,4,1289241912\n6,5,2,1289241942\n", "6-2:4 6-5:2 3 u32"),
        ("from,to,cost\n1,2,7\n", "1-2:7 2 u32"),
        ("c d weight\na b 3\n", "a-b:3 2 u32"),
        ("1;2;1,5\n", "1-2:1.5 2 f64"),
        ("1;2;1.5\n2;3;7\n", "1-2:1.5 2-3:7 3 f64"),
        ("from;to;km\n1;2;1,5\n2;3;2\n", "1-2:1.5 2-3:2 3 f64"),
        ("\"1\",\"2\",\"3\"\n", "1-2:3 2 u32"),
        ("\"New York\" Boston 5\n", "New York-Boston:5 2 u32"),
        ("12\" disk\tdrive\n", "12\" disk-drive:1 2 unit"),
        ("id,source,target,minutes\n1,10,20,5\n2,20,30,6\n", "10-20:5 20-30:6 3 u32"),
        ("weight,source,target\n5,1,2\n", "1-2:5 2 u32"),
        ("head,tail\n1,2\n", "2-1:1 2 unit"),
        ("endpoint1,endpoint2\n1,2\n", "1-2:1 2-1:1 2 unit"),
        ("Source;Target;Type;Weight\n1;2;Undirected;1,5\n", "1-2:1.5 2-1:1.5 2 f64"),
        ("Source;Target;Type;Weight\n1;2;Directed;1,5\n", "1-2:1.5 2 f64"),
        ("u,v,length\nA,B,7\n", "A-B:7 2 u32"),
        ("source,target\n", "0 unit"),
        ("source 10\ntarget 20\n", "source-10:1 target-20:1 4 unit"),
        ("source a 5\na target 3\nsource target 9\n", "source-a:5 source-target:9 a-target:3 3 u32"),
        ("source target 9\nsource a 5\na target 3\n", "source-target:9 source-a:5 a-target:3 3 u32"),
        ("node1 node2\nnode2 node3\n", "node1-node2:1 node2-node3:1 3 unit"),
        ("1 2 4294967296\n2 3 -1\n", "1-2:4294967296 2-3:-1 3 f64"),
        ("1 2\r2 3\r3 4\r", "1-2:1 2-3:1 3-4:1 4 unit"),
        ("# nothing\r1 2\r2 3", "1-2:1 2-3:1 3 unit"),
        ("1 2\r\r\n2 3\r\r\n", "1-2:1 2-3:1 3 unit"),
        ("Source\tTarget\nx\ty\n", "x-y:1 2 unit"),
        ("u v\nv w\n", "u-v:1 v-w:1 3 unit"),
        ("alice bob 3\nbob carol 4\n", "alice-bob:3 bob-carol:4 3 u32"),
        ("New York\tBoston\nBoston\tSan Jose\n", "New York-Boston:1 Boston-San Jose:1 3 unit"),
        ("Smith, J\tDoe, A\t3\nDoe, A\tSmith, J\t4\n", "Smith, J-Doe, A:3 Doe, A-Smith, J:4 2 u32"),
        ("a,b\tc;d|e\n", "a,b-c;d|e:1 2 unit"),
        ("a,\tb\nb,\tc\n", "a-b:1 b-c:1 3 unit"),
        ("New York,San Jose,5\n", "New York-San Jose:5 2 u32"),
        ("\"a,b\",c\nc,\"say \"\"x\"\"\"\n", "a,b-c:1 c-say \"x\":1 3 unit"),
        ("1 x\nx 2\n", "1-x:1 x-2:1 3 unit"),
        ("01 1\n", "01-1:1 2 unit"),
        ("0 4294967296\n4294967296 7", "0-4294967296:1 4294967296-7:1 3 unit"),
        ("18446744073709551615 1\n", "18446744073709551615-1:1 2 unit"),
        ("5 V\n", "5-V:1 2 unit"),
        ("4\n0 1\n1 2\n", "0-1:1 1-2:1 4 unit"),
        ("5 2\n1 2 7\n2 3 8\n", "1-2:7 2-3:8 5 u32"),
        ("4,2,d,graph\n1,2\n2,4\n", "1-2:1 2-4:1 4 unit"),
        ("3 1\n1 2\n", "<input>"),
        ("# Nodes: 4 Edges: 1\n0 1\n", "0-1:1 4 unit"),
        ("# Nodes: 3 Edges: 1\n1 3\n", "1-3:1 3 unit"),
        ("# Nodes: 2 Edges: 1\n1 3\n", "1-3:1 2 unit"),
        ("# Undirected graph: x\n0 1\n", "0-1:1 1-0:1 2 unit"),
        ("1 2 99999999\n1 3 4294967295", "1-2:99999999 1-3:4294967295 3 u32"),
    ] {
        let found = edges_of(text, &auto);
        if expected == "<input>" {
            assert!(found.starts_with("test:1:1: this line may be an edge or the numbers"), "{found}");
        } else {
            assert_eq!(found, expected, "{text:?}");
        }
    }
    let counts = auto.clone().first_line(FirstLine::Counts);
    assert_eq!(edges_of("3 1\n1 2\n", &counts), "1-2:1 3 unit");
    assert_eq!(edges_of("3 1\n0 2\n", &counts), "0-2:1 3 unit");
    assert_eq!(edges_of("3 0\n", &counts), "3 unit");
    assert_eq!(edges_of("3 1\n1 2\n", &auto.clone().first_line(FirstLine::Edge)), "1-2:1 3-1:1 3 unit");
    assert_eq!(edges_of("x y\n1 2\n", &auto.clone().first_line(FirstLine::Header)), "1-2:1 2 unit");
    let column = |weights: WeightSource| auto.clone().weights(weights);
    assert_eq!(edges_of("1 2 x 9\n", &column(4.into())), "1-2:9 2 u32");
    assert_eq!(edges_of("1 2 x 9\n", &column(WeightSource::Unit)), "1-2:1 2 unit");
    let named = column("km".into());
    assert_eq!(edges_of("a,b,\"name\",km\n1,2,x,9.5\n", &named.clone().first_line(FirstLine::Header)), "1-2:9.5 2 f64");
    assert!(edges_of("a,b,c\n1,2,9\n", &named).contains("no column `km`; there are a, b, c"));
    assert!(edges_of("1,2,9\n", &named).contains("no header line"));
    assert!(edges_of("1 2\n", &column(3.into())).contains("no column 3"));
    assert!(edges_of("1 2 3\n", &column(2.into())).contains("columns 1 and 2 hold the vertices"));
}

#[test]
fn dimacs_and_pace_of_every_kind() {
    let auto = ReadOptions::new();
    for (text, expected) in [
        ("c x\n\np sp 3 2\nc y\na 1 2 7\r\na 3  1\t4\n", "1-2:7 3-1:4 3 u32"),
        ("p sp 3 1\na 1 2 -7\n", "1-2:-7 3 i32"),
        ("p sp 2 1\na 1 2 0.25", "1-2:0.25 2 f64"),
        ("p sp 2 1\na 1 2", "1-2:1 2 unit"),
        ("p edge 3 1\nn 1 5\ne 1 2\n", "1-2:1 2-1:1 3 unit"),
        ("p tw 3 1\nc x\n1 2\n", "1-2:1 2-1:1 3 unit"),
        ("p cep 3 1\r\n2 2\r\n", "2-2:1 3 unit"),
        ("p tw 2 0\n", "2 unit"),
        ("p sp 0 0\n", "0 unit"),
    ] {
        assert_eq!(edges_of(text, &auto), expected, "{text:?}");
    }
    assert_eq!(edges_of("p sp 2 1\na 1 2 5\n", &auto.clone().weights(WeightSource::Unit)), "1-2:1 2 unit");
    let undirected = auto.direction(Direction::Undirected);
    assert_eq!(edges_of("p sp 2 1\na 1 2 5\n", &undirected), "1-2:5 2-1:5 2 u32");
}

#[test]
fn what_is_wrong_is_said_with_line_and_text() {
    for (format, text, expected) in [
        (Format::EdgeList, "1 2\n3\n", "test:2:1: 2 columns are expected, as on the first line, but there is 1: `3`"),
        (Format::EdgeList, "1 2\n3 4\n\n# x\n5 6 7\n", "test:5:1: 2 columns are expected"),
        (Format::EdgeList, "1 2 3\n4 5\n", "test:2:1: 3 columns are expected"),
        (Format::EdgeList, "5\n", "test:1:1: two vertices are expected on a line: `5`"),
        (Format::EdgeList, "1 2 3\n4 5 x\n", "test:2:5: a weight has to be a finite number"),
        (Format::EdgeList, "1 2 3\n4 5 nan\n", "test:2:5: a weight has to be a finite number"),
        (Format::EdgeList, "1,2,3\n4,5,\n", "test:2:5: a weight has to be a finite number"),
        (Format::EdgeList, "1 2 3\n4 5 -inf\n", "test:2:5: a weight"),
        (Format::EdgeList, "1 2 3\n4 5 1e400\n", "test:2:5: a weight"),
        (Format::EdgeList, "1 2 3\n4 5 9007199254740993\n", "test:2:5: a weight is beyond 2^53"),
        (Format::EdgeList, "a b nan\nb c 3\n", "test:1:5: a weight has to be a finite number"),
        (Format::EdgeList, "a b inf\nc d 3\n", "test:1:5: a weight has to be a finite number"),
        (Format::EdgeList, "a b NA\nc d 3\n", "test:1:5: a weight has to be a finite number"),
        (Format::EdgeList, "a b weight\na b 3\n", "test:1:1: this line may be a header or an edge: `--first-line"),
        (Format::EdgeList, "u v\nx y\n", "test:1:1: this line may be a header or an edge: `--first-line"),
        (Format::EdgeList, "source,target\nsource,a\n", "test:1:1: this line may be a header or an edge"),
        (Format::EdgeList, "source,target,2019\nx,a,5\n", "test:1:1: this line may be a header or an edge"),
        (
            Format::EdgeList,
            "a b\t3\nc d\t4\n",
            "test:2:1: the separator of columns is unclear; the columns are `c` and",
        ),
        (Format::EdgeList, "1,5;2,5\n", "test:1:1: the separator of columns is unclear"),
        (Format::EdgeList, "1;2;1,5\n2;3;1.5\n", "test:2:5: some weights have a decimal point and some a comma"),
        (Format::EdgeList, "1\t2\t1,5\n", "test:1:5: a weight has to be a finite number; `--decimal comma`"),
        (Format::EdgeList, "id,x,y,minutes\n1,2,3,4\n", "test: the header does not say which columns hold the ends"),
        (Format::EdgeList, "source,target,type\n1,2,directed\n2,3,undirected\n", "test:3:1: some edges are directed"),
        (Format::EdgeList, "source,target\n1,2,3\n", "test:1:1: this header names 2 columns, but the next line has 3"),
        (Format::EdgeList, "1 2\n2 3\r3 4\n", "test:2:4: a carriage return stands inside a line"),
        (Format::EdgeList, "1 2\n# x\r3 4\n", "test:2:4: a carriage return stands inside a line"),
        (Format::EdgeList, "x,\"y\nz\",w\n", "test:1:1: a quote is not closed on this line"),
        (Format::EdgeList, "5 3 x y\n0 1\n2 3\n", "test:1:1: this line announces 3 edges, but the file has 2"),
        (Format::EdgeList, "3 2 x y\n0 1\n2 3\n", "test:3:1: a vertex is out of range: 3 vertices are declared"),
        (Format::EdgeList, "9999999999\n0 1\n", "test:1:1: at most 4294967294 vertices are possible"),
        (Format::EdgeList, "# Nodes: 3 Edges: 2 Ids: 0..2\n0 1\n", "test:1:1: this line announces 2 edges"),
        (Format::EdgeList, "# Nodes: 3 Edges: 1 Ids: 0..2\n0 3\n", "test:2:1: a vertex is out of range"),
        (Format::EdgeList, "a b\nc \u{1}\n", "test:2:3: the name of a vertex contains control characters"),
        (Format::EdgeList, "a b\nc d\0\n", "test:2:3: the name of a vertex contains control characters"),
        (Format::EdgeList, "a,b\nc,\n", "test:2:3: the name of a vertex is missing"),
        (Format::Dimacs, "", "test:1:1: the header line"),
        (Format::Dimacs, "c\nq sp 1 1\n", "test:2:1: a header line"),
        (Format::Dimacs, "p sp 1\n", "test:1:1: a header line"),
        (Format::Dimacs, "p sp x 1\n", "test:1:6: a number is expected: `x`"),
        (Format::Dimacs, "p max 3 1\na 1 2 3\n", "test:1:3: the kinds of problem known"),
        (Format::Dimacs, "p sp 4294967295 1\n", "test:1:6: at most 4294967294 vertices"),
        (Format::Dimacs, "p sp 3 2\na 1 2 3\n", "test:1:1: the header announces 2 edges, but the file has 1"),
        (Format::Dimacs, "p sp 3 1\na 1 4 3\n", "test:2:5: a vertex from 1 to 3 is expected: `4`"),
        (Format::Dimacs, "p sp 3 1\na 0 1 3\n", "test:2:3: a vertex from 1 to 3 is expected: `0`"),
        (Format::Dimacs, "p sp 3 2\na 1 2 3\na 1 2\n", "test:3:1: `a` or `e`, two vertices and a weight"),
        (Format::Dimacs, "p sp 3 2\na 1 2 3\na 1 2 3 4\n", "test:3:1: `a` or `e`, two vertices and a weight"),
        (Format::Dimacs, "p sp 3 2\na 1 2 3\nb 1 2 3\n", "test:3:1: `a` or `e`, two vertices and a weight"),
        (Format::Dimacs, "p sp 3 2\na 1 2 3\na 1 2 3x\n", "test:3:7: a weight has to be a finite number: `3x`"),
        (Format::Dimacs, "p sp 3 1\na 1 2 99999999999999999\n", "test:2:7: a weight is beyond 2^53"),
        (Format::Pace, "p tw 3 2\n1 2\n", "test:1:1: the header announces 2 edges"),
        (Format::Pace, "p tw 3 1\n1 -2\n", "test:2:3: a vertex from 1 to 3 is expected: `-2`"),
        (Format::Pace, "p tw 3 1\n1\n", "test:2:1: two vertices are expected"),
        (Format::Pace, "p tw 3 2\n1 2\n1 2 3\n", "test:3:1: two vertices are expected"),
    ] {
        let found = edges_of(text, &ReadOptions::new().format(format));
        assert!(found.starts_with(expected), "{text:?}:\n  expected {expected}\n  found    {found}");
    }
    // Takes 34 GB of offsets, so only machines with less memory test it.
    if crate::available_memory() < 8 << 32 {
        let huge = read_text("p sp 4294967294 0\n", &ReadOptions::new().allow_isolated(true));
        assert!(matches!(huge, Err(Error::OutOfMemory { .. })));
    }
    let latin = read_text(b"a b\nc \xe9\n", &ReadOptions::new()).unwrap_err();
    assert!(latin.to_string().starts_with("test:2:3: the name of a vertex has to be UTF-8"), "{latin}");
}

/// Checks everything that algorithms rely on.
fn assert_sound(graph: &Graph) {
    let csr = graph.csr();
    let targets = csr.targets().to_vec();
    fn copied<W: Weight>(values: &[W]) -> Weights {
        W::into_weights(values.to_vec())
    }
    let weights = with_weights!(csr.weights(), values => copied(values));
    let csr = Csr::new(csr.offsets().to_vec(), targets, weights).unwrap();
    assert!(Graph::from_csr(csr, graph.is_directed(), graph.labels().clone()).is_ok());
}

#[test]
fn damaged_texts_are_errors_or_graphs_but_never_panics() {
    let samples = [
        "# Nodes: 5 Edges: 4 Ids: 0..4\n0 1 5\n1 2 7\n2 4 4000000000\n0 4 1\n",
        "# Undirected graph\n# Node: \"x y\"\n\"a\",\"b,c\",1.5\n\"b,c\",d,-2e3\n",
        "source\ttarget\tweight\n10\t20\t-1\n20\t4294967297\t3\n",
        "4 3\r\n0 1\r\n1 2\r\n2 3\r\n",
        "id;source;target;km\n1;\"a;b\";c;1,5\n2;c;d e;2,5\n",
        "c road\np sp 4 3\na 1 2 803\na 2 3 158\na 4 1 99999999\n",
        "p edge 4 2\nn 1 2\ne 1 2\ne 3 4\n",
        "p tw 4 3\n1 2\n2 3\n3 4\n",
    ];
    let interesting = b"0123456789 \t\n\r,;|\"#%-+.eEapc\0\xff\xef\xbb\xbf";
    let mut random = Random(99);
    let mut graphs = 0;
    for round in 0..size(30_000, 60) {
        let mut text = samples[random.below(samples.len() as u64) as usize].as_bytes().to_vec();
        for _ in 0..1 + random.below(4) {
            let at = random.below(text.len() as u64 + 1) as usize;
            let byte = interesting[random.below(interesting.len() as u64) as usize];
            match random.below(5) {
                0 => text.truncate(at),
                1 => text.insert(at, byte),
                2 if at < text.len() => text[at] = byte,
                3 if at < text.len() => drop(text.remove(at)),
                _ => {
                    let other = samples[random.below(samples.len() as u64) as usize].as_bytes();
                    let from = random.below(other.len() as u64) as usize;
                    let length = random.below(12) as usize;
                    let piece: Vec<u8> = other[from..].iter().copied().take(length).collect();
                    text.splice(at..at, piece);
                }
            }
        }
        let mut options = ReadOptions::new();
        if round % 2 == 0 {
            options = options.format(TEXT_FORMATS[random.below(3) as usize]);
        }
        let first_lines = [FirstLine::Auto, FirstLine::Counts, FirstLine::Header, FirstLine::Edge];
        options = options.first_line(first_lines[random.below(4) as usize]);
        // A large declared number of vertices is no mistake, but takes memory.
        let digits_in_a_row = text.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len).max();
        let declares = text.starts_with(b"p") || text.windows(3).any(|three| three == b"p s" || three == b"des");
        if digits_in_a_row > Some(6) && (declares || options.first_line == FirstLine::Counts) {
            continue;
        }
        if let Ok(graph) = read_text(text, &options) {
            assert_sound(&graph);
            graphs += 1;
        }
    }
    assert!(graphs > size(1000, 2), "{graphs} graphs are too few to have tested much");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut random = Random(3);
    let mut text = String::new();
    for _ in 0..size(400_000, 150) {
        let weight = random.below(1000) as i64 - 10;
        text += &format!("{} {} {weight}\n", random.below(5000) * 3, random.below(5000) * 3);
    }
    let graph = |text: &str, threads| read_text(text, &ReadOptions::new().threads(threads));
    let (one, two) = (graph(&text, 1).unwrap(), graph(&text, 2).unwrap());
    assert_eq!(one.weight_kind(), WeightKind::I32);
    assert_eq!(arcs(&one, false), arcs(&two, false));
    assert_eq!((names(&one), one.input_counts()), (names(&two), two.input_counts()));
    assert_sound(&one);
    text.insert_str(text.len() / 2, "\n1 2\n");
    text.insert_str(text.len() / 4 * 3, "\n1 2\n");
    let (one, two) = (graph(&text, 1).unwrap_err(), graph(&text, 2).unwrap_err());
    assert_eq!(one.to_string(), two.to_string());
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
fn files_are_written_whole_and_packed_by_extension() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Graph::from_edges((0..1000).map(|v| (v, (v * 7 + 1) % 1000, v))).unwrap();
    for name in ["g.el", "g.wel.gz", "g.gr.zst", "g.csv.bz2", "g.gr.xz", "g.TXT.GZ"] {
        let path = folder.path().join(name);
        write(&graph, &path).unwrap();
        let again = read(&path).unwrap();
        assert_eq!(arcs(&again, false), arcs(&graph, false), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    assert!(write(&graph, folder.path().join("g.unknown")).is_err());
    assert!(write(&graph, folder.path().join("g.pace")).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    assert!(matches!(read(folder.path().join("none.el")), Err(Error::Io { .. })));
    assert!(matches!(read(folder.path()), Err(Error::Io { .. })));
    std::fs::write(folder.path().join("cut.el.gz"), [0x1f, 0x8b, 8, 0, 0]).unwrap();
    let error = read(folder.path().join("cut.el.gz")).unwrap_err().to_string();
    assert!(error.contains("cut.el.gz: the packed data (gz) are corrupt or cut short"), "{error}");
    let control = Control::new();
    control.cancel();
    assert!(matches!(ReadOptions::new().control(control).read(folder.path().join("g.el")), Err(Error::Interrupted)));
}

#[test]
#[cfg_attr(miri, ignore = "too much for an interpreter")]
fn reading_a_text_tells_how_many_bytes_are_done() {
    use std::sync::{Arc, Mutex};
    let lines: String = (0..300_000).map(|v| format!("{v} {}\n", v + 1)).collect();
    let dimacs: String = (1..200_000).map(|v| format!("a {v} {} 1\n", v + 1)).collect();
    for (bytes, text) in [
        (lines.len() as u64, lines.clone()),
        (lines.len() as u64 + 4, format!("x 0\n{lines}")),
        (dimacs.len() as u64, format!("p sp 200000 199999\n{dimacs}")),
    ] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let control = Control::new().watched_by(move |progress| listener.lock().unwrap().push(progress));
        read_text(text, &ReadOptions::new().control(control)).unwrap();
        let heard = heard.lock().unwrap();
        assert!(heard.iter().all(|progress| progress.stage == "load"));
        assert!(heard.iter().any(|progress| progress.done > 0 && progress.done < progress.total), "{heard:?}");
        assert_eq!(heard.iter().map(|progress| (progress.done, progress.total)).max(), Some((bytes, bytes)));
    }
}

#[test]
fn headers_that_promise_too_much_are_refused_unless_asked_for() {
    const VERTICES: u64 = 1_000_000_000;
    let general = "%%MatrixMarket matrix coordinate pattern general\n";
    for (format, text, line) in [
        (Format::MatrixMarket, format!("{general}{VERTICES} {VERTICES} 1\n1 2\n"), 2),
        (Format::Dimacs, format!("c long\np sp {VERTICES} 1\na 1 2 3\n"), 2),
        (Format::Pace, format!("p tw {VERTICES} 1\n1 2\n"), 1),
        (Format::EdgeList, format!("{VERTICES} 1\n0 1 5\n"), 1),
        (Format::EdgeList, format!("# Nodes: {VERTICES} Edges: 1 Ids: 0..{}\n0 1\n", VERTICES - 1), 1),
    ] {
        let options = || ReadOptions::new().format(format);
        let options = || if text.starts_with('1') { options().first_line(FirstLine::Counts) } else { options() };
        let read = |options: ReadOptions| options.read_bytes("test", text.as_bytes().to_vec());
        let error = read(options()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("test:{line}:")), "{format}: {error}");
        assert!(error.to_string().contains("`--allow-isolated`"), "{format}: {error}");
        assert_eq!(error.kind(), ErrorKind::Usage, "{format}");
        // With `allow_isolated`, only memory limits it.
        let error = read(options().allow_isolated(true).memory(1 << 30)).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { needed: 16_000_000_000, available, .. } if available <= 1 << 30));
    }
}

#[test]
#[cfg_attr(miri, ignore = "too much for an interpreter")]
fn many_isolated_vertices_are_read_where_they_are_asked_for_or_few() {
    for (vertices, allowed) in [(1_000_000_u64, false), (2_000_000, true)] {
        let text = format!("p sp {vertices} 1\na 1 2 3\n").into_bytes();
        let graph = ReadOptions::new().allow_isolated(allowed).read_bytes("x.gr", text).unwrap();
        assert_eq!(graph.vertices() as u64, vertices);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too much for an interpreter")]
fn reading_keeps_to_the_memory_it_is_given() {
    let text: String = (0..200_000).map(|v| format!("{v} {}\n", v + 1)).collect();
    let numbers = text.into_bytes();
    let names: String = (0..100_000).map(|v| format!("v{v} v{}\n", v + 1)).collect();
    for (name, text, graph_bytes) in [("x.txt", &numbers, 200_000 * 12), ("x.txt", &names.into_bytes(), 100_000 * 20)] {
        let read = |memory: u64| ReadOptions::new().memory(memory).read_bytes(name, text.clone());
        for memory in [0, 1 << 20, text.len() as u64, text.len() as u64 + graph_bytes / 2] {
            let outcome = read(memory).map(|graph| graph.vertices());
            assert!(matches!(outcome, Err(Error::OutOfMemory { .. })), "{memory}: {outcome:?}");
        }
        assert!(read(200 << 20).is_ok());
    }
}
