//! Ranks that were not started alike are found before the work.

use crate::command::output_of;
use crate::launcher::{launch_in_folders, launch_two};
use warpath::Graph;

/// All tests with their names.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("ranks_with_other_arguments_are_found", ranks_with_other_arguments_are_found),
    ("ranks_with_other_files_are_found", ranks_with_other_files_are_found),
];

fn ranks_with_other_arguments_are_found() {
    let one: &[&str] = &["bfs", "grid:3x3", "--source", "0", "--engine", "mpi"];
    let other: &[&str] = &["bfs", "grid:3x3", "--source", "1", "--engine", "mpi"];
    let (output, _, error) = output_of(&mut launch_two((1, one), (2, other)));
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.matches("the ranks were started with different arguments").count(), 1, "{error}");
}

/// Files of one name and length, of which ranks would read parts that do not belong together.
fn ranks_with_other_files_are_found() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    for (folder, weight) in folders.iter().zip([7_u32, 8]) {
        let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1, weight))).expect("a graph");
        warpath::write(&graph, folder.path().join("graph.wpg")).expect("a file");
        warpath::write(&graph, folder.path().join("graph.gr")).expect("a file");
        let lines: String = (0..100).map(|v| format!("{v} {} {weight}\n", v + 1)).collect();
        std::fs::write(folder.path().join("graph.txt"), lines).expect("a file");
    }
    let [one, other] = [0, 1].map(|index| folders[index].path());
    for (problem, graph, message) in [
        ("sssp", "graph.wpg", "graph.wpg: the file is another one on another host"),
        ("sssp", "graph.txt", "graph.txt: the file is another one on another host"),
        ("apsp", "graph.gr", "the ranks have read different graphs"),
    ] {
        let mut words = vec![problem, graph, "--engine", "mpi"];
        if problem == "sssp" {
            words.extend(["--source", "0"]);
        }
        let (output, _, error) = output_of(&mut launch_in_folders([one, other], &words));
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert_eq!(error.matches(message).count(), 1, "{words:?}: {error}");
        let (output, _, error) = output_of(&mut launch_in_folders([one, one], &words));
        assert!(output.status.success(), "{words:?}: {error}");
    }
}
