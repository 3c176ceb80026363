//! `apsp` on ranks: its files are those of one machine.

use crate::command::{compare, output_of};
use crate::launcher::{Role, launch};

/// All tests with their names.
pub(crate) const TESTS: &[(&str, fn())] = &[("pairs_are_those_of_one_machine", pairs_are_those_of_one_machine)];

fn pairs_are_those_of_one_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("sources.txt");
    std::fs::write(&list, "5\n7\n5\n399\n").expect("a file");
    let list = list.display().to_string();
    compare(folder.path(), 3, &["apsp", "kron:7", "--weights", "random:1..9"], "npy");
    for reduction in ["eccentricity", "closeness", "histogram"] {
        let all = ["apsp", "kron:7", "--weights", "random:1..9", "--reduce", reduction];
        compare(folder.path(), 3, &all, "csv");
        let some = ["apsp", "crawl:500", "--sources", &list, "--targets", &list, "--reduce", reduction, "--verify"];
        compare(folder.path(), 2, &some, "csv");
    }
    // Four rows, of which a rank has none.
    compare(folder.path(), 5, &["apsp", "crawl:500", "--sources", &list, "--reduce", "closeness"], "csv");
    compare(folder.path(), 3, &["apsp", "grid:20x20,weights=0..9", "--sources", &list, "--targets", &list], "npy");
    compare(folder.path(), 2, &["apsp", "grid:20x20,weights=0..9", "--sources", &list], "npy");
    compare(folder.path(), 2, &["apsp", "grid:20x20", "--weights", "random:900000000..4000000000"], "npy");
    let shared = ["--algorithm", "floyd-warshall-2d", "--verify"];
    for (ranks, graph) in
        [(4, "kron:7,weights=1..9"), (3, "crawl:900"), (2, "grid:20x20,weights=900000000..4000000000")]
    {
        // One machine has no such algorithm.
        let [alone, together] =
            ["alone.npy", "together.npy"].map(|name| folder.path().join(name).display().to_string());
        let (ended, _, error) =
            output_of(&mut launch(Role::Command, 1, &["apsp", graph, "--output", &alone, "--quiet"]));
        assert!(ended.status.success(), "{error}");
        let mut words = vec!["apsp", graph, "--engine", "mpi", "--output", &together, "--quiet"];
        words.extend(shared);
        let (ended, _, error) = output_of(&mut launch(Role::Command, ranks, &words));
        assert!(ended.status.success(), "{graph}: {error}");
        assert!(std::fs::read(&alone).unwrap() == std::fs::read(&together).unwrap(), "{graph}");
    }
    // A dense graph, of which every rank would make the whole matrix.
    compare(folder.path(), 4, &["apsp", "dense:300", "--verify"], "npy");
}
