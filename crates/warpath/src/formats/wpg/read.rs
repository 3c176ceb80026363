//! Copies a `.wpg` file into memory, and checks the copy.

use rayon::prelude::*;

use super::{
    ARRAYS, BLOCK, CHECKSUM, CHECKSUMS, CONSECUTIVE, Counts, DIRECTED, HEADER, Header, INTEGERS, Layout, MAGIC, NAMES,
    OFFSETS, STRINGS, Section, StoredArray, TARGETS, TEXT, VERSION, VERSION_WITH_ARRAYS, WEIGHT_KINDS, WEIGHTS,
};
use crate::formats::rows::{Rows, about_input, asymmetry, finish, wants_weights};
use crate::formats::{Opened, ReadOptions};
use crate::graph::{
    Csr, Direction, Graph, InputCounts, Labels, MAX_VERTICES, ParallelEdges, SelfLoops, StringLabels, VertexId,
    WeightKind, Weights, check_offsets, with_weights,
};
use crate::huge_pages::on_huge_pages;
use crate::{Control, InputError, Plan, Result, memory};

/// Reads a graph.
///
/// # Errors
///
/// If the file is not of this version, cut short, or damaged anywhere, or its arrays do not form a graph.
pub(super) fn read(opened: &Opened, options: &ReadOptions) -> Result<Graph> {
    let header = read_header(opened)?;
    let wanted = wants_weights(options)? && !options.leave_weights;
    let kind = if wanted { WEIGHT_KINDS[header.weights as usize] } else { WeightKind::Unit };
    let mut plan = Plan::new();
    // Text names are in memory twice while they are numbered.
    let unwanted = if kind == WeightKind::Unit { header.sections[WEIGHTS].length } else { 0 };
    let of_arrays = header.arrays.iter().map(|array| array.section.length).sum::<u64>();
    plan.memory("the graph", header.sections[CHECKSUMS].offset - of_arrays - unwanted + header.sections[TEXT].length);
    if options.stored_arrays.is_some() {
        plan.memory("the arrays beside the graph", of_arrays);
    }
    plan.check(options.room(opened.owned_bytes()))?;

    let section = header.sections;
    let mut offsets: Vec<u64> = zeros(section[OFFSETS])?;
    let mut targets: Vec<VertexId> = zeros(section[TARGETS])?;
    let mut names: Vec<u64> = zeros(section[NAMES])?;
    let mut text: Vec<u8> = zeros(section[TEXT])?;
    let stored = header.arrays.iter().filter(|array| array.is_there() && options.stored_arrays.is_some());
    let mut stored = stored.map(|array| Ok((array, zeros(array.section)?))).collect::<Result<Vec<_>>>()?;
    let mut weights = match kind {
        WeightKind::Unit => Weights::unit(header.arcs as usize),
        WeightKind::U32 => Weights::U32(zeros(section[WEIGHTS])?),
        WeightKind::I32 => Weights::I32(zeros(section[WEIGHTS])?),
        WeightKind::F32 => Weights::F32(zeros(section[WEIGHTS])?),
        WeightKind::F64 => Weights::F64(zeros(section[WEIGHTS])?),
    };
    let mut arrays: Vec<(Section, &mut [u8])> = vec![
        (section[OFFSETS], bytemuck::cast_slice_mut(&mut offsets)),
        (section[TARGETS], bytemuck::cast_slice_mut(&mut targets)),
        (section[WEIGHTS], weights.bytes_mut()),
        (section[NAMES], bytemuck::cast_slice_mut(&mut names)),
        (section[TEXT], &mut text),
    ];
    arrays.extend(stored.iter_mut().map(|(array, values)| (array.section, bytemuck::cast_slice_mut(values))));
    copy_sections(opened, &header, arrays, &options.control)?;
    // No block covers the header.
    opened.check_unchanged()?;
    if let Some(wanted) = &options.stored_arrays {
        wanted.put(opened.name(), stored.into_iter().map(|(array, values)| (array.text(), values)).collect());
    }

    if offsets[0] != 0 || offsets[header.vertices as usize] != header.arcs {
        return damaged("its rows do not run from the first arc to the last");
    }
    check_offsets(&offsets).map_err(about_input)?;
    weights.check().map_err(about_input)?;
    let csr = Csr::trusted(offsets, targets, weights);
    let found = csr.survey(header.flags & DIRECTED == 0);
    found.check(csr.offsets(), csr.targets()).map_err(about_input)?;
    let labels = read_names(&header, names, &text)?;
    let counts = InputCounts { lines: header.lines, self_loops: header.self_loops, parallel: header.parallel };
    let directed = header.flags & DIRECTED != 0;
    if found.asymmetry != 0 {
        return Err(InputError::new(asymmetry(&csr, &labels)).into());
    }
    let merge = options.parallel_edges == ParallelEdges::MergeByMinimum && found.repeats > 0;
    let drop_loops = options.self_loops == SelfLoops::Drop && found.self_loops > 0;
    let graph = Graph::from_parts(csr, directed, labels, counts);
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    if merge || drop_loops {
        let (csr, labels) = graph.into_parts();
        let (offsets, targets, weights) = csr.into_arrays();
        return with_weights!(weights, weights => {
            let rows = Rows { offsets, targets, weights };
            rows.into_graph(direction, labels, Some(counts.lines), options)
        });
    }
    match options.direction {
        Some(wanted) if wanted != direction => {
            let (csr, labels) = graph.into_parts();
            finish(csr, direction, labels, counts, options)
        }
        _ => Ok(graph),
    }
}

/// The names of vertices, all of them or consecutive ones; `text` begins with the first of them.
pub(super) fn read_names(header: &Header, names: Vec<u64>, text: &[u8]) -> Result<Labels> {
    Ok(match header.names {
        CONSECUTIVE => Labels::range(header.first_name, header.vertices),
        INTEGERS => Labels::Integers(ascending(names)?),
        _ => Labels::Strings(read_strings(&names, text)?),
    })
}

pub(super) fn damaged<T>(what: &str) -> Result<T> {
    Err(InputError::new(format!("the `.wpg` file is damaged: {what}")).into())
}

/// The header, after checking that every field is possible and that the sections lie in the file.
pub(super) fn read_header(opened: &Opened) -> Result<Header> {
    let length = opened.length();
    let mut bytes = [0; HEADER];
    let there = &mut bytes[..length.min(HEADER as u64) as usize];
    opened.read_at(0, there)?;
    if !there.starts_with(MAGIC) {
        return Err(InputError::new("not a `.wpg` file: it does not begin with the magic bytes").into());
    }
    if there.len() < HEADER {
        return damaged(&format!("it ends after {length} bytes, within the header"));
    }
    let mut header: Header = bytemuck::pod_read_unaligned(&bytes);
    if ![VERSION, VERSION_WITH_ARRAYS].contains(&header.version) {
        let message = format!(
            "this is version {} of the `.wpg` format; only versions {VERSION} and {VERSION_WITH_ARRAYS} can be read",
            header.version
        );
        return Err(InputError::new(message).into());
    }
    // A fuzzer that can't guess checksums gets past them, to what they protect.
    if crc32fast::hash(&bytes[..HEADER - CHECKSUM]) != header.checksum && !cfg!(fuzzing) {
        return damaged("the checksum of its header does not match");
    }
    if header.flags > DIRECTED || header.weights as usize >= WEIGHT_KINDS.len() || header.names > STRINGS {
        return damaged("its header has an unknown flag, type of weight or type of names");
    }
    if header.vertices > MAX_VERTICES || header.first_name.checked_add(header.vertices).is_none() {
        return damaged("its header has too many vertices");
    }
    if header.version == VERSION {
        // Nothing of this version looks at these bytes.
        header.arrays = bytemuck::Zeroable::zeroed();
    }
    let arrays = lengths_of_arrays(&header.arrays)?;
    let layout = Layout::new(&Counts {
        vertices: header.vertices,
        arcs: header.arcs,
        weight_bytes: WEIGHT_KINDS[header.weights as usize].bytes(),
        named: if header.names == CONSECUTIVE { 0 } else { header.vertices },
        text: if header.names == STRINGS { header.sections[TEXT].length } else { 0 },
        arrays: &arrays,
    });
    let Some(layout) = layout else {
        return damaged("its header has impossible counts");
    };
    if header.sections != layout.sections || header.arrays.map(|array| array.section) != layout.arrays {
        return damaged("its sections are not where its counts say");
    }
    let end = layout.end();
    if end != length {
        return damaged(&format!("it has {length} bytes instead of {end}"));
    }
    Ok(header)
}

/// How many numbers each array beside the graph has. Arrays come first in the table; what is left of it is zeros.
fn lengths_of_arrays(table: &[StoredArray; ARRAYS]) -> Result<Vec<u64>> {
    let count = table.iter().take_while(|array| array.is_there()).count();
    let (arrays, rest) = table.split_at(count);
    let is_name = |name: &[u8; 8]| {
        let letters = name.iter().take_while(|byte| byte.is_ascii_graphic()).count();
        letters > 0 && name[letters..].iter().all(|&byte| byte == 0)
    };
    let repeats = (1..count).any(|index| arrays[..index].iter().any(|array| array.name == arrays[index].name));
    if repeats
        || !arrays.iter().all(|array| is_name(&array.name))
        || rest.iter().any(|array| *array != StoredArray::NONE)
    {
        return damaged("its table of arrays beside the graph makes no sense");
    }
    // A length that is no multiple of four does not fit to the layout that is made of these.
    Ok(arrays.iter().map(|array| array.section.length / 4).collect())
}

impl StoredArray {
    const NONE: StoredArray = StoredArray { name: [0; 8], section: Section { offset: 0, length: 0 } };

    fn is_there(&self) -> bool {
        self.name != StoredArray::NONE.name
    }

    /// The name, which was checked.
    fn text(&self) -> String {
        self.name.iter().take_while(|&&byte| byte != 0).map(|&byte| char::from(byte)).collect()
    }
}

/// Room for a section, all zeros.
pub(super) fn zeros<T: bytemuck::Pod>(section: Section) -> Result<Vec<T>> {
    Ok(on_huge_pages(memory::zeroed("an array of the file", section.length as usize / size_of::<T>())?))
}

/// Copies these sections into their arrays, and compares the checksum of every block on the way. An empty array marks an
/// unwanted section: blocks with nothing that is wanted are not read.
pub(super) fn copy_sections(
    opened: &Opened,
    header: &Header,
    arrays: Vec<(Section, &mut [u8])>,
    control: &Control,
) -> Result<()> {
    let Section { offset: end, length } = header.sections[CHECKSUMS];
    let mut table = vec![0; length as usize];
    opened.read_at(end, &mut table)?;
    let (stated, checksum_of_table) = table.split_at(table.len() - CHECKSUM);
    // A fuzzer that can't guess checksums gets past them, to what they protect.
    if crc32fast::hash(stated).to_le_bytes() != checksum_of_table && !cfg!(fuzzing) {
        return damaged("the checksum of its checksums does not match");
    }
    let mut blocks = cut_at_blocks(header, arrays);
    blocks.par_iter_mut().zip(stated.par_chunks(CHECKSUM)).enumerate().try_for_each_init(
        || vec![0; BLOCK],
        |buffer, (index, (pieces, stated))| {
            control.check()?;
            if pieces.is_empty() {
                return Ok(());
            }
            let start = HEADER as u64 + (index * BLOCK) as u64;
            let length = (end - start).min(BLOCK as u64) as usize;
            // Nearly all blocks lie in one array, and are read straight into it.
            let (block, pieces) = match &mut pieces[..] {
                [(0, whole)] if whole.len() == length => (&mut **whole, &mut [][..]),
                pieces => (&mut buffer[..length], pieces),
            };
            opened.read_at(start, block)?;
            if crc32fast::hash(block).to_le_bytes() != stated && !cfg!(fuzzing) {
                return damaged(&format!("the checksum of the block at byte {start} does not match"));
            }
            for (at, piece) in pieces {
                piece.copy_from_slice(&block[*at..*at + piece.len()]);
            }
            Ok(())
        },
    )
}

/// The pieces of arrays that lie in each block, with their places in it.
fn cut_at_blocks<'a>(header: &Header, arrays: Vec<(Section, &'a mut [u8])>) -> Vec<Vec<(usize, &'a mut [u8])>> {
    let end = header.sections[CHECKSUMS].offset as usize - HEADER;
    let mut blocks: Vec<Vec<_>> = std::iter::repeat_with(Vec::new).take(end.div_ceil(BLOCK)).collect();
    for (section, mut rest) in arrays {
        let mut at = section.offset as usize - HEADER;
        while !rest.is_empty() {
            let (piece, later) = rest.split_at_mut((BLOCK - at % BLOCK).min(rest.len()));
            let length = piece.len();
            blocks[at / BLOCK].push((at % BLOCK, piece));
            (at, rest) = (at + length, later);
        }
    }
    blocks
}

fn ascending(names: Vec<u64>) -> Result<Vec<u64>> {
    if names.windows(2).any(|pair| pair[0] >= pair[1]) {
        return damaged("its names do not ascend");
    }
    Ok(names)
}

fn read_strings(ends: &[u64], text: &[u8]) -> Result<StringLabels> {
    let Ok(text) = std::str::from_utf8(text) else {
        return damaged("its names are not UTF-8");
    };
    let mut labels = StringLabels::new();
    let mut start = 0;
    for (v, &end) in ends.iter().enumerate() {
        let name = usize::try_from(end).ok().and_then(|end| text.get(start..end));
        let Some(name) = name else {
            return damaged("its names do not follow each other");
        };
        if labels.intern(name)? as usize != v {
            return damaged("two vertices have the same name");
        }
        start = end as usize;
    }
    if start != text.len() {
        return damaged("there is text after the last name");
    }
    Ok(labels)
}
