//! Lists of vertices in text files: one name per line.

use std::path::Path;

use warpath::{Control, Error, Graph, ReadOptions, VertexId};

use crate::failure::Failure;
use crate::print;
use crate::setup::Setup;

/// Reads the vertices named in a file, one per line; skips empty lines and lines that begin with `#` or `%`.
pub(crate) fn read_vertices(setup: &Setup<'_>, graph: &Graph, file: &Path) -> Result<Vec<VertexId>, Failure> {
    let mut vertices = Vec::new();
    for_each_vertex(setup, graph, file, |_, v| {
        vertices.try_reserve(1).map_err(|_| {
            let (what, needed) = (format!("the list `{}`", file.display()), 2 * size_of_val(&vertices[..]) as u64);
            Error::OutOfMemory { what, needed, available: warpath::available_memory() }
        })?;
        vertices.push(v);
        Ok(())
    })?;
    if vertices.is_empty() {
        return Err(Failure::usage(format!("{}: there are no vertices in it", file.display())));
    }
    Ok(vertices)
}

/// Reads an order of all vertices, one per line.
pub(crate) fn read_order(setup: &Setup<'_>, graph: &Graph, file: &Path) -> Result<Vec<VertexId>, Failure> {
    let mut order = Vec::with_capacity(graph.vertices());
    // The line of each vertex; 0 if it did not come yet.
    let mut lines = vec![0; graph.vertices()];
    for_each_vertex(setup, graph, file, |line, v| match std::mem::replace(&mut lines[v as usize], line) {
        0 => {
            order.push(v);
            Ok(())
        }
        before => Err(Error::invalid(format!("the order has this vertex in line {before} already"))),
    })?;
    let mut missing = (0..graph.vertices() as VertexId).filter(|&v| lines[v as usize] == 0);
    if let Some(first) = missing.next() {
        let (count, first) = (1 + missing.count(), graph.name(first));
        let what = print::count(count, "vertex", "vertices");
        let message = match count {
            1 => format!("the order lacks {what}: `{first}`"),
            _ => format!("the order lacks {what}, of which the first is `{first}`"),
        };
        return Err(Error::from(warpath::InputError::new(message).in_file(file.display().to_string())).into());
    }
    Ok(order)
}

/// Hands each vertex named in a file to `take`, with the number of its line; `take` may say what is wrong with it.
fn for_each_vertex(
    setup: &Setup<'_>,
    graph: &Graph,
    file: &Path,
    mut take: impl FnMut(u64, VertexId) -> Result<(), Error>,
) -> Result<(), Failure> {
    for_each_name(&setup.read_options(), &setup.control, file, |line, name| {
        // The message already contains the name.
        take(line, graph.vertex(name).map_err(|error| unknown(error, line, file))?)
    })
}

/// The error of a name in a list that is no vertex.
pub(crate) fn unknown(error: Error, line: u64, file: &Path) -> Error {
    let error = warpath::InputError::new(error.to_string()).in_file(file.display().to_string());
    warpath::InputError { line: Some(line), ..error }.into()
}

/// Hands each name in a file to `take`, with the number of its line; `take` may say what is wrong with it.
pub(crate) fn for_each_name(
    options: &ReadOptions,
    control: &Control,
    file: &Path,
    mut take: impl FnMut(u64, &str) -> Result<(), Error>,
) -> Result<(), Failure> {
    /// No vertex has a longer name, and an error repeats the name.
    const LONGEST: usize = 1 << 16;
    /// This many lines are read in a moment.
    const SOME: usize = 1 << 12;
    let bytes = options.read_text(file)?;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if index % SOME == 0 {
            control.check()?;
        }
        let name = line.trim_ascii();
        if name.is_empty() || name.starts_with(b"#") || name.starts_with(b"%") {
            continue;
        }
        let line = index as u64 + 1;
        let at_line = |message: &str| {
            Error::from(warpath::InputError::at(line, name, message).in_file(file.display().to_string()))
        };
        if name.len() > LONGEST {
            return Err(at_line("no name of a vertex is so long").into());
        }
        let text = std::str::from_utf8(name).map_err(|_| at_line("not UTF-8"))?;
        take(line, text).map_err(|error| match error {
            Error::InvalidRequest(message) => at_line(&message),
            other => other,
        })?;
    }
    Ok(())
}
