//! A `.npy` of all pairs that all ranks write.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use warpath::formats::PartialFile;
use warpath::graph::{DistanceValue, Distances, with_distances};
use warpath::tables::{write_npy, write_npy_part};
use warpath::{Error, Result};

use crate::grid::Grid;
use crate::output::path_of_all;
use crate::watch::Leisure;
use crate::world::Outcome;

/// Opens the file, which is there.
pub(crate) fn open(path: &PathBuf) -> Result<(PathBuf, File)> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.map(|file| (path.clone(), file)).map_err(|error| Error::io(path, error))
}

/// What comes before the first row of a matrix of so many rows and columns, of distances of a type.
pub(crate) fn header(path: &Path, shape: [usize; 2], of_type: &Distances) -> Result<Vec<u8>> {
    let mut header = Vec::new();
    write_npy(&mut header, &shape, of_type).map_err(|error| Error::io(path, error))?;
    Ok(header)
}

/// Writes what comes before the first row, and gives the file the length of a matrix whose rows are there or to come.
pub(crate) fn write_header(path: &PathBuf, shape: [usize; 2], of_type: &Distances) -> Result<()> {
    let header = header(path, shape, of_type)?;
    let (_, mut file) = open(path)?;
    let [rows, columns] = shape.map(|count| count as u64);
    let row_bytes = columns.saturating_mul(distance_bytes(of_type));
    let whole = rows.saturating_mul(row_bytes).saturating_add(header.len() as u64);
    file.write_all(&header).and_then(|()| file.set_len(whole)).map_err(|error| Error::io(path, error))
}

/// The bytes of a distance of this type.
pub(crate) fn distance_bytes(of_type: &Distances) -> u64 {
    fn of_each<D>(_: &[D]) -> u64 {
        size_of::<D>() as u64
    }
    with_distances!(of_type, values => of_each(values))
}

/// Writes the blocks of all ranks into a file that rank 0 has created, and gives it its name.
///
/// # Errors
///
/// [`Error::Io`] if a rank can't write: the folder of the file has to be one that all hosts share.
pub(crate) fn write_blocks<D: DistanceValue>(grid: &Grid<'_>, file: Option<PartialFile>, block: &[D]) -> Outcome<()> {
    let world = grid.world;
    let path = path_of_all(world, file.as_ref())?;
    let none = D::into_distances(Vec::new());
    let headed = if world.rank() == 0 { write_header(&path, [grid.length(); 2], &none) } else { Ok(()) };
    world.agree(headed)?;
    // One host may write more slowly than another.
    let start = Instant::now();
    let written = write_block(grid, &path, &none, block);
    let took = (written.is_ok() && !block.is_empty()).then(|| start.elapsed());
    world.agree_at_leisure(written, Leisure { took, file: Some(&path) })?;
    world.agree(file.map_or(Ok(()), PartialFile::finish))
}

fn write_block<D: DistanceValue>(grid: &Grid<'_>, path: &PathBuf, none: &Distances, block: &[D]) -> Result<()> {
    let start = header(path, [grid.length(); 2], none)?.len() as u64;
    let (rows, columns) = (grid.rows(), grid.columns());
    let (_, mut file) = open(path)?;
    let mut bytes = Vec::new();
    for (row, cells) in rows.zip(block.chunks_exact(columns.len().max(1))) {
        bytes.clear();
        let cell = (row * grid.length() + columns.start) as u64;
        let at = start + cell * size_of::<D>() as u64;
        let written = write_npy_part(&mut bytes, &D::into_distances(cells.to_vec()))
            .and_then(|()| file.seek(SeekFrom::Start(at)))
            .and_then(|_| file.write_all(&bytes));
        written.map_err(|error| Error::io(path, error))?;
    }
    file.sync_all().map_err(|error| Error::io(path, error))
}
