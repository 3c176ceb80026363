//! Names the kinds of files that are no graphs, or graphs in formats that can't be read, by their first bytes. Without
//! that, a text such as HTML or RDF would be read as an edge list, or refused with a message about its columns.

/// A kind of file, how it begins, and what to do about it.
struct Kind {
    name: &'static str,
    is: fn(&[u8]) -> bool,
    advice: &'static str,
}

/// What helps with a graph in another text format.
const CONVERT: &str = "export the edges as CSV with the columns source, target and weight";
/// What helps with a table.
const EXPORT: &str = "export the table as CSV";
/// What helps with a file that holds others.
const UNPACK: &str = "unpack it first";
/// What helps with a page or an error message in the place of a file.
const DOWNLOAD: &str = "perhaps a download went wrong";

/// The kinds; the first that fits counts.
const KINDS: &[Kind] = &[
    Kind {
        name: "a workbook of Excel or a document of Word",
        is: |head| is_zip(head) && has(head, b"[Content_Types].xml"),
        advice: EXPORT,
    },
    Kind { name: "an OpenDocument file", is: |head| is_zip(head) && has(head, b"opendocument"), advice: EXPORT },
    Kind { name: "a 7z archive", is: |head| head.starts_with(b"7z\xbc\xaf\x27\x1c"), advice: UNPACK },
    Kind { name: "a RAR archive", is: |head| head.starts_with(b"Rar!\x1a\x07"), advice: UNPACK },
    Kind { name: "a file compressed with lz4", is: |head| head.starts_with(b"\x04\x22\x4d\x18"), advice: UNPACK },
    Kind {
        name: "a Feather file of version 1",
        is: |head| head.starts_with(b"FEA1"),
        advice: "`pyarrow.feather.write_feather` writes version 2",
    },
    Kind { name: "an HDF5 file", is: |head| head.starts_with(b"\x89HDF\r\n\x1a\n"), advice: EXPORT },
    Kind { name: "an SQLite database", is: |head| head.starts_with(b"SQLite format 3\0"), advice: EXPORT },
    Kind {
        name: "an old Excel workbook",
        is: |head| head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        advice: EXPORT,
    },
    Kind {
        name: "a NumPy array",
        is: |head| head.starts_with(b"\x93NUMPY"),
        advice: "`scipy.sparse.save_npz` writes a graph as a sparse matrix",
    },
    Kind {
        name: "a Python pickle",
        is: |head| {
            matches!(head, [0x80, 2..=5, ..]) && has(&head[..head.len().min(64)], b"\x8c")
                || head.starts_with(b"\x80\x04\x95")
        },
        advice: CONVERT,
    },
    Kind {
        name: "a MATLAB file",
        is: |head| head.starts_with(b"MATLAB 5.0 MAT-file"),
        advice: "`mmwrite` writes Matrix Market",
    },
    Kind { name: "a PDF document", is: |head| head.starts_with(b"%PDF-"), advice: "the data must come as text" },
    Kind {
        name: "a picture",
        is: |head| head.starts_with(b"\x89PNG\r\n") || head.starts_with(b"\xff\xd8\xff") || head.starts_with(b"GIF8"),
        advice: "the data must come as text",
    },
    Kind {
        name: "an OpenStreetMap extract",
        is: |head| has(&head[..head.len().min(64)], b"OSMHeader"),
        advice: CONVERT,
    },
    Kind {
        name: "text in UTF-16",
        is: |head| head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff"),
        advice: "`iconv -f UTF-16 -t UTF-8` converts it",
    },
    Kind {
        name: "a pointer of Git LFS, without the file itself",
        is: |head| head.starts_with(b"version https://git-lfs"),
        advice: "`git lfs pull` gets the file",
    },
    Kind { name: "graph6 or sparse6", is: |head| begins(head, &[b">>graph6<<", b">>sparse6<<"]), advice: CONVERT },
    Kind { name: "GEXF", is: |head| is_xml(head) && has(head, b"<gexf"), advice: CONVERT },
    Kind { name: "OpenStreetMap XML", is: |head| is_xml(head) && has(head, b"<osm"), advice: CONVERT },
    Kind {
        name: "an HTML page",
        is: |head| begins(head, &[b"<!doctype html", b"<html"]) || (is_xml(head) && has(head, b"<html")),
        advice: DOWNLOAD,
    },
    Kind { name: "XML", is: is_xml, advice: CONVERT },
    Kind { name: "JSON without nodes and links", is: is_json, advice: CONVERT },
    Kind { name: "Graphviz (DOT)", is: is_dot, advice: CONVERT },
    Kind { name: "LEDA", is: |head| head.starts_with(b"LEDA.GRAPH"), advice: CONVERT },
    Kind { name: "RDF", is: |head| begins(first_content(head, b"#"), &[b"@prefix ", b"@base "]), advice: CONVERT },
];

/// What a file with this beginning is, and what to do about it; `None` if it may be a graph that can be read.
pub(super) fn recognize(head: &[u8]) -> Option<String> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let kind = KINDS.iter().find(|kind| (kind.is)(head))?;
    Some(format!("this looks like {}, which can't be read; {}", kind.name, kind.advice))
}

/// Whether a file is a zip archive.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Whether a zip archive begins with a NumPy array.
pub(super) fn is_npz(head: &[u8]) -> bool {
    const LENGTH_OF_NAME: std::ops::Range<usize> = 26..28;
    const NAME: usize = 30;
    let length = head.get(LENGTH_OF_NAME).map_or(0, |bytes| usize::from(bytes[0]) + 256 * usize::from(bytes[1]));
    is_zip(head) && head.get(NAME..NAME + length).is_some_and(|name| name.ends_with(b".npy"))
}

/// Whether a text has a part, whatever the case.
pub(super) fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// Whether a text begins with one of these words in small letters, after blanks and whatever the case.
fn begins(text: &[u8], words: &[&[u8]]) -> bool {
    let text = text.trim_ascii_start();
    words.iter().any(|word| text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word)))
}

/// The text from the first line on that is neither blank nor begins with this mark of a comment.
fn first_content<'a>(mut text: &'a [u8], comment: &[u8]) -> &'a [u8] {
    loop {
        text = text.trim_ascii_start();
        if !text.starts_with(comment) {
            return text;
        }
        text = text.iter().position(|&byte| byte == b'\n').map_or(&[], |end| &text[end..]);
    }
}

/// Whether a text begins as XML or HTML does.
pub(super) fn is_xml(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    begins(text, &[b"<?xml", b"<!doctype", b"<!--"])
        || (matches!(text, [b'<', b'a'..=b'z' | b'A'..=b'Z', ..]) && has(text, b">"))
}

/// `{` before a name in quotes, or `[` before an object, an array or a name in quotes.
pub(super) fn is_json(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let after = text.get(1..).unwrap_or_default().trim_ascii_start().first();
    match text.first() {
        Some(b'{') => matches!(after, Some(b'"' | b'}')),
        Some(b'[') => matches!(after, Some(b'{' | b'[' | b'"' | b']')),
        _ => false,
    }
}

/// `graph [`, perhaps after lines such as `Creator "igraph"`.
pub(super) fn is_gml(head: &[u8]) -> bool {
    let mut text = first_content(head, b"#");
    while begins(text, &[b"creator ", b"version ", b"comment "]) {
        text = text.iter().position(|&byte| byte == b'\n').map_or(&[], |end| text[end..].trim_ascii_start());
    }
    begins(text, &[b"graph"]) && text[5..].trim_ascii_start().starts_with(b"[")
}

/// `*Vertices N`, perhaps after `*Network NAME`.
pub(super) fn is_pajek(head: &[u8]) -> bool {
    begins(first_content(head, b"%"), &[b"*vertices", b"*network", b"*arcs", b"*edges"])
}

/// `graph {`, `digraph NAME {` and so on.
fn is_dot(head: &[u8]) -> bool {
    let text = first_content(first_content(head, b"//"), b"#");
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    begins(text, &[b"graph", b"digraph", b"strict "]) && has(&text[..text.len().min(first.len() + 16)], b"{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_graph_is_named() {
        for (head, name) in [
            (&b"PK\x03\x04\x14\0..[Content_Types].xml...xl/workbook.xml"[..], "a workbook of Excel"),
            (b"FEA1\0\0\0\0", "a Feather file of version 1"),
            (b"%PDF-1.7\n1 0 obj", "a PDF document"),
            (b"\xff\xfe1\0\t\x002\0", "text in UTF-16"),
            (b"<?xml version=\"1.0\"?><gexf>", "GEXF"),
            (b"<?xml version=\"1.0\"?><kml>", "XML"),
            (b"\n<!DOCTYPE html>\n<html>", "an HTML page"),
            (b"<html><body>404</body>", "an HTML page"),
            (b"[\n  {\"source\": 1}", "JSON"),
            (b"[[1,2],[2,3]]", "JSON"),
            (b"digraph G {\n a -> b;\n}", "Graphviz (DOT)"),
            (b"graph {\n", "Graphviz (DOT)"),
            (b"strict digraph \"a b\" {", "Graphviz (DOT)"),
            (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
            (b">>graph6<<A_", "graph6 or sparse6"),
            (b"@prefix foaf: <x>", "RDF"),
        ] {
            let found = recognize(head).unwrap_or_default();
            assert!(found.starts_with(&format!("this looks like {name}")), "{head:?}: {found}");
        }
        for head in [
            &b""[..],
            b"1 2\n",
            b"{a} {b}\n",
            b"[1] [2]\n",
            b"graph theory\n",
            b"%%MatrixMarket matrix",
            b"<a <b\n",
            b"creator alice\n",
            b"PAR 1\n",
        ] {
            assert_eq!(recognize(head), None, "{head:?}");
        }
    }
}
