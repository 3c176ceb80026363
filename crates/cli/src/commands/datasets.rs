//! `warpath datasets`: graphs that the papers used and that can't be generated.

use std::path::{Path, PathBuf};

use serde::Serialize;
use warpath_bench::datasets::{self, Dataset};

use crate::arguments::{DatasetsArguments, DatasetsCommand, ShowProgress};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::progress;

#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    title: String,
    publisher: String,
    from: String,
    vertices: u64,
    edges: u64,
    sha256: Option<String>,
    sha256_text: Option<String>,
    /// The local file, if there is one.
    file: Option<PathBuf>,
    /// How that file differs from the published one.
    differs: Option<String>,
}

impl Listed {
    fn of(dataset: Dataset, folder: Option<&Path>) -> Self {
        let found = folder.and_then(|folder| dataset.find(folder));
        Listed {
            from: dataset.url.or(dataset.page).unwrap_or_default(),
            name: dataset.name,
            title: dataset.title,
            publisher: dataset.publisher,
            vertices: dataset.vertices,
            edges: dataset.edges,
            sha256: dataset.sha256,
            sha256_text: dataset.sha256_text,
            differs: found.as_ref().and_then(|found| found.differs.clone()),
            file: found.map(|found| found.path),
        }
    }
}

#[derive(Debug, Serialize)]
struct List {
    folder: Option<PathBuf>,
    datasets: Vec<Listed>,
}

pub(crate) fn run(arguments: DatasetsArguments) -> Result<ExitCode, Failure> {
    match arguments.other {
        Some(DatasetsCommand::Get { name, data, from, quiet }) => get(&name, data.as_deref(), from.as_deref(), quiet),
        None => list(arguments.data, arguments.json),
    }
}

fn list(folder: Option<PathBuf>, json: bool) -> Result<ExitCode, Failure> {
    let datasets = datasets::all().into_iter().map(|dataset| Listed::of(dataset, folder.as_deref())).collect();
    let list = List { folder, datasets };
    if json {
        print::json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new();
    table.row(
        "folder",
        match &list.folder {
            Some(folder) => folder.display().to_string(),
            None => "none: `--data DIR` or $WARPATH_DATA says where datasets are".to_owned(),
        },
    );
    for dataset in &list.datasets {
        table.row("", "");
        table.row(dataset.name.as_str(), format!("{} ({})", dataset.title, dataset.publisher));
        let (vertices, edges) = (print::grouped(dataset.vertices.into()), print::grouped(dataset.edges.into()));
        table.row("", format!("{vertices} vertices, {edges} edges"));
        match (&dataset.file, &dataset.differs) {
            (Some(file), Some(differs)) => table.row("here", format!("{} ({differs})", file.display())),
            (Some(file), None) => table.row("here", file.display().to_string()),
            (None, _) => table.row("absent", format!("from {}", dataset.from)),
        }
        match (&dataset.sha256, &dataset.sha256_text) {
            (Some(checksum), _) => table.row("", format!("SHA-256 {checksum}")),
            (None, Some(checksum)) => table.row("", format!("SHA-256 of the text {checksum}")),
            (None, None) => {
                table.row("", "no SHA-256 is known: a download is held to the numbers of vertices and edges only")
            }
        }
    }
    table.print()?;
    Ok(ExitCode::SUCCESS)
}

fn get(name: &str, folder: Option<&Path>, from: Option<&str>, quiet: bool) -> Result<ExitCode, Failure> {
    let dataset = datasets::named(name)?;
    let folder = folder.ok_or_else(|| Failure::usage("`--data DIR` or $WARPATH_DATA says where datasets go"))?;
    let control = progress::control(if quiet { ShowProgress::Never } else { ShowProgress::Auto });
    let got = dataset.get(folder, from, &control)?;
    if !quiet {
        let mut table = Table::new();
        table.row("written", format!("{}, {}", got.path.display(), print::bytes(got.bytes)));
        let compared = match got.checked {
            true => "as known",
            false => {
                "none is known to compare it with; the numbers of vertices and edges are those of the published graph"
            }
        };
        table.row("SHA-256", format!("{}: {compared}", got.sha256));
        table.print()?;
    }
    Ok(ExitCode::SUCCESS)
}
