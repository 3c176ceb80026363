//! Detects the format of an input: by its content if that is clear, else by its extension.
//!
//! Binary formats have magic bytes (GAP's has none, but its size follows from its header). Among texts, a banner tells
//! Matrix Market, a `p` line DIMACS and PACE, and the first words GraphML, GML, Pajek and JSON; what [`foreign`] knows is
//! refused by its name. Lines of numbers can be an edge list, METIS or a Matrix Market file that lost its banner. There
//! the extension decides; without an extension, only ragged lines reveal METIS.

use super::compression::Compression;
use super::input::Opened;
use super::{Format, foreign, metis};
use crate::{InputError, Result};

/// The format of an unpacked input.
///
/// # Errors
///
/// If neither the content nor the extension tells.
pub(super) fn detect(opened: &Opened) -> Result<Format> {
    if let Some(format) = Format::ALL.into_iter().find(|format| (format.entry().is_announced)(opened)) {
        return Ok(format);
    }
    // The content of a binary format is checked by its reader.
    let by_extension = by_extension(opened.name());
    if !by_extension.is_some_and(|format| format.entry().is_binary)
        && let Some(message) = foreign::recognize(opened.head())
    {
        return Err(InputError::new(message).in_file(opened.name()).into());
    }
    if let Some(format) = by_extension {
        return Ok(format);
    }
    if opened.sample().iter().any(|&byte| byte < b' ' && !byte.is_ascii_whitespace()) {
        return Err(InputError::new(format!(
            "the format is unknown: neither the content nor the extension tells; formats are {}",
            Format::names()
        ))
        .in_file(opened.name())
        .into());
    }
    Ok(if metis::is_resembled(opened)? { Format::Metis } else { Format::EdgeList })
}

/// The format of the extension; if the last extension is a compression's, the one before it counts.
pub(super) fn by_extension(name: &str) -> Option<Format> {
    let extension = extension(name)?;
    Format::ALL.into_iter().find(|format| format.extensions().contains(&extension.as_str()))
}

/// The extension of a name in small letters, without that of a compression.
pub(super) fn extension(name: &str) -> Option<String> {
    let mut extensions = name.rsplit(['/', '\\']).next()?.rsplit('.').map(str::to_ascii_lowercase);
    let mut extension = extensions.next()?;
    if Compression::by_extension(name).is_some() {
        extension = extensions.next()?;
    }
    extensions.next()?;
    Some(extension)
}

#[cfg(test)]
mod tests {
    use super::super::input::Input;
    use super::*;

    #[test]
    fn content_goes_before_the_extension() {
        let format = |name: &str, bytes: &[u8]| detect(&Opened::Memory(Input::owned(name, bytes.to_vec()))).ok();
        for (name, text, expected) in [
            ("x", "%%MatrixMarket matrix coordinate", Some(Format::MatrixMarket)),
            ("x.txt", "%matrixmarket matrix coordinate", Some(Format::MatrixMarket)),
            ("x.txt", "c comment\nc\np sp 3 1\na 1 2 3\n", Some(Format::Dimacs)),
            ("x.gr", "p tw 3 1\n1 2\n", Some(Format::Pace)),
            ("x.gr", "c d\np tw 3 0\n", Some(Format::Pace)),
            ("x", "p edge 3 1\ne 1 2", Some(Format::Dimacs)),
            ("x", "p cep 3 1\r\n1 2", Some(Format::Pace)),
            ("x", "c d\ne f\n", Some(Format::EdgeList)),
            ("x", "p q\n", Some(Format::EdgeList)),
            ("x.graph", "3 2\n2\n1 3\n2\n", Some(Format::Metis)),
            ("x", "3 2\n2\n1 3\n2\n", Some(Format::Metis)),
            ("x", "3 2\n1 2\n1 3\n", Some(Format::EdgeList)),
            ("x.mtx", "3 2\n1 3\n", Some(Format::MatrixMarket)),
            ("x.mtx.zst", "3 2\n1 3\n", Some(Format::MatrixMarket)),
            ("x.mtx/y", "3 2\n1 3\n", Some(Format::EdgeList)),
            ("x", "", Some(Format::EdgeList)),
            ("x", "\u{feff}1 2", Some(Format::EdgeList)),
            ("x", "PK\u{3}\u{4}......................\u{7}\0..row.npy", Some(Format::Npz)),
            ("x.npz", "PK\u{3}\u{4}", Some(Format::Npz)),
            ("x.csv", "{\"nodes\": []}", Some(Format::Json)),
            ("x.csv", "{\"elements\": []}", None),
            ("x.json", "{\"elements\": []}", None),
            ("x.json", "1 2", Some(Format::Json)),
            ("x", "\u{feff}<?xml version=\"1.0\"?>\n<graphml>", Some(Format::GraphMl)),
            ("x.txt", "<g:graphml xmlns:g=\"x\">", Some(Format::GraphMl)),
            ("x.gml", "<?xml version=\"1.0\"?><gml:FeatureCollection>", None),
            ("x", "graph [\n  node [ id 1 ]", Some(Format::Gml)),
            ("x", "Creator \"igraph\"\nVersion 1\ngraph\n[\n", Some(Format::Gml)),
            ("x", "*Vertices 3\n1 \"a\"\n", Some(Format::Pajek)),
            ("x.csv", "% x\r\n*Network n\r\n*vertices 2", Some(Format::Pajek)),
            ("x", "\u{7f}ELF\u{1}\u{0}", None),
            ("x.wpg", "", Some(Format::Warpath)),
        ] {
            assert_eq!(format(name, text.as_bytes()), expected, "{name}: {text}");
        }
        assert_eq!(format("x", super::super::wpg::MAGIC), Some(Format::Warpath));
        let mut gap = vec![0; 17 + 3 * 8 + 4];
        gap[1] = 1;
        gap[9] = 2;
        assert_eq!(format("x", &gap), Some(Format::Gap));
        for format in Format::ALL {
            assert_eq!(by_extension(&format!("a/b.{}.gz", format.extensions()[0])), Some(format));
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
    }
}
