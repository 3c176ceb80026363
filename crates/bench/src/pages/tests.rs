//! Tests of pages: a small one of its own, and the documentation.

use std::path::{Path, PathBuf};

use super::*;
use crate::results::tests::{empty_run, graph, row};
use crate::results::{Clock, GraphFacts, Row, Status, Times};

/// An experiment on two graphs with two series, of which one has a timeout, and the first graph is a stand-in.
fn recorded() -> Recorded {
    let mut results = empty_run("singh");
    results.add_graph(GraphFacts { stand_in: Some("absent".into()), ..graph("n10", 1_234, 40) });
    results.add_graph(graph("n64", 64, 128));
    let of =
        |graph: &str, series: &str, samples: &[f64]| Row { experiment: "fig8".into(), ..row(graph, series, samples) };
    results.add_row(Row { reported: Some(0.5), ..of("n10", "CPU, one", &[9e-3, 1e-2, 1.2e-2]) });
    results.add_row(of("n64", "CPU, one", &[4e-2]));
    let fast = of("n10", "GPU | plain", &[1e-3]);
    let times = fast.seconds.clone().map(|times| Times { clock: Clock::Device, host: 2.5e-3, ..times });
    results.add_row(Row { seconds: times, ..fast });
    results.add_row(of("n64", "GPU | plain", &[2.5e-3]));
    results.add_row(Row { status: Status::Timeout, seconds: None, ..of("n64", "late", &[1.0]) });
    Recorded::of("h200/singh", results)
}

const PAGE: &str = r#"# A page
<!-- results h200/singh -->

One thread takes 10.0 ms<!--= fig8/n10 "CPU, one" --> (9.00 ms – 12.0 ms<!--= fig8/n10 "CPU, one" range-->),
which is **4.00×<!--= fig8/n10 "CPU, one" / "GPU | plain" -->**, by the host<!--= fig8/n10 "CPU, one" / "GPU | plain" clock -->'s
clock, or 3.60 to 4.80<!--= fig8/n10 "CPU, one" / "GPU | plain" range--> times, and 8.00×<!--= fig8 "CPU, one" / "GPU | plain"
mean --> over 2<!--= fig8 "CPU, one" / "GPU | plain" graphs --> graphs, from 4.00× – 16.0×<!--=fig8 "CPU, one" / "GPU | plain" range-->.
The paper has 500 ms<!--= fig8/n10 "CPU, one" paper-->, 50.0×<!--= fig8/n10 "CPU, one" paper / "CPU, one"--> as long, on
1,234<!--= fig8/n10 vertices--> vertices. `0 ms<!--= in code -->`, and a plain comment <!-- of no kind -->.

```
1 ms<!--= fig8/n10 "nobody"-->
```

<!-- table fig8; columns vertices, "CPU, one", "GPU | plain" as "GPU",
     "CPU, one" / "GPU | plain" as "ratio", "late", "CPU, one" clock -->
| graph | vertices | CPU, one | GPU | ratio | late | CPU, one, clock |
|---|--:|--:|--:|--:|--:|---|
| n10 † | 1,234 | 10.0 ms | 1.00 ms | 4.00× | – | host |
| n64 | 64 | 40.0 ms | 2.50 ms | 16.0× | *timeout* | host |

† stands in for the graph that the paper used.
<!-- end -->

<!-- table fig8/n10
     rows "CPU, one" as "CPU" "GPU | plain"
     columns median, range, "CPU, one" / row as "so many times", paper, searches -->
| series | median | least to greatest | so many times | paper | searches |
|---|--:|--:|--:|--:|--:|
| CPU | 10.0 ms | 9.00 ms – 12.0 ms | 1.00× | 500 ms | 3 |
| GPU \| plain | 1.00 ms | 1.00 ms | 4.00× | – | 1 |
<!-- end -->
"#;

#[test]
fn a_page_with_the_recorded_figures_has_no_differences() {
    let page = Page::of(PAGE, &recorded());
    assert_eq!(page.differences, [], "{}", page.text);
    assert_eq!((page.text.as_str(), page.marks), (PAGE, 13));
}

#[test]
fn every_changed_figure_is_found_and_mended() {
    let changes = [
        ("10.0 ms<!--=", "10.1 ms<!--="),
        ("9.00 ms – 12.0", "9 ms – 12.0"),
        ("**4.00×", "**?"),
        ("the host<", "the device<"),
        ("3.60 to 4.80", "3.6 to 5"),
        ("over 2<", "over 12<"),
        ("500 ms<", "1.5e-3 s<"),
        ("1,234<", "1,233<"),
        ("| GPU \\| plain | 1.00 ms |", "| GPU \\| plain | 1.01 ms |"),
        ("| 2.50 ms | 16.0× |", "| 2.50 ms | 16.1× |"),
    ];
    let recorded = recorded();
    for (right, wrong) in changes {
        let changed = PAGE.replacen(right, wrong, 1);
        assert_ne!(changed, PAGE, "{right}");
        let page = Page::of(&changed, &recorded);
        assert_eq!(page.differences.len(), 1, "{wrong}: {:?}", page.differences);
        assert!(page.differences[0].recorded.is_ok(), "{wrong}: {}", page.differences[0]);
        assert_eq!(page.text, PAGE, "{wrong}");
    }
    let all = changes.iter().fold(PAGE.to_owned(), |text, (right, wrong)| text.replacen(right, wrong, 1));
    let page = Page::of(&all, &recorded);
    assert_eq!((page.differences.len(), page.text.as_str()), (changes.len(), PAGE));
    assert_eq!(page.differences[0].line, 4);
    assert_eq!(page.differences[0].to_string(), "line 4: `10.1 ms` is 10.0 ms by `fig8/n10 \"CPU, one\"`");
}

#[test]
fn tables_take_ranges_of_graphs() {
    let lines = |mark: &str| table::table(&recorded(), mark, &Place::default());
    let of =
        |rows: &str| lines(&format!("h200/singh fig8 rows {rows} columns \"CPU, one\"")).map(|all| all.lines().count());
    assert_eq!([of(".."), of("n10.."), of("..n64"), of("n10..n64"), of("n64")], [Ok(6), Ok(6), Ok(6), Ok(6), Ok(3)]);
    for (mark, told) in [
        ("h200/singh fig8 rows n64..n10 columns arcs", "there are no graphs `n64..n10`"),
        ("h200/singh fig8 rows n11 columns arcs", "there is no graph `n11`; there are n10, n64"),
        ("h200/singh fig8 rows columns arcs", "names no graph"),
        ("h200/singh fig8 rows as \"x\" columns arcs", "`as` stands behind a row"),
        ("h200/singh fig8", "`columns` is missing"),
        ("h200/singh fig8 columns \"nobody\"", "no series \"nobody\""),
        ("h200/singh fig8 columns \"CPU, one\" fig9", "`fig9` is not understood"),
        ("h200/singh fig9 columns arcs", "no experiment `fig9`"),
    ] {
        let error = lines(mark).unwrap_err();
        assert!(error.contains(told), "{mark}: {error}");
    }
}

#[test]
fn mistakes_in_marks_are_told_and_change_nothing() {
    let recorded = recorded();
    for (text, told) in [
        ("1 ms<!--= fig8/n10 \"CPU, one\" -->", "names no results"),
        ("1 ms<!--= h200/nobody fig8/n10 \"CPU, one\" -->", "no results `h200/nobody`; there are `h200/singh`"),
        ("1 ms<!--= h200/singh fig8 \"CPU, one\" -->", "names no graph"),
        ("1 ms<!--= h200/singh fig8/n11 \"CPU, one\" -->", "no graph `n11`"),
        ("1 ms<!--= h200/singh fig8/n10 \"CPU\" -->", "no series \"CPU\"; there are `CPU, one`"),
        ("1 ms<!--= h200/singh fig8/n64 \"late\" -->", "nothing is recorded there but: timeout"),
        ("?<!--= h200/singh fig8/n64 \"late\" -->", "nothing is recorded there but: timeout"),
        ("1 ms<!--= h200/singh fig8/n10 \"late\" -->", "nothing is recorded there"),
        ("1×<!--= h200/singh fig8 \"CPU, one\" / \"GPU | plain\" -->", "names no graph"),
        ("none<!--= h200/singh fig8/n10 \"CPU, one\" -->", "no such figure"),
        ("none<!--= h200/singh fig8/n10 \"CPU, one\" clock -->", "no such figure"),
        ("<!--= h200/singh fig8/n10 \"CPU, one\" -->", "no such figure"),
        ("1 ms<!--= h200/singh fig8/n10 \"CPU, one\" range -->", "LEAST – GREATEST"),
        ("<!-- results nowhere/fig8 -->", "names no results"),
        ("<!-- table h200/singh fig8; columns arcs -->\n", "no `<!-- end -->`"),
        ("<!-- table h200/singh fig8; columns arcs -->\n<!-- table x -->\n<!-- end -->", "no `<!-- end -->`"),
        ("<!-- table h200/singh fig8; columns nobody -->\n| a |\n<!-- end -->", "no experiment `nobody`"),
    ] {
        let page = Page::of(text, &recorded);
        let first = page.differences.first().unwrap_or_else(|| panic!("{text}: nothing was found"));
        assert!(first.recorded.as_ref().is_err_and(|why| why.contains(told)), "{text}: {first}");
        assert_eq!(page.text, text);
    }
}

#[test]
fn numbers_are_found_with_their_units() {
    for (text, found) in [
        ("takes 2.73 ms", "2.73 ms"),
        ("(1,234", "1,234"),
        ("≈12.3×", "12.3×"),
        ("1.2e-3 s", "1.2e-3 s"),
        ("table-2.5 µs", "2.5 µs"),
        ("e-5 ns", "5 ns"),
        ("n64-7", "7"),
    ] {
        assert_eq!(number(text).map(|start| &text[start..]), Some(found), "{text}");
    }
    for text in ["", " ms", "×", "5 apples", "-", "e-", "."] {
        assert_eq!(number(text), None, "{text}");
    }
}

/// All Markdown files in a folder and those below, except in `docs/results`, which the bench writes.
fn pages_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("docs/results") {
            pages_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// `warpath bench figures FILE --write` mends what this finds.
#[test]
fn the_documentation_has_the_recorded_figures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recorded = Recorded::read(&root.join("docs/results")).unwrap();
    let mut pages = vec![root.join("README.md")];
    pages_in(&root.join("docs"), &mut pages);
    assert!(pages.len() > 4, "{pages:?}");
    let mut told = String::new();
    for path in pages {
        let page = Page::of(&std::fs::read_to_string(&path).unwrap(), &recorded);
        for difference in page.differences {
            told += &format!("{}, {difference}\n", path.display());
        }
    }
    assert!(told.is_empty(), "\n{told}");
}
