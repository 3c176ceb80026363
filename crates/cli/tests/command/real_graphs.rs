//! Real graphs from many publishers, if their folder exists: beside the repository, or at `WARPATH_GRAPHS`.

use std::path::{Path, PathBuf};

use crate::common::Folder;
use serde_json::json;

/// File, options that reading it needs, vertices, lines.
const GRAPHS: [(&str, &str, u64, u64); 17] = [
    ("USA-road-d.NY.gr.zst", "", 264_346, 733_846),
    ("BAY.gr.zst", "", 321_270, 397_415),
    ("FLA.gr.zst", "", 1_070_376, 1_343_951),
    ("NW.gr.zst", "", 1_207_945, 1_410_387),
    ("luxembourg_osm.mtx.zst", "--format matrix-market", 114_599, 119_666),
    ("facebook_combined.txt.zst", "", 4_039, 88_234),
    ("soc-Slashdot0902.txt.zst", "", 82_168, 948_464),
    ("soc-sign-bitcoinotc.csv.zst", "", 5_881, 35_592),
    ("Email-Enron.txt.zst", "--first-line counts", 36_692, 367_662),
    ("cnr-2000.arcs.txt.zst", "", 325_557, 3_216_152),
    ("web-indochina-2004.mtx.zst", "", 11_358, 47_606),
    ("20110116.as-rel.txt.zst", "", 36_878, 103_485),
    ("bio-CE-CX.edges.zst", "", 15_229, 245_952),
    ("bio-grid-yeast.edges.zst", "", 6_008, 313_890),
    ("arxiv-cit-hep-ph.jlg.zst", "", 34_546, 421_578),
    ("delaunay_n16.mtx.zst", "--format matrix-market", 65_536, 196_575),
    ("chesapeake.mtx.zst", "", 39, 170),
];

fn graphs() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/graphs");
    let folder = std::env::var_os("WARPATH_GRAPHS").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn every_file_has_the_vertices_and_lines_that_its_publisher_counts() {
    let Some(graphs) = graphs() else { return };
    let folder = Folder::new();
    for (name, options, vertices, lines) in GRAPHS {
        let found = folder.run(&format!("info {} {options} --json", graphs.join(name).display())).json();
        assert_eq!((&found["vertices"], &found["lines"]), (&json!(vertices), &json!(lines)), "{name}");
    }
}

#[test]
fn searches_of_the_smaller_files_are_verified() {
    let Some(graphs) = graphs() else { return };
    let folder = Folder::new();
    for (name, options, _, _) in GRAPHS.into_iter().filter(|(_, _, vertices, _)| *vertices < 100_000) {
        let path = graphs.join(name);
        let path = path.display();
        // Third columns, if any, hold ratings and kinds of relationships.
        let bfs = folder.run(&format!("bfs {path} {options} --source 2 --verify --predecessors --json")).json();
        let sssp = folder.run(&format!("sssp {path} {options} --weights unit --source 2 --verify --json")).json();
        assert_eq!((&bfs["verified"], &sssp["verified"]), (&json!(true), &json!(true)), "{name}");
        for fact in ["reached", "max_distance", "distance_sum"] {
            assert_eq!(bfs[fact], sssp[fact], "{name}");
        }
        let random = format!("sssp {path} {options} --weights random:1..255 --source 2 --verify --json");
        assert_eq!(folder.run(&random).json()["reached"], bfs["reached"], "{name}");
    }
}

#[test]
fn shortest_paths_over_roads_are_verified() {
    let Some(graphs) = graphs() else { return };
    let folder = Folder::new();
    let path = graphs.join("USA-road-d.NY.gr.zst");
    let found = folder.run(&format!("sssp {} --source 1 --verify --json", path.display())).json();
    assert_eq!((&found["reached"], &found["verified"]), (&json!(264_346), &json!(true)));
}
